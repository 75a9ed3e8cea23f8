/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which nodes lie on which, to be asked at every edge: a volume of 100,000 segments on a thousand devices would take too long by looking
 * through its edges, which is what is done where there are few. Pairs of indexes, which do not change before graph_sort(); hashed with a key as names are.
 */
#include "graph/graph_priv.h"

#define FEW_EDGES 8U

/* Upper index + 1 above, so that no pair is 0. */
static uint64_t pair_of(const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	return ((uint64_t)upper->index + 1) << 32 | lower->index;
}

static size_t pair_slot(const struct blkalign_graph *g, uint64_t pair)
{
	size_t i = (size_t)siphash(&g->key, &pair, sizeof(pair)) & (g->pairs_room - 1);

	while (g->pairs[i] && g->pairs[i] != pair)
		i = (i + 1) & (g->pairs_room - 1);
	return i;
}

static int reserve(struct blkalign_graph *g)
{
	size_t old_room = g->pairs_room, room = old_room ? old_room * 2 : 64;
	uint64_t *old = g->pairs, *pairs;

	if (g->pairs_count * 2 < old_room)
		return 0;
	pairs = calloc(room, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	g->pairs = pairs;
	g->pairs_room = room;
	for (size_t i = 0; i < old_room; i++)
		if (old[i])
			pairs[pair_slot(g, old[i])] = old[i];
	free(old);
	return 0;
}

static bool by_edges(const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	for (size_t i = 0; i < upper->edges.count; i++)
		if (upper->edges.data[i].lower == lower)
			return true;
	return false;
}

bool pairs_has(const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	const struct blkalign_graph *graph = upper->graph;

	if (upper->edges.count <= FEW_EDGES)
		return by_edges(upper, lower);
	return graph->pairs_room && graph->pairs[pair_slot(graph, pair_of(upper, lower))];
}

static int add(struct blkalign_graph *graph, uint64_t pair)
{
	size_t slot;

	if (reserve(graph) < 0)
		return -ENOMEM;
	slot = pair_slot(graph, pair);
	graph->pairs_count += !graph->pairs[slot];
	graph->pairs[slot] = pair;
	return 0;
}

int pairs_add(const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	if (upper->edges.count > FEW_EDGES + 1)
		return add(upper->graph, pair_of(upper, lower));
	/* One more than few: from now on all are looked for in the table. */
	for (size_t i = 0; i < upper->edges.count && upper->edges.count > FEW_EDGES; i++)
		if (add(upper->graph, pair_of(upper, upper->edges.data[i].lower)) < 0)
			return -ENOMEM;
	return 0;
}

void pairs_done(struct blkalign_graph *graph)
{
	free(graph->pairs);
	graph->pairs = NULL;
	graph->pairs_room = graph->pairs_count = 0;
}
