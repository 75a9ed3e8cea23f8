/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes by name. Names come from disks and snapshots: the hash has a key, so that nobody can choose names that fall on each other. */
#include <inttypes.h>

#include "graph/graph_priv.h"

static uint64_t hash_of(const struct blkalign_graph *g, const char *name) { return siphash(&g->key, name, strlen(name)); }

/* The place of `name` in the table: where it is, or where it would go. */
static size_t name_slot(const struct blkalign_graph *g, const char *name, uint64_t hash)
{
	for (size_t i = (size_t)hash & (g->names_room - 1);; i = (i + 1) & (g->names_room - 1)) {
		const struct blkalign_node *n = g->names[i] ? g->nodes.data[g->names[i] - 1] : NULL;

		if (!n || (n->name_hash == hash && !strcmp(n->name, name)))
			return i;
	}
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
		names[name_slot(g, g->nodes.data[i]->name, g->nodes.data[i]->name_hash)] = i + 1;
	return 0;
}

static struct blkalign_node *find(const struct blkalign_graph *graph, const char *name, uint64_t hash)
{
	size_t slot;

	if (!graph->names_room)
		return NULL;
	slot = name_slot(graph, name, hash);
	return graph->names[slot] ? graph->nodes.data[graph->names[slot] - 1] : NULL;
}

struct blkalign_node *names_find(const struct blkalign_graph *graph, const char *name) { return find(graph, name, hash_of(graph, name)); }

/* The first node of a name remembers how far the numbers behind it went: names that all want to be equal cost no search each. */
int names_give(struct blkalign_node *node, const char *name)
{
	struct blkalign_graph *graph = node->graph;
	uint64_t hash = hash_of(graph, name);
	struct blkalign_node *first = find(graph, name, hash);
	const char *unique = first ? NULL : arena_strdup(graph->arena, name);

	while (first && (!unique || find(graph, unique, hash))) {
		unique = arena_printf(graph->arena, "%s#%" PRIu32, name, ++first->twins + 1);
		if (!unique)
			return -ENOMEM;
		hash = hash_of(graph, unique);
	}
	node->name = unique;
	node->name_hash = hash;
	return unique ? 0 : -ENOMEM;
}

int names_push(struct blkalign_graph *graph, struct blkalign_node *node)
{
	if (reserve(graph) < 0 || vec_push(&graph->nodes, node) < 0)
		return -ENOMEM;
	graph->names[name_slot(graph, node->name, node->name_hash)] = node->index + 1;
	return 0;
}
