/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "check/rules.h"

#define KIND(kind) (1U << BLKALIGN_KIND_##kind)
#define STACKED	   (KIND(MD) | KIND(LV) | KIND(DM) | KIND(CRYPT) | KIND(BCACHE))

/* Which kinds of node each rule looks at. */
static const struct {
	unsigned kinds;
	void (*look)(struct check *c, const struct blkalign_node *node);
} rules[] = {
	{ KIND(DISK) | STACKED, rule_hint },
	{ ~KIND(HOST), rule_read_ahead },
	{ KIND(DISK) | STACKED, rule_minimum },
	{ KIND(DISK), rule_physical },
	{ KIND(DISK), rule_size },
	{ KIND(DISK) | KIND(PARTITION) | STACKED, rule_alignment_offset },
	{ KIND(PARTITION), rule_round_partition },
	{ KIND(PARTITION), rule_partition_end },
	{ KIND(DISK) | KIND(LV) | KIND(CRYPT), rule_table_end },
	{ KIND(PARTITION), rule_container },
	{ KIND(PV), rule_round_pv },
	{ KIND(MD), rule_md },
	{ KIND(LV), rule_volume_state },
	{ KIND(LV), rule_lv_records },
	{ KIND(MD), rule_mixed_md },
	{ KIND(CRYPT), rule_mixed_crypt },
	{ KIND(CRYPT), rule_luks },
	{ KIND(CONTENT), rule_fs },
	{ ~KIND(HOST), rule_messages },
};

void rules_run(struct check *c)
{
	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(c->graph, i);
		unsigned kind = 1U << blkalign_node_kind(node);

		for (size_t j = 0; j < ARRAY_SIZE(rules); j++)
			if (rules[j].kinds & kind)
				rules[j].look(c, node);
	}
	rule_mixed_groups(c);
	rule_mixed_free(c);
}
