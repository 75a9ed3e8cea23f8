/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input: the first page. */
#include "fuzz_fs.h"

#include "format/swap/swap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsgeom g;

	fuzz_fs_check(swap_decode(data, size, 0, &g, NULL), &g);
	return 0;
}
