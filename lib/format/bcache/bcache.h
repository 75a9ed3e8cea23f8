/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** bcache superblocks, of backing devices and of cache devices. One copy, 4 KiB into the device. Pure but for bcache_read(). */
#ifndef FORMAT_BCACHE_BCACHE_H
#define FORMAT_BCACHE_BCACHE_H

#include "dev/dev.h"

#define BCACHE_SUPER_BYTES 4096U /* where it lies, and how much bcache_decode() looks at */

enum bcache_role { BCACHE_BACKING, BCACHE_CACHE };
/** What the backing device knows of its cache (BDEV_STATE of the flags). */
enum bcache_state { BCACHE_DETACHED, BCACHE_CLEAN, BCACHE_DIRTY, BCACHE_STALE };

struct bcache_super {
	enum bcache_role role;
	enum bcache_state state; /* backing devices */
	uint64_t version;
	uint64_t data_offset_bytes; /* backing: first byte of the data; cache: first byte of the first bucket */
	uint64_t buckets;	    /* cache: number, else 0 */
	uint32_t block_bytes;
	uint64_t bucket_bytes; /* 0 on backing devices that do not say */
	uint8_t uuid[16];
	uint8_t set_uuid[16];
	char label[33];
};

/**
 * Decode a superblock of at least BCACHE_SUPER_BYTES. 0, BLKALIGN_NOT_THIS without the magic, -EBADMSG damaged, -ENOTSUP a version that is not known.
 * `ret` is untouched unless 0 is returned.
 */
int bcache_decode(const uint8_t *buffer, size_t size, struct bcache_super *ret, struct blkalign_error *reterr);
int bcache_read(struct dev *dev, struct bcache_super *ret, struct blkalign_error *reterr);

#endif
