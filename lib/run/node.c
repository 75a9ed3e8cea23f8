/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which node is meant. Guessing would be dangerous, so that without a name there must be just one answer. */
#include "run/run.h"

static bool is_volume(const struct blkalign_node *node)
{
	enum blkalign_kind kind = blkalign_node_kind(node);

	return kind == BLKALIGN_KIND_MD || kind == BLKALIGN_KIND_LV;
}

bool run_below_a_volume(const struct blkalign_node *node)
{
	for (size_t i = 0; i < blkalign_node_uppers(node); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(node, i);

		if (is_volume(upper) || run_below_a_volume(upper))
			return true;
	}
	return false;
}

static int no_single(const struct blkalign_run *run, size_t found, struct blkalign_error *reterr)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);
	_cleanup_strbuf_ struct strbuf names = { 0 };

	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);

		if (found ? is_volume(node) && !run_below_a_volume(node) : stack_dev(run->stack, node) != NULL)
			strbuf_printf(&names, "%s%s", names.length ? ", " : "", blkalign_node_name(node));
	}
	if (!found)
		return blkalign_error_set(reterr, -ENOENT, NULL, BLKALIGN_UNKNOWN,
					  "no array or logical volume was found; name a node with --node, one of: %s", strbuf_text(&names));
	return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "there are %zu volumes, name one with --node: %s", found,
				  strbuf_text(&names));
}

static int no_such(const struct blkalign_graph *graph, const char *name, struct blkalign_error *reterr)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };

	for (size_t i = 0; i < blkalign_graph_size(graph); i++)
		strbuf_printf(&names, "%s%s", i ? ", " : "", blkalign_node_name(blkalign_graph_node(graph, i)));
	return blkalign_error_set(reterr, -ENOENT, name, BLKALIGN_UNKNOWN, "there is no such node in this stack, which has %s",
				  strbuf_text(&names));
}

/* People write "lv:VG/LV", as it is "pv:DEVICE". */
static const struct blkalign_node *find_called(const struct blkalign_graph *graph, const char *name)
{
	const struct blkalign_node *node = blkalign_graph_find(graph, name);

	if (node || strncmp(name, "lv:", 3) != 0)
		return node;
	node = blkalign_graph_find(graph, name + 3);
	return node && blkalign_node_kind(node) == BLKALIGN_KIND_LV ? node : NULL;
}

int blkalign_run_node(const struct blkalign_run *run, const char *name, const struct blkalign_node **ret_node,
		      struct blkalign_error *reterr)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);
	const struct blkalign_node *volume = NULL;
	size_t found = 0;

	if (name) {
		*ret_node = find_called(graph, name);
		return *ret_node ? 0 : no_such(graph, name, reterr);
	}
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);

		if (!is_volume(node) || run_below_a_volume(node))
			continue;
		volume = node;
		found++;
	}
	if (found != 1)
		return no_single(run, found, reterr);
	*ret_node = volume;
	return 0;
}
