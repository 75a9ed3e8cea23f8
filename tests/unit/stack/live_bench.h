/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A dumped tree in a temporary folder, and what is read of it. */
#ifndef UNIT_STACK_LIVE_BENCH_H
#define UNIT_STACK_LIVE_BENCH_H

#include "tree.h"

#include <blkalign/source.h>

static char folder[PATH_MAX];

static inline int setup_founding(void **state)
{
	(void)state;
	tree_make(folder, "founding");
	return 0;
}

static inline int setup_empty(void **state)
{
	(void)state;
	tree_make(folder, NULL);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	tree_remove(folder);
	return 0;
}

static inline struct blkalign_graph *read_tree(void)
{
	struct blkalign_source_options options = { .sysroot = folder };
	struct blkalign_error error = { 0 };
	struct blkalign_graph *graph = NULL;

	if (blkalign_read_host(&options, &graph, &error) < 0)
		fail_msg("%s: %s", error.where, error.message);
	return graph;
}

static inline const struct blkalign_node *need(const struct blkalign_graph *graph, const char *name)
{
	const struct blkalign_node *node = blkalign_graph_find(graph, name);

	if (!node)
		fail_msg("no node %s", name);
	return node;
}

static inline const char *shown(const struct blkalign_node *node, const char *key, char buffer[64])
{
	enum blkalign_attr attr = blkalign_attr_find(key);
	const struct blkalign_value *value;

	assert_true(attr < BLKALIGN_ATTR_COUNT);
	value = blkalign_node_value(node, attr);
	if (!value)
		return "(unknown)";
	if (value->type == BLKALIGN_TYPE_STR)
		return value->str;
	if (value->type == BLKALIGN_TYPE_I64)
		snprintf(buffer, 64, "%jd", (intmax_t)value->i64);
	else
		snprintf(buffer, 64, "%ju", (uintmax_t)blkalign_node_u64(node, attr));
	return buffer;
}

static inline void expect(const struct blkalign_graph *graph, const char *name, const char *key, const char *value)
{
	char buffer[64];
	const char *found = shown(need(graph, name), key, buffer);

	if (strcmp(found, value) != 0)
		fail_msg("%s %s: found %s, expected %s", name, key, found, value);
}

static inline const struct blkalign_edge *edge_to(const struct blkalign_graph *graph, const char *upper, const char *lower)
{
	const struct blkalign_node *node = need(graph, upper);

	for (size_t i = 0; i < blkalign_node_edges(node); i++)
		if (!strcmp(blkalign_node_name(blkalign_node_edge(node, i)->lower), lower))
			return blkalign_node_edge(node, i);
	fail_msg("no edge from %s to %s", upper, lower);
	abort();
}

#endif
