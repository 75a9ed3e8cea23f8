/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Remarks about an array. Inside of md_say*.c. */
#ifndef STACK_MD_SAY_H
#define STACK_MD_SAY_H

#include "stack/md.h"

struct md_say {
	struct blkalign_graph *graph;
	const char *array;
	const struct md_array *a;
	const struct raid_geometry *g; /* NULL: not known */
	bool forced;		       /* what is in doubt is given out, and what is left of a failed array */
};

/** Members that are left out, halves, copies. 0 or -ENOMEM. */
int md_say_members(const struct md_say *say);

#endif
