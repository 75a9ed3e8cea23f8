/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "check/report.h"
#include "graph/graph.h"

struct kept {
	struct blkalign_finding finding; /* first: sorted as such */
	enum impact impact;
};

struct blkalign_report {
	struct arena *arena;
	VEC(struct kept) findings;
	VEC(struct blkalign_layer) layers;
	enum blkalign_verdict verdict;
	bool failed; /* an allocation failed: the report is incomplete */
};

enum blkalign_severity impact_severity(enum impact impact)
{
	static const enum blkalign_severity severities[] = {
		[IMPACT_NONE] = BLKALIGN_NOTE,	      [IMPACT_TUNING] = BLKALIGN_NOTE,	  [IMPACT_LOSES_SPEED] = BLKALIGN_WARNING,
		[IMPACT_MISLEADS] = BLKALIGN_WARNING, [IMPACT_BREAKS] = BLKALIGN_WARNING, [IMPACT_ACROSS_PHYSICAL] = BLKALIGN_ERROR,
		[IMPACT_AT_RISK] = BLKALIGN_ERROR,
	};

	return severities[impact];
}

struct blkalign_report *report_new(void)
{
	struct blkalign_report *report = calloc(1, sizeof(*report));

	if (report)
		report->arena = arena_new();
	if (report && !report->arena) {
		free(report);
		return NULL;
	}
	return report;
}

void blkalign_report_free(struct blkalign_report *report)
{
	if (!report)
		return;
	vec_done(&report->findings);
	vec_done(&report->layers);
	arena_free(report->arena);
	free(report);
}

static const char *keep(struct blkalign_report *report, const char *text)
{
	if (text)
		return text;
	report->failed = true;
	return "";
}

const char *report_text(struct blkalign_report *report, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return keep(report, arena_strdup(report->arena, text));
}

const char *report_keep(struct blkalign_report *report, const char *text) { return keep(report, arena_strdup(report->arena, text)); }

const char *report_escaped(struct blkalign_report *report, const char *text)
{
	char safe[512];

	return keep(report, arena_strdup(report->arena, blkalign_escape(safe, sizeof(safe), text)));
}

void report_add(struct blkalign_report *report, const struct draft *draft)
{
	struct blkalign_finding finding = {
		.info = blkalign_finding_info(draft->finding),
		.severity = impact_severity(draft->impact),
		.node = draft->node,
		.cause = draft->cause ? draft->cause : draft->node,
		.found_bytes = draft->found_bytes,
		.expected_bytes = draft->expected_bytes,
		.message = draft->message,
		.price = draft->price,
		.remedy = draft->remedy,
	};

	if (vec_push(&report->findings, ((struct kept){ finding, draft->impact })) < 0)
		report->failed = true;
}

void report_layer(struct blkalign_report *report, const struct blkalign_layer *layer)
{
	struct blkalign_layer kept = *layer;

	kept.text = keep(report, arena_strdup(report->arena, layer->text));
	if (vec_push(&report->layers, kept) < 0)
		report->failed = true;
}

/* Worst first, then in graph order, then as the table lists them. */
static int finding_order(const void *left, const void *right)
{
	const struct blkalign_finding *a = &((const struct kept *)left)->finding, *b = &((const struct kept *)right)->finding;
	size_t ia = blkalign_node_index(a->node), ib = blkalign_node_index(b->node);

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (ia != ib)
		return ia < ib ? -1 : 1;
	return a->info == b->info ? 0 : a->info < b->info ? -1 : 1;
}

static bool is_error(const struct blkalign_report *report, size_t i)
{
	return i < report->findings.count && report->findings.data[i].finding.severity == BLKALIGN_ERROR;
}

static enum blkalign_verdict sum_up(const struct blkalign_report *report)
{
	size_t layered = 0, drives = 0, aligned = 0;

