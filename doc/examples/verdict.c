/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libblkalign in 40 lines: judge the images or snapshots named on the command line.
 *   cc verdict.c $(pkg-config --cflags --libs blkalign) -o verdict */
#include <stdio.h>

#include <blkalign/blkalign.h>

int main(int argc, char **argv)
{
	struct blkalign_graph *graph = NULL;
	struct blkalign_report *report = NULL;
	struct blkalign_error err = { 0 };
	int r;

	r = blkalign_read_targets(NULL, (const char *const *)argv + 1, (size_t)(argc - 1), &graph, &err);
	if (r >= 0)
		r = blkalign_check(graph, &report, &err);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		blkalign_graph_free(graph);
		return 1;
	}
	printf("%s\n", blkalign_verdict_name(blkalign_report_verdict(report)));
	for (size_t i = 0; i < blkalign_report_findings(report); i++) {
		const struct blkalign_finding *f = blkalign_report_finding(report, i);

		printf("%s: %s\n", f->info->id, f->message);
	}
	blkalign_report_free(report);
	blkalign_graph_free(graph);
	return 0;
}
