/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * After a read error that redundancy hid: what the member should hold is written to it, so that the drive can put another sector in the place, and read once more. As the
 * kernel does (raid5.c, raid5_end_read_request(); raid1.c, fix_read_error()). A member that does not take it fails.
 *
 * Whole pages are written, for a part of a sector, or of a page in the kernel's cache, cannot be written where the rest of it cannot be read. A write of less that failed is therefore
 * tried once more as a write of whole pages before the member fails for it: raid5 of the kernel writes nothing but pages, and so never meets this.
 */
#include "map/md_priv.h"

struct mend {
	struct md_batch b; /* one exclusion: the unit itself */
	uint32_t slot;
	struct byte_range unit;
	uint8_t content[MD_UNIT_BYTES];
	uint8_t again[MD_UNIT_BYTES];
};

static int read_member(const struct mend *m, uint32_t slot, uint64_t at, void *buffer, uint64_t length_bytes)
{
	const struct map_md_member *member = &m->b.state->members[slot];
	uint64_t offset;

	if (!u64_add(member->data_offset_bytes, at, &offset))
		return -ERANGE;
	return dev_read(member->dev, offset, buffer, length_bytes, NULL);
}

static int read_unit(const struct mend *m, uint32_t slot, uint64_t at, void *buffer)
{
	return read_member(m, slot, at, buffer, m->unit.length_bytes);
}

uint64_t md_page_phase(const struct map_md_member *m)
{
	uint64_t below = 0;
	int fd;

	dev_leaf_range(m->dev, &fd, &below);
	return (below % MD_UNIT_BYTES + m->data_offset_bytes % MD_UNIT_BYTES) % MD_UNIT_BYTES;
}

/* Cut to the chunks that hold the range, and to the area. */
static struct byte_range cut_out(const struct md *md, const struct byte_range *range, uint64_t begin, uint64_t end, uint64_t limit)
{
	uint64_t chunk = md->geometry.chunk_bytes, first = chunk ? round_down_u64(range->offset_bytes, chunk) : 0;

	if (chunk)
		md_cut(&limit, round_up_u64(range->offset_bytes + range->length_bytes, chunk));
	begin = begin > first ? begin : first;
	md_cut(&end, limit);
	return (struct byte_range){ begin, end - begin };
}

struct byte_range md_whole_pages(const struct md *md, const struct byte_range *range)
{
	uint64_t begin = round_down_u64(range->offset_bytes, MD_UNIT_BYTES),
		 end = round_up_u64(range->offset_bytes + range->length_bytes, MD_UNIT_BYTES);

	if (!md_redundant(md))
		return *range;
	if (atomic_load(&md->askew)) {
		begin -= begin ? MD_UNIT_BYTES : 0;
		end += MD_UNIT_BYTES;
	}
	return cut_out(md, range, begin, end, md->geometry.level == RAID_10 ? md->dev.size_bytes : md->geometry.used_bytes);
}

/* What of the data area lies in one page with byte `at`, and in one chunk. */
static struct byte_range page_at(const struct md *md, const struct map_md_member *m, uint64_t at)
{
	uint64_t phase = md_page_phase(m), begin = round_down_u64(at + phase, MD_UNIT_BYTES);

	return cut_out(md, &(struct byte_range){ at, 1 }, begin > phase ? begin - phase : 0, begin + MD_UNIT_BYTES - phase,
		       md->geometry.used_bytes);
}

/* The beginning of what is left of the unit, from the first copy that can be read there; *run_bytes is cut to it. */
static int from_one_copy(struct mend *m, uint64_t array_bytes, uint8_t *to, uint64_t *run_bytes)
{
	uint64_t left = *run_bytes;
	struct raid_place place;

	while (md_pick_copy(&m->b, array_bytes, run_bytes, &place)) {
		struct md_exclusion x = { place.slot, true, { place.device_bytes, *run_bytes } };

		if (read_member(m, place.slot, place.device_bytes, to, *run_bytes) >= 0)
			return 0;
		if (vec_push(&m->b.exclusions, x) < 0)
			return -ENOMEM;
		*run_bytes = left;
	}
	return -EIO;
}

