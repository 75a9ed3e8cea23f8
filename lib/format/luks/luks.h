/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * LUKS headers: where the encrypted data begins and in which sectors it is encrypted. Keys are no concern here.
 *
 * LUKS1 has one header at byte 0. LUKS2 has two, each a 4096-byte binary part and a JSON text: the primary at byte 0, the secondary right behind
 * it, at one of nine places (16 KiB to 4 MiB). The one that checks and has the higher sequence number is believed. Pure but for luks_read().
 */
#ifndef FORMAT_LUKS_LUKS_H
#define FORMAT_LUKS_LUKS_H

#include "dev/dev.h"

#define LUKS2_HEADER_MIN_BYTES (UINT64_C(16) << 10)
#define LUKS2_HEADER_MAX_BYTES (UINT64_C(4) << 20)
#define LUKS_JSON_DEPTH_MAX    16
#define LUKS_JSON_TOKENS_MAX   65536U /* opening brackets and commas: what a JSON tree's memory grows with */

enum luks_copy_state { LUKS_COPY_ABSENT, LUKS_COPY_UNREADABLE, LUKS_COPY_DAMAGED, LUKS_COPY_OK };

struct luks_header {
	uint32_t version;
	uint64_t header_bytes; /* LUKS2: of one copy, JSON included; LUKS1: of the binary header */
	uint64_t offset_bytes; /* LUKS2: where this copy says it lies */
	uint64_t seqid;	       /* LUKS2 */
	uint64_t payload_offset_bytes;
	uint64_t payload_bytes; /* BLKALIGN_UNKNOWN: to the end of the device */
	uint32_t sector_bytes;	/* encryption sector */
	uint32_t segments;	/* LUKS2: in all, backups of a running re-encryption included */
	uint32_t key_bytes;	/* LUKS1; 0 for LUKS2, where each key slot has its own */
	char cipher[65];	/* "aes-xts-plain64" */
	char uuid[41];
	char label[49]; /* LUKS2 */
};

/** What was found on a device. */
struct luks_found {
	struct luks_header header;
	enum luks_copy_state primary; /* LUKS1: its only header */
	enum luks_copy_state secondary;
	bool detached; /* the payload lies on another device: its offset is 0 or not on this one */
};

/**
 * Decode a header with all that belongs to it (LUKS1: 592 bytes; LUKS2: header_bytes), primary or secondary. 0; BLKALIGN_NOT_THIS without a
 * magic; -EBADMSG damaged; -ENOTSUP an unknown version or checksum. `ret` is untouched unless 0 is returned.
 */
int luks_decode(const uint8_t *buffer, size_t size, struct luks_header *ret, struct blkalign_error *reterr);

/** How many bytes the LUKS2 header that begins in `buffer` (4096 bytes) claims, when the claim is possible; else 0. */
uint64_t luks2_claimed_bytes(const uint8_t *buffer, size_t size);

/** The JSON part: the data segment's place, size, sector and cipher go to `header`. For luks_decode(). */
int luks2_decode_json(const char *text, size_t length, struct luks_header *header, struct blkalign_error *reterr);

/** "ok", "damaged", "unreadable", "absent". Static. */
const char *luks_copy_state_name(enum luks_copy_state state);

/** Find and decode. 0; BLKALIGN_NOT_THIS (no magic at byte 0); -EBADMSG, -ENOTSUP as luks_decode() when there is a magic but no copy is good; -EIO, -ENOMEM. */
int luks_read(struct dev *dev, struct luks_found *ret, struct blkalign_error *reterr);

#endif
