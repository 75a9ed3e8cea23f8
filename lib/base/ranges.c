/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/base.h"

size_t ranges_behind(const struct byte_range *ranges, size_t count, uint64_t at)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (range_end(&ranges[middle]) > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int by_offset(const void *a, const void *b)
{
	const struct byte_range *x = a, *y = b;

	return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

size_t ranges_tidy(struct byte_range *ranges, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(ranges, count, sizeof(*ranges), by_offset);
	for (size_t i = 0; i < count; i++) {
		struct byte_range *last = kept ? &ranges[kept - 1] : NULL, next = ranges[i];

		if (!last || next.offset_bytes > range_end(last))
			ranges[kept++] = next;
		else if (range_end(&next) > range_end(last))
			last->length_bytes = range_end(&next) - last->offset_bytes;
	}
	return kept;
}
