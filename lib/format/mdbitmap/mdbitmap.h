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
/** Read and decode at `offset_bytes` of `dev`. */
int mdbitmap_read(struct dev *dev, uint64_t offset_bytes, struct mdbitmap *ret, struct blkalign_error *reterr);

#endif
