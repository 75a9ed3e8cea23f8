/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input: the first sector, up to 32 KiB. */
#include "fuzz_fs.h"

#include "format/xfs/xfs.h"

#define CRC_OFFSET 224U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t sb[1U << 15];
	struct fsgeom g;
	size_t sector;

	fuzz_fs_check(xfs_decode(data, size, 0, &g, NULL), &g);
	fuzz_pad(sb, sizeof(sb), data, size);
	sector = load_be16(sb + 102);
	memset(sb + CRC_OFFSET, 0, 4);
	if (sector > CRC_OFFSET && sector <= sizeof(sb))
		fuzz_store_le32(sb + CRC_OFFSET, ~crc32c_raw(UINT32_MAX, sb, sector));
	fuzz_fs_check(xfs_decode(sb, sizeof(sb), 0, &g, NULL), &g);
	return 0;
}