static int from_copies(struct mend *m, uint64_t array_bytes)
{
	int r = 0;

	for (uint64_t done = 0, run; r >= 0 && done < m->unit.length_bytes; done += run) {
		run = m->unit.length_bytes - done;
		r = from_one_copy(m, array_bytes + done, m->content + done, &run);
	}
	return r;
}

/* All slots but this one, and but those that cannot be read or are not needed. */
static int from_rows(struct mend *m)
{
	const struct raid_geometry *g = &m->b.md->geometry;
	uint64_t at = m->unit.offset_bytes, run = m->unit.length_bytes;
	struct raid_row row = { .geometry = g, .stripe = raid_stripe_at(g, at), .length_bytes = m->unit.length_bytes };
	uint8_t **blocks = md_scratch_get(&m->b, g->members * sizeof(*blocks));
	uint32_t lost[2], lost_count = 0;

	if (!blocks || md_doubtful(m->b.md, at, &run) || run < m->unit.length_bytes)
		return -EIO;
	row.blocks = blocks;
	for (uint32_t slot = 0; slot < g->members; slot++) {
		blocks[slot] = slot == m->slot ? m->content : NULL;
		run = m->unit.length_bytes;
		if (slot != m->slot && md_readable(&m->b, slot, at, &run) && run == m->unit.length_bytes) {
			blocks[slot] = md_scratch_get(&m->b, m->unit.length_bytes);
			if (blocks[slot] && read_unit(m, slot, at, blocks[slot]) >= 0)
				continue;
			blocks[slot] = NULL;
		}
		if (lost_count == raid_redundancy(g))
			return -EIO;
		lost[lost_count++] = slot;
	}
	return raid_recover(&row, lost, lost_count);
}

/* Where the unit lies in the guard's unit. */
static int locate_unit(const struct md *md, uint32_t slot, const struct byte_range *unit, struct byte_range *ret)
{
	struct raid_origin origin;

	*ret = *unit;
	if (md->geometry.level != RAID_10)
		return 0;
	if (raid_origin(&md->geometry, slot, unit->offset_bytes, &origin) < 0 || origin.run_bytes < unit->length_bytes)
		return -EIO;
	ret->offset_bytes = origin.array_bytes;
	return 0;
}

static int find_content(struct mend *m, const struct byte_range *located)
{
	struct md_exclusion x = { m->slot, true, m->unit };

	if (vec_push(&m->b.exclusions, x) < 0)
		return -ENOMEM;
	return md_has_parity(m->b.md) ? from_rows(m) : from_copies(m, located->offset_bytes);
}

static int write_unit(struct mend *m, struct dev_request *failed)
{
	const struct map_md_member *member = &m->b.state->members[m->slot];
	uint64_t offset = member->data_offset_bytes + m->unit.offset_bytes;
	struct dev_request q = { member->dev, DEV_WRITE, offset, m->unit.length_bytes, m->content, 0, NULL };

	dev_run(&q, 1, NULL);
	if (!q.result) {
		q.op = DEV_READ;
		q.buffer = m->again;
		dev_run(&q, 1, NULL);
	}
	if (!q.result && memcmp(m->content, m->again, m->unit.length_bytes) != 0) {
		q.result = -EIO;
		q.reason = "what was written back just before reads otherwise";
	}
	if (!q.result)
		atomic_fetch_add(&m->b.md->rewritten_bytes, m->unit.length_bytes);
	*failed = q;
	return q.result;
}

static void write_back(struct mend *m, const struct byte_range *locked)
{
	struct md *md = m->b.md;
	_cleanup_free_ struct md_failure *failed = NULL;
	struct dev_request q;
	int r;

	if (md->guard->ops->begin(md->guard, locked, 1, NULL) < 0)
		return;
	r = write_unit(m, &q);
	if (r < 0 && !md_is_no_fault(r) && md_note_failure(md, &failed, m->slot, &q) >= 0) {
		md_state_put(md, m->b.state);
		md_fail(md, failed);
		m->b.state = md_state_get(md);
	}
	md->guard->ops->end(md->guard, locked, 1, r >= 0 && m->b.state->complete);
}

