/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Classic snapshots: the origin, with the chunks that the store holds in place of its own. */
#include <inttypes.h>

#include "format/dmsnap/dmsnap.h"
#include "stack/lvm_special.h"

#define NOTE_COPIED  "in the snapshot's store"
#define NOTE_MERGING "in the store of the snapshot that is being merged"

static int set_fill(struct blkalign_node *node, const struct dmsnap *snap, const struct dev *store)
{
	uint64_t chunks = snap->chunk_bytes ? store->size_bytes / snap->chunk_bytes : 0, hundredfold;
	int r = graph_set_bool(node, BLKALIGN_ATTR_SNAPSHOT_INVALID, !snap->valid, BLKALIGN_ORIGIN_ONDISK);

	if (r >= 0 && snap->valid && snap->fresh)
		r = graph_set_u64(node, BLKALIGN_ATTR_SNAPSHOT_PERCENT, 0, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && snap->valid && chunks && u64_mul(snap->used_chunks, 100, &hundredfold))
		r = graph_set_u64(node, BLKALIGN_ATTR_SNAPSHOT_PERCENT, hundredfold / chunks, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && snap->chunk_bytes)
		r = graph_set_u64(node, BLKALIGN_ATTR_SNAPSHOT_CHUNK, snap->chunk_bytes, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

struct snapshot {
	struct blkalign_node *node; /* that gets the content: the snapshot or, while it is merged, the origin */
	struct dev *origin, *store;
	uint64_t size_bytes;
	bool merging;
};

static int open_store(struct lvm_volumes *v, const struct snapshot *s, struct dmsnap *snap, struct dev **ret_dev)
{
	int r = set_fill(s->node, snap, s->store);

	if (r < 0)
		return r;
	if (!snap->valid) {
		r = lvm_cannot_read(
			v, s->node,
			s->merging ? "the snapshot that is being merged into it ran full or failed, and what was not merged yet is lost"
				   : "the snapshot ran full or failed, and its content is lost");
		/* What the origin itself holds is half of one and half of the other: for those who insist. */
		if (r < 0 || !s->merging || !lvm_is_forced(v))
			return r;
	}
	r = map_open_overlaid(blkalign_node_name(s->node), s->size_bytes, s->origin, s->store, snap->chunk_bytes, snap->runs, snap->count,
			      s->merging ? NOTE_MERGING : NOTE_COPIED, ret_dev);
	snap->runs = NULL;
	return r == -EINVAL ? lvm_cannot_read(v, s->node, "the snapshot's store does not fit it") : r;
}

static int open_snapshot(struct lvm_volumes *v, const struct snapshot *s, struct dev **ret_dev)
{
	struct blkalign_error err = { 0 };
	struct dmsnap snap;
	int r;

	if (!s->origin || !s->store)
		return lvm_cannot_read(v, s->node, s->origin ? "the snapshot's store cannot be read" : "its origin cannot be read");
	r = dmsnap_read(s->store, s->size_bytes, &snap, &err);
	if (r == BLKALIGN_NOT_THIS)
		r = lvm_cannot_read(v, s->node, "the snapshot's store does not begin with the header of one");
	else if (r < 0 && r != -ENOMEM)
		r = lvm_cannot_read(v, s->node, err.message);
	else if (r == 0)
		r = open_store(v, s, &snap, ret_dev);
	dmsnap_done(&snap);
	return r;
}

/* The origin's node waited for this; the snapshot itself is no more. */
static int open_merging(struct lvm_volumes *v, struct snapshot *s, const struct lvm2_ref *origin, bool whole)
{
	struct dev *dev = NULL;
	int r = open_snapshot(v, s, &dev);

	if (r < 0 || !dev)
		return r;
	v->devs[origin->index] = dev;
	v->whole[origin->index] = whole;
	return lvm_give_device(v, origin->index, s->node, dev);
}

int lvm_open_snapshot(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	const struct lvm2_segment *segment = &lv->segments[0];
	const struct lvm2_ref *origin = lvm_find_ref(segment, LVM2_ROLE_ORIGIN);
	struct snapshot s = { .node = node, .size_bytes = lv->size_bytes, .merging = segment->merging };

	s.store = lvm_role_dev(v, segment, LVM2_ROLE_COW, ret_whole);
	if (!v->merging[origin->index])
		s.origin = lvm_role_dev(v, segment, LVM2_ROLE_ORIGIN, ret_whole);
	else
		s.origin = v->bare[origin->index];
	if (!s.merging)
		return open_snapshot(v, &s, ret_dev);
	s.node = v->nodes[origin->index];
	s.size_bytes = v->vg->lvs[origin->index].size_bytes;
	if (stack_dev(v->stack, s.node))
		return 0;
	return open_merging(v, &s, origin, *ret_whole);
}
