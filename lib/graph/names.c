/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes by name. Names come from disks and snapshots: the hash has a key, so that nobody can choose names that fall on each other. */
#include <inttypes.h>

#include "graph/graph_priv.h"

/* The place of `name` in the table: where it is, or where it would go. */
static size_t name_slot(const struct blkalign_graph *g, const char *name)
{
	size_t i = (size_t)siphash(&g->key, name, strlen(name)) & (g->names_room - 1);

	while (g->names[i] && strcmp(g->nodes.data[g->names[i] - 1]->name, name) != 0)
		i = (i + 1) & (g->names_room - 1);
	return i;
}

static int reserve(struct blkalign_graph *g)
{
	size_t room = g->names_room ? g->names_room * 2 : 64;
	uint32_t *names;

	if (g->nodes.count * 2 < g->names_room)
		return 0;
	names = calloc(room, sizeof(*names));
	if (!names)
		return -ENOMEM;
	free(g->names);
	g->names = names;
	g->names_room = room;
	for (uint32_t i = 0; i < g->nodes.count; i++)
		names[name_slot(g, g->nodes.data[i]->name)] = i + 1;
	return 0;
}

struct blkalign_node *names_find(const struct blkalign_graph *graph, const char *name)
{
	size_t slot;

	if (!graph->names_room)
		return NULL;
	slot = name_slot(graph, name);
	return graph->names[slot] ? graph->nodes.data[graph->names[slot] - 1] : NULL;
}

/* The first node of a name remembers how far the numbers behind it went: names that all want to be equal cost no search each. */
const char *names_make(struct blkalign_graph *graph, const char *name)
{
	struct blkalign_node *first = names_find(graph, name);
	const char *unique;

	if (!first)
		return arena_strdup(graph->arena, name);
	do
		unique = arena_printf(graph->arena, "%s#%" PRIu32, name, ++first->twins + 1);
	while (unique && names_find(graph, unique));
	return unique;
}

int names_push(struct blkalign_graph *graph, struct blkalign_node *node)
{
	if (reserve(graph) < 0 || vec_push(&graph->nodes, node) < 0)
		return -ENOMEM;
	graph->names[name_slot(graph, node->name)] = node->index + 1;
	return 0;
}
