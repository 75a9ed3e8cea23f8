/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Before anything is judged: partitions whose place was read in the wrong unit or through the wrong device. */
#include "check/rules.h"

static bool table_is_wrong(const struct blkalign_node *partition)
{
	return blkalign_node_edges(partition) && attr_is(blkalign_node_edge(partition, 0)->lower, BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
}

void rules_exempt(struct check *c)
{
	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(c->graph, i);

		if (blkalign_node_kind(n) == BLKALIGN_KIND_PARTITION && table_is_wrong(n))
			facts_of(c, n)->exempt = EXEMPT_WRONG_UNIT;
	}
}
