/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static const char style[] =
	"body{font:15px/1.45 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
	"h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}pre{background:#f4f5f7;padding:.7em;overflow-x:auto}"
	".error{border-left:4px solid #d03030}.warning{border-left:4px solid #d09000}.note{border-left:4px solid #b0b6be}"
	".f{padding-left:1em;margin:1em 0}.misaligned,.at-risk{color:#d03030}.aligned{color:#2a8a3a}svg{max-width:100%;height:auto}"
	"td{padding:.1em .8em .1em 0;vertical-align:top}";

static void paragraph(FILE *out, const char *label, const char *text)
{
	if (!text)
		return;
	fprintf(out, "<p>%s", label);
	draw_safe_text(out, text);
	fputs("</p>\n", out);
}

static void finding(FILE *out, const struct blkalign_finding *f)
{
	fprintf(out, "<div class=\"f %s\"><b>%s</b> (%s) on ", blkalign_severity_name(f->severity), f->info->id,
		blkalign_severity_name(f->severity));
	draw_text(out, blkalign_node_name(f->node));
	if (f->cause && f->cause != f->node) {
		fputs(", caused by ", out);
		draw_text(out, blkalign_node_name(f->cause));
	}
	paragraph(out, "", f->message);
	paragraph(out, "Cost: ", f->price);
	if (f->remedy) {
		fputs("<pre>", out);
		draw_safe_text(out, f->remedy);
		fputs("</pre>\n", out);
	}
	fputs("</div>\n", out);
}

static void layers(FILE *out, const struct blkalign_report *report)
{
	fputs("<h2>Layer by layer</h2>\n<table>\n", out);
	for (size_t i = 0; i < blkalign_report_layers(report); i++) {
		const struct blkalign_layer *l = blkalign_report_layer(report, i);

		fputs("<tr><td>", out);
		draw_text(out, blkalign_node_name(l->node));
		fprintf(out, "</td><td class=\"%s\">%s</td><td>", blkalign_verdict_name(l->verdict), blkalign_verdict_name(l->verdict));
		draw_safe_text(out, l->text);
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

void draw_html(FILE *out, const char *title, const struct blkalign_graph *graph, const struct blkalign_report *report,
	       const struct draw_drive *drives, size_t count)
{
	const char *verdict = blkalign_verdict_name(blkalign_report_verdict(report));

	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>blkalign: ");
	draw_text(out, title);
	fprintf(out, "</title><style>%s</style></head><body>\n<h1>", style);
	draw_text(out, title);
	fprintf(out, ": <span class=\"%s\">%s</span></h1>\n", verdict, verdict);
	draw_svg(out, drives, count, true);
	if (blkalign_report_findings(report))
		fputs("<h2>Findings</h2>\n", out);
	for (size_t i = 0; i < blkalign_report_findings(report); i++)
		finding(out, blkalign_report_finding(report, i));
	layers(out, report);
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++) {
		fputs("<p>Note: ", out);
		draw_text(out, blkalign_graph_remark(graph, i));
		fputs("</p>\n", out);
	}
	fprintf(out, "<p><small>blkalign %s. Sizes in bytes; offsets are absolute on the drive.</small></p>\n</body></html>\n",
		blkalign_version());
}

static const char *title_of(const struct blkalign_graph *graph)
{
	const struct blkalign_node *host = blkalign_graph_host(graph);
	const char *name = host ? blkalign_node_str(host, BLKALIGN_ATTR_HOST_NAME) : NULL;

	return name ? name : "storage stack";
}

int draw_file(const char *path, bool html, const struct blkalign_graph *graph, const struct blkalign_report *report)
{
	struct draw_drive *drives = NULL;
	size_t count = 0;
	bool to_stdout = !strcmp(path, "-");
	FILE *out = to_stdout ? stdout : fopen(path, "wxe");
	int r = out ? draw_layout(graph, report, &drives, &count) : -errno;

	if (!r && html)
		draw_html(out, title_of(graph), graph, report, drives, count);
	else if (!r)
		draw_svg(out, drives, count, false);
	draw_layout_free(drives, count);
	if (out && !to_stdout && (ferror(out) | fclose(out)) && !r)
		r = -EIO;
	if (!r)
		return CLI_ALIGNED;
	return cli_say("%s: cannot write the drawing: %s", cli_safe(path), strerror(-r));
}
