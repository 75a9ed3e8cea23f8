/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Pictures of a stack: every drive to scale with what lies on it, and a magnified view of each edge on the physical-block grid. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include <stdio.h>

#include "columns.h"

/** A piece of a node on one drive, in bytes of the drive. */
struct draw_box {
	const struct blkalign_node *node;
	uint64_t start_bytes, end_bytes;
	unsigned row; /* 1 for what lies right on the drive */
	enum blkalign_verdict verdict;
};

/** One drive, or several with the same layout drawn once. */
struct draw_drive {
	const struct blkalign_node *node;
	uint64_t size_bytes;
	uint64_t physical_bytes;   /* 0 when unknown */
	uint64_t grid_shift_bytes; /* first physical boundary, from the drive's alignment offset */
	struct draw_box *boxes;
	size_t count;
	size_t left_out; /* boxes beyond DRAW_BOXES_MAX */
	unsigned rows;
	char *twins;	     /* names of the first further drives that look the same, NULL for none */
	unsigned twin_count; /* how many there are, named or not */
};

#define DRAW_BOXES_MAX	 400U
#define DRAW_TWINS_NAMED 8U /* as many names as fit beside the bar */

/** 0 or -ENOMEM. `report` gives the verdicts. */
int draw_layout(const struct blkalign_graph *graph, const struct blkalign_report *report, struct draw_drive **ret_drives,
		size_t *ret_count);
void draw_layout_free(struct draw_drive *drives, size_t count);

/** An SVG document, or an element when `inlined`. */
void draw_svg(FILE *out, const struct draw_drive *drives, size_t count, bool inlined);
/** A self-contained page: the drawing, findings, layers. */
void draw_html(FILE *out, const char *title, const struct blkalign_graph *graph, const struct blkalign_report *report,
	       const struct draw_drive *drives, size_t count);

/** Text for SVG and HTML: escaped for the terminal first, then for markup. */
void draw_text(FILE *out, const char *raw);
/** The same for text that the library made safe already. */
void draw_safe_text(FILE *out, const char *text);

/** Write the picture that `path` (ends by `html`) asks for. Returns a CLI exit status. */
int draw_file(const char *path, bool html, const struct blkalign_graph *graph, const struct blkalign_report *report);

#endif
