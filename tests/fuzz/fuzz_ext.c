/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input: the 1024 bytes of the superblock. */
#include "fuzz_fs.h"

#include "format/ext/ext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t sb[1024];
	struct fsgeom g;

	fuzz_fs_check(ext_decode(data, size, 1024, &g, NULL), &g);
	fuzz_pad(sb, sizeof(sb), data, size);
	fuzz_store_le32(sb + 0x3fc, crc32c_raw(UINT32_MAX, sb, 0x3fc));
	fuzz_fs_check(ext_decode(sb, sizeof(sb), 1024, &g, NULL), &g);
	return 0;
}
