/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>

#include "run/md_view.h"

#define READ_AHEAD_BYTES (1 * MIB) /* of each member */

uint64_t view_sync_bytes(const struct md_view *view)
{
	return view->geometry->level == RAID_10 ? raid_array_bytes(view->geometry) : view->geometry->used_bytes;
}

static uint64_t end_of(const struct map_range *range) { return range->offset_bytes + range->length_bytes; }

/* The first of ascending ranges that ends behind `at`, or NULL. */
static const struct map_range *range_behind(const struct map_range *ranges, size_t count, uint64_t at)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (end_of(&ranges[middle]) > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low < count ? &ranges[low] : NULL;
}

static void cut(uint64_t *run_bytes, uint64_t limit)
{
	if (*run_bytes > limit)
		*run_bytes = limit;
}

bool view_has(const struct map_md_member *m, uint64_t at, uint64_t *run_bytes)
{
	const struct map_range *bad;

	if (!m->dev || at >= m->valid_bytes)
		return false;
	cut(run_bytes, m->valid_bytes - at);
	bad = range_behind(m->bad, m->bad_count, at);
	if (!bad)
		return true;
	if (bad->offset_bytes > at) {
		cut(run_bytes, bad->offset_bytes - at);
		return true;
	}
	cut(run_bytes, end_of(bad) - at);
	return false;
}

bool view_has_all(const struct map_md_member *m, uint64_t at, uint64_t length_bytes)
{
	uint64_t run = length_bytes;

	return view_has(m, at, &run) && run == length_bytes;
}

bool view_doubtful(const struct md_view *view, uint64_t sync_bytes, uint64_t length_bytes)
{
	const struct map_range *range = range_behind(view->doubtful, view->doubtful_count, sync_bytes);

	return range && range->offset_bytes < sync_bytes + length_bytes;
}

int view_read(const struct map_md_member *m, uint64_t at, void *buffer, size_t length_bytes, struct blkalign_error *reterr)
{
	uint64_t offset;
	int r;

	if (!u64_add(m->data_offset_bytes, at, &offset))
		return -ERANGE;
	r = dev_read(m->dev, offset, buffer, length_bytes, reterr);
	/* What drives and the kernel say of a sector: all of them mean that this place cannot be read, not that the member is gone. */
	return r == -ENODATA || r == -EILSEQ || r == -EREMOTEIO || r == -ETIMEDOUT || r == -EBADMSG ? -EIO : r;
}

static void expect(const struct map_md_member *m, uint64_t at, uint64_t length_bytes)
{
	uint64_t begin, offset;
	int fd;

	if (!m->dev || !dev_leaf_range(m->dev, &fd, &begin) || !u64_add(begin, m->data_offset_bytes, &offset) ||
	    !u64_add(offset, at, &offset) || offset > INT64_MAX)
		return;
	posix_fadvise(fd, (off_t)offset, (off_t)length_bytes, POSIX_FADV_WILLNEED);
}

/* Copies of raid10 lie elsewhere on each member; there the kernel's own read-ahead must do. */
void view_read_ahead(const struct md_view *view, uint64_t at, uint64_t length_bytes)
{
	uint64_t step = at / READ_AHEAD_BYTES;

	if (view->geometry->level == RAID_10 || (at && (at + length_bytes) / READ_AHEAD_BYTES == step))
		return;
	for (uint32_t slot = 0; slot < view->geometry->members; slot++)
		expect(&view->members[slot], (step + 1) * READ_AHEAD_BYTES, READ_AHEAD_BYTES);
}

void view_lock(const struct md_view *view, uint64_t sync_bytes, uint64_t length_bytes)
{
	if (view->md)
		map_md_lock(view->md, &(struct map_range){ sync_bytes, length_bytes });
}

void view_unlock(const struct md_view *view, uint64_t sync_bytes, uint64_t length_bytes)
{
	if (view->md)
		map_md_unlock(view->md, &(struct map_range){ sync_bytes, length_bytes });
}
