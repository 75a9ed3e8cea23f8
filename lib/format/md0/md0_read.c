/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/md0/md0.h"

#define RESERVED_BYTES (UINT64_C(64) * 1024)

uint64_t md0_super_bytes(uint64_t device_bytes)
{
	return device_bytes < 2 * RESERVED_BYTES ? UINT64_MAX : round_down_u64(device_bytes, RESERVED_BYTES) - RESERVED_BYTES;
}

int md0_read(struct dev *dev, struct md0_superblock *ret, struct blkalign_error *reterr)
{
	uint64_t at = md0_super_bytes(dev->size_bytes);
	uint8_t data[MD0_BYTES];
	int r;

	if (at == UINT64_MAX)
		return BLKALIGN_NOT_THIS;
	r = dev_read(dev, at, data, sizeof(data), reterr);
	return r < 0 ? r : md0_decode(data, sizeof(data), at, ret, reterr);
}
