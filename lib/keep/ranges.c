/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keep/keep_priv.h"

void ranges_done(struct ranges *ranges)
{
	free(ranges->data);
	*ranges = (struct ranges){ 0 };
}

int ranges_add(struct ranges *ranges, uint64_t offset_bytes, uint64_t length_bytes)
{
	if (!length_bytes)
		return 0;
	if (vec_grow_((void **)&ranges->data, &ranges->room, ranges->count, sizeof(*ranges->data)) < 0)
		return -ENOMEM;
	ranges->data[ranges->count++] = (struct byte_range){ offset_bytes, length_bytes };
	return 0;
}

int ranges_copy(struct ranges *ret, const struct ranges *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (ranges_add(ret, from->data[i].offset_bytes, from->data[i].length_bytes) < 0)
			return -ENOMEM;
	return 0;
}

/* The one range that goes beyond both ends becomes two. */
static int split(struct ranges *ranges, size_t at, uint64_t offset_bytes, uint64_t end_bytes)
{
	struct byte_range *r;
	uint64_t end;

	if (vec_grow_((void **)&ranges->data, &ranges->room, ranges->count, sizeof(*ranges->data)) < 0)
		return -ENOMEM;
	r = &ranges->data[at];
	end = range_end(r);
	memmove(r + 1, r, (ranges->count - at) * sizeof(*r));
	ranges->count++;
	r[0].length_bytes = offset_bytes - r[0].offset_bytes;
	r[1] = (struct byte_range){ end_bytes, end - end_bytes };
	return 0;
}

int ranges_subtract(struct ranges *ranges, uint64_t offset_bytes, uint64_t end_bytes)
{
	size_t kept = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		struct byte_range r = ranges->data[i];
		uint64_t end = range_end(&r);

		if (r.offset_bytes < offset_bytes && end > end_bytes && offset_bytes < end_bytes)
			return split(ranges, i, offset_bytes, end_bytes); /* touches no other one */
		if (r.offset_bytes < end_bytes && offset_bytes < end) {
			if (r.offset_bytes < offset_bytes)
				end = offset_bytes;
			else
				r.offset_bytes = end_bytes < end ? end_bytes : end;
		}
		if (r.offset_bytes < end)
			ranges->data[kept++] = (struct byte_range){ r.offset_bytes, end - r.offset_bytes };
	}
	ranges->count = kept;
	return 0;
}

void ranges_sort(struct ranges *ranges) { ranges->count = ranges_tidy(ranges->data, ranges->count); }
