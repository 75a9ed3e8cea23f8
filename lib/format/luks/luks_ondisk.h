/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** LUKS1 and LUKS2 binary headers as they lie on disk (big endian; LUKS1 specification 1.2.3, LUKS2 specification 1.1.1). */
#ifndef FORMAT_LUKS_LUKS_ONDISK_H
#define FORMAT_LUKS_LUKS_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define LUKS_MAGIC	     "LUKS\xba\xbe"
#define LUKS_MAGIC_SECONDARY "SKUL\xba\xbe"
#define LUKS_MAGIC_BYTES     6U

struct luks1_ondisk {
	char magic[LUKS_MAGIC_BYTES];
	be16 version;
	char cipher_name[32];
	char cipher_mode[32];
	char hash_spec[32];
	be32 payload_sectors512;
	be32 key_bytes;
	uint8_t digest[20];
	uint8_t digest_salt[32];
	be32 digest_iterations;
	char uuid[40];
};
static_assert(offsetof(struct luks1_ondisk, payload_sectors512) == 104, "LUKS1 payload offset");
static_assert(offsetof(struct luks1_ondisk, uuid) == 168, "LUKS1 uuid");
#define LUKS1_HEADER_BYTES 592U /* with eight key slots */

struct luks2_ondisk {
	char magic[LUKS_MAGIC_BYTES];
	be16 version;
	be64 header_bytes; /* with the JSON area */
	be64 seqid;
	char label[48];
	char checksum_alg[32];
	uint8_t salt[64];
	char uuid[40];
	char subsystem[48];
	be64 offset_bytes; /* of this header */
	uint8_t unused[184];
	uint8_t checksum[64]; /* over header and JSON, with this field zero */
	uint8_t unused2[3584];
};
static_assert(sizeof(struct luks2_ondisk) == 4096, "LUKS2 binary header");
static_assert(offsetof(struct luks2_ondisk, uuid) == 168, "LUKS2 uuid");
static_assert(offsetof(struct luks2_ondisk, offset_bytes) == 256, "LUKS2 header offset");
static_assert(offsetof(struct luks2_ondisk, checksum) == 448, "LUKS2 checksum");

#endif
