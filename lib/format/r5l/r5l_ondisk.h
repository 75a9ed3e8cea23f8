/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_R5L_R5L_ONDISK_H
#define FORMAT_R5L_R5L_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define R5L_MAGIC   0x6433c509U
#define R5L_VERSION 1U

struct r5l_meta_ondisk {
	le32 magic;
	le32 checksum; /* of the whole block with this field 0 */
	uint8_t version;
	uint8_t pad1;
	le16 pad2;
	le32 meta_size; /* bytes in use, this header included */
	le64 seq;
	le64 position; /* 512-byte sectors from the beginning of the ring */
};

/* A payload of type 0 or 1 is followed by a le32 checksum per page, one of type 2 has stripes in place of `location`. */
struct r5l_payload_ondisk {
	le16 type;
	le16 flags;
	le32 size; /* data, parity: 512-byte sectors; flush: bytes of the list */
	le64 location;
};

static_assert(sizeof(struct r5l_meta_ondisk) == 32);
static_assert(offsetof(struct r5l_meta_ondisk, meta_size) == 12);
static_assert(offsetof(struct r5l_meta_ondisk, position) == 24);
static_assert(sizeof(struct r5l_payload_ondisk) == 16);

#endif
