/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which nodes lie on which, to be asked at every edge: a volume of 100,000 segments on a thousand devices would take too long by looking
 * through lists. Pairs of indexes, which do not change before graph_sort(); hashed with a key as names are.
 */
#include "graph/graph_priv.h"

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

bool pairs_has(const struct blkalign_graph *graph, const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	return graph->pairs_room && graph->pairs[pair_slot(graph, pair_of(upper, lower))];
}

int pairs_add(struct blkalign_graph *graph, const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	uint64_t pair = pair_of(upper, lower);

	if (reserve(graph) < 0)
		return -ENOMEM;
	graph->pairs[pair_slot(graph, pair)] = pair;
	graph->pairs_count++;
	return 0;
}

void pairs_done(struct blkalign_graph *graph)
{
	free(graph->pairs);
	graph->pairs = NULL;
	graph->pairs_room = graph->pairs_count = 0;
}
