/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Metadata of thin pools and caches from fuzz inputs: blocks of 4 KiB with right checksums. */
#ifndef FUZZ_FUZZ_PDATA_H
#define FUZZ_FUZZ_PDATA_H

#include <stdlib.h>
#include <string.h>

#include "format/pdata/pdata.h"
#include "fuzz.h"

#define FUZZ_PDATA_BLOCKS 64U
/* The checksum of the first block is made anew, so that its place can tell: of each block only the beginning follows, the rest is zeros. Such inputs are cheap to try. */
#define FUZZ_PDATA_SHORT       0x5a
#define FUZZ_PDATA_SHORT_BYTES 384U

/** The salt of block `number`, whatever is in it. */
typedef uint32_t (*fuzz_pdata_salt)(const uint8_t *block, size_t number);

/** A device of what `data` holds, to be closed by the caller; NULL when it is too short for one block. */
static inline struct dev *fuzz_pdata_open(const uint8_t *data, size_t size, fuzz_pdata_salt salt)
{
	static uint8_t meta[FUZZ_PDATA_BLOCKS * PDATA_BLOCK_BYTES];
	size_t bytes = size && data[0] == FUZZ_PDATA_SHORT ? FUZZ_PDATA_SHORT_BYTES : PDATA_BLOCK_BYTES, blocks = size / bytes;
	struct dev *dev;

	if (blocks > FUZZ_PDATA_BLOCKS)
		blocks = FUZZ_PDATA_BLOCKS;
	if (!blocks || dev_open_memory("meta", meta, blocks * PDATA_BLOCK_BYTES, false, &dev) < 0)
		return NULL;
	for (size_t i = 0; i < blocks; i++) {
		uint8_t *block = meta + i * PDATA_BLOCK_BYTES;
		uint32_t sum;

		memcpy(block, data + i * bytes, bytes);
		memset(block + bytes, 0, PDATA_BLOCK_BYTES - bytes);
		sum = pdata_checksum(block, salt(block, i));
		for (unsigned at = 0; at < 4; at++)
			block[at] = (uint8_t)(sum >> 8 * at);
	}
	return dev;
}

#endif
