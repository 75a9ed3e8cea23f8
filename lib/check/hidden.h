/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Hidden sectors: NTFS and FAT remember in their boot sector at which sector their partition began. Evidence of a partition that was moved or read in
 * the wrong unit; never a finding by itself, because many tools write nothing there and boot code alone uses it.
 */
#ifndef CHECK_HIDDEN_H
#define CHECK_HIDDEN_H

#include "check/check.h"

/** "; ..." when the file system on a partition tells of another start than the partition's, else "". */
const char *hidden_of_partition(struct check *c, const struct blkalign_node *partition);
/** "; ..." when a file system on `disk` was made for a start that fits blocks of `unit_bytes`, else "". */
const char *hidden_in_table(struct check *c, const struct blkalign_node *disk, uint64_t unit_bytes);

#endif
