/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which array of a stack is meant, and its members side by side. */
#include "run/md_view.h"
#include "run/run.h"

bool run_is_array(const struct blkalign_node *node)
{
	const char *type = blkalign_node_str(node, BLKALIGN_ATTR_LV_TYPE), *level = blkalign_node_str(node, BLKALIGN_ATTR_MD_LEVEL);

	if (blkalign_node_kind(node) == BLKALIGN_KIND_MD)
		return true;
	return blkalign_node_kind(node) == BLKALIGN_KIND_LV && blkalign_node_u64(node, BLKALIGN_ATTR_LV_HIDDEN) != 1 && type && level &&
	       !strncmp(type, "raid", strlen("raid")) && strcmp(level, "raid0") != 0;
}

static const struct blkalign_node *the_array(const struct blkalign_run *run, struct strbuf *names, size_t *ret_count)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);
	const struct blkalign_node *found = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);

		if (!run_is_array(node))
			continue;
		strbuf_printf(names, "%s%s", names->length ? ", " : "", blkalign_node_name(node));
		found = node;
		++*ret_count;
	}
	return found;
}

int run_md_node(const struct blkalign_run *run, const struct blkalign_node **node, struct blkalign_error *reterr)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };
	size_t count;

	if (*node && !run_is_array(*node))
		return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(*node), BLKALIGN_UNKNOWN,
					  "is no md array and no RAID volume");
	if (*node)
		return 0;
	*node = the_array(run, &names, &count);
	if (!count)
		return blkalign_error_set(reterr, -ENOENT, NULL, BLKALIGN_UNKNOWN,
					  "there is no md array or RAID volume on these members; `blkalign show` tells what is on them");
	if (count > 1)
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN,
					  "there are %zu arrays and RAID volumes, name one with --node: %s", count, strbuf_text(&names));
	return 0;
}

int run_md(const struct blkalign_run *run, const struct blkalign_node **node, struct md_view *ret, struct blkalign_error *reterr)
{
	int r = run_md_node(run, node, reterr);

	if (r >= 0)
		r = run_dev(run, *node, &ret->md, reterr);
	if (r < 0)
		return r;
	ret->members = map_md_members(ret->md, &ret->geometry);
	if (!ret->members)
		return blkalign_error_set(reterr, -ENOTSUP, blkalign_node_name(*node), BLKALIGN_UNKNOWN,
					  "is in the middle of a reshape: let the kernel end that first");
	return 0;
}

const struct blkalign_node *run_md_member(const struct blkalign_node *node, uint32_t slot)
{
	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		const struct blkalign_edge *edge = blkalign_node_edge(node, i);

		if (edge->slot == slot)
			return edge->lower;
	}
	return NULL;
}
