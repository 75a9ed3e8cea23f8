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

int check_begin(struct check *c, const struct blkalign_graph *graph)
{
	*c = (struct check){ .graph = graph, .host = blkalign_graph_host(graph), .report = report_new() };
	c->facts = calloc(blkalign_graph_size(graph) + 1, sizeof(*c->facts));
	if (!c->report || !c->facts)
		return -ENOMEM;
	facts_collect(c);
	return 0;
}

void check_end(struct check *c)
{
	blkalign_report_free(c->report);
	free(c->facts);
	free(c->limits);
	vec_done(&c->blames);
	vec_done(&c->way);
	strbuf_done(&c->line);
}

static int run(struct check *c)
{
	c->limits = recompute_limits(c);
	if (!c->limits)
		return -ENOMEM;
	rules_exempt(c);
	judge_graph(c);
	judge_report(c);
	rules_run(c);
	return c->failed ? -ENOMEM : report_finish(c->report);
}

int blkalign_check(const struct blkalign_graph *graph, struct blkalign_report **ret_report, struct blkalign_error *reterr)
{
	struct check c;
	int r = check_begin(&c, graph);

	if (r >= 0)
		r = run(&c);
	if (r < 0)
		blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "cannot judge the stack: %s", strerror(-r));
	else {
		*ret_report = c.report;
		c.report = NULL;
	}
	check_end(&c);
	return r;
}
