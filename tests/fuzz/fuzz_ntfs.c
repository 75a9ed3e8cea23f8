/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input: the boot sector, then the $Volume record. */
#include "fuzz_fs.h"

#include "format/ntfs/ntfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t boot = size < 512 ? size : 512;
	struct fsgeom g;
	int r = ntfs_decode(data, boot, 0, &g, NULL);

	fuzz_fs_check(r, &g);
	if (r != 0)
		fsgeom_init(&g, "ntfs");
	ntfs_decode_record(data + boot, size - boot, &g);
	fuzz_fs_check(0, &g);
	return 0;
}
