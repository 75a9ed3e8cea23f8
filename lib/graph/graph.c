/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The container. It keeps names unique and the graph free of cycles, so that every walk may recurse; what nodes mean is
 * left to the sources.
 */
#include <assert.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "graph/graph_priv.h"

struct blkalign_graph *graph_new(const char *source)
{
	struct blkalign_graph *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->source = source;
	if (getrandom(&g->key, sizeof(g->key), GRND_NONBLOCK) < 0)
		g->key.k0 = (uintptr_t)g ^ (uint64_t)time(NULL); /* early in the boot: better than a constant */
	g->arena = arena_new();
	if (!g->arena) {
		free(g);
		return NULL;
	}
	return g;
}

void blkalign_graph_free(struct blkalign_graph *graph)
{
	if (!graph)
		return;
	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct blkalign_node *n = graph->nodes.data[i];

		vec_done(&n->values);
		vec_done(&n->edges);
		vec_done(&n->uppers);
	}
	vec_done(&graph->nodes);
	vec_done(&graph->remarks);
	free(graph->names);
	pairs_done(graph);
	arena_free(graph->arena);
	free(graph);
}

struct arena *graph_arena(struct blkalign_graph *graph) { return graph->arena; }
void graph_set_source(struct blkalign_graph *graph, const char *source) { graph->source = source; }
const char *graph_secret(const struct blkalign_graph *graph) { return graph->secret; }

int graph_set_secret(struct blkalign_graph *graph, const char *secret)
{
	const char *copy = arena_strdup(graph->arena, secret);

	if (!copy)
		return -ENOMEM;
	graph->secret = copy;
	return 0;
}

const char *blkalign_graph_source(const struct blkalign_graph *graph) { return graph->source; }
size_t blkalign_graph_size(const struct blkalign_graph *graph) { return graph->nodes.count; }
const struct blkalign_node *blkalign_graph_host(const struct blkalign_graph *graph) { return graph->host; }
struct blkalign_graph *graph_of(const struct blkalign_node *node) { return node->graph; }
void graph_set_kind(struct blkalign_node *node, enum blkalign_kind kind) { node->kind = kind; }

struct blkalign_node *graph_node(struct blkalign_graph *graph, size_t index)
{
	assert(index < graph->nodes.count);
	return graph->nodes.data[index];
}

const struct blkalign_node *blkalign_graph_node(const struct blkalign_graph *graph, size_t index)
{
	assert(index < graph->nodes.count);
	return graph->nodes.data[index];
}

/* --- nodes --- */

struct blkalign_node *graph_find(struct blkalign_graph *graph, const char *name) { return names_find(graph, name); }
const struct blkalign_node *blkalign_graph_find(const struct blkalign_graph *graph, const char *name) { return names_find(graph, name); }

