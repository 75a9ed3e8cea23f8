/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>

#include "run/md_view.h"

#define READ_AHEAD_BYTES (1 * MIB) /* of each member */

const struct map_md_member *view_member(const struct md_view *view, uint32_t slot)
{
	const struct map_md_member *now = view->md ? map_md_members(view->md, NULL) : NULL;

	return &(now ? now : view->members)[slot];
}

uint64_t view_sync_bytes(const struct md_view *view)
{
	return view->geometry->level == RAID_10 ? raid_array_bytes(view->geometry) : view->geometry->used_bytes;
}

static void cut(uint64_t *run_bytes, uint64_t limit)
{
	if (*run_bytes > limit)
		*run_bytes = limit;
}

bool view_has(const struct map_md_member *m, uint64_t at, uint64_t *run_bytes)
{
	size_t i;

	if (!m->dev || at >= m->valid_bytes)
		return false;
	cut(run_bytes, m->valid_bytes - at);
	i = ranges_behind(m->bad, m->bad_count, at);
	if (i == m->bad_count)
		return true;
	if (m->bad[i].offset_bytes > at) {
		cut(run_bytes, m->bad[i].offset_bytes - at);
		return true;
	}
	cut(run_bytes, range_end(&m->bad[i]) - at);
	return false;
}

bool view_has_all(const struct map_md_member *m, uint64_t at, uint64_t length_bytes)
{
	uint64_t run = length_bytes;

	return view_has(m, at, &run) && run == length_bytes;
}

bool view_doubtful(const struct md_view *view, uint64_t sync_bytes, uint64_t length_bytes)
{
	size_t i = ranges_behind(view->doubtful, view->doubtful_count, sync_bytes);

	return i < view->doubtful_count && view->doubtful[i].offset_bytes < sync_bytes + length_bytes;
}

int view_read(const struct map_md_member *m, uint64_t at, void *buffer, size_t length_bytes, struct blkalign_error *reterr)
{
	uint64_t offset;
	int r;

	if (!m->dev)
		return blkalign_error_set(reterr, -EIO, NULL, at, "this member failed meanwhile");
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
		map_md_lock(view->md, &(struct byte_range){ sync_bytes, length_bytes });
}

void view_unlock(const struct md_view *view, uint64_t sync_bytes, uint64_t length_bytes)
{
	if (view->md)
		map_md_unlock(view->md, &(struct byte_range){ sync_bytes, length_bytes });
}
