/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The "on" lists of a snapshot. They are gathered first and then connected from the bottom up, each node's in their final order: whatever
 * order a file has them in, connecting costs no more than their number.
 */
#include "snap/snapshot_priv.h"

/* --- one edge --- */

static int get_u32(const struct snapshot_in *in, const char *key, json *value, uint32_t *ret)
{
	uint64_t wide = 0;
	int r = snapshot_u64(in, key, value, &wide);

	if (r < 0)
		return r;
	if (wide >= UINT32_MAX)
		return snapshot_wrong_type(in, key, value, "a number below 4294967295");
	*ret = (uint32_t)wide;
	return 0;
}

/* A byte count that may be null for unknown. */
static int get_bytes(const struct snapshot_in *in, const char *key, json *value, uint64_t *ret)
{
	if (value)
		return snapshot_u64(in, key, value, ret);
	*ret = BLKALIGN_UNKNOWN;
	return 0;
}

static int get_lower(const struct snapshot_in *in, const char *key, json *value, const struct blkalign_node **ret)
{
	const char *name = NULL;
	int r = snapshot_text(in, key, value, &name);

	if (r < 0)
		return r;
	*ret = blkalign_graph_find(in->graph, name);
	return *ret ? 0 : snapshot_bad(in, "lies on \"%.60s\", which is not among the nodes", name);
}

static int get_state(const struct snapshot_in *in, const char *key, json *value, const char **ret)
{
	static const char *const states[] = { "in_sync", "spare", "faulty", "stale", "journal", "replacement", "rebuilding", "metadata" };
	int r = value ? snapshot_text(in, key, value, ret) : 0;

	if (r < 0 || !value)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (!strcmp(states[i], *ret))
			return 0;
	return snapshot_bad(in, "there is no state \"%.60s\"", *ret);
}

static int take_edge_key(const struct snapshot_in *in, const char *key, json *value, struct blkalign_edge *edge)
{
	if (!strcmp(key, "node"))
		return get_lower(in, key, value, &edge->lower);
	if (!strcmp(key, "offset_bytes"))
		return get_bytes(in, key, value, &edge->lower_offset_bytes);
	if (!strcmp(key, "length_bytes"))
		return get_bytes(in, key, value, &edge->length_bytes);
	if (!strcmp(key, "upper_offset_bytes"))
		return get_bytes(in, key, value, &edge->upper_offset_bytes);
	if (!strcmp(key, "chunk_bytes"))
		return snapshot_u64(in, key, value, &edge->chunk_bytes);
	if (!strcmp(key, "stripes"))
		return get_u32(in, key, value, &edge->stripes);
	if (!strcmp(key, "segment"))
		return get_u32(in, key, value, &edge->segment);
	if (!strcmp(key, "state"))
		return get_state(in, key, value, &edge->state);
	if (strcmp(key, "slot") != 0)
		return snapshot_is_extension(key) ? 0 : snapshot_unknown_key(in, key, "in \"on\"");
	edge->slot = BLKALIGN_SLOT_NONE;
	return value ? get_u32(in, key, value, &edge->slot) : 0;
}

static int check_edge(const struct snapshot_in *in, const struct blkalign_edge *edge)
{
	if (!edge->lower)
		return snapshot_bad(in, "an entry of \"on\" has no \"node\"");
	if (!edge->stripes)
		return snapshot_bad(in, "\"stripes\" must be at least 1");
	if (edge->stripes > 1 && !edge->chunk_bytes)
		return snapshot_bad(in, "an entry of \"on\" has several stripes, but no \"chunk_bytes\"");
	return 0;
}

/* Without a slot an entry takes the one behind the entry before it, or 0 where a segment begins. */
static void default_slot(const struct blkalign_edge *before, struct blkalign_edge *edge)
{
	if (before && before->segment == edge->segment && before->slot != BLKALIGN_SLOT_NONE)
		edge->slot = before->slot + 1;
}

