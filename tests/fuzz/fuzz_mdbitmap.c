/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/mdbitmap/mdbitmap.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mdbitmap bitmap;

	mdbitmap_decode(data, size, &bitmap, NULL);
	return 0;
}
