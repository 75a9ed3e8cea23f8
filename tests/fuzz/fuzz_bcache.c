/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is a superblock; its checksum is mended. */
#include <isa-l/crc64.h>

#include "format/bcache/bcache.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t raw[BCACHE_SUPER_BYTES] = { 0 };
	struct bcache_super super;
	size_t journal;
	uint64_t crc;

	memcpy(raw, data, size < sizeof(raw) ? size : sizeof(raw));
	journal = load_le16(raw + 206) <= 256 ? load_le16(raw + 206) : 0;
	crc = crc64_ecma_norm(0, raw + 8, 200 + journal * 8);
	for (size_t i = 0; i < 8; i++)
		raw[i] = (uint8_t)(crc >> 8 * i);
	bcache_decode(raw, size < sizeof(raw) ? size : sizeof(raw), &super, NULL);
	return 0;
}
