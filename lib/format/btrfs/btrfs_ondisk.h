/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_BTRFS_BTRFS_ONDISK_H
#define FORMAT_BTRFS_BTRFS_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define BTRFS_SUPER_BYTES 4096U
#define BTRFS_MAGIC	  "_BHRfS_M"

enum btrfs_csum_type { BTRFS_CSUM_CRC32C, BTRFS_CSUM_XXHASH64, BTRFS_CSUM_SHA256, BTRFS_CSUM_BLAKE2B };

struct btrfs_super_ondisk {
	uint8_t checksum[32]; /* of all that follows */
	uint8_t fsid[16];
	le64 place_bytes; /* of this copy */
	uint8_t reserved_to_64[8];
	uint8_t magic[8];
	uint8_t reserved_to_112[40];
	le64 total_bytes; /* of all devices */
	uint8_t reserved_to_136[16];
	le64 devices;
	le32 sector_bytes;
	le32 node_bytes;
	uint8_t reserved_to_196[44];
	le16 checksum_type;
	uint8_t reserved_to_209[11];
	le64 device_bytes; /* of this device */
	uint8_t reserved_to_299[82];
	uint8_t label[256];
	uint8_t reserved_to_4096[3541];
};
static_assert(offsetof(struct btrfs_super_ondisk, magic) == 64, "btrfs superblock");
static_assert(offsetof(struct btrfs_super_ondisk, total_bytes) == 112, "btrfs superblock");
static_assert(offsetof(struct btrfs_super_ondisk, devices) == 136, "btrfs superblock");
static_assert(offsetof(struct btrfs_super_ondisk, sector_bytes) == 144, "btrfs superblock");
static_assert(offsetof(struct btrfs_super_ondisk, checksum_type) == 196, "btrfs superblock");
static_assert(offsetof(struct btrfs_super_ondisk, device_bytes) == 209, "btrfs superblock");
static_assert(offsetof(struct btrfs_super_ondisk, label) == 299, "btrfs superblock");
static_assert(sizeof(struct btrfs_super_ondisk) == BTRFS_SUPER_BYTES, "btrfs superblock");

#endif
