/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Which tools of the host would obey a device's hint next time. */
#ifndef CHECK_TOOLS_H
#define CHECK_TOOLS_H

#include "check/check.h"

struct tools_answer {
	bool known;	   /**< the version of at least one tool that was asked is known */
	const char *obeys; /**< the first that would obey, and what it would do; NULL when none would */
};

/** What would happen on the empty device `node`: partitioners, LVM and cryptsetup. */
struct tools_answer tools_on_disk(struct check *c, const struct blkalign_node *node);
/** What would happen on an empty partition of `node`: LVM and cryptsetup. */
struct tools_answer tools_on_partition(struct check *c, const struct blkalign_node *node);

#endif