static void mend_locked(struct mend *m, const struct byte_range *locked)
{
	uint64_t run = m->unit.length_bytes;

	if (!md_readable(&m->b, m->slot, m->unit.offset_bytes, &run) || run < m->unit.length_bytes)
		return;
	if (read_unit(m, m->slot, m->unit.offset_bytes, m->again) >= 0)
		return;
	if (find_content(m, locked) >= 0)
		write_back(m, locked);
}

static void mend_unit(struct md *md, uint32_t slot, const struct byte_range *unit)
{
	struct mend m = { .b = { .md = md }, .slot = slot, .unit = *unit };
	struct byte_range locked;
	struct md_lock lock = { .ranges = &locked, .count = 1 };

	if (locate_unit(md, slot, unit, &locked) < 0)
		return;
	md_lock(md, &lock);
	m.b.state = md_state_get(md);
	mend_locked(&m, &locked);
	md_state_put(md, m.b.state);
	md_unlock(md, &lock);
	md_batch_done(&m.b);
}

/* Empty when the member is gone. */
static struct byte_range page_of_slot(struct md *md, uint32_t slot, uint64_t at)
{
	struct md_state *state = md_state_get(md);
	const struct map_md_member *m = &state->members[slot];
	struct byte_range page = { at, 0 };

	if (m->dev && at < md->geometry.used_bytes)
		page = page_at(md, m, at);
	md_state_put(md, state);
	return page;
}

static void mend_range(struct md *md, uint32_t slot, const struct byte_range *range)
{
	uint64_t end = range->offset_bytes + range->length_bytes;

	for (uint64_t at = range->offset_bytes; at < end && !atomic_load(&md->broken);) {
		struct byte_range page = page_of_slot(md, slot, at);

		if (!page.length_bytes)
			return;
		mend_unit(md, slot, &page);
		at = page.offset_bytes + page.length_bytes;
	}
}

void md_mend(struct md_batch *b)
{
	if (!b->md->dev.writable || !md_redundant(b->md))
		return;
	for (size_t i = 0; i < b->exclusions.count; i++)
		if (b->exclusions.data[i].range.length_bytes)
			mend_range(b->md, b->exclusions.data[i].slot, &b->exclusions.data[i].range);
}

/* What failed of the group holds old contents, or none that can be read. */
static int exclude_failed(struct md_batch *of, const struct md_batch *b)
{
	for (size_t i = 0; i < b->requests.count; i++) {
		const struct dev_request *q = &b->requests.data[i];
		uint32_t slot = b->leaves.data[i].slot;
		struct md_exclusion x = { slot, true, { q->offset_bytes - b->state->members[slot].data_offset_bytes, q->length_bytes } };

		if (q->result && vec_push(&of->exclusions, x) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool rewrite_page(struct md_batch *b, uint32_t slot, const struct byte_range *page)
{
	struct mend m = { .b = { .md = b->md, .state = b->state }, .slot = slot, .unit = *page };
	struct dev_request failed;
	struct byte_range located;
	int r = locate_unit(b->md, slot, page, &located);

	if (r >= 0)
		r = exclude_failed(&m.b, b);
	if (r >= 0)
		r = find_content(&m, &located);
	if (r >= 0)
		r = write_unit(&m, &failed);
	md_batch_done(&m.b);
	return r >= 0;
}

/* What failed was all of the pages that could be written in its place. */
static bool is_whole(const struct md *md, const struct map_md_member *m, uint64_t begin, uint64_t end)
{
	struct byte_range first = page_at(md, m, begin), last = page_at(md, m, end - 1);

	return first.offset_bytes == begin && last.offset_bytes + last.length_bytes == end;
}

bool md_rewrite_pages(struct md_batch *b, size_t failed_request)
{
	const struct dev_request *q = &b->requests.data[failed_request];
	uint32_t slot = b->leaves.data[failed_request].slot;
	const struct map_md_member *m = &b->state->members[slot];
	uint64_t at = q->offset_bytes - m->data_offset_bytes, end = at + q->length_bytes;

	if (!md_redundant(b->md) || is_whole(b->md, m, at, end))
		return false;
	while (at < end) {
		struct byte_range page = page_at(b->md, m, at);

		if (!rewrite_page(b, slot, &page))
			return false;
		at = page.offset_bytes + page.length_bytes;
	}
	return true;
}
