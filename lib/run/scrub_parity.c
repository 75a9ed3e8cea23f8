/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * raid4, raid5, raid6. Rows of a stripe are read and compared together; only where something does not fit, or cannot be read, they are
 * looked at one by one, 4 KiB each, as the kernel does with all of them.
 */
#include "run/scrub.h"

static const struct map_md_member *member(const struct scrub_worker *w, uint32_t slot) { return view_member(w->view, slot); }

static uint32_t redundancy(const struct scrub_worker *w) { return raid_redundancy(w->view->geometry); }

/* --- what to say of a place --- */

static void set_array_range(const struct raid_geometry *g, struct blkalign_scrub_finding *f)
{
	struct raid_stripe stripe = raid_stripe_at(g, f->member_bytes);
	uint32_t data = raid_data_members(g);
	uint32_t first = f->slot == BLKALIGN_SLOT_NONE ? raid_data_slot(g, &stripe, 0) : f->slot;
	uint32_t last = f->slot == BLKALIGN_SLOT_NONE ? raid_data_slot(g, &stripe, data - 1) : f->slot;
	struct raid_origin begin, end;

	f->array_first_bytes = f->array_last_bytes = BLKALIGN_UNKNOWN;
	if (raid_role_at(&stripe, first) != RAID_ROLE_DATA || raid_origin(g, first, f->member_bytes, &begin) < 0 ||
	    raid_origin(g, last, f->member_bytes, &end) < 0)
		return;
	f->array_first_bytes = begin.array_bytes;
	f->array_last_bytes = end.array_bytes + f->length_bytes - 1;
}

static void tell(struct scrub_worker *w, const struct scrub_row *row, enum blkalign_scrub_kind kind, uint32_t slot, bool differs)
{
	struct blkalign_scrub_finding f = { .kind = kind,
					    .slot = slot,
					    .member_bytes = row->at,
					    .length_bytes = row->row.length_bytes,
					    .verdict = differs ? BLKALIGN_SCRUB_SEVERAL : BLKALIGN_SCRUB_DEGRADED };

	if (view_doubtful(w->view, row->at, row->row.length_bytes))
		f.verdict = BLKALIGN_SCRUB_DOUBTFUL;
	set_array_range(w->view->geometry, &f);
	scrub_found(w, row->at, &f);
}

/* Parity that is lost with data is no loss by itself. */
static void tell_lost(struct scrub_worker *w, const struct scrub_row *row, bool differs)
{
	bool lost = row->lost_count > redundancy(w);

	for (uint32_t slot = 0; slot < w->lanes; slot++) {
		bool data = raid_role_at(&row->row.stripe, slot) == RAID_ROLE_DATA;

		if (w->has[slot] != SCRUB_READ && lost && data)
			tell(w, row, BLKALIGN_SCRUB_LOST, slot, false);
		else if (w->has[slot] == SCRUB_UNREADABLE)
			tell(w, row, BLKALIGN_SCRUB_UNREADABLE, slot, differs);
	}
}

/* --- rows --- */

static void add_lost(struct scrub_row *row, uint32_t slot)
{
	if (row->lost_count < 2)
		row->lost[row->lost_count] = slot;
	row->lost_count++;
}

static void row_of_blocks(const struct scrub_worker *w, uint64_t at, uint8_t *const *blocks, size_t length, struct scrub_row *ret)
{
	const struct raid_geometry *g = w->view->geometry;

	*ret = (struct scrub_row){ .at = at };
	ret->row = (struct raid_row){ g, raid_stripe_at(g, at), blocks, length };
	for (uint32_t slot = 0; slot < w->lanes; slot++)
		if (w->has[slot] != SCRUB_READ)
			add_lost(ret, slot);
}

static void read_block(struct scrub_worker *w, uint32_t slot, uint64_t at, size_t length)
{
	if (!view_has_all(member(w, slot), at, length))
		w->has[slot] = SCRUB_ABSENT;
	else
		w->has[slot] = scrub_read(w, slot, at, w->blocks[slot], length) ? SCRUB_READ : SCRUB_UNREADABLE;
}

void scrub_read_row(struct scrub_worker *w, uint64_t at, struct scrub_row *ret)
{
	for (uint32_t slot = 0; !w->error && slot < w->lanes; slot++)
		read_block(w, slot, at, VIEW_ROW_BYTES);
	row_of_blocks(w, at, w->blocks, VIEW_ROW_BYTES, ret);
}

