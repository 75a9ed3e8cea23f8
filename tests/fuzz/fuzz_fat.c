/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input: two sectors (boot and info), then the root directory. */
#include "fuzz_fs.h"

#include "format/fat/fat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t boot = size < 1024 ? size : 1024;
	struct fsgeom g;
	int r = fat_decode(data, boot, 0, &g, NULL);

	fuzz_fs_check(r, &g);
	if (r != 0)
		fsgeom_init(&g, "vfat");
	fat_decode_record(data + boot, size - boot, &g);
	fuzz_fs_check(0, &g);
	return 0;
}
