/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * raid1 and raid10. Copies are compared with the first one that can be read, window by window, which is what the kernel counts; where they differ, page by page, so that
 * places are exact. Who is wrong cannot be proven: of three copies two may agree because both were written wrongly.
 */
#include "run/scrub.h"

static const struct map_md_member *member(const struct scrub_worker *w, uint32_t copy)
{
	return view_member(w->view, w->places[copy].slot);
}

/* Where copy `copy` lies: copies of raid1, and of raid10 whose members are all copies of each other, lie at the same place. */
static bool locate(const struct raid_geometry *g, uint64_t at, uint32_t copy, struct raid_place *ret)
{
	return raid_locate(g, at, copy, ret) == 0;
}

static uint64_t cut_at_chunk(const struct raid_geometry *g, uint64_t at, uint64_t length)
{
	uint64_t rest;

	if (g->level != RAID_10 || g->near_copies >= g->members)
		return length;
	rest = g->chunk_bytes - at % g->chunk_bytes;
	return length < rest ? length : rest;
}

uint64_t scrub_window_bytes(const struct md_view *v, uint64_t at)
{
	uint64_t length = view_sync_bytes(v) - at;

	length = cut_at_chunk(v->geometry, at, length < SCRUB_WINDOW_BYTES ? length : SCRUB_WINDOW_BYTES);
	for (uint32_t copy = 0; copy < raid_copies(v->geometry); copy++) {
		struct raid_place place;

		if (locate(v->geometry, at, copy, &place))
			view_has(view_member(v, place.slot), place.device_bytes, &length);
	}
	return length;
}

bool scrub_is_first_copy(const struct md_view *v, const struct blkalign_scrub_finding *f)
{
	for (uint32_t copy = 0; copy < raid_copies(v->geometry); copy++) {
		struct raid_place place;

		if (locate(v->geometry, f->array_first_bytes, copy, &place) &&
		    view_has_all(view_member(v, place.slot), place.device_bytes, f->length_bytes < 512 ? f->length_bytes : 512))
			return place.slot == f->slot;
	}
	return false;
}

/* --- what to say of a page --- */

static void tell(struct scrub_worker *w, uint64_t at, uint32_t copy, size_t offset, struct blkalign_scrub_finding *f)
{
	f->slot = copy < w->lanes ? w->places[copy].slot : BLKALIGN_SLOT_NONE;
	f->member_bytes = w->places[copy < w->lanes ? copy : 0].device_bytes + offset;
	f->array_first_bytes = at + offset;
	f->array_last_bytes = at + offset + f->length_bytes - 1;
	scrub_found(w, at + offset, f);
}

static uint32_t first_read(const struct scrub_worker *w)
{
	uint32_t copy = 0;

	while (copy < w->lanes && w->has[copy] != SCRUB_READ)
		copy++;
	return copy;
}

bool scrub_copies_agree(const struct scrub_worker *w, uint32_t first, size_t offset, size_t length)
{
	for (uint32_t copy = first + 1; copy < w->lanes; copy++)
		if (w->has[copy] == SCRUB_READ && memcmp(w->blocks[first] + offset, w->blocks[copy] + offset, length) != 0)
			return false;
	return true;
}

static bool same(const struct scrub_worker *w, uint32_t a, uint32_t b, size_t offset, size_t length)
{
	return memcmp(w->blocks[a] + offset, w->blocks[b] + offset, length) == 0;
}

/* Index of the one copy that differs while all others agree; `lanes` when there is none. Needs three copies, all of them read. */
static uint32_t odd_one_out(const struct scrub_worker *w, size_t offset, size_t length)
{
	uint32_t odd = same(w, 0, 1, offset, length) ? w->lanes : same(w, 1, 2, offset, length) ? 0 : 1;
	uint32_t other = odd == 0 ? 1 : 0;

	for (uint32_t copy = 2; copy < w->lanes; copy++) {
		if (same(w, other, copy, offset, length))
			continue;
		if (odd != w->lanes)
			return w->lanes;
		odd = copy;
	}
	return odd;
}

static bool all_read(const struct scrub_worker *w)
{
	for (uint32_t copy = 0; copy < w->lanes; copy++)
		if (w->has[copy] != SCRUB_READ)
			return false;
	return true;
}

