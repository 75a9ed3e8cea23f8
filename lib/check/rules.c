/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "check/rules.h"

static const struct {
	enum blkalign_kind kind;
	void (*look)(struct check *c, const struct blkalign_node *node);
} rules[] = {
	{ BLKALIGN_KIND_DISK, rule_hint },    { BLKALIGN_KIND_DISK, rule_read_ahead },
	{ BLKALIGN_KIND_DISK, rule_minimum }, { BLKALIGN_KIND_PARTITION, rule_round_partition },
	{ BLKALIGN_KIND_PV, rule_round_pv },
};

void rules_run(struct check *c)
{
	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(c->graph, i);

		for (size_t j = 0; j < ARRAY_SIZE(rules); j++)
			if (rules[j].kind == blkalign_node_kind(node))
				rules[j].look(c, node);
	}
}
