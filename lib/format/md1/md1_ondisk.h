/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_MD1_MD1_ONDISK_H
#define FORMAT_MD1_MD1_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define MD1_MAGIC	 0xa92b4efcU
#define MD1_VENDOR_ERROR 0x8000U /* Synology marks a member's role with it after a read error */

/** Offsets and sizes are 512-byte sectors. */
struct md1_ondisk {
	le32 magic;
	le32 major;
	le32 feature_map;
	le32 pad0;
	uint8_t set_uuid[16];
	char set_name[32];
	le64 ctime; /* low 40 bits seconds, the rest microseconds */
	le32 level;
	le32 layout;
	le64 size;
	le32 chunksize;
	le32 raid_disks;
	union {
		le32 bitmap_offset; /* signed */
		struct {
			le16 offset; /* signed */
			le16 size;
		} ppl;
	};
	le32 new_level;
	le64 reshape_position;
	le32 delta_disks;
	le32 new_layout;
	le32 new_chunk;
	le32 new_offset; /* signed */
	le64 data_offset;
	le64 data_size;
	le64 super_offset;
	le64 recovery_offset;
	le32 dev_number;
	le32 cnt_corrected_read;
	uint8_t device_uuid[16];
	uint8_t devflags;
	uint8_t bblog_shift;
	le16 bblog_size;
	le32 bblog_offset; /* signed */
	le64 utime;
	le64 events;
	le64 resync_offset;
	le32 sb_csum;
	le32 max_dev;
	le32 logical_block_size; /* bytes; reserved before kernel 6.19 */
	uint8_t pad3[28];
	/* le16 dev_roles[max_dev] follow */
};

static_assert(sizeof(struct md1_ondisk) == 256);
static_assert(offsetof(struct md1_ondisk, level) == 72);
static_assert(offsetof(struct md1_ondisk, bitmap_offset) == 96);
static_assert(offsetof(struct md1_ondisk, data_offset) == 128);
static_assert(offsetof(struct md1_ondisk, device_uuid) == 168);
static_assert(offsetof(struct md1_ondisk, bblog_offset) == 188);
static_assert(offsetof(struct md1_ondisk, sb_csum) == 216);
static_assert(offsetof(struct md1_ondisk, logical_block_size) == 224);

#endif
