/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The bcache superblock as it lies on disk (little endian; struct cache_sb_disk of the kernel's drivers/md/bcache). */
#ifndef FORMAT_BCACHE_BCACHE_ONDISK_H
#define FORMAT_BCACHE_BCACHE_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define BCACHE_SUPER_SECTOR512 8U
#define BCACHE_JOURNAL_BUCKETS 256U

struct bcache_ondisk {
	le64 csum; /* CRC-64 (ECMA-182) from `offset` to the last used journal bucket */
	le64 offset_sectors512;
	le64 version;
	uint8_t magic[16];
	uint8_t uuid[16];
	uint8_t set_uuid[16];
	char label[32];
	le64 flags;
	le64 seq;
	le64 feature_compat;
	le64 feature_incompat;
	le64 feature_ro_compat;
	le64 pad[5];
	le64 buckets_or_data_offset; /* cache: buckets; backing: data offset in sectors512 */
	le16 block_sectors512;
	le16 bucket_sectors512;
	le16 caches_in_set;
	le16 this_cache;
	le32 last_mount;
	le16 first_bucket;
	le16 journal_buckets;
	le64 journal[BCACHE_JOURNAL_BUCKETS];
	le16 bucket_sectors512_high;
};
static_assert(offsetof(struct bcache_ondisk, magic) == 24, "bcache magic");
static_assert(offsetof(struct bcache_ondisk, flags) == 104, "bcache flags");
static_assert(offsetof(struct bcache_ondisk, buckets_or_data_offset) == 184, "bcache union");
static_assert(offsetof(struct bcache_ondisk, journal) == 208, "bcache journal");

#endif
