/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing. Each place that the check found is read and judged again, under the array's locks and records, and only then written: the member that is proven wrong, what could not
 * be read, and, when told so, what md's repair would write. All of it goes through the undo log.
 */
#include "keep/keep.h"
#include "run/scrub.h"

#define PIECE_BYTES (1 * MIB) /* that the records call dirty together */

/* --- one write --- */

static int write_block(struct blkalign_scrub *s, uint32_t slot, uint64_t at, const uint8_t *block, size_t length,
		       struct blkalign_error *reterr)
{
	const struct map_md_member *m = view_member(&s->view, slot);
	const struct scrub_logged *logged = &s->repair->logged[slot];
	uint64_t offset = m->data_offset_bytes + at;
	int r;

	if (!m->dev)
		return blkalign_error_set(reterr, -EIO, NULL, at, "the member in slot %u failed while it was repaired", slot);
	r = logged->dev ? dev_write(logged->dev, logged->offset_bytes + offset, block, length, reterr)
			: dev_write(m->dev, offset, block, length, reterr);
	s->repair->written = true;
	if (r >= 0)
		s->repair->repaired_bytes += length;
	return r;
}

/* --- rows of parity --- */

static bool is_lost(const struct scrub_row *row, uint32_t slot)
{
	return (row->lost_count > 0 && row->lost[0] == slot) || (row->lost_count > 1 && row->lost[1] == slot);
}

/* What could not be read is in the blocks by now. */
static int write_unreadable(struct blkalign_scrub *s, const struct scrub_worker *w, const struct scrub_row *row,
			    struct blkalign_error *reterr)
{
	int r = 0;

	for (uint32_t slot = 0; r >= 0 && slot < w->lanes; slot++)
		if (w->has[slot] == SCRUB_UNREADABLE)
			r = write_block(s, slot, row->at, w->blocks[slot], row->row.length_bytes, reterr);
	return r;
}

/* The blamed block is recomputed; that all fits then is the last proof before it is written. */
static int write_proven(struct blkalign_scrub *s, const struct scrub_row *row, uint32_t slot, bool *ret_left, struct blkalign_error *reterr)
{
	if (raid_recover(&row->row, &slot, 1) < 0 || !raid_consistent(&row->row)) {
		*ret_left = true;
		return 0;
	}
	return write_block(s, slot, row->at, row->row.blocks[slot], row->row.length_bytes, reterr);
}

/* Parity from data; what was right already is not written. Blocks of parity that is missing are scratch. */
static int write_parity(struct blkalign_scrub *s, const struct scrub_row *row, struct blkalign_error *reterr)
{
	uint32_t slots[2] = { row->row.stripe.p_slot, row->row.stripe.q_slot };
	uint8_t old[2][VIEW_ROW_BYTES];
	int r = 0;

	for (unsigned i = 0; i < 2; i++)
		if (slots[i] != RAID_SLOT_NONE)
			memcpy(old[i], row->row.blocks[slots[i]], row->row.length_bytes);
	raid_generate(&row->row);
	for (unsigned i = 0; r >= 0 && i < 2; i++)
		if (slots[i] != RAID_SLOT_NONE && !is_lost(row, slots[i]) &&
		    memcmp(old[i], row->row.blocks[slots[i]], row->row.length_bytes) != 0)
			r = write_block(s, slots[i], row->at, row->row.blocks[slots[i]], row->row.length_bytes, reterr);
	return r;
}

static bool is_data(const struct scrub_row *row, uint32_t slot) { return slot != row->row.stripe.p_slot && slot != row->row.stripe.q_slot; }

/* With a second parity: the row fits with what is computed from the first. */
static bool proves_itself(const struct scrub_row *row)
{
	return row->lost_count < raid_redundancy(row->row.geometry) && raid_recover(&row->row, row->lost, row->lost_count) >= 0 &&
	       raid_consistent(&row->row);
}

/*
 * Lost blocks are recomputed where that can be relied on, or where it was asked for. But where a write may have been cut short no data is written that was made from parity, without force:
 * what cannot be read now may come back with the next reading, and what was computed is nobody's.
 */
static bool may_recompute(const struct blkalign_scrub *s, const struct scrub_worker *w, const struct scrub_row *row)
{
	if (row->lost_count > raid_redundancy(s->view.geometry))
		return false;
	if (!view_doubtful(&s->view, row->at, row->row.length_bytes))
		return true;
	for (uint32_t i = 0; i < row->lost_count; i++)
		if (w->has[row->lost[i]] == SCRUB_UNREADABLE && is_data(row, row->lost[i]))
			return s->repair->force || proves_itself(row);
	return s->repair->parity;
}

static bool any_unreadable(const struct scrub_worker *w)
{
	for (uint32_t i = 0; i < w->lanes; i++)
		if (w->has[i] == SCRUB_UNREADABLE)
			return true;
	return false;
}

