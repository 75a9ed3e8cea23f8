/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "format/md0/md0.h"
#include "fuzz.h"

#define CHECKSUM_AT 152

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t copy[MD0_BYTES];
	struct md0_superblock sb;
	bool big_endian;
	uint32_t sum;

	if (size < sizeof(copy))
		return 0;
	memcpy(copy, data, sizeof(copy));
	/* The checksum is made right, so that the fields behind it are reached. */
	big_endian = copy[0] == 0xa9;
	sum = md0_checksum(copy, big_endian);
	for (unsigned i = 0; i < 4; i++)
		copy[CHECKSUM_AT + i] = (uint8_t)(sum >> 8 * (big_endian ? 3 - i : i));
	md0_decode(copy, sizeof(copy), 8 * MIB, &sb, NULL);
	return 0;
}
