/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From chosen members to the array's node, edges and device. */
#include "stack/md.h"

/* The node of a live host that lies on one of the members: then the kernel runs this array. */
static struct blkalign_node *running(struct stack *stack, const struct md_array *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct blkalign_node *host = a->members[i]->host;

		for (size_t k = 0; k < blkalign_node_uppers(host); k++) {
			const struct blkalign_node *upper = blkalign_node_upper(host, k);

			if (blkalign_node_kind(upper) == BLKALIGN_KIND_MD)
				return graph_node(stack_graph(stack), blkalign_node_index(upper));
		}
	}
	return NULL;
}

static bool lies_on(const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	for (size_t i = 0; i < blkalign_node_edges(upper); i++)
		if (blkalign_node_edge(upper, i)->lower == lower)
			return true;
	return false;
}

/* Edges to members that the node does not have yet: all of a new node, the unused ones of a running array. */
static int connect_members(struct stack *stack, struct blkalign_node *node, const struct md_array *a, const struct raid_geometry *g)
{
	VEC(struct md_link) links = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < a->count; i++) {
		const struct md_member *m = a->members[i];
		struct md_link link = {
			.lower = m->host, .data_offset_bytes = m->new_data_offset_bytes, .slot = m->slot, .state = m->state
		};

		link.takes_part = m->slot != BLKALIGN_SLOT_NONE && !m->replacement;
		if (!lies_on(node, m->host))
			r = vec_push(&links, link);
	}
	if (r >= 0)
		r = md_connect(stack_graph(stack), node, links.data, links.count, g);
	vec_done(&links);
	return r;
}

static struct map_md_member map_member(const struct md_member *m)
{
	if (!m)
		return (struct map_md_member){ .dev = NULL };
	return (struct map_md_member){
		.dev = m->dev,
		.data_offset_bytes = m->data_offset_bytes,
		.valid_bytes = m->recovery_bytes,
		.write_mostly = m->write_mostly,
		.bad = m->bad,
		.bad_count = m->bad_count,
	};
}

/* A slot whose member is gone may have a replacement that was being filled. */
static int open_array(const struct md_array *a, const char *name, struct raid_geometry *g, struct dev **ret_dev)
{
	struct map_md_member *members = calloc(a->slots_count, sizeof(*members));
	int r;

	if (!members) {
		raid_geometry_done(g);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < a->slots_count; i++)
		members[i] = map_member(a->slots[i] ? a->slots[i] : a->replacers[i]);
	r = map_open_md(name,
			&(struct map_md){ .geometry = g, .members = members, .doubtful = a->doubtful, .doubtful_count = a->doubtful_count },
			ret_dev);
	free(members);
	return r;
}

/* During a reshape the array is as large as the smaller of its two shapes. */
static int set_size(struct blkalign_node *node, const struct md_array *a, const struct raid_geometry *g)
{
	uint64_t size = raid_array_bytes(g);
	struct raid_geometry old;
	int r;

	if (blkalign_node_value(node, BLKALIGN_ATTR_SIZE))
		return 0;
	r = a->freshest->reshaping ? md_array_geometry(a, MD_SHAPE_OLD, &old, NULL) : -EINVAL;
	if (r == 0) {
		size = raid_array_bytes(&old) < size ? raid_array_bytes(&old) : size;
		raid_geometry_done(&old);
	}
	if (r == -ENOMEM)
		return r;
	return graph_set_u64(node, BLKALIGN_ATTR_SIZE, size, BLKALIGN_ORIGIN_ONDISK);
}

static int open_unless_reshaping(const struct md_array *a, const char *name, struct dev **ret_dev)
{
	struct raid_geometry g;
	int r;

	if (a->freshest->reshaping || a->rival)
		return 0;
	r = md_array_geometry(a, MD_SHAPE_NEW, &g, NULL);
	return r < 0 ? r : open_array(a, name, &g, ret_dev);
}

static int add_new(struct stack *stack, const struct md_array *a, struct blkalign_node **ret_node)
{
	char name[64];

	md_array_name(a->freshest, name);
	return graph_add(stack_graph(stack), BLKALIGN_KIND_MD, name, ret_node);
}

/* After the edges: what could not be placed in the graph is not looked into, so that hostile nesting ends. */
static int make_readable(struct stack *stack, struct blkalign_node *node, const struct md_array *a)
{
	struct dev *dev = NULL;
	int r = open_unless_reshaping(a, blkalign_node_name(node), &dev);

	return r < 0 || !dev ? r : stack_set_dev(stack, node, dev);
}

int md_array_add(struct stack *stack, struct md_array *a)
{
	_cleanup_raid_geometry_ struct raid_geometry geometry = { 0 };
	struct blkalign_error err = { 0 };
	struct blkalign_node *node = running(stack, a);
	bool live = node != NULL, placed;
	int r = md_array_geometry(a, MD_SHAPE_NEW, &geometry, &err);
	const struct raid_geometry *g = r == 0 ? &geometry : NULL;

	if (r == -ENOMEM)
		return r;
	r = live ? 0 : add_new(stack, a, &node);
	if (r >= 0)
		r = connect_members(stack, node, a, g);
	placed = r != -ELOOP;
	if (!placed)
		r = 0; /* told by md_connect() */
	if (r >= 0 && g && !live)
		r = set_size(node, a, g);
	if (r >= 0)
		r = md_array_annotate(node, a, g);
	if (r >= 0 && g)
		r = md_find_doubtful(a, g);
	if (r >= 0)
		r = md_array_set_state(stack, node, a, g);
	if (r >= 0 && g && !live && placed)
		r = make_readable(stack, node, a);
	return r < 0 ? r : md_array_say(stack, node, a, live ? NULL : g, g || live ? NULL : err.message);
}
