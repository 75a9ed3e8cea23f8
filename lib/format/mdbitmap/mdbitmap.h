/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The superblock of md's write-intent bitmap, internal or in a file. Layout: bitmap_super_t of the kernel's drivers/md/md-bitmap.h and, for version 6,
 * md-llbitmap.c. Little-endian on every machine; only the bits of version 3 are in host order.
 */
#ifndef FORMAT_MDBITMAP_MDBITMAP_H
#define FORMAT_MDBITMAP_MDBITMAP_H

#include "base/base.h"
#include "dev/dev.h"

#define MDBITMAP_BYTES	  256U
#define MDBITMAP_BITS_MAX (UINT64_C(64) * MIB * 8) /* a bitmap of 64 MiB */

enum mdbitmap_version {
	MDBITMAP_HOST_ENDIAN = 3,
	MDBITMAP_NORMAL = 4,
	MDBITMAP_CLUSTERED = 5,
	MDBITMAP_LOCKLESS = 6, /* a byte per chunk instead of a bit */
};

struct mdbitmap {
	enum mdbitmap_version version;
	uint8_t array_uuid[16];
	uint64_t events;
	uint64_t events_cleared;
	uint64_t sync_bytes;  /* what the bits cover: component size, raid10: array size */
	uint32_t state_flags; /* as stored */
	uint64_t chunk_bytes; /* covered by one bit */
	uint64_t chunks;      /* bits, or bytes of version 6 */
	uint32_t daemon_sleep_seconds;
	uint32_t write_behind;
	uint64_t reserved_bytes; /* space kept for the bitmap; 0 when not recorded */
	uint32_t nodes;		 /* of a cluster */
	char cluster_name[65];	 /* terminated; raw bytes */
};

/** BLKALIGN_NOT_THIS without the magic; -EBADMSG, with the reason, for versions or fields that cannot be used. */
int mdbitmap_decode(const void *data, size_t length, struct mdbitmap *ret, struct blkalign_error *reterr);
/** Bytes of a bitmap with all its bits (version 6: bytes), superblock included. */
uint64_t mdbitmap_stored_bytes(const struct mdbitmap *bitmap);
static inline bool mdbitmap_bit(const uint8_t *bits, uint64_t chunk) { return bits[chunk / 8] >> chunk % 8 & 1; }

/** Part of what the bits cover. */
struct mdbitmap_range {
	uint64_t offset_bytes;
	uint64_t length_bytes;
};
#define MDBITMAP_RANGES_MAX 65536U
/**
 * The set bits as ranges, ascending and apart, from bit `first` on. More than MDBITMAP_RANGES_MAX of them are joined with what lies between, so that the answer covers
 * all of them and more. `bits` holds (chunks + 7) / 8 bytes; versions with a bit per chunk only. *ret_ranges (freed by the caller) may be NULL when there are none. -ENOMEM.
 */
int mdbitmap_ranges(const struct mdbitmap *bitmap, const uint8_t *bits, uint64_t first, struct mdbitmap_range **ret_ranges,
		    size_t *ret_count);

/** Change the superblock in place: `raw` holds the MDBITMAP_BYTES of one that mdbitmap_decode() took. Nothing else changes. */
void mdbitmap_put_events(void *raw, uint64_t events, uint64_t events_cleared);
void mdbitmap_put_flags(void *raw, uint32_t state_flags);

/** MDBITMAP_BYTES of a new one of MDBITMAP_NORMAL, from its uuid, events, covered size, chunk, sleep and flags. */
void mdbitmap_encode(const struct mdbitmap *bitmap, void *raw);

/** Read and decode at `offset_bytes` of `dev`. */
int mdbitmap_read(struct dev *dev, uint64_t offset_bytes, struct mdbitmap *ret, struct blkalign_error *reterr);

#endif