static enum blkalign_scrub_verdict why_unknown(const struct scrub_worker *w, uint64_t sync_bytes, size_t length)
{
	if (view_doubtful(w->view, sync_bytes, length))
		return BLKALIGN_SCRUB_DOUBTFUL;
	if (!all_read(w))
		return BLKALIGN_SCRUB_DEGRADED;
	return w->lanes > 2 ? BLKALIGN_SCRUB_SEVERAL : BLKALIGN_SCRUB_ONE_PARITY;
}

static void note_uncompared(struct scrub_worker *w, uint32_t first, size_t length)
{
	uint32_t second = first + 1;

	while (second < w->lanes && w->has[second] != SCRUB_READ)
		second++;
	w->uncompared_bytes += second < w->lanes ? 0 : length;
}

/* The first copy that has its place for itself, as the others are compared with; the first of all where there is none. */
static uint32_t first_apart(const struct scrub_worker *w, uint64_t array_bytes, uint32_t first)
{
	for (uint32_t copy = first; copy < w->lanes; copy++)
		if (w->has[copy] == SCRUB_READ && !raid_shares_place(w->view->geometry, array_bytes, copy))
			return copy;
	return first;
}

/*
 * Copies of different chunks lie in one place, and the last one that was written is there. The kernel's check counts all of that as mismatches, and so do we; but no member
 * is to blame for it. What differs apart from that is told as usual.
 */
static void tell_overlaps(struct scrub_worker *w, uint64_t at, size_t offset, uint32_t first, struct blkalign_scrub_finding *f)
{
	const struct raid_geometry *g = w->view->geometry;
	enum blkalign_scrub_verdict usual = f->verdict;
	uint32_t apart = first_apart(w, at + offset, first);
	bool shared = raid_shares_place(g, at + offset, apart);

	for (uint32_t copy = first; copy < w->lanes; copy++) {
		if (copy == apart || w->has[copy] != SCRUB_READ || same(w, apart, copy, offset, f->length_bytes))
			continue;
		f->verdict = shared || raid_shares_place(g, at + offset, copy) ? BLKALIGN_SCRUB_OVERLAP : usual;
		tell(w, at, copy, offset, f);
	}
}

static void compare_page(struct scrub_worker *w, uint64_t at, size_t offset, size_t length)
{
	struct blkalign_scrub_finding f = { .kind = BLKALIGN_SCRUB_MISMATCH, .length_bytes = length };
	uint32_t first = first_read(w), odd = w->lanes;
	bool differs = false;

	note_uncompared(w, first, length);

	for (uint32_t copy = first + 1; copy < w->lanes; copy++)
		if (w->has[copy] == SCRUB_READ && !same(w, first, copy, offset, length))
			w->differs[copy] = differs = true;
	if (!differs)
		return;
	f.verdict = why_unknown(w, at + offset, length);
	if (raid_overlaps_itself(w->view->geometry)) {
		tell_overlaps(w, at, offset, first, &f);
		return;
	}
	if (f.verdict == BLKALIGN_SCRUB_SEVERAL)
		odd = odd_one_out(w, offset, length);
	if (odd < w->lanes) {
		f.verdict = BLKALIGN_SCRUB_OUTVOTED;
		tell(w, at, odd, offset, &f);
		return;
	}
	for (uint32_t copy = first + 1; copy < w->lanes; copy++)
		if (w->has[copy] == SCRUB_READ && !same(w, first, copy, offset, length))
			tell(w, at, copy, offset, &f);
}

/* --- reading --- */

static void tell_unread(struct scrub_worker *w, uint64_t at, size_t offset, size_t length)
{
	struct blkalign_scrub_finding f = { .length_bytes = length, .verdict = BLKALIGN_SCRUB_DEGRADED };
	uint32_t first = first_read(w);

	if (view_doubtful(w->view, at + offset, length))
		f.verdict = BLKALIGN_SCRUB_DOUBTFUL;
	if (first < w->lanes && !scrub_copies_agree(w, first, offset, length))
		f.verdict = BLKALIGN_SCRUB_SEVERAL;
	if (first == w->lanes) {
		f.kind = BLKALIGN_SCRUB_LOST;
		tell(w, at, w->lanes, offset, &f);
		return;
	}
	f.kind = BLKALIGN_SCRUB_UNREADABLE;
	for (uint32_t copy = 0; copy < w->lanes; copy++)
		if (w->has[copy] == SCRUB_UNREADABLE)
			tell(w, at, copy, offset, &f);
}

