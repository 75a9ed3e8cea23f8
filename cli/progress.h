/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** How far a long run is: a line on a terminal, or a line of JSON each second; and Ctrl-C. Everything here goes to standard error. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli.h"

struct cli_progress {
	const char *what; /* "scrub", "repair", "rebuild", "copy" */
	bool terminal;	  /* draw a line that is drawn over */
	bool json;
	double begin, drawn;  /* seconds */
	uint64_t begin_bytes; /* position at the beginning: a run that goes on did not do these */
	double rate;	      /* bytes a second, smoothed; 0: not known yet */
	double sampled;
	uint64_t sampled_bytes;
	char note[40]; /* set by the caller: stands at the end of the line */
};

void cli_progress_begin(struct cli_progress *progress, const struct cli_options *options, const char *what, uint64_t position_bytes);
/** After a step; `mismatches` is UINT64_MAX where there is no such count. Draws at most four times a second. */
void cli_progress_step(struct cli_progress *progress, uint64_t position_bytes, uint64_t total_bytes, uint64_t mismatches);
/** Take the line away. */
void cli_progress_end(struct cli_progress *progress);

/** From now on SIGINT, SIGTERM and SIGHUP are noted only, so that the step that is running ends. */
void cli_catch_signals(void);
/** One came. */
bool cli_interrupted(void);
#define CLI_INTERRUPTED 130

#endif
