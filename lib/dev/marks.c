/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dev/marks.h"

#define PAGE_BITS  (UINT64_C(1) << 18) /* a page describes 1 GiB */
#define PAGE_WORDS (PAGE_BITS / 64)
#define PAGE_COVER (PAGE_BITS * MARKS_GRANULE_BYTES)

int marks_init(struct marks *marks, uint64_t size_bytes)
{
	marks->pages_count = (size_t)(size_bytes / PAGE_COVER) + 1;
	marks->pages = calloc(marks->pages_count, sizeof(*marks->pages));
	return marks->pages ? 0 : -ENOMEM;
}

void marks_done(struct marks *marks)
{
	for (size_t i = 0; marks->pages && i < marks->pages_count; i++)
		free(marks->pages[i]);
	free(marks->pages);
	*marks = (struct marks){ 0 };
}

bool marks_has(const struct marks *marks, uint64_t granule)
{
	marks_word *page = marks->pages[granule / PAGE_BITS];
	uint64_t bit = granule % PAGE_BITS;

	return page && (page[bit / 64] >> bit % 64 & 1);
}

static int make_page(_Atomic(marks_word *) *at)
{
	marks_word *page, *none = NULL;

	if (*at)
		return 0;
	page = calloc(PAGE_WORDS, sizeof(*page));
	if (!page)
		return -ENOMEM;
	if (!atomic_compare_exchange_strong(at, &none, page))
		free(page);
	return 0;
}

int marks_prepare(struct marks *marks, uint64_t offset_bytes, uint64_t length_bytes)
{
	int r = 0;

	if (!length_bytes)
		return 0;
	for (uint64_t page = offset_bytes / PAGE_COVER; r == 0 && page <= (offset_bytes + length_bytes - 1) / PAGE_COVER; page++)
		r = make_page(&marks->pages[page]);
	return r;
}

void marks_set(struct marks *marks, uint64_t offset_bytes, uint64_t length_bytes)
{
	uint64_t end = offset_bytes + length_bytes;

	for (uint64_t granule = offset_bytes / MARKS_GRANULE_BYTES; granule * MARKS_GRANULE_BYTES < end; granule++) {
		uint64_t bit = granule % PAGE_BITS;

		atomic_fetch_or(&marks->pages[granule / PAGE_BITS][bit / 64], UINT64_C(1) << bit % 64);
	}
}

uint64_t marks_run_end(const struct marks *marks, uint64_t offset_bytes, uint64_t end_bytes)
{
	bool marked = marks_has(marks, offset_bytes / MARKS_GRANULE_BYTES);
	uint64_t to = round_down_u64(offset_bytes, MARKS_GRANULE_BYTES) + MARKS_GRANULE_BYTES;

	while (to < end_bytes && marks_has(marks, to / MARKS_GRANULE_BYTES) == marked)
		to += MARKS_GRANULE_BYTES;
	return to < end_bytes ? to : end_bytes;
}
