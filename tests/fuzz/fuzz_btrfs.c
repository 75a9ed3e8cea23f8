/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input: the 4096 bytes of the superblock. */
#include "fuzz_fs.h"

#include "format/btrfs/btrfs.h"

#define PLACE (64 * KIB)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t sb[4096];
	struct fsgeom g;

	fuzz_fs_check(btrfs_decode(data, size, PLACE, &g, NULL), &g);
	fuzz_pad(sb, sizeof(sb), data, size);
	fuzz_store_le32(sb, ~crc32c_raw(UINT32_MAX, sb + 32, sizeof(sb) - 32));
	fuzz_fs_check(btrfs_decode(sb, sizeof(sb), PLACE, &g, NULL), &g);
	return 0;
}