static bool fits(const struct scrub_worker *w, const struct scrub_row *row)
{
	if (row->lost_count >= redundancy(w))
		return true;
	if (row->lost_count && raid_recover(&row->row, row->lost, row->lost_count) < 0)
		return true;
	return raid_consistent(&row->row);
}

static enum blkalign_scrub_verdict judge(const struct scrub_worker *w, const struct scrub_row *row, uint32_t *ret_slot)
{
	struct raid_judgement judgement;

	if (view_doubtful(w->view, row->at, row->row.length_bytes))
		return BLKALIGN_SCRUB_DOUBTFUL;
	if (row->lost_count)
		return BLKALIGN_SCRUB_DEGRADED;
	if (row->row.stripe.q_slot == RAID_SLOT_NONE)
		return BLKALIGN_SCRUB_ONE_PARITY;
	raid_judge(&row->row, &judgement);
	if (judgement.verdict == RAID_ONE_WRONG) {
		*ret_slot = judgement.slot;
		return BLKALIGN_SCRUB_PROVEN;
	}
	return judgement.differing_bytes < RAID_BLAME_BYTES ? BLKALIGN_SCRUB_FEW_BYTES : BLKALIGN_SCRUB_SEVERAL;
}

bool scrub_row_differs(const struct scrub_worker *w, const struct scrub_row *row, struct blkalign_scrub_finding *ret)
{
	if (fits(w, row))
		return false;
	*ret = (struct blkalign_scrub_finding){
		.kind = BLKALIGN_SCRUB_MISMATCH, .slot = BLKALIGN_SLOT_NONE, .member_bytes = row->at, .length_bytes = row->row.length_bytes
	};
	ret->verdict = judge(w, row, &ret->slot);
	set_array_range(w->view->geometry, ret);
	return true;
}

static bool check_row(struct scrub_worker *w, const struct scrub_row *row)
{
	struct blkalign_scrub_finding f;

	if (row->lost_count >= redundancy(w))
		w->uncompared_bytes += row->row.length_bytes;
	if (!scrub_row_differs(w, row, &f))
		return false;
	w->mismatch_sectors512 += row->row.length_bytes >> SCRUB_MISMATCH_SHIFT;
	scrub_found(w, row->at, &f);
	return true;
}

/* The careful way. */
static void read_rows(struct scrub_worker *w, uint64_t at, size_t length)
{
	for (size_t done = 0; !w->error && done < length; done += VIEW_ROW_BYTES) {
		struct scrub_row row;

		scrub_read_row(w, at + done, &row);
		if (w->error)
			return;
		tell_lost(w, &row, check_row(w, &row));
	}
}

/* Rows that are there already, and do not all fit. */
static void split_rows(struct scrub_worker *w, const struct scrub_row *all)
{
	for (size_t done = 0; done < all->row.length_bytes; done += VIEW_ROW_BYTES) {
		struct scrub_row row;

		for (uint32_t slot = 0; slot < w->lanes; slot++)
			w->row_blocks[slot] = w->blocks[slot] + done;
		row_of_blocks(w, all->at + done, w->row_blocks, VIEW_ROW_BYTES, &row);
		check_row(w, &row);
	}
}

/* Whether every member has all of the range or nothing of it, and what it has was read. */
static bool read_whole(struct scrub_worker *w, uint64_t at, size_t length)
{
	for (uint32_t slot = 0; slot < w->lanes; slot++) {
		uint64_t run = length;

		w->has[slot] = view_has(member(w, slot), at, &run) ? SCRUB_READ : SCRUB_ABSENT;
		if (run < length)
			return false;
	}
	for (uint32_t slot = 0; slot < w->lanes; slot++)
		if (w->has[slot] == SCRUB_READ && !scrub_read(w, slot, at, w->blocks[slot], length))
			return false;
	return true;
}

static void check_piece(struct scrub_worker *w, uint64_t at, size_t length)
{
	struct scrub_row row;

	if (!read_whole(w, at, length)) {
		read_rows(w, at, length);
		return;
	}
	row_of_blocks(w, at, w->blocks, length, &row);
	if (row.lost_count > redundancy(w))
		read_rows(w, at, length);
	else if (row.lost_count == redundancy(w))
		w->uncompared_bytes += length;
	else if (!fits(w, &row))
		split_rows(w, &row);
}

void scrub_parity(struct scrub_worker *w, uint64_t at, uint64_t length_bytes)
{
	uint64_t chunk = w->view->geometry->chunk_bytes, end = at + length_bytes;

	while (!w->error && at < end) {
		uint64_t length = chunk - at % chunk;

		if (length > end - at)
			length = end - at;
		check_piece(w, at, length);
		at += length;
	}
}
