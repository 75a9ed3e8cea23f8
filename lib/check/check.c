/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "check/check.h"
#include "check/recompute.h"
#include "check/rules.h"

const char *check_name(struct check *c, const struct blkalign_node *node)
{
	struct facts *f = facts_of(c, node);

	if (!f->name)
		f->name = report_escaped(c->report, blkalign_node_name(node));
	return f->name;
}

void check_report(struct check *c, enum finding finding, enum impact impact, const struct blkalign_node *node, uint64_t found_bytes,
		  uint64_t expected_bytes, const char *message)
{
	report_add(c->report, &(struct draft){ .finding = finding,
					       .impact = impact,
					       .node = node,
					       .found_bytes = found_bytes,
					       .expected_bytes = expected_bytes,
					       .message = message });
}

static void check_done(struct check *c)
{
	free(c->facts);
	free(c->limits);
	vec_done(&c->blames);
}

static int run(struct check *c)
{
	c->facts = calloc(blkalign_graph_size(c->graph) + 1, sizeof(*c->facts));
	if (!c->facts)
		return -ENOMEM;
	facts_collect(c);
	c->limits = recompute_limits(c);
	if (!c->limits)
		return -ENOMEM;
	rules_exempt(c);
	judge_graph(c);
	judge_report(c);
	rules_run(c);
	return c->failed ? -ENOMEM : 0;
}

int blkalign_check(const struct blkalign_graph *graph, struct blkalign_report **ret_report, struct blkalign_error *reterr)
{
	struct check c = { .graph = graph, .host = blkalign_graph_host(graph), .report = report_new() };
	int r = c.report ? run(&c) : -ENOMEM;

	if (r >= 0)
		r = report_finish(c.report);
	check_done(&c);
	if (r < 0) {
		blkalign_report_free(c.report);
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "cannot judge the stack: %s", strerror(-r));
	}
	*ret_report = c.report;
	return 0;
}
