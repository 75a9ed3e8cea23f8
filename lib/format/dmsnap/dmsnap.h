/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The exception store of a classic snapshot: which chunks of the origin have copies in the store. Source: the kernel's drivers/md/dm-snap-persistent.c.
 * The formats "persistent" and "persistent with overflow" are the same on disk. Errors: -EPROTO for content that the kernel would not write, -ENOMEM, and
 * what dev_read() returns.
 */
#ifndef FORMAT_DMSNAP_DMSNAP_H
#define FORMAT_DMSNAP_DMSNAP_H

#include "base/base.h"
#include "base/block_run.h"
#include "dev/dev.h"

#define DMSNAP_HEADER_BYTES 512U
/** dm_exception_store_set_chunk_size() takes more, lvm2 up to 512 KiB. */
#define DMSNAP_CHUNK_MAX_BYTES GIB

struct dmsnap {
	bool fresh; /* nothing was written to it yet, not even a header */
	bool valid; /* false: it ran full or failed, and its content is lost */
	uint64_t chunk_bytes;
	struct block_run
		*runs; /* chunks of the origin that are in the store, ascending; neighbours as one, as the kernel's dm-exception does */
	size_t count;
	uint64_t exceptions;  /* chunks in these */
	uint64_t used_chunks; /* of the store */
};

/** The first sector; sets fresh, valid, chunk_bytes. BLKALIGN_NOT_THIS without the magic. */
int dmsnap_header_decode(const uint8_t header[DMSNAP_HEADER_BYTES], struct dmsnap *ret, struct blkalign_error *reterr);
/** All of the store on `dev`, whose origin has `origin_bytes`; runs only when valid. BLKALIGN_NOT_THIS as above. */
int dmsnap_read(struct dev *dev, uint64_t origin_bytes, struct dmsnap *ret, struct blkalign_error *reterr);
void dmsnap_done(struct dmsnap *snap);

#endif
