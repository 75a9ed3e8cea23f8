/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From chosen members to the array's node, edges and device. */
#include "stack/md.h"

struct assembling {
	struct stack *stack;
	struct md_array *a;
	const struct raid_geometry *g; /* NULL: not known */
	struct blkalign_node *node;
	bool live;   /* the kernel runs it */
	bool placed; /* it has its edges */
	struct md_replay replay;
};

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

/* A journal that is lost may have held the newest data, and the other half of torn stripes. */
static int replay_journal(struct assembling *m)
{
	struct blkalign_graph *graph = stack_graph(m->stack);
	struct blkalign_error err = { 0 };
	int r = md_replay_journal(m->a, m->g, &m->replay, &err);

	if (r == -ENOMEM)
		return r;
	m->a->journal_lost = r < 0;
	if (r < 0)
		return graph_remark(
			graph, "%s: its write journal is not replayed: %s. What lies in it alone is not seen, and redundancy may not fit",
			blkalign_node_name(m->node), err.message);
	if (!m->replay.array.count)
		return 0;
	return graph_remark(graph, "%s: %zu pages of 4 KiB that its members lack are read from its write journal",
			    blkalign_node_name(m->node), m->replay.array.count);
}

/* Records of an array that is to be written do it themselves: its members are not read through patches. */
static int replay_ppl(struct assembling *m)
{
	struct blkalign_error err = { 0 };
	int r = md_replay_ppl(m->a, blkalign_node_name(m->node), m->g, &m->replay, &err);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return graph_remark(stack_graph(m->stack), "%s: its partial parity log is not replayed: %s", blkalign_node_name(m->node),
				    err.message);
	return 0;
}

/* What lies in a log and not on the members yet. */
static int replay(struct assembling *m)
{
	if (!m->g || m->live || m->a->rival)
		return 0;
	if (m->a->freshest->journal)
		return replay_journal(m);
	return m->a->freshest->ppl && m->a->dirty ? replay_ppl(m) : 0;
}

/* What is left of an array that lost too much is for looking at, or for those who ask for it. */
static bool is_refused(const struct assembling *m)
{
	const struct stack_running *running = stack_running(m->stack);

	return m->a->failed && running && !running->force;
}

/* After the edges: what could not be placed in the graph is not looked into, so that hostile nesting ends. */
static int make_readable(struct assembling *m)
{
	struct dev *dev = NULL;
	int r;

	if (m->live || !m->placed)
		return 0;
	r = md_array_keep(m->stack, m->node, m->a, m->g);
	if (r < 0 || !m->g || m->a->rival || is_refused(m))
		return r;
	r = md_array_open(m->stack, m->node, m->a, &m->replay, &dev);
	return r < 0 ? r : stack_set_dev(m->stack, m->node, dev);
}

static int add_node(struct assembling *m)
{
	char name[64];

	m->node = running(m->stack, m->a);
	m->live = m->node;
	if (m->live) {
		m->a->rival = NULL; /* it has decided between halves */
		return 0;
	}
	md_array_name(m->a->freshest, name);
	return graph_add(stack_graph(m->stack), BLKALIGN_KIND_MD, name, &m->node);
}

static int place(struct assembling *m)
{
	int r = connect_members(m->stack, m->node, m->a, m->g);

	m->placed = r != -ELOOP;
	if (!m->placed)
		r = 0; /* told by md_connect() */
	return r >= 0 && m->g && !m->live ? set_size(m->node, m->a, m->g) : r;
}

static int add(struct assembling *m, const char *why_unreadable)
{
	int r = add_node(m);

	if (r >= 0)
		r = place(m);
	if (r >= 0)
		r = md_array_annotate(m->node, m->a, m->g);
	if (r >= 0)
		r = replay(m);
	if (r >= 0 && m->g)
		r = md_find_doubtful(m->a, m->g);
	if (r >= 0)
		r = md_array_set_state(m->stack, m->node, m->a, m->g);
	if (r >= 0)
		r = make_readable(m);
	return r < 0 ? r : md_array_say(m->stack, m->node, m->a, m->live ? NULL : m->g, m->g || m->live ? NULL : why_unreadable);
}

int md_array_add(struct stack *stack, struct md_array *a)
{
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };
	struct assembling m = { .stack = stack, .a = a };
	struct blkalign_error err = { 0 };
	int r = md_array_geometry(a, MD_SHAPE_NEW, &g, &err);

	if (r == -ENOMEM)
		return r;
	if (r == 0)
		m.g = &g;
	r = add(&m, err.message);
	md_replay_done(&m.replay);
	return r;
}
