/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_EXT_EXT_ONDISK_H
#define FORMAT_EXT_EXT_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define EXT_SUPER_OFFSET  1024U
#define EXT_MAGIC	  0xef53U
#define EXT_CSUM_CRC32C	  1U
#define EXT_LOG_BLOCK_MAX 6U /* 64 KiB */

#define EXT_FLAG_TEST_FILESYS 0x0004U

#define EXT_COMPAT_HAS_JOURNAL	    0x0004U
#define EXT_INCOMPAT_FILETYPE	    0x0002U
#define EXT_INCOMPAT_RECOVER	    0x0004U
#define EXT_INCOMPAT_JOURNAL_DEV    0x0008U
#define EXT_INCOMPAT_META_BG	    0x0010U
#define EXT_INCOMPAT_64BIT	    0x0080U
#define EXT_RO_COMPAT_SPARSE_SUPER  0x0001U
#define EXT_RO_COMPAT_LARGE_FILE    0x0002U
#define EXT_RO_COMPAT_BTREE_DIR	    0x0004U
#define EXT_RO_COMPAT_METADATA_CSUM 0x0400U

struct ext_super_ondisk {
	le32 inodes_count;
	le32 blocks_count_low;
	uint8_t reserved_to_20[12];
	le32 first_data_block;
	le32 log_block_size; /* block size = 1024 << this */
	uint8_t reserved_to_56[28];
	le16 magic;
	uint8_t reserved_to_92[34];
	le32 feature_compat;
	le32 feature_incompat;
	le32 feature_ro_compat;
	uint8_t uuid[16];
	uint8_t volume_name[16];
	uint8_t reserved_to_336[200];
	le32 blocks_count_high;
	uint8_t reserved_to_352[12];
	le32 flags;
	le16 raid_stride_blocks;
	uint8_t reserved_to_368[10];
	le32 raid_stripe_width_blocks;
	uint8_t reserved_to_373[1];
	uint8_t checksum_type;
	uint8_t reserved_to_1020[646];
	le32 checksum;
};
static_assert(offsetof(struct ext_super_ondisk, magic) == 56, "ext superblock");
static_assert(offsetof(struct ext_super_ondisk, feature_compat) == 92, "ext superblock");
static_assert(offsetof(struct ext_super_ondisk, blocks_count_high) == 0x150, "ext superblock");
static_assert(offsetof(struct ext_super_ondisk, raid_stride_blocks) == 0x164, "ext superblock");
static_assert(offsetof(struct ext_super_ondisk, raid_stripe_width_blocks) == 0x170, "ext superblock");
static_assert(offsetof(struct ext_super_ondisk, checksum_type) == 0x175, "ext superblock");
static_assert(offsetof(struct ext_super_ondisk, checksum) == 0x3fc, "ext superblock");
static_assert(sizeof(struct ext_super_ondisk) == 1024, "ext superblock");

#endif
