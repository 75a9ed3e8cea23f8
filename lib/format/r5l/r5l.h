/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The write journal of md raid4, raid5 and raid6: a ring of blocks of 4 KiB on a device of its own. A meta block tells what the pages behind it are; the
 * next meta block comes after the last of them. Layout: struct r5l_meta_block and its payloads in the kernel's include/uapi/linux/raid/md_p.h; meaning:
 * drivers/md/raid5-cache.c. Offsets and sizes are bytes.
 */
#ifndef FORMAT_R5L_R5L_H
#define FORMAT_R5L_R5L_H

#include "base/base.h"
#include "dev/dev.h"

#define R5L_BLOCK_BYTES 4096U
#define R5L_ITEMS_MAX	1016U /* four bytes of a meta block at least stand for each */

/** Where a journal lies. */
struct r5l_log {
	struct dev *dev;
	uint64_t offset_bytes; /* of the ring on `dev` */
	uint64_t ring_bytes;   /* a multiple of R5L_BLOCK_BYTES */
	uint64_t tail_bytes;   /* from the beginning of the ring: the oldest meta block that counts */
	uint8_t array_uuid[16];
};

enum r5l_kind {
	R5L_DATA,
	R5L_P,
	R5L_Q,
	R5L_FLUSH, /* what was logged before for a stripe has reached the array */
};

struct r5l_item {
	enum r5l_kind kind;
	uint64_t
		at_bytes; /* data: of the array; otherwise the row of its stripe, a byte of the data areas. A multiple of R5L_BLOCK_BYTES */
	uint64_t log_bytes; /* the page, from the beginning of the ring; not for R5L_FLUSH */
	uint32_t checksum;  /* of the page, likewise */
};

/** A meta block. */
struct r5l_block {
	uint64_t seq;
	uint64_t position_bytes; /* from the beginning of the ring */
	uint64_t next_bytes;	 /* where the next one is expected */
	uint32_t count;
	struct r5l_item items[R5L_ITEMS_MAX]; /* in the order in which they were logged */
};

/** What checksums begin with. */
uint32_t r5l_seed(const uint8_t array_uuid[16]);
/** As meta blocks store it for a page: CRC-32C without final inversion. */
uint32_t r5l_checksum(uint32_t seed, const void *page);
/** The checksum of a meta block; its own field counts as zero. */
uint32_t r5l_meta_checksum(uint32_t seed, const void *block);

/**
 * Decode the meta block of `length` bytes found at `position_bytes` of a ring. BLKALIGN_NOT_THIS when magic, version, position or checksum do not fit: the
 * log ends before it. -EBADMSG, with the reason, when its payloads cannot be used all the same.
 */
int r5l_decode(const void *data, size_t length, uint32_t seed, uint64_t position_bytes, uint64_t ring_bytes, struct r5l_block *ret,
	       struct blkalign_error *reterr);

/** A walk from the tail on. Zero-initialised. */
struct r5l_cursor {
	bool begun;
	uint64_t seq;
	uint64_t position_bytes;
	uint64_t walked_bytes;
};
/**
 * The next meta block whose pages are all as they were written. BLKALIGN_NOT_THIS at the end of the log; -EINVAL for a log that cannot lie where it is said to; as
 * r5l_decode(); also read errors.
 */
int r5l_next(const struct r5l_log *log, struct r5l_cursor *cursor, struct r5l_block *ret, struct blkalign_error *reterr);

#endif
