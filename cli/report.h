/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The faces of a report: for people, for programs, for monitoring. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli.h"

/** Counts over all graphs of a run, for the faces that say one thing about all. */
struct report_totals {
	size_t graphs;
	size_t errors, warnings, notes;
	enum blkalign_verdict worst;
	char first[512]; /* message of the worst finding */
};

void report_text(const struct cli_options *options, const char *label, const struct blkalign_graph *graph,
		 const struct blkalign_report *report);
/** On one line when `line`. */
void report_json(const char *label, const struct blkalign_graph *graph, const struct blkalign_report *report, bool line);

/** Samples of one graph; begin (negative without memory) and end stand around all. `target` is never NULL. */
int report_openmetrics_begin(void);
void report_openmetrics(const char *target, const struct blkalign_report *report, int status);
void report_openmetrics_end(void);

/** One line; returns the plugin's exit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. `failed`: something could not be read. */
int report_nagios(const struct report_totals *totals, bool failed);

#endif
