/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * md's partial parity log: a header of 4 KiB with entries, and the partial parity of the entries behind it. Layout: struct ppl_header of the kernel's
 * include/uapi/linux/raid/md_p.h; meaning: drivers/md/raid5-ppl.c. Sizes and offsets are bytes.
 */
#ifndef FORMAT_PPL_PPL_H
#define FORMAT_PPL_PPL_H

#include "base/base.h"
#include "dev/dev.h"

#define PPL_HEADER_BYTES 4096U
#define PPL_ENTRIES_MAX	 148U

/** Writes to one stripe, on the member that holds this log as the stripe's parity. */
struct ppl_entry {
	uint64_t array_bytes;  /* first array byte written */
	uint32_t parity_bytes; /* of partial parity; 0: all data members were written, and parity is their xor */
	uint32_t data_bytes;   /* written, over all data members together */
	uint32_t parity_slot;
	uint32_t checksum; /* of the partial parity */
};

struct ppl_header {
	uint64_t generation;
	uint32_t entries_count;
	struct ppl_entry entries[PPL_ENTRIES_MAX];
};

/** What ties a log to its array. */
uint32_t ppl_signature(const uint8_t array_uuid[16]);
/** As entries store it: CRC-32C. */
uint32_t ppl_checksum(const void *data, size_t length);

/**
 * Decode a header. BLKALIGN_NOT_THIS when checksum or signature do not fit (the log was torn, or never was one); -EBADMSG, with the reason, when its fields
 * cannot be used all the same.
 */
int ppl_decode(const void *data, size_t length, uint32_t signature, struct ppl_header *ret, struct blkalign_error *reterr);
/** `data` gets PPL_HEADER_BYTES. At most PPL_ENTRIES_MAX entries, whose array_bytes are multiples of 512. */
void ppl_encode(const struct ppl_header *header, uint32_t signature, void *data);

/** Partial parity of all entries. */
uint64_t ppl_parity_bytes(const struct ppl_header *header);

/**
 * Find the newest header in the log of `area_bytes` at `offset_bytes`: the one at its start or, with `many`, the last of those that follow each other from there with
 * generations that do not drop. *ret_at_bytes is its place from `offset_bytes`. As ppl_decode() for the first one; also read errors.
 */
int ppl_read(struct dev *dev, uint64_t offset_bytes, uint64_t area_bytes, bool many, uint32_t signature, struct ppl_header *ret,
	     uint64_t *ret_at_bytes, struct blkalign_error *reterr);

#endif
