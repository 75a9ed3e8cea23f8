/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/layers.h"

/*
 * The order carries meaning. Firmware RAID comes before the partition table that lies on it; what holds other devices before file systems,
 * which may be left over inside a member; libblkid's signatures, which are the least exact, last.
 */
const struct layer *const stack_layers[] = {
	&layer_blkid_raid,
	&layer_fs,
	&layer_blkid,
};
const size_t stack_layers_count = ARRAY_SIZE(stack_layers);
