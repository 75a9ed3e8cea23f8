/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a person reads: the verdict first, then what is wrong with the worst on top, then every layer with its arithmetic, so that "aligned" is
 * said and not only implied. Commands are printed as they are, never wrapped: they get copied.
 */
#include <stdio.h>
#include <string.h>

#include "report.h"

#define INDENT 10U
/* Whoever has more layers in order than these wants to see those that are not. */
#define ALIGNED_MAX 40U

static enum cli_style severity_style(enum blkalign_severity s)
{
	return s == BLKALIGN_ERROR ? CLI_RED : s == BLKALIGN_WARNING ? CLI_YELLOW : CLI_DIM;
}

static enum cli_style verdict_style(enum blkalign_verdict v)
{
	return v == BLKALIGN_VERDICT_ALIGNED	  ? CLI_GREEN
	       : v >= BLKALIGN_VERDICT_MISALIGNED ? CLI_RED
	       : v == BLKALIGN_VERDICT_WARNING	  ? CLI_YELLOW
						  : CLI_DIM;
}

static void labelled(const struct cli_options *o, const char *label, const char *text)
{
	printf("%*s%s%s%s ", (int)INDENT, "", cli_style(o, CLI_DIM), label, cli_style(o, CLI_PLAIN));
	cli_wrap(text, INDENT + (unsigned)strlen(label) + 1);
}

