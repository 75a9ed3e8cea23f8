/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

/** Bits of the verbs column of options.def. */
enum {
	SHOW = 1U << 0,
	CHECK = 1U << 1,
	EXPLAIN = 1U << 2,
	CAPTURE = 1U << 3,
	SERVE = 1U << 4,
	SCRUB = 1U << 5,
	REBUILD = 1U << 6,
	UNDO = 1U << 7,
	COPY = 1U << 8,
	LOCATE = 1U << 9,
	CREATE = 1U << 10,
};

#endif
