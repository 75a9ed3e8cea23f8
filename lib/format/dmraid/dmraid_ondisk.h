/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_DMRAID_DMRAID_ONDISK_H
#define FORMAT_DMRAID_DMRAID_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define DMRAID_MAGIC 0x64526D44U /* "DmRd" */

#define DMRAID_COMPAT_EXTENDED	1U /* fields from `flags` on are valid */
#define DMRAID_FLAG_RESHAPING	1U
#define DMRAID_FLAG_BACKWARDS	2U
#define DMRAID_SECTORS_ALL_ONES UINT64_MAX

/** Sizes and offsets in 512-byte sectors. */
struct dmraid_ondisk {
	le32 magic;
	le32 compat_features;
	le32 num_devices;
	le32 array_position;
	le64 events;
	le64 failed_devices; /* slots 0 to 63 */
	le64 disk_recovery_offset;
	le64 array_resync_offset;
	le32 level;
	le32 layout;
	le32 stripe_sectors;
	le32 flags;
	le64 reshape_position;
	le32 new_level;
	le32 new_layout;
	le32 new_stripe_sectors;
	le32 delta_disks;
	le64 array_sectors;
	le64 data_offset;
	le64 new_data_offset;
	le64 sectors;
	le64 extended_failed_devices[3]; /* slots 64 to 255 */
	le32 incompat_features;
};

static_assert(sizeof(struct dmraid_ondisk) == 148);
static_assert(offsetof(struct dmraid_ondisk, events) == 16);
static_assert(offsetof(struct dmraid_ondisk, flags) == 60);
static_assert(offsetof(struct dmraid_ondisk, array_sectors) == 88);
static_assert(offsetof(struct dmraid_ondisk, extended_failed_devices) == 120);

#endif
