/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Judging a graph: findings, and the layer-by-layer verdict.
 *
 * Checking reads the graph only. Severity: ERROR = data lies across physical blocks now, or is at risk: read wrong, not at all, or destroyed by writing;
 * WARNING = across chunks or stripes where that costs, something that will not open or assemble, or a wrong value that the tools of this host would obey
 * next time; NOTE = worth knowing, nothing to do.
 */
#ifndef BLKALIGN_CHECK_H
#define BLKALIGN_CHECK_H

#include <blkalign/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

enum blkalign_severity { BLKALIGN_NOTE, BLKALIGN_WARNING, BLKALIGN_ERROR };

enum blkalign_verdict {
	BLKALIGN_VERDICT_ALIGNED,
	BLKALIGN_VERDICT_UNKNOWN, /**< too little is known to judge */
	BLKALIGN_VERDICT_WARNING,
	BLKALIGN_VERDICT_MISALIGNED,
	BLKALIGN_VERDICT_AT_RISK, /**< of the whole only, never of a layer: some error is about the data itself and not about its place */
};

/** Row of findings.def: what can be said. All strings are static; the texts hold no variable parts. */
struct blkalign_finding_info {
	const char *id;			 /**< stable, e.g. "PE-START" */
	enum blkalign_severity severity; /**< the usual one; a finding may be reported lower where it costs nothing */
	const char *title;		 /**< one line */
	const char *text;		 /**< paragraphs, separated by an empty line */
	const char *remedy;		 /**< how to mend it, in general */
	const char *refutation;		 /**< what would prove it wrong */
};

/** Number of rows of the findings table, and row `index`. */
BLKALIGN_API size_t blkalign_finding_infos(void);
BLKALIGN_API const struct blkalign_finding_info *blkalign_finding_info(size_t index);
/** By id, without regard to case; NULL when there is none. */
BLKALIGN_API const struct blkalign_finding_info *blkalign_finding_find(const char *id);

/** One finding on one node. Strings live as long as the report; they are safe for a terminal. */
struct blkalign_finding {
	const struct blkalign_finding_info *info;
	enum blkalign_severity severity;
	const struct blkalign_node *node;  /**< where it shows */
	const struct blkalign_node *cause; /**< the guilty layer; the node itself when it is its own fault */
	uint64_t found_bytes;		   /**< or BLKALIGN_UNKNOWN */
	uint64_t expected_bytes;	   /**< or BLKALIGN_UNKNOWN */
	const char *message;		   /**< one sentence with the numbers filled in */
	const char *price;		   /**< what it costs, with the model named; NULL when nothing */
	/** Shell text: each command on a line of its own, all else on lines that begin with "# "; NULL when there is nothing to do. */
	const char *remedy;
};

/** The verdict on one boundary of one layer: the arithmetic, said out loud. */
struct blkalign_layer {
	const struct blkalign_node *node;
	enum blkalign_verdict verdict;
	const char *text; /**< e.g. "data at byte 1048576 of sda = 256 x 4096: aligned to physical block"; safe for a terminal */
	size_t drive_at,
		drive_length; /**< where the drive's name stands in `text`: by that alone lines of alike layers differ; length 0: nowhere */
};

struct blkalign_report;

/** 0 and a report, or negative errno. The graph must outlive the report. */
BLKALIGN_API int blkalign_check(const struct blkalign_graph *graph, struct blkalign_report **ret_report, struct blkalign_error *reterr);
BLKALIGN_API void blkalign_report_free(struct blkalign_report *report);

/** The worst over all: what the exit status follows. */
BLKALIGN_API enum blkalign_verdict blkalign_report_verdict(const struct blkalign_report *report);
/** Findings, worst first, then in graph order. */
BLKALIGN_API size_t blkalign_report_findings(const struct blkalign_report *report);
BLKALIGN_API const struct blkalign_finding *blkalign_report_finding(const struct blkalign_report *report, size_t index);
/** One or more lines per node, in graph order. */
BLKALIGN_API size_t blkalign_report_layers(const struct blkalign_report *report);
BLKALIGN_API const struct blkalign_layer *blkalign_report_layer(const struct blkalign_report *report, size_t index);

/** "aligned", "unknown", "warning", "misaligned", "at-risk". Static. */
BLKALIGN_API const char *blkalign_verdict_name(enum blkalign_verdict verdict);
/** "note", "warning", "error". Static. */
BLKALIGN_API const char *blkalign_severity_name(enum blkalign_severity severity);

#ifdef __cplusplus
}
#endif
#endif
