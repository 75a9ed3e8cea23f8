/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources that learn of a lower device after the ones on it (metadata read late, hand-written files) put the order right at the end. */
#include "graph/graph_priv.h"

/* The depth is bounded by GRAPH_DEPTH_MAX: graph_connect() refuses deeper graphs. */
static void place(struct blkalign_node *node, uint32_t mark, struct blkalign_node **sorted, uint32_t *count)
{
	if (node->mark == mark)
		return;
	node->mark = mark;
	for (size_t i = 0; i < node->edges.count; i++)
		place(node->graph->nodes.data[node->edges.data[i].lower->index], mark, sorted, count);
	sorted[(*count)++] = node;
}

int graph_sort(struct blkalign_graph *graph)
{
	struct blkalign_node **sorted = calloc(graph->nodes.count + 1, sizeof(*sorted));
	uint32_t count = 0, mark = ++graph->mark;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < graph->nodes.count; i++)
		place(graph->nodes.data[i], mark, sorted, &count);
	for (size_t i = 0; i < graph->names_room; i++)
		if (graph->names[i])
			graph->nodes.data[graph->names[i] - 1]->mark = (uint32_t)i;
	for (uint32_t i = 0; i < count; i++) {
		graph->names[sorted[i]->mark] = i + 1;
		sorted[i]->index = i;
		sorted[i]->mark = mark;
	}
	pairs_done(graph);
	free(graph->nodes.data);
	graph->nodes.data = sorted;
	graph->nodes.room = count + 1;
	return 0;
}
