/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the redundancy of an array that was not stopped cleanly may not fit its data: behind the checkpoint, where bits of the bitmap are set. */
#include "stack/md.h"

static uint64_t end_of(const struct map_range *range) { return range->offset_bytes + range->length_bytes; }

static int add(struct md_array *a, size_t *room, uint64_t begin, uint64_t end)
{
	if (begin >= end)
		return 0;
	if (a->doubtful_count == *room) {
		size_t more = *room ? 2 * *room : 16;
		struct map_range *grown = reallocarray(a->doubtful, more, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		a->doubtful = grown;
		*room = more;
	}
	a->doubtful[a->doubtful_count++] = (struct map_range){ begin, end - begin };
	a->doubtful_bytes += end - begin;
	return 0;
}

/* Chunks that begin before the checkpoint and end behind it count whole. */
static int add_bits(struct md_array *a, const struct md_bitmap *b, uint64_t begin, uint64_t total)
{
	uint64_t from = round_down_u64(begin, b->chunk_bytes);
	size_t room = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->count; i++) {
		uint64_t first = b->ranges[i].offset_bytes, last = end_of(&b->ranges[i]);

		r = add(a, &room, first > from ? first : from, last < total ? last : total);
	}
	return r < 0 ? r : add(a, &room, b->covered_bytes > begin ? b->covered_bytes : begin, total);
}

int md_find_doubtful(struct md_array *a, const struct raid_geometry *g)
{
	uint64_t total = g->level == RAID_10 ? raid_array_bytes(g) : g->used_bytes, begin = a->resync_bytes;
	struct md_bitmap bitmap;
	size_t room = 0;
	int r = md_bitmap_read(a, &bitmap);

	if (r == 0 && bitmap.counts) {
		a->bitmap_dirty_bytes = 0;
		for (size_t i = 0; i < bitmap.count; i++)
			a->bitmap_dirty_bytes += bitmap.ranges[i].length_bytes;
	}
	if (r == 0 && a->journal_lost)
		r = add(a, &room, 0, total);
	else if (r == 0 && a->dirty)
		r = bitmap.counts ? add_bits(a, &bitmap, begin, total) : add(a, &room, begin, total);
	free(bitmap.ranges);
	return r;
}
