/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/layers.h"

/*
 * The order carries meaning: a device is what the first layer that recognises it says.
 *
 * md first: a member with its superblock at the end begins with the array's own first byte, so its table, label or file system is the
 * array's and not the member's; firmware RAID for the same reason. Then tables: a partitioned disk may keep remains of whatever it held before,
 * and only the MBR's place is never reused. LVM, LUKS and bcache next: each erases what was there when it takes a device, and what they contain
 * may look like content of the device. File systems after them, libblkid's signatures, which are the least exact, last.
 * Behind them only what can be told of a disk on which nothing was found.
 */
/* One per line. */
/* clang-format off */
const struct layer *const stack_layers[] = {
	&layer_md,
	&layer_blkid_raid,
	&layer_table,
	&layer_lvm,
	&layer_luks,
	&layer_bcache,
	&layer_fs,
	&layer_blkid,
	&layer_table_lost,
};
/* clang-format on */
const size_t stack_layers_count = ARRAY_SIZE(stack_layers);