static void verbatim(const char *text, unsigned indent)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		printf("%*s%.*s\n", length ? (int)indent : 0, "", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

static void finding(const struct cli_options *o, const struct blkalign_finding *f)
{
	const char *plain = cli_style(o, CLI_PLAIN);

	printf("\n%s%-9s%s %s%s%s on %s", cli_style(o, severity_style(f->severity)), blkalign_severity_name(f->severity), plain,
	       cli_style(o, CLI_BOLD), f->info->id, plain, cli_safe(blkalign_node_name(f->node)));
	if (f->cause && f->cause != f->node)
		printf(", caused by %s", cli_safe(blkalign_node_name(f->cause)));
	printf("\n%*s", (int)INDENT, "");
	cli_wrap(f->message, INDENT);
	if (f->price && (f->severity != BLKALIGN_NOTE || o->verbose))
		labelled(o, "cost:", f->price);
	if (f->remedy && (f->severity != BLKALIGN_NOTE || o->verbose)) {
		printf("%*s%sremedy:%s\n", (int)INDENT, "", cli_style(o, CLI_DIM), plain);
		verbatim(f->remedy, INDENT + 2);
	}
}

static void layer_line(const struct cli_options *o, const struct blkalign_layer *l)
{
	static const char *const marks[][2] = {
		[BLKALIGN_VERDICT_ALIGNED] = { "\xe2\x9c\x93", "ok" },
		[BLKALIGN_VERDICT_UNKNOWN] = { "?", "? " },
		[BLKALIGN_VERDICT_WARNING] = { "!", "! " },
		[BLKALIGN_VERDICT_MISALIGNED] = { "\xe2\x9c\x97", "XX" },
	};

	printf("    %s%s%s ", cli_style(o, verdict_style(l->verdict)), marks[l->verdict][o->ascii], cli_style(o, CLI_PLAIN));
	cli_wrap(l->text, o->ascii ? 7 : 6);
}

static size_t lines_of_node(const struct blkalign_report *report, size_t first)
{
	size_t end = first;

	while (end < blkalign_report_layers(report) &&
	       blkalign_report_layer(report, end)->node == blkalign_report_layer(report, first)->node)
		end++;
	return end - first;
}

/* But for the drive on which it is so. */
static bool says_the_same(const struct blkalign_layer *a, const struct blkalign_layer *b)
{
	if (a->verdict != b->verdict || a->drive_at != b->drive_at)
		return false;
	if (blkalign_node_kind(a->node) != blkalign_node_kind(b->node))
		return !strcmp(a->text, b->text);
	return !strncmp(a->text, b->text, a->drive_at) &&
	       !strcmp(a->text + a->drive_at + a->drive_length, b->text + b->drive_at + b->drive_length);
}

/* Images and metadata of a volume: the volume itself tells where they lie. */
static bool is_shown(const struct cli_options *o, const struct blkalign_layer *l)
{
	return o->verbose || l->verdict != BLKALIGN_VERDICT_ALIGNED || blkalign_node_u64(l->node, BLKALIGN_ATTR_LV_HIDDEN) != 1;
}

/* The drives of an array and the PVs of a group say the same: one line for all of them in a row. Returns the index behind the last. */
static size_t layer_group(const struct cli_options *o, const struct blkalign_report *report, size_t first)
{
	const struct blkalign_layer *l = blkalign_report_layer(report, first), *last = l;
	size_t count = lines_of_node(report, first), end = first + count, alike = 1;

	for (; count == 1 && end < blkalign_report_layers(report) && lines_of_node(report, end) == 1; end++) {
		const struct blkalign_layer *next = blkalign_report_layer(report, end);

		if (!is_shown(o, next))
			continue;
		if (!says_the_same(l, next))
			break;
		last = next;
		alike++;
	}
	printf("  %s%s%s", cli_style(o, CLI_BOLD), cli_safe(blkalign_node_name(l->node)), cli_style(o, CLI_PLAIN));
	if (last != l)
		printf(" to %s%s%s (%zu%s)", cli_style(o, CLI_BOLD), cli_safe(blkalign_node_name(last->node)), cli_style(o, CLI_PLAIN),
		       alike, strcmp(l->text, last->text) ? " alike" : "");
	putchar('\n');
	for (size_t i = first; i < first + count; i++)
		layer_line(o, blkalign_report_layer(report, i));
	return end;
}

static void headline(const struct cli_options *o, const char *label, const struct blkalign_graph *graph,
		     const struct blkalign_report *report)
{
	static const char *const words[] = {
		[BLKALIGN_VERDICT_ALIGNED] = "aligned",
		[BLKALIGN_VERDICT_UNKNOWN] = "unknown: too little is known to judge",
		[BLKALIGN_VERDICT_WARNING] = "warning: no data lies across physical blocks, but see below",
		[BLKALIGN_VERDICT_MISALIGNED] = "MISALIGNED: data lies across physical blocks",
		[BLKALIGN_VERDICT_AT_RISK] = "AT RISK: data may be read wrong or not at all, or be lost by writing",
	};
	enum blkalign_verdict v = blkalign_report_verdict(report);
	const struct blkalign_node *host = blkalign_graph_host(graph);
	const char *name = host ? blkalign_node_str(host, BLKALIGN_ATTR_HOST_NAME) : NULL;

	if (label || name)
		printf("%s: ", cli_safe(label ? label : name));
	printf("%s%s%s\n", cli_style(o, verdict_style(v)), words[v], cli_style(o, CLI_PLAIN));
}

static void layers(const struct cli_options *o, const struct blkalign_report *report)
{
	size_t aligned = 0, left = 0, at = 0;

	if (blkalign_report_layers(report))
		printf("\n%slayers%s\n", cli_style(o, CLI_BOLD), cli_style(o, CLI_PLAIN));
	while (at < blkalign_report_layers(report)) {
		const struct blkalign_layer *l = blkalign_report_layer(report, at);

		aligned += l->verdict == BLKALIGN_VERDICT_ALIGNED && is_shown(o, l);
		if (!is_shown(o, l)) {
			at++;
		} else if (!o->verbose && l->verdict == BLKALIGN_VERDICT_ALIGNED && aligned > ALIGNED_MAX) {
			left++;
			at++;
		} else {
			at = layer_group(o, report, at);
		}
	}
	if (left)
		printf("  and %zu more that are aligned; -v lists them\n", left);
}

void report_text(const struct cli_options *o, const char *label, const struct blkalign_graph *graph, const struct blkalign_report *report)
{
	headline(o, label, graph, report);
	for (size_t i = 0; i < blkalign_report_findings(report); i++)
		finding(o, blkalign_report_finding(report, i));
	layers(o, report);
	if (blkalign_graph_remarks(graph))
		putchar('\n');
	cli_notes(o, stdout, graph, 0);
}