int graph_add(struct blkalign_graph *graph, enum blkalign_kind kind, const char *name, struct blkalign_node **ret_node)
{
	struct blkalign_node *n;

	if (graph->nodes.count >= GRAPH_NODES_MAX)
		return -E2BIG;
	n = arena_alloc(graph->arena, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->graph = graph;
	n->kind = kind;
	n->index = (uint32_t)graph->nodes.count;
	if (names_give(n, name) < 0 || names_push(graph, n) < 0)
		return -ENOMEM;
	if (kind == BLKALIGN_KIND_HOST && !graph->host)
		graph->host = n;
	*ret_node = n;
	return 0;
}

int graph_host(struct blkalign_graph *graph, struct blkalign_node **ret_node)
{
	if (!graph->host)
		return graph_add(graph, BLKALIGN_KIND_HOST, "host", ret_node);
	*ret_node = graph->host;
	return 0;
}

const char *blkalign_node_name(const struct blkalign_node *node) { return node->name; }
enum blkalign_kind blkalign_node_kind(const struct blkalign_node *node) { return node->kind; }
size_t blkalign_node_index(const struct blkalign_node *node) { return node->index; }

/* --- attributes --- */

static bool is_known(const struct blkalign_node *node, enum blkalign_attr attr) { return node->known[attr / 64] >> attr % 64 & 1; }

/* How many attributes before this one have values. */
static size_t rank(const struct blkalign_node *node, enum blkalign_attr attr)
{
	uint64_t before = node->known[attr / 64] & ((UINT64_C(1) << attr % 64) - 1);
	size_t count = (size_t)__builtin_popcountll(before);

	for (unsigned i = 0; i < attr / 64; i++)
		count += (size_t)__builtin_popcountll(node->known[i]);
	return count;
}

static int set(struct blkalign_node *node, enum blkalign_attr attr, struct blkalign_value value)
{
	size_t at = rank(node, attr);

	assert(blkalign_attr_info(attr)->type == value.type);
	if (!is_known(node, attr)) {
		if (vec_push(&node->values, value) < 0)
			return -ENOMEM;
		memmove(&node->values.data[at + 1], &node->values.data[at], (node->values.count - 1 - at) * sizeof(value));
		node->known[attr / 64] |= UINT64_C(1) << attr % 64;
	}
	node->values.data[at] = value;
	return 0;
}

int graph_set_u64(struct blkalign_node *node, enum blkalign_attr attr, uint64_t value, enum blkalign_origin origin)
{
	return set(node, attr, (struct blkalign_value){ .type = BLKALIGN_TYPE_U64, .origin = origin, .u64 = value });
}

int graph_set_i64(struct blkalign_node *node, enum blkalign_attr attr, int64_t value, enum blkalign_origin origin)
{
	return set(node, attr, (struct blkalign_value){ .type = BLKALIGN_TYPE_I64, .origin = origin, .i64 = value });
}

int graph_set_bool(struct blkalign_node *node, enum blkalign_attr attr, bool value, enum blkalign_origin origin)
{
	return set(node, attr, (struct blkalign_value){ .type = BLKALIGN_TYPE_BOOL, .origin = origin, .boolean = value });
}

int graph_set_str(struct blkalign_node *node, enum blkalign_attr attr, const char *value, enum blkalign_origin origin)
{
	const char *copy = arena_strdup(node->graph->arena, value);

	if (!copy)
		return -ENOMEM;
	return set(node, attr, (struct blkalign_value){ .type = BLKALIGN_TYPE_STR, .origin = origin, .str = copy });
}

const struct blkalign_value *blkalign_node_value(const struct blkalign_node *node, enum blkalign_attr attr)
{
	return is_known(node, attr) ? &node->values.data[rank(node, attr)] : NULL;
}

uint64_t blkalign_node_u64(const struct blkalign_node *node, enum blkalign_attr attr)
{
	const struct blkalign_value *v = blkalign_node_value(node, attr);

	if (!v)
		return BLKALIGN_UNKNOWN;
	return v->type == BLKALIGN_TYPE_BOOL ? (uint64_t)v->boolean : v->u64;
}

int64_t blkalign_node_i64(const struct blkalign_node *node, enum blkalign_attr attr, int64_t fallback)
{
	const struct blkalign_value *v = blkalign_node_value(node, attr);

	return v ? v->i64 : fallback;
}

const char *blkalign_node_str(const struct blkalign_node *node, enum blkalign_attr attr)
{
	const struct blkalign_value *v = blkalign_node_value(node, attr);

	return v ? v->str : NULL;
}

/* --- edges --- */

size_t blkalign_node_edges(const struct blkalign_node *node) { return node->edges.count; }
size_t blkalign_node_uppers(const struct blkalign_node *node) { return node->uppers.count; }

const struct blkalign_edge *blkalign_node_edge(const struct blkalign_node *node, size_t index)
{
	assert(index < node->edges.count);
	return &node->edges.data[index];
}

const struct blkalign_node *blkalign_node_upper(const struct blkalign_node *node, size_t index)
{
	assert(index < node->uppers.count);
	return node->uppers.data[index];
}

/* Marks keep this linear: a hostile snapshot may hold exponentially many paths. */
static bool reaches(struct blkalign_node *from, const struct blkalign_node *to, uint32_t mark)
{
	if (from == to)
		return true;
	/* Nothing lies on the goal, so no way down leads to it. */
	if (!to->uppers.count)
		return false;
	/* Heights shrink on every way down: nodes no higher than the goal cannot lead to it. */
	if (from->mark == mark || from->height <= to->height)
		return false;
	from->mark = mark;
	for (size_t i = 0; i < from->edges.count; i++)
		if (reaches(from->graph->nodes.data[from->edges.data[i].lower->index], to, mark))
			return true;
	return false;
}

static int raise_height(struct blkalign_node *node, uint32_t height)
{
	if (node->height >= height)
		return 0;
	if (height > GRAPH_DEPTH_MAX)
		return -ELOOP;
	node->height = height;
	for (size_t i = 0; i < node->uppers.count; i++) {
		int r = raise_height(node->graph->nodes.data[node->uppers.data[i]->index], height + 1);

		if (r < 0)
			return r;
	}
	return 0;
}

static bool edge_before(const struct blkalign_edge *a, const struct blkalign_edge *b)
{
	return a->segment != b->segment ? a->segment < b->segment : a->slot < b->slot;
}

/* Where edges of this segment and slot begin or, with `behind`, end. */
static size_t edge_position(const struct blkalign_node *upper, const struct blkalign_edge *edge, bool behind)
{
	size_t low = 0, high = upper->edges.count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct blkalign_edge *e = &upper->edges.data[middle];

		if (behind ? !edge_before(edge, e) : edge_before(e, edge))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* `known`: the two are connected already, perhaps by an edge that this one replaces. */
static int edge_insert(struct blkalign_node *upper, const struct blkalign_edge *edge, bool known)
{
	size_t first = edge_position(upper, edge, false), at = edge_position(upper, edge, true);

	for (size_t i = first; known && i < at; i++) {
		if (upper->edges.data[i].lower == edge->lower) {
			upper->edges.data[i] = *edge;
			return 0;
		}
	}
	if (at - first >= GRAPH_TWINS_MAX || upper->graph->edges >= GRAPH_EDGES_MAX)
		return -E2BIG;
	if (vec_push(&upper->edges, *edge) < 0)
		return -ENOMEM;
	upper->graph->edges++;
	memmove(&upper->edges.data[at + 1], &upper->edges.data[at], (upper->edges.count - 1 - at) * sizeof(*edge));
	upper->edges.data[at] = *edge;
	return 0;
}

int graph_connect(struct blkalign_graph *graph, const struct blkalign_edge *edge)
{
	struct blkalign_node *upper = graph->nodes.data[edge->upper->index], *lower = graph->nodes.data[edge->lower->index];
	bool known = pairs_has(upper, lower);
	struct blkalign_edge copy = *edge;
	int r;

	assert(edge->stripes >= 1);
	if (!known) {
		if (reaches(lower, upper, ++graph->mark))
			return -ELOOP;
		r = raise_height(upper, lower->height + 1);
		if (r < 0)
			return r;
	}
	if (copy.state && !(copy.state = arena_strdup(graph->arena, copy.state)))
		return -ENOMEM;
	r = edge_insert(upper, &copy, known);
	if (r >= 0)
		r = pairs_add(upper, lower);
	return r < 0 || known ? r : vec_push(&lower->uppers, upper);
}

int graph_connect_linear(struct blkalign_graph *graph, struct blkalign_node *upper, struct blkalign_node *lower,
			 uint64_t lower_offset_bytes, uint64_t length_bytes)
{
	return graph_connect(graph, &(struct blkalign_edge){ .upper = upper,
							     .lower = lower,
							     .lower_offset_bytes = lower_offset_bytes,
							     .length_bytes = length_bytes,
							     .stripes = 1 });
}

/* --- remarks --- */

int graph_remark(struct blkalign_graph *graph, const char *format, ...)
{
	char text[1024];
	va_list args;
	const char *copy;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	copy = arena_strdup(graph->arena, text);
	if (!copy)
		return -ENOMEM;
	return vec_push(&graph->remarks, copy);
}

size_t blkalign_graph_remarks(const struct blkalign_graph *graph) { return graph->remarks.count; }

const char *blkalign_graph_remark(const struct blkalign_graph *graph, size_t index)
{
	assert(index < graph->remarks.count);
	return graph->remarks.data[index];
}