static int repair_row(struct blkalign_scrub *s, struct scrub_worker *w, uint64_t at, bool *ret_left, struct blkalign_error *reterr)
{
	struct blkalign_scrub_finding f;
	struct scrub_row row;
	bool differs;
	int r = 0;

	scrub_read_row(w, at, &row);
	if (w->error)
		return w->error;
	if (row.lost_count && !may_recompute(s, w, &row)) {
		*ret_left = any_unreadable(w);
		return 0;
	}
	if (row.lost_count && raid_recover(&row.row, row.lost, row.lost_count) < 0)
		return blkalign_error_set(reterr, -EIO, NULL, at, "cannot recompute a row");
	differs = scrub_row_differs(w, &row, &f);
	if (differs && f.verdict == BLKALIGN_SCRUB_PROVEN)
		return write_proven(s, &row, f.slot, ret_left, reterr);
	if (differs && !s->repair->parity) {
		*ret_left = true;
		return 0;
	}
	if (differs)
		r = write_parity(s, &row, reterr);
	return r < 0 ? r : write_unreadable(s, w, &row, reterr);
}

/* --- pages of mirrors --- */

static int overwrite_copies(struct blkalign_scrub *s, const struct scrub_worker *w, uint32_t first, size_t length,
			    struct blkalign_error *reterr)
{
	int r = 0;

	for (uint32_t copy = 0; r >= 0 && copy < w->lanes; copy++) {
		bool unreadable = w->has[copy] == SCRUB_UNREADABLE;

		if (copy == first || w->has[copy] == SCRUB_ABSENT ||
		    (!unreadable && memcmp(w->blocks[first], w->blocks[copy], length) == 0))
			continue;
		r = write_block(s, w->places[copy].slot, w->places[copy].device_bytes, w->blocks[first], length, reterr);
	}
	return r;
}

static int repair_page(struct blkalign_scrub *s, struct scrub_worker *w, uint64_t at, size_t length, bool *ret_left,
		       struct blkalign_error *reterr)
{
	uint32_t first;

	scrub_read_copies(w, at, length);
	if (w->error)
		return w->error;
	for (first = 0; first < w->lanes && w->has[first] != SCRUB_READ; first++)
		;
	if (first == w->lanes || (!s->repair->parity && !scrub_copies_agree(w, first, 0, length))) {
		*ret_left = true;
		return 0;
	}
	return overwrite_copies(s, w, first, length, reterr);
}

/* --- pieces of findings --- */

static int repair_places(struct blkalign_scrub *s, uint64_t at, uint64_t length, struct blkalign_error *reterr)
{
	struct scrub_worker *w = &s->worker[0];
	int r = 0;

	for (uint64_t done = 0, unit; r >= 0 && done < length; done += unit) {
		bool left = false;

		unit = VIEW_ROW_BYTES - (at + done) % VIEW_ROW_BYTES;
		unit = unit < length - done ? unit : length - done;
		r = s->view.geometry->parity ? repair_row(s, w, at + done, &left, reterr)
					     : repair_page(s, w, at + done, unit, &left, reterr);
		s->repair->left_bytes += left ? unit : 0;
	}
	if (w->error && reterr)
		*reterr = w->why;
	s->read_bytes += w->read_bytes;
	w->read_bytes = 0;
	w->error = 0;
	return r;
}

/* The records say first that the place may not fit, then it is written. */
static int repair_piece(struct blkalign_scrub *s, uint64_t at, uint64_t length, struct blkalign_error *reterr)
{
	struct map_md_guard *guard = s->repair->guard;
	struct byte_range range = { at, length };
	int r;

	view_lock(&s->view, at, length);
	r = guard ? guard->ops->begin(guard, &range, 1, reterr) : 0;
	if (r >= 0) {
		r = repair_places(s, at, length, reterr);
		if (guard && r < 0)
			guard->ops->doubt(guard, &range, 1);
		if (guard)
			guard->ops->end(guard, &range, 1, r >= 0);
	}
	view_unlock(&s->view, at, length);
	return r;
}

static uint32_t failed_members(const struct blkalign_scrub *s)
{
	struct map_md_events events;

	map_md_events(s->view.md, &events);
	return events.failed_members;
}

/*
 * By way of the array, which drops a member whose flush fails: a later flush may succeed, and what this one has lost, also of what others wrote meanwhile, would pass for being
 * there.
 */
static int flush_array(struct blkalign_scrub *s, struct blkalign_error *reterr)
{
	uint32_t failed = failed_members(s);
	int r = dev_flush(s->view.md, reterr);

	if (r >= 0 && failed != failed_members(s))
		r = blkalign_error_set(reterr, -EIO, NULL, BLKALIGN_UNKNOWN,
				       "a member failed to flush what was repaired, and is listed as faulty; check once more without it");
	return r;
}

