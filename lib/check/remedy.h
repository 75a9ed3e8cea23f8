/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Remedies: exact commands for one node, as shell.h says. Steps that destroy data say so on the line before. */
#ifndef CHECK_REMEDY_H
#define CHECK_REMEDY_H

#include "check/check.h"

/** For a layer that starts off a boundary; `expected_bytes` is where its own offset should be. NULL when there is nothing to do. */
const char *remedy_for_start(struct check *c, const struct blame *blame, enum finding finding, uint64_t expected_bytes);
/** For read-ahead blown up by a hint: now, and for the next boot. */
const char *remedy_for_read_ahead(struct check *c, const struct blkalign_node *node);
/** For a device with a bogus hint on which nothing was placed yet, or is placed well. */
const char *remedy_for_hint(struct check *c, const struct blkalign_node *node);

/* remedy_md.c */
const char *remedy_for_dirty_degraded(struct check *c, const struct blkalign_node *array);
const char *remedy_for_stale(struct check *c, const struct blkalign_node *array);
const char *remedy_for_bad_blocks(struct check *c, const struct blkalign_node *array);
const char *remedy_for_missing_bitmap(struct check *c, const struct blkalign_node *array);

/* remedy_partition.c */
const char *remedy_for_partition(struct check *c, const struct blame *blame, uint64_t target_bytes);
/** Where a partition can be moved to: `wanted_bytes`, or, when its neighbours leave no room there, the next good start on either side. */
uint64_t remedy_partition_target(const struct blame *blame, uint64_t wanted_bytes);
/* remedy_lvm.c */
/** For a RAID volume with images that are missing or fell behind. */
const char *remedy_for_volume(struct check *c, const struct blkalign_node *volume);
const char *remedy_for_pv(struct check *c, const struct blame *blame, uint64_t expected_bytes);

#endif
