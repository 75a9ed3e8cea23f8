/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The scrub verb: what its files share. */
#ifndef CLI_SCRUB_H
#define CLI_SCRUB_H

#include "cli.h"

/** What became of it, besides CLI_FAILED. */
enum { SCRUB_CLEAN = 0, SCRUB_MISMATCHES = 2, SCRUB_LOST = 3 };

struct scrub_result {
	const struct blkalign_scrub *scrub;
	const struct blkalign_graph *graph;    /* the stack, for what was told while it was put together */
	struct blkalign_scrub_progress check;  /* at the end of the check */
	struct blkalign_scrub_progress repair; /* of the repair, when there was one */
	bool repaired;			       /* there was one */
	const char *undo;		       /* NULL: nothing is in it */
};

/** The exit status that a result means. */
int scrub_status(const struct scrub_result *result);
void scrub_print_text(const struct cli_options *options, const struct scrub_result *result);
void scrub_print_json(const struct scrub_result *result);
/** What a repair would do, in words. */
void scrub_print_plan(const struct cli_options *options, const struct blkalign_scrub *scrub, const struct blkalign_scrub_plan *plan);

#endif
