/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "format/md1/md1.h"
#include "fuzz.h"

#define CHECKSUM_AT 216
#define MAX_DEV_AT  220

/* The checksum is made right, so that the fields behind it are reached. */
static void mend(uint8_t *data, size_t size)
{
	uint32_t max_dev = size >= 256 ? load_le32(data + MAX_DEV_AT) : UINT32_MAX, sum;

	if (max_dev > MD1_ROLES_MAX || 256 + 2 * (size_t)max_dev > size)
		return;
	sum = md1_checksum(data, max_dev);
	for (unsigned i = 0; i < 4; i++)
		data[CHECKSUM_AT + i] = (uint8_t)(sum >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t copy[MD1_BYTES];
	size_t length = size < sizeof(copy) ? size : sizeof(copy), count = 0;
	_cleanup_free_ struct md1_bad_range *ranges = NULL;
	struct md1_superblock sb;

	memcpy(copy, data, length);
	mend(copy, length);
	md1_decode(copy, length, 4096, 8 * MIB, &sb, NULL);
	md1_decode(copy, length, 8 * MIB - 8192, 8 * MIB, &sb, NULL);
	md1_badblocks_decode(data, size, size ? data[0] % 64 : 0, &ranges, &count, NULL);
	return 0;
}
