/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_XFS_XFS_ONDISK_H
#define FORMAT_XFS_XFS_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define XFS_MAGIC	   0x58465342U /* "XFSB" */
#define XFS_VERSION_MASK   0xfU
#define XFS_VERSION_CRC	   5U
#define XFS_BLOCK_LOG_MIN  9U
#define XFS_BLOCK_LOG_MAX  16U
#define XFS_SECTOR_LOG_MIN 9U
#define XFS_SECTOR_LOG_MAX 15U
#define XFS_AG_BLOCKS_MIN  64U

struct xfs_super_ondisk {
	be32 magic;
	be32 block_bytes;
	be64 data_blocks;
	uint8_t reserved_to_32[16];
	uint8_t uuid[16];
	uint8_t reserved_to_84[36];
	be32 ag_blocks;
	be32 ag_count;
	uint8_t reserved_to_100[8];
	be16 version;
	be16 sector_bytes;
	uint8_t reserved_to_108[4];
	uint8_t label[12];
	uint8_t block_log;
	uint8_t sector_log;
	uint8_t reserved_to_184[62];
	be32 stripe_unit_blocks;
	be32 stripe_width_blocks;
	uint8_t reserved_to_196[4];
	be32 log_stripe_unit_bytes; /* 0 or 1: none */
	uint8_t reserved_to_224[24];
	le32 crc; /* little endian, unlike the rest */
	uint8_t reserved_to_512[284];
};
static_assert(offsetof(struct xfs_super_ondisk, uuid) == 32, "xfs superblock");
static_assert(offsetof(struct xfs_super_ondisk, ag_blocks) == 84, "xfs superblock");
static_assert(offsetof(struct xfs_super_ondisk, version) == 100, "xfs superblock");
static_assert(offsetof(struct xfs_super_ondisk, label) == 108, "xfs superblock");
static_assert(offsetof(struct xfs_super_ondisk, stripe_unit_blocks) == 184, "xfs superblock");
static_assert(offsetof(struct xfs_super_ondisk, log_stripe_unit_bytes) == 196, "xfs superblock");
static_assert(offsetof(struct xfs_super_ondisk, crc) == 224, "xfs superblock");
static_assert(sizeof(struct xfs_super_ondisk) == 512, "xfs superblock");

#endif