	for (size_t i = 0; is_error(report, i); i++)
		if (report->findings.data[i].impact == IMPACT_AT_RISK)
			return BLKALIGN_VERDICT_AT_RISK;
	if (is_error(report, 0))
		return BLKALIGN_VERDICT_MISALIGNED;
	if (report->findings.count && report->findings.data[0].finding.severity == BLKALIGN_WARNING)
		return BLKALIGN_VERDICT_WARNING;
	for (size_t i = 0; i < report->layers.count; i++) {
		const struct blkalign_layer *l = &report->layers.data[i];
		bool drive = blkalign_node_kind(l->node) == BLKALIGN_KIND_DISK;

		layered += !drive;
		drives += drive && l->verdict != BLKALIGN_VERDICT_UNKNOWN;
		aligned += !drive && l->verdict != BLKALIGN_VERDICT_UNKNOWN;
	}
	/* That a drive's blocks are known says nothing about what lies on it at unknown places. */
	return aligned || (drives && !layered) ? BLKALIGN_VERDICT_ALIGNED : BLKALIGN_VERDICT_UNKNOWN;
}

static void reverse_layers(struct blkalign_report *report)
{
	for (size_t low = 0, high = report->layers.count; low + 1 < high; low++, high--) {
		struct blkalign_layer swap = report->layers.data[low];

		report->layers.data[low] = report->layers.data[high - 1];
		report->layers.data[high - 1] = swap;
	}
}

/* The line of a node; lines are in graph order by now. */
static struct blkalign_layer *line_of(struct blkalign_report *report, const struct blkalign_node *node)
{
	size_t low = 0, high = report->layers.count, index = blkalign_node_index(node);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (blkalign_node_index(report->layers.data[middle].node) < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low < report->layers.count && report->layers.data[low].node == node ? &report->layers.data[low] : NULL;
}

/* Length of a line without its verdict, which follows the last colon. */
static int length_without_verdict(const char *text)
{
	static const char *const verdicts[] = { ": aligned", ": unknown", ": not judged",
						": aligned to the physical block, off the chunk" };
	size_t length = strlen(text);

	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		size_t tail = strlen(verdicts[i]);

		if (length >= tail && !strcmp(text + length - tail, verdicts[i]))
			return (int)(length - tail);
	}
	return (int)length;
}

/*
 * Some errors are no matter of a start: a chunk that shares physical blocks, an offset that only the kernel knows. The line of such a node was written
 * without them, and the two must not contradict each other.
 */
static void condemn_lines(struct blkalign_report *report)
{
	for (size_t i = 0; is_error(report, i); i++) {
		const struct blkalign_finding *f = &report->findings.data[i].finding;
		struct blkalign_layer *line = line_of(report, f->node);

		if (!line || line->verdict == BLKALIGN_VERDICT_MISALIGNED || report->findings.data[i].impact == IMPACT_AT_RISK)
			continue;
		line->verdict = BLKALIGN_VERDICT_MISALIGNED;
		line->text = report_text(report, "%.*s; %s: misaligned", length_without_verdict(line->text), line->text, f->info->id);
	}
}

int report_finish(struct blkalign_report *report)
{
	reverse_layers(report);
	if (report->findings.count)
		qsort(report->findings.data, report->findings.count, sizeof(*report->findings.data), finding_order);
	condemn_lines(report);
	report->verdict = sum_up(report);
	return report->failed ? -ENOMEM : 0;
}

enum blkalign_verdict blkalign_report_verdict(const struct blkalign_report *report) { return report->verdict; }
size_t blkalign_report_findings(const struct blkalign_report *report) { return report->findings.count; }
size_t blkalign_report_layers(const struct blkalign_report *report) { return report->layers.count; }

const struct blkalign_finding *blkalign_report_finding(const struct blkalign_report *report, size_t index)
{
	return index < report->findings.count ? &report->findings.data[index].finding : NULL;
}

const struct blkalign_layer *blkalign_report_layer(const struct blkalign_report *report, size_t index)
{
	return index < report->layers.count ? &report->layers.data[index] : NULL;
}

const char *blkalign_verdict_name(enum blkalign_verdict verdict)
{
	static const char *const names[] = {
		[BLKALIGN_VERDICT_ALIGNED] = "aligned", [BLKALIGN_VERDICT_UNKNOWN] = "unknown",
		[BLKALIGN_VERDICT_WARNING] = "warning", [BLKALIGN_VERDICT_MISALIGNED] = "misaligned",
		[BLKALIGN_VERDICT_AT_RISK] = "at-risk",
	};

	return names[verdict];
}

const char *blkalign_severity_name(enum blkalign_severity severity)
{
	static const char *const names[] = {
		[BLKALIGN_NOTE] = "note",
		[BLKALIGN_WARNING] = "warning",
		[BLKALIGN_ERROR] = "error",
	};

	return names[severity];
}