static int take_edge(const struct snapshot_in *in, json *object, const struct blkalign_edge *before, struct blkalign_edge *edge)
{
	int r;

	if (!json_object_is_type(object, json_type_object))
		return snapshot_bad(in, "\"on\" must hold objects");
	json_object_object_foreach(object, key, value)
	{
		r = take_edge_key(in, key, value, edge);
		if (r < 0)
			return r;
	}
	if (!json_object_object_get_ex(object, "slot", NULL))
		default_slot(before, edge);
	return check_edge(in, edge);
}

/* --- all edges --- */

enum visit { VISIT_NEW, VISIT_BUSY, VISIT_DONE };

/* The edges of node i are edges[first[i]] up to edges[first[i + 1]]. */
struct gathered {
	VEC(struct blkalign_edge) edges;
	size_t *first;
	uint8_t *visits;
};

static void gathered_done(struct gathered *g)
{
	vec_done(&g->edges);
	free(g->first);
	free(g->visits);
}

static int by_place(const void *a, const void *b)
{
	const struct blkalign_edge *x = a, *y = b;

	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static void set_current(struct snapshot_in *in, size_t index)
{
	in->number = index + 1;
	in->node = blkalign_node_name(graph_node(in->graph, index));
}

static int gather_node(struct snapshot_in *in, size_t index, json *object, struct gathered *g)
{
	json *on = NULL;

	set_current(in, index);
	if (!json_object_object_get_ex(object, "on", &on) || !on)
		return 0;
	if (!json_object_is_type(on, json_type_array))
		return snapshot_wrong_type(in, "on", on, "a list");
	for (size_t i = 0; i < json_object_array_length(on); i++) {
		struct blkalign_edge edge = { .upper = graph_node(in->graph, index),
					      .lower_offset_bytes = BLKALIGN_UNKNOWN,
					      .length_bytes = BLKALIGN_UNKNOWN,
					      .stripes = 1 };
		const struct blkalign_edge *before = i ? &g->edges.data[g->edges.count - 1] : NULL;
		int r = g->edges.count < GRAPH_EDGES_MAX ? take_edge(in, json_object_array_get_idx(on, i), before, &edge) : -E2BIG;

		if (r == 0)
			r = vec_push(&g->edges, edge);
		if (r < 0)
			return r;
	}
	return 0;
}

static int gather(struct snapshot_in *in, json *nodes, struct gathered *g)
{
	size_t count = blkalign_graph_size(in->graph);
	int r = 0;

	g->first = calloc(count + 1, sizeof(*g->first));
	g->visits = calloc(count + 1, sizeof(*g->visits));
	if (!g->first || !g->visits)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++) {
		r = gather_node(in, i, json_object_array_get_idx(nodes, i), g);
		g->first[i + 1] = g->edges.count;
		if (g->edges.count > g->first[i])
			qsort(g->edges.data + g->first[i], g->edges.count - g->first[i], sizeof(*g->edges.data), by_place);
	}
	return r;
}

static int connect_node(struct snapshot_in *in, struct gathered *g, size_t index, unsigned depth)
{
	int r = 0;

	if (g->visits[index] == VISIT_DONE)
		return 0;
	set_current(in, index);
	if (g->visits[index] == VISIT_BUSY || depth > GRAPH_DEPTH_MAX)
		return snapshot_bad(in, "the nodes lie on each other in a circle, or more than %u deep", GRAPH_DEPTH_MAX);
	g->visits[index] = VISIT_BUSY;
	for (size_t i = g->first[index]; r == 0 && i < g->first[index + 1]; i++)
		r = connect_node(in, g, blkalign_node_index(g->edges.data[i].lower), depth + 1);
	for (size_t i = g->first[index]; r == 0 && i < g->first[index + 1]; i++)
		r = graph_connect(in->graph, &g->edges.data[i]);
	g->visits[index] = VISIT_DONE;
	return r;
}

int snapshot_connect(struct snapshot_in *in, json *nodes)
{
	_cleanup_(gathered_done) struct gathered g = { 0 };
	int r = gather(in, nodes, &g);

	for (size_t i = 0; r == 0 && i < blkalign_graph_size(in->graph); i++)
		r = connect_node(in, &g, i, 1);
	return r == -ELOOP ? snapshot_bad(in, "the nodes lie on each other more than %u deep", GRAPH_DEPTH_MAX) : r;
}
