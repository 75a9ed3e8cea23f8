/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Remedies: exact commands for one node. Steps that destroy data say so. */
#ifndef CHECK_REMEDY_H
#define CHECK_REMEDY_H

#include "check/check.h"

/** For a layer that starts off a boundary; `expected_bytes` is where its own offset should be. */
const char *remedy_for_start(struct check *c, const struct blame *blame, enum finding finding, uint64_t expected_bytes);
/** For read-ahead blown up by a hint: now, and for the next boot. */
const char *remedy_for_read_ahead(struct check *c, const struct blkalign_node *disk);
/** For a device with a bogus hint on which nothing was placed yet, or is placed well. */
const char *remedy_for_hint(struct check *c, const struct blkalign_node *node);

#endif
