/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the redundancy of an array that was not stopped cleanly may not fit its data: behind the checkpoint, where bits of the bitmap are set. */
#include "stack/md.h"

int md_add_doubtful(struct md_array *a, uint64_t begin_bytes, uint64_t end_bytes)
{
	if (begin_bytes >= end_bytes)
		return 0;
	if (a->doubtful_count == a->doubtful_room) {
		size_t more = a->doubtful_room ? 2 * a->doubtful_room : 16;
		struct byte_range *grown = reallocarray(a->doubtful, more, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		a->doubtful = grown;
		a->doubtful_room = more;
	}
	a->doubtful[a->doubtful_count++] = (struct byte_range){ begin_bytes, end_bytes - begin_bytes };
	return 0;
}

static void tidy(struct md_array *a)
{
	a->doubtful_count = ranges_tidy(a->doubtful, a->doubtful_count);
	a->doubtful_bytes = 0;
	for (size_t i = 0; i < a->doubtful_count; i++)
		a->doubtful_bytes += a->doubtful[i].length_bytes;
}

/* Chunks that begin before the checkpoint and end behind it count whole. */
static int add_bits(struct md_array *a, const struct md_bitmap *b, uint64_t begin, uint64_t total)
{
	uint64_t from = round_down_u64(begin, b->chunk_bytes);
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->count; i++) {
		uint64_t first = b->ranges[i].offset_bytes, last = range_end(&b->ranges[i]);

		r = md_add_doubtful(a, first > from ? first : from, last < total ? last : total);
	}
	return r < 0 ? r : md_add_doubtful(a, b->covered_bytes > begin ? b->covered_bytes : begin, total);
}

int md_find_doubtful(struct md_array *a, const struct raid_geometry *g)
{
	uint64_t total = g->level == RAID_10 ? raid_array_bytes(g) : g->used_bytes, begin = a->resync_bytes;
	struct md_bitmap bitmap;
	int r = md_bitmap_read(a, &bitmap);

	if (r == 0 && bitmap.counts) {
		a->bitmap_dirty_bytes = 0;
		for (size_t i = 0; i < bitmap.count; i++)
			a->bitmap_dirty_bytes += bitmap.ranges[i].length_bytes;
	}
	if (r == 0 && a->journal_lost)
		r = md_add_doubtful(a, 0, total);
	else if (r == 0 && a->dirty && !a->log_whole)
		r = bitmap.counts ? add_bits(a, &bitmap, begin, total) : md_add_doubtful(a, begin, total);
	free(bitmap.ranges);
	tidy(a);
	return r;
}
