/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Metadata of a cache: which of its blocks hold which of the origin's, and which of these the origin lacks. Source: the kernel's
 * drivers/md/dm-cache-metadata.c, compared with cache_dump. Errors as format/pdata/pdata.h, and -ENOMEM. Sizes are bytes.
 */
#ifndef FORMAT_DMCACHE_DMCACHE_H
#define FORMAT_DMCACHE_DMCACHE_H

#include "format/pdata/pdata.h"

struct dmcache_superblock {
	bool clean; /* it was shut down cleanly: what it says of dirty blocks is true */
	bool needs_check;
	uint32_t version; /* 1: dirty flags beside the mappings; 2: a bitset of their own */
	uint32_t cache_blocks;
	uint64_t block_bytes;
	uint64_t mapping_root;
	uint64_t dirty_root; /* version 2 */
	char policy[17];
};

struct dmcache_mapping {
	uint64_t origin_block;
	uint32_t cache_block;
	bool dirty; /* the origin may lack it; after an unclean shutdown all are */
};

struct dmcache {
	struct dmcache_superblock super;
	struct dmcache_mapping *mappings; /* ascending by origin_block */
	size_t count;
	size_t dirty;
};

/** Block 0. BLKALIGN_NOT_THIS without the magic. */
int dmcache_superblock_decode(const uint8_t block[PDATA_BLOCK_BYTES], struct dmcache_superblock *ret_super, struct blkalign_error *reterr);
/** All of the metadata on `dev`, of a cache of `cache_bytes` for `origin_bytes`. BLKALIGN_NOT_THIS as above. */
int dmcache_read(struct dev *dev, uint64_t origin_bytes, uint64_t cache_bytes, struct dmcache *ret, struct blkalign_error *reterr);
void dmcache_done(struct dmcache *cache);

#endif
