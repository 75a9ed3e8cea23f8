/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Building a graph. Reading one is <blkalign/graph.h>.
 *
 * All functions that can fail return 0 or negative errno (-ENOMEM, -E2BIG beyond the caps). Strings are copied.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <blkalign/graph.h>

#include "base/base.h"

#define GRAPH_NODES_MAX 100000U
#define GRAPH_EDGES_MAX 1000000U
#define GRAPH_DEPTH_MAX 64U
/** Edges of one node with the same segment and slot: spares and stale members. */
#define GRAPH_TWINS_MAX 4096U

/** `source` is static text. NULL without memory. */
struct blkalign_graph *graph_new(const char *source);
static inline void graph_freep(struct blkalign_graph **graph) { blkalign_graph_free(*graph); }
#define _cleanup_graph_ _cleanup_(graph_freep)

/** Memory that lives as long as the graph. */
struct arena *graph_arena(struct blkalign_graph *graph);
void graph_set_source(struct blkalign_graph *graph, const char *source);
/** What the pseudonyms of this host are derived from: its machine id. Never stored, never shown. NULL when there is none. */
int graph_set_secret(struct blkalign_graph *graph, const char *secret);
const char *graph_secret(const struct blkalign_graph *graph);

/** A new node; a name that is taken already gets "#2", "#3", ... appended. */
int graph_add(struct blkalign_graph *graph, enum blkalign_kind kind, const char *name, struct blkalign_node **ret_node);
/** The node of this name for changing, or NULL. */
struct blkalign_node *graph_find(struct blkalign_graph *graph, const char *name);
/** Node `index` for changing. */
struct blkalign_node *graph_node(struct blkalign_graph *graph, size_t index);
/** The host node, made when there is none. */
int graph_host(struct blkalign_graph *graph, struct blkalign_node **ret_node);
struct blkalign_graph *graph_of(const struct blkalign_node *node);
void graph_set_kind(struct blkalign_node *node, enum blkalign_kind kind);

/** Set or replace a value. The function must fit the attribute's type in attrs.def. */
int graph_set_u64(struct blkalign_node *node, enum blkalign_attr attr, uint64_t value, enum blkalign_origin origin);
int graph_set_i64(struct blkalign_node *node, enum blkalign_attr attr, int64_t value, enum blkalign_origin origin);
int graph_set_bool(struct blkalign_node *node, enum blkalign_attr attr, bool value, enum blkalign_origin origin);
int graph_set_str(struct blkalign_node *node, enum blkalign_attr attr, const char *value, enum blkalign_origin origin);

/**
 * Add an edge from `edge->upper` down to `edge->lower` (both of this graph). An edge with the same lower node, segment and slot is
 * replaced. Refuses with -ELOOP an edge that closes a cycle or makes the graph deeper than GRAPH_DEPTH_MAX.
 */
int graph_connect(struct blkalign_graph *graph, const struct blkalign_edge *edge);
/** The common case: one segment, `upper` lies whole at `lower_offset_bytes` of `lower`. */
int graph_connect_linear(struct blkalign_graph *graph, struct blkalign_node *upper, struct blkalign_node *lower,
			 uint64_t lower_offset_bytes, uint64_t length_bytes);

/**
 * Put the nodes into the order that readers of the graph may rely on: lower devices before what lies on them, otherwise as they were added. To be
 * called once, when everything is connected: indexes change.
 */
int graph_sort(struct blkalign_graph *graph);

/** blkalign_node_places() for those who ask of many nodes: `places` is used again and grows. */
struct graph_places {
	struct blkalign_place *data;
	size_t count;
	size_t room;
};
int graph_places(const struct blkalign_node *node, uint64_t offset_bytes, struct graph_places *places);

/** A sentence for blkalign_graph_remark(). */
int graph_remark(struct blkalign_graph *graph, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
