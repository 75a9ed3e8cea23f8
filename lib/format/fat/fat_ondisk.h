/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_FAT_FAT_ONDISK_H
#define FORMAT_FAT_FAT_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define FAT_SECTOR_MIN	   512U
#define FAT_SECTOR_MAX	   4096U
#define FAT12_CLUSTERS_MAX 0xff4U
#define FAT16_CLUSTERS_MAX 0xfff4U
#define FAT32_CLUSTERS_MAX 0xffffff6U

struct fat_boot_ondisk {
	uint8_t jump[3];
	uint8_t oem_id[8];
	le16 sector_bytes;
	uint8_t sectors_per_cluster;
	le16 reserved_sectors;
	uint8_t fats;
	le16 root_entries;
	le16 sectors16; /* 0: see sectors32 */
	uint8_t media;
	le16 fat_sectors16; /* 0: FAT32, see fat_sectors32 */
	uint8_t reserved_to_28[4];
	le32 hidden_sectors;
	le32 sectors32;
	union {
		struct {
			uint8_t reserved_to_38[2];
			uint8_t extended_signature; /* 0x28: a serial follows, 0x29: and a label and the type */
			uint8_t serial[4];
			uint8_t label[11];
			uint8_t type[8]; /* "FAT12   ", "FAT16   ", "MSDOS..." */
			uint8_t reserved_to_510[448];
		} fat16;
		struct {
			le32 fat_sectors32;
			uint8_t reserved_to_44[4];
			le32 root_cluster;
			le16 info_sector;
			uint8_t reserved_to_66[16];
			uint8_t extended_signature;
			uint8_t serial[4];
			uint8_t label[11];
			uint8_t type[8]; /* "FAT32   ", "MSWIN..." */
			uint8_t reserved_to_510[420];
		} fat32;
	};
	uint8_t boot_signature[2]; /* 55 aa */
};
static_assert(offsetof(struct fat_boot_ondisk, sectors_per_cluster) == 13, "FAT boot sector");
static_assert(offsetof(struct fat_boot_ondisk, hidden_sectors) == 28, "FAT boot sector");
static_assert(offsetof(struct fat_boot_ondisk, fat16.serial) == 39, "FAT boot sector");
static_assert(offsetof(struct fat_boot_ondisk, fat16.type) == 54, "FAT boot sector");
static_assert(offsetof(struct fat_boot_ondisk, fat32.root_cluster) == 44, "FAT boot sector");
static_assert(offsetof(struct fat_boot_ondisk, fat32.serial) == 67, "FAT boot sector");
static_assert(offsetof(struct fat_boot_ondisk, fat32.type) == 82, "FAT boot sector");
static_assert(offsetof(struct fat_boot_ondisk, boot_signature) == 510, "FAT boot sector");
static_assert(sizeof(struct fat_boot_ondisk) == 512, "FAT boot sector");

#define FAT_ENTRY_END	   0x00U
#define FAT_ENTRY_FREE	   0xe5U
#define FAT_ENTRY_KANJI	   0x05U /* stands for 0xe5 as a first letter */
#define FAT_ATTR_VOLUME	   0x08U
#define FAT_ATTR_DIRECTORY 0x10U
#define FAT_ATTR_LONG_NAME 0x0fU
#define FAT_ATTR_MASK	   0x3fU

struct fat_entry_ondisk {
	uint8_t name[11];
	uint8_t attributes;
	uint8_t reserved_to_20[8];
	le16 cluster_high;
	uint8_t reserved_to_26[4];
	le16 cluster_low;
	le32 size_bytes;
};
static_assert(offsetof(struct fat_entry_ondisk, cluster_high) == 20, "FAT directory entry");
static_assert(offsetof(struct fat_entry_ondisk, cluster_low) == 26, "FAT directory entry");
static_assert(sizeof(struct fat_entry_ondisk) == 32, "FAT directory entry");

#endif
