/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "report.h"
#include "table.h"

struct check {
	struct report_totals totals;
	struct columns columns;
	bool lines; /* several targets: JSON on one line each */
};

static int status_of(enum blkalign_verdict verdict)
{
	switch (verdict) {
	case BLKALIGN_VERDICT_ALIGNED:
		return CLI_ALIGNED;
	case BLKALIGN_VERDICT_WARNING:
		return CLI_WARNINGS;
	case BLKALIGN_VERDICT_MISALIGNED:
	case BLKALIGN_VERDICT_AT_RISK:
		return CLI_MISALIGNED;
	case BLKALIGN_VERDICT_UNKNOWN:
		break;
	}
	return CLI_FAILED;
}

static void count(struct report_totals *t, const struct blkalign_report *report)
{
	enum blkalign_verdict verdict = blkalign_report_verdict(report);

	if (blkalign_report_findings(report) && (!t->graphs || verdict > t->worst))
		snprintf(t->first, sizeof(t->first), "%s", blkalign_report_finding(report, 0)->message);
	t->worst = !t->graphs || verdict > t->worst ? verdict : t->worst;
	t->graphs++;
	for (size_t i = 0; i < blkalign_report_findings(report); i++) {
		switch (blkalign_report_finding(report, i)->severity) {
		case BLKALIGN_ERROR:
			t->errors++;
			break;
		case BLKALIGN_WARNING:
			t->warnings++;
			break;
		case BLKALIGN_NOTE:
			t->notes++;
			break;
		}
	}
}

static const char *target_name(const struct blkalign_graph *graph)
{
	const struct blkalign_node *host = blkalign_graph_host(graph);
	const char *name = host ? blkalign_node_str(host, BLKALIGN_ATTR_HOST_NAME) : NULL;

	return name ? name : blkalign_graph_source(graph);
}

static int print(const struct cli_options *o, const char *label, const struct blkalign_graph *graph, const struct blkalign_report *report,
		 const struct check *c)
{
	if (o->json)
		report_json(label, graph, report, c->lines);
	else if (o->openmetrics)
		report_openmetrics(label ? label : target_name(graph), report, status_of(blkalign_report_verdict(report)));
	else if (o->columns)
		return table_print(o, &c->columns, graph, report);
	else if (!o->quiet && !o->nagios)
		report_text(o, label, graph, report);
	return CLI_ALIGNED;
}

static int check_graph(const struct cli_options *o, const char *label, struct blkalign_graph *graph, void *data)
{
	struct check *c = data;
	struct blkalign_report *report = NULL;
	struct blkalign_error err = { 0 };
	int r = blkalign_check(graph, &report, &err), status;

	if (r < 0) {
		err.code = r;
		return cli_fail(&err);
	}
	count(&c->totals, report);
	status = print(o, label, graph, report, c);
	if (status == CLI_ALIGNED)
		status = status_of(blkalign_report_verdict(report));
	blkalign_report_free(report);
	return status;
}

int cmd_check(const struct cli_options *o)
{
	struct check c = { .lines = o->target_count > 1 };
	int status;

	if (o->list_columns) {
		columns_list();
		return CLI_ALIGNED;
	}
	if (columns_parse(o->columns, &c.columns))
		return CLI_FAILED;
	if (o->openmetrics && report_openmetrics_begin())
		return cli_fail(&(struct blkalign_error){ .message = "out of memory" });
	status = cli_each_graph(o, check_graph, &c);
	if (o->openmetrics)
		report_openmetrics_end();
	return o->nagios ? report_nagios(&c.totals, status == CLI_FAILED) : status;
}