/* The careful way: page by page. */
static void read_pages(struct scrub_worker *w, uint64_t at, size_t begin, size_t length)
{
	for (size_t done = 0; !w->error && done < length; done += VIEW_ROW_BYTES) {
		size_t page = length - done < VIEW_ROW_BYTES ? length - done : VIEW_ROW_BYTES, offset = begin + done;

		for (uint32_t copy = 0; copy < w->lanes; copy++)
			if (w->has[copy] != SCRUB_ABSENT)
				w->has[copy] = scrub_read(w, w->places[copy].slot, w->places[copy].device_bytes + offset,
							  w->blocks[copy] + offset, page)
						       ? SCRUB_READ
						       : SCRUB_UNREADABLE;
		if (w->error)
			return;
		tell_unread(w, at, offset, page);
		compare_page(w, at, offset, page);
	}
}

void scrub_read_copies(struct scrub_worker *w, uint64_t at, size_t length)
{
	for (uint32_t copy = 0; !w->error && copy < w->lanes; copy++) {
		struct raid_place *place = &w->places[copy];

		w->has[copy] = SCRUB_ABSENT;
		if (locate(w->view->geometry, at, copy, place) && view_has_all(member(w, copy), place->device_bytes, length))
			w->has[copy] =
				scrub_read(w, place->slot, place->device_bytes, w->blocks[copy], length) ? SCRUB_READ : SCRUB_UNREADABLE;
	}
}

static bool read_copies(struct scrub_worker *w, size_t length)
{
	for (uint32_t copy = 0; copy < w->lanes; copy++)
		if (w->has[copy] == SCRUB_READ &&
		    !scrub_read(w, w->places[copy].slot, w->places[copy].device_bytes, w->blocks[copy], length))
			return false;
	return first_read(w) < w->lanes;
}

static void compare_copies(struct scrub_worker *w, uint64_t at, size_t length)
{
	uint32_t first = first_read(w);

	note_uncompared(w, first, length);
	if (scrub_copies_agree(w, first, 0, length))
		return;
	for (size_t done = 0; done < length; done += VIEW_ROW_BYTES)
		compare_page(w, at, done, length - done < VIEW_ROW_BYTES ? length - done : VIEW_ROW_BYTES);
}

/* As much of a window as fits the blocks. */
static void check_piece(struct scrub_worker *w, uint64_t at, size_t length)
{
	for (uint32_t copy = 0; copy < w->lanes; copy++)
		w->has[copy] = view_has_all(member(w, copy), w->places[copy].device_bytes, length) ? SCRUB_READ : SCRUB_ABSENT;
	if (read_copies(w, length))
		compare_copies(w, at, length);
	else if (!w->error)
		read_pages(w, at, 0, length);
}

static void check_window(struct scrub_worker *w, uint64_t at, uint64_t length)
{
	for (uint32_t copy = 0; copy < w->lanes; copy++) {
		w->differs[copy] = false;
		if (!locate(w->view->geometry, at, copy, &w->places[copy]))
			return;
	}
	for (uint64_t done = 0; !w->error && done < length;) {
		uint64_t piece = length - done < w->block_bytes ? length - done : w->block_bytes;

		check_piece(w, at + done, piece);
		for (uint32_t copy = 0; copy < w->lanes; copy++)
			w->places[copy].device_bytes += piece;
		done += piece;
	}
	for (uint32_t copy = 0; copy < w->lanes; copy++)
		w->mismatch_sectors512 += w->differs[copy] ? length >> SCRUB_MISMATCH_SHIFT : 0;
}

void scrub_mirror(struct scrub_worker *w, uint64_t at, uint64_t length_bytes)
{
	for (uint64_t end = at + length_bytes, length; !w->error && at < end; at += length) {
		length = scrub_window_bytes(w->view, at);
		check_window(w, at, length);
	}
}
