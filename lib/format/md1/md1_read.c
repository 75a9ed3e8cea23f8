/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/md1/md1.h"

#define SMALLEST_MEMBER_BYTES (24 * UINT64_C(512)) /* super_1_load(): the end-of-device superblock must leave room for data */

uint64_t md1_super_bytes(unsigned minor, uint64_t device_bytes)
{
	uint64_t device_sectors512 = device_bytes / 512;

	if (device_bytes < SMALLEST_MEMBER_BYTES)
		return UINT64_MAX;
	switch (minor) {
	case 0: /* at least 8 KiB, less than 12 KiB before the end, on a 4 KiB boundary */
		return ((device_sectors512 - 16) & ~UINT64_C(7)) * 512;
	case 1:
		return 0;
	case 2:
		return 4096;
	default:
		return UINT64_MAX;
	}
}

int md1_read(struct dev *dev, unsigned minor, struct md1_superblock *ret, struct blkalign_error *reterr)
{
	uint64_t at = md1_super_bytes(minor, dev->size_bytes);
	uint8_t data[MD1_BYTES];
	int r;

	if (at == UINT64_MAX)
		return BLKALIGN_NOT_THIS;
	r = dev_read(dev, at, data, sizeof(data), reterr);
	if (r < 0)
		return r;
	return md1_decode(data, sizeof(data), at, dev->size_bytes, ret, reterr);
}
