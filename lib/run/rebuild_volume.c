/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RAID volumes of LVM: their images are volumes themselves, and which of them lies on which PV is in the metadata of the volume group. So only images that are there can be filled: one that
 * fell behind while its PV was away, or whose filling was interrupted. A new PV in place of a lost one is a change of that metadata.
 */
#include "keep/keep.h"
#include "run/rebuild.h"
#include "run/run.h"

/* Whether the node, or something that it lies on, is the file or disk at `path`. Graphs have no circles, and are 64 layers deep at most. */
static bool lies_on(const struct blkalign_node *node, const char *path)
{
	const char *its = blkalign_node_str(node, BLKALIGN_ATTR_DEVPATH);

	if (its && !strcmp(its, path))
		return true;
	for (size_t i = 0; i < blkalign_node_edges(node); i++)
		if (lies_on(blkalign_node_edge(node, i)->lower, path))
			return true;
	return false;
}

static const struct blkalign_edge *image_on(const struct blkalign_node *volume, const char *path)
{
	for (size_t i = 0; i < blkalign_node_edges(volume); i++) {
		const struct blkalign_edge *edge = blkalign_node_edge(volume, i);

		if (edge->slot != BLKALIGN_SLOT_NONE && lies_on(edge->lower, path))
			return edge;
	}
	return NULL;
}

static int refuse(const struct blkalign_rebuild *b, const struct rebuild_target *t, const struct blkalign_edge *edge,
		  struct blkalign_error *reterr)
{
	if (!edge)
		return blkalign_error_set(
			reterr, -ENOTSUP, t->path, BLKALIGN_UNKNOWN,
			"no image of %s lies on it: to put one there is a change of the volume group, which lvm2 makes (vgextend, "
			"lvconvert --repair)",
			blkalign_node_name(b->node));
	if (edge->state && !strcmp(edge->state, "rebuilding"))
		return blkalign_error_set(reterr, -ENOTSUP, t->path, BLKALIGN_UNKNOWN,
					  "%s is marked by lvm2 to be rebuilt: the kernel does that when the volume is activated",
					  blkalign_node_name(edge->lower));
	return blkalign_error_set(reterr, -EINVAL, t->path, BLKALIGN_UNKNOWN, "%s lies on it, and is in sync already",
				  blkalign_node_name(edge->lower));
}

/* An image that was being filled is a member already; another one becomes one. */
static int use_image(struct blkalign_rebuild *b, struct rebuild_target *t, uint32_t slot)
{
	const struct map_md_member *m = &b->view.members[slot];
	struct stack_leg leg = stack_leg(b->run->stack, b->node, slot);
	int r = BLKALIGN_ABSENT;

	t->told.slot = slot;
	if (m->dev) {
		t->told.how = BLKALIGN_REBUILD_GO_ON;
		t->told.start_bytes = m->valid_bytes;
		t->dev = m->dev;
		t->data_offset_bytes = m->data_offset_bytes;
		return 0;
	}
	t->dev = leg.data;
	t->meta = leg.records;
	if (b->keep)
		r = keep_lacking(b->keep, leg.data, leg.records, slot, &t->lacks, &t->lacks_count);
	if (r == 0)
		t->told.how = BLKALIGN_REBUILD_READD;
	return r < 0 ? r : 0;
}

static bool needs_filling(const struct blkalign_rebuild *b, uint32_t slot)
{
	const struct map_md_member *m = &b->view.members[slot];

	if (m->dev)
		return m->valid_bytes < b->view.geometry->used_bytes;
	return stack_leg(b->run->stack, b->node, slot).data != NULL;
}

static int find_image(struct blkalign_rebuild *b, struct rebuild_target *t, struct blkalign_error *reterr)
{
	const struct blkalign_edge *first = image_on(b->node, t->path);

	for (size_t i = 0; i < blkalign_node_edges(b->node); i++) {
		const struct blkalign_edge *edge = blkalign_node_edge(b->node, i);

		if (edge->slot < b->view.geometry->members && needs_filling(b, edge->slot) && lies_on(edge->lower, t->path))
			return use_image(b, t, edge->slot);
	}
	return refuse(b, t, first, reterr);
}

int rebuild_find_images(struct blkalign_rebuild *b, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < b->target_count; i++)
		r = find_image(b, &b->targets[i], reterr);
	if (r >= 0 && b->target_count > 1 && b->targets[0].told.slot == b->targets[1].told.slot)
		return blkalign_error_set(reterr, -EINVAL, b->targets[1].path, BLKALIGN_UNKNOWN, "both targets hold parts of one image");
	return r;
}