static int flush_members(struct blkalign_scrub *s, struct blkalign_error *reterr)
{
	struct map_md_guard *guard = s->repair->guard;
	uint64_t mark;
	int r = 0;

	if (!s->repair->written)
		return 0;
	s->repair->written = false;
	if (guard && s->view.md)
		return flush_array(s, reterr);
	mark = guard ? guard->ops->flushing(guard) : 0;
	for (uint32_t slot = 0; r >= 0 && slot < s->view.geometry->members; slot++)
		if (s->view.members[slot].dev)
			r = dev_flush(s->view.members[slot].dev, reterr);
	if (r >= 0 && guard)
		r = guard->ops->flushed(guard, mark);
	else if (guard)
		guard->ops->doubt(guard, &(struct byte_range){ 0, s->walk.total_bytes }, 1);
	return r;
}

/* Rows that lack as much as there is redundancy were compared with nothing: what is computed there is as doubtful as before. */
static bool all_compared(const struct md_view *view)
{
	uint32_t lacking = 0;

	for (uint32_t slot = 0; slot < view->geometry->members; slot++) {
		const struct map_md_member *m = view_member(view, slot);

		lacking += !m->dev || m->valid_bytes < view->geometry->used_bytes || m->bad_count;
	}
	return !view->geometry->parity || lacking < raid_redundancy(view->geometry);
}

/* After md's repair the array is in sync, if nothing had to be left. */
static int finish(struct blkalign_scrub *s, struct blkalign_error *reterr)
{
	struct scrub_repair *repair = s->repair;
	int r = 0;

	if (!repair->parity || repair->left_bytes || s->lost_bytes || !all_compared(&s->view))
		return BLKALIGN_SCRUB_DONE;
	if (repair->keep)
		r = keep_resynced(repair->keep, UINT64_MAX, reterr);
	if (r >= 0 && s->view.md)
		r = map_md_set_trusted(s->view.md, &(struct byte_range){ 0, s->walk.total_bytes });
	return r < 0 ? r : BLKALIGN_SCRUB_DONE;
}

/* The next piece. Where findings were dropped, the whole array is one. */
static bool next_piece(struct blkalign_scrub *s, uint64_t *ret_at, uint64_t *ret_length)
{
	struct scrub_repair *repair = s->repair;
	const struct scrub_item *item = repair->item < s->list.items.count ? &s->list.items.data[repair->item] : NULL;
	uint64_t begin, length;

	if (repair->position_bytes >= repair->total_bytes)
		return false;
	begin = s->list.dropped || !item ? 0 : item->sync_bytes;
	length = s->list.dropped || !item ? s->walk.total_bytes : item->found.length_bytes;
	*ret_at = begin + repair->item_done_bytes;
	*ret_length = length - repair->item_done_bytes < PIECE_BYTES ? length - repair->item_done_bytes : PIECE_BYTES;
	return true;
}

/* One look at a place mends what was found of several members there: each finding gets its part of what was written. */
static void share_repaired(struct scrub_list *list, size_t index)
{
	struct scrub_item *item = &list->items.data[index];
	struct blkalign_scrub_finding *to = &item->found;

	for (size_t back = 1; back <= SCRUB_NEIGHBOURS && back <= index; back++) {
		struct scrub_item *before = &list->items.data[index - back];
		struct blkalign_scrub_finding *from = &before->found;
		uint64_t lacks = to->length_bytes > to->repaired_bytes ? to->length_bytes - to->repaired_bytes : 0;
		uint64_t spare = from->repaired_bytes > from->length_bytes ? from->repaired_bytes - from->length_bytes : 0;
		uint64_t part = lacks < spare ? lacks : spare;

		if (before->sync_bytes + from->length_bytes <= item->sync_bytes)
			continue;
		from->repaired_bytes -= part;
		to->repaired_bytes += part;
	}
}

static void piece_ended(struct blkalign_scrub *s, uint64_t length, uint64_t repaired)
{
	struct scrub_repair *repair = s->repair;

	repair->position_bytes += length;
	repair->item_done_bytes += length;
	if (s->list.dropped)
		return;
	s->list.items.data[repair->item].found.repaired_bytes += repaired;
	if (repair->item_done_bytes < s->list.items.data[repair->item].found.length_bytes)
		return;
	share_repaired(&s->list, repair->item++);
	repair->item_done_bytes = 0;
}

int scrub_repair_step(struct blkalign_scrub *s, struct blkalign_error *reterr)
{
	struct scrub_repair *repair = s->repair;
	uint64_t begin = walk_now_ns(), at, length;
	bool more = true;
	int r = 0, flushed;

	if (repair->broken)
		return blkalign_error_set(reterr, repair->broken, NULL, BLKALIGN_UNKNOWN,
					  "an earlier write failed: nothing more is written");
	while (r >= 0 && walk_now_ns() - begin < WALK_STEP_NS && (more = next_piece(s, &at, &length))) {
		uint64_t before = repair->repaired_bytes;

		r = repair_piece(s, at, length, reterr);
		if (r >= 0)
			piece_ended(s, length, repair->repaired_bytes - before);
	}
	flushed = flush_members(s, r < 0 ? NULL : reterr);
	r = r < 0 ? r : flushed;
	if (r >= 0 && !more)
		r = finish(s, reterr);
	repair->broken = r < 0 ? r : 0;
	return r;
}
