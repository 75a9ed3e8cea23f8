/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Monitoring: the Nagios plugin line, and OpenMetrics text for a textfile collector. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

int report_nagios(const struct report_totals *t, bool failed)
{
	static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };
	int status = failed && t->worst < BLKALIGN_VERDICT_WARNING ? 3
		     : t->worst >= BLKALIGN_VERDICT_MISALIGNED	   ? 2
		     : t->worst == BLKALIGN_VERDICT_WARNING	   ? 1
		     : t->worst == BLKALIGN_VERDICT_UNKNOWN	   ? 3
								   : 0;
	char first[sizeof(t->first)];

	/* A "|" would begin the performance data. */
	snprintf(first, sizeof(first), "%s", t->first);
	for (char *p = first; *p; p++)
		*p = *p == '|' || *p == '\n' ? ' ' : *p;
	printf("BLKALIGN %s - %zu errors, %zu warnings, %zu notes%s%s | errors=%zu warnings=%zu notes=%zu\n", words[status], t->errors,
	       t->warnings, t->notes, status && *first ? ": " : "", status ? first : "", t->errors, t->warnings, t->notes);
	return status;
}

/*
 * All samples of a metric stand together in the output, whatever the number of targets: each family collects in a stream of its own.
 */
static struct family {
	const char *name, *help;
	FILE *stream;
	char *text;
	size_t length;
} families[] = {
	{ .name = "blkalign_status", .help = "0 aligned, 1 could not be judged, 2 warnings, 3 misaligned or at risk." },
	{ .name = "blkalign_findings", .help = "Number of findings by severity." },
	{ .name = "blkalign_finding", .help = "One finding: where it shows and which layer is guilty." },
};
enum { STATUS, FINDINGS, FINDING, FAMILIES };

int report_openmetrics_begin(void)
{
	for (unsigned i = 0; i < FAMILIES; i++) {
		families[i].stream = open_memstream(&families[i].text, &families[i].length);
		if (!families[i].stream)
			return -1;
	}
	return 0;
}

/* A label value: backslash, quote and line feed are escaped as the format asks; controls cannot be there any more. */
static void label(FILE *out, const char *name, const char *text, const char *before)
{
	fprintf(out, "%s%s=\"", before, name);
	for (const char *p = cli_safe(text); *p; p++) {
		if (*p == '\\' || *p == '"')
			putc('\\', out);
		putc(*p, out);
	}
	putc('"', out);
}

static FILE *begin(unsigned family, const char *target)
{
	fprintf(families[family].stream, "%s{", families[family].name);
	label(families[family].stream, "target", target, "");
	return families[family].stream;
}

static void finding_sample(const char *target, const struct blkalign_finding *f)
{
	FILE *out = begin(FINDING, target);

	label(out, "id", f->info->id, ",");
	label(out, "severity", blkalign_severity_name(f->severity), ",");
	label(out, "node", blkalign_node_name(f->node), ",");
	label(out, "cause", blkalign_node_name(f->cause), ",");
	fprintf(out, "} 1\n");
}

void report_openmetrics(const char *target, const struct blkalign_report *report, int status)
{
	size_t by_severity[3] = { 0 };

	fprintf(begin(STATUS, target), "} %d\n", status);
	for (size_t i = 0; i < blkalign_report_findings(report); i++) {
		by_severity[blkalign_report_finding(report, i)->severity]++;
		finding_sample(target, blkalign_report_finding(report, i));
	}
	for (unsigned s = 0; s < 3; s++) {
		FILE *out = begin(FINDINGS, target);

		label(out, "severity", blkalign_severity_name((enum blkalign_severity)s), ",");
		fprintf(out, "} %zu\n", by_severity[s]);
	}
}

void report_openmetrics_end(void)
{
	for (unsigned i = 0; i < FAMILIES; i++) {
		fclose(families[i].stream);
		printf("# HELP %s %s\n# TYPE %s gauge\n%s", families[i].name, families[i].help, families[i].name, families[i].text);
		free(families[i].text);
	}
	printf("# EOF\n");
}
