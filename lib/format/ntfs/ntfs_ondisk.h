/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_NTFS_NTFS_ONDISK_H
#define FORMAT_NTFS_NTFS_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define NTFS_OEM_ID	      "NTFS    "
#define NTFS_CLUSTER_MAX      (2U << 20)
#define NTFS_RECORD_MAX	      4096U
#define NTFS_RECORD_VOLUME    3U
#define NTFS_FIXUP_STRIDE     512U
#define NTFS_ATTR_VOLUME_NAME 0x60U
#define NTFS_ATTR_END	      UINT32_MAX

struct ntfs_boot_ondisk {
	uint8_t jump[3];
	uint8_t oem_id[8];
	le16 sector_bytes;
	uint8_t sectors_per_cluster; /* above 0x80: 2 to the power of its negation */
	le16 reserved_sectors;	     /* this and the next five are 0, unlike in FAT */
	uint8_t fats;
	le16 root_entries;
	le16 sectors16;
	uint8_t media;
	le16 sectors_per_fat;
	uint8_t reserved_to_28[4];
	le32 hidden_sectors;
	le32 sectors32;
	uint8_t reserved_to_40[4];
	le64 sectors;
	le64 mft_cluster;
	le64 mft_mirror_cluster;
	uint8_t clusters_per_record; /* from 0x80 on: record size is 2 to the power of its negation */
	uint8_t reserved_to_72[7];
	le64 serial;
	uint8_t reserved_to_512[432];
};
static_assert(offsetof(struct ntfs_boot_ondisk, sectors_per_cluster) == 13, "NTFS boot sector");
static_assert(offsetof(struct ntfs_boot_ondisk, hidden_sectors) == 28, "NTFS boot sector");
static_assert(offsetof(struct ntfs_boot_ondisk, sectors) == 40, "NTFS boot sector");
static_assert(offsetof(struct ntfs_boot_ondisk, clusters_per_record) == 64, "NTFS boot sector");
static_assert(offsetof(struct ntfs_boot_ondisk, serial) == 72, "NTFS boot sector");
static_assert(sizeof(struct ntfs_boot_ondisk) == 512, "NTFS boot sector");

struct ntfs_record_ondisk {
	uint8_t magic[4]; /* "FILE" */
	le16 fixup_offset;
	le16 fixup_count; /* the number itself, then one saved value for each 512 bytes */
	uint8_t reserved_to_20[12];
	le16 attrs_offset;
	uint8_t reserved_to_24[2];
};
static_assert(offsetof(struct ntfs_record_ondisk, attrs_offset) == 20, "NTFS record");
static_assert(sizeof(struct ntfs_record_ondisk) == 24, "NTFS record");

struct ntfs_attr_ondisk {
	le32 type;
	le32 length;
	uint8_t non_resident;
	uint8_t reserved_to_16[7];
	le32 value_length;
	le16 value_offset;
	uint8_t reserved_to_24[2];
};
static_assert(offsetof(struct ntfs_attr_ondisk, value_length) == 16, "NTFS attribute");
static_assert(offsetof(struct ntfs_attr_ondisk, value_offset) == 20, "NTFS attribute");
static_assert(sizeof(struct ntfs_attr_ondisk) == 24, "NTFS attribute");

#endif
