/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "format/mdbitmap/mdbitmap.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mdbitmap bitmap;
	struct mdbitmap_range *ranges = NULL;
	size_t count = 0;
	uint64_t end = 0;

	if (mdbitmap_decode(data, size, &bitmap, NULL) != 0 || bitmap.version == MDBITMAP_LOCKLESS || mdbitmap_stored_bytes(&bitmap) > size)
		return 0;
	if (mdbitmap_ranges(&bitmap, data + MDBITMAP_BYTES, data[size - 1], &ranges, &count) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].offset_bytes < end || !ranges[i].length_bytes)
			abort();
		end = ranges[i].offset_bytes + ranges[i].length_bytes;
	}
	if (end > bitmap.sync_bytes || count > MDBITMAP_RANGES_MAX)
		abort();
	free(ranges);
	return 0;
}
