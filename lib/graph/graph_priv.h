/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GRAPH_GRAPH_PRIV_H
#define GRAPH_GRAPH_PRIV_H

#include "graph/graph.h"

#define ATTR_WORDS ((BLKALIGN_ATTR_COUNT + 63) / 64)

struct blkalign_node {
	struct blkalign_graph *graph;
	const char *name;
	enum blkalign_kind kind;
	uint32_t index;
	uint32_t height; /* longest way down; grows only */
	uint32_t mark;	 /* of the last walk that passed */
	uint32_t twins;	 /* nodes that wanted this one's name and got a number */
	uint64_t name_hash;
	uint64_t known[ATTR_WORDS];	   /* a bit for each attribute that has a value */
	VEC(struct blkalign_value) values; /* of those, in their order: nodes carry some 20 of 150, so a full table would waste memory */
	VEC(struct blkalign_edge) edges;
	VEC(const struct blkalign_node *) uppers;
};

struct blkalign_graph {
	struct arena *arena;
	const char *source;
	const char *secret; /* or NULL */
	struct blkalign_node *host;
	VEC(struct blkalign_node *) nodes;
	VEC(const char *) remarks;
	uint32_t *names; /* open addressing: index + 1 of the node, 0 for free; power-of-two size */
	size_t names_room;
	uint64_t *pairs; /* open addressing: who lies on whom, see pairs.c */
	size_t pairs_room;
	size_t pairs_count;
	struct sipkey key; /* of both tables */
	size_t edges;
	uint32_t mark;
};

struct blkalign_node *names_find(const struct blkalign_graph *graph, const char *name);
/** Name `node` `name`, or `name` with a number when it is taken. 0 or -ENOMEM. */
int names_give(struct blkalign_node *node, const char *name);
/** Put a node, whose name is made and whose index is the next, into the graph. */
int names_push(struct blkalign_graph *graph, struct blkalign_node *node);

/** True when an edge leads from `upper` to `lower`. */
bool pairs_has(const struct blkalign_node *upper, const struct blkalign_node *lower);
/** To be told of every edge that was added. */
int pairs_add(const struct blkalign_node *upper, const struct blkalign_node *lower);
void pairs_done(struct blkalign_graph *graph);

#endif
