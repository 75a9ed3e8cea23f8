/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing a group, and what becomes of members that do not take it. */
#include "map/md_priv.h"

static const char *const not_begun = "the array's records could not be made ready for it";
static const char *const not_logged = "the parity log could not be written";
static const char *const not_taken = "members did not take it, and the array cannot do without them";

/* Undo what was planned for a piece whose request failed meanwhile. */
static int add_piece_writes(struct md_batch *b, uint32_t piece, size_t *band)
{
	size_t leaves = b->requests.count;
	int r = 0;

	b->piece_leaves = b->band_leaves = leaves;
	if (!md_has_parity(b->md))
		r = md_add_mirror_writes(b, piece);
	for (; *band < b->bands.count && b->bands.data[*band].piece <= piece; ++*band) {
		b->band_leaves = b->requests.count;
		if (r >= 0 && b->bands.data[*band].piece == piece)
			r = md_add_parity_writes(b, &b->bands.data[*band]);
	}
	if (r < 0)
		b->requests.count = b->leaves.count = leaves;
	return r;
}

static void add_writes(struct md_batch *b)
{
	size_t band = 0;

	b->requests.count = b->leaves.count = 0;
	for (uint32_t i = 0; i < b->pieces.count; i++) {
		struct md_piece *p = &b->pieces.data[i];
		int r;

		b->reason = NULL;
		if (p->dead)
			continue;
		r = add_piece_writes(b, i, &band);
		if (r < 0) {
			md_request_fail(p->request, r, b->reason);
			p->dead = true;
		}
	}
}

/* Rows or array bytes that too few members have now. */
static bool is_held(struct md_batch *b, const struct md_piece *p)
{
	uint64_t at = p->range.offset_bytes, end = at + p->range.length_bytes, run;

	for (; at < end; at += run) {
		struct raid_place place;
		uint32_t lost = 0;

		run = end - at;
		if (!md_has_parity(b->md)) {
			if (!md_pick_copy(b, at, &run, &place))
				return false;
			continue;
		}
		for (uint32_t slot = 0; slot < b->md->geometry.members; slot++)
			lost += !md_readable(b, slot, at, &run);
		if (lost > raid_redundancy(&b->md->geometry))
			return false;
	}
	return true;
}

/* `no_faults`: only those whose error says nothing of the member. */
static void fail_touched(struct md_batch *b, bool no_faults)
{
	for (size_t i = 0; i < b->requests.count; i++) {
		struct md_piece *p = &b->pieces.data[b->leaves.data[i].piece];
		int error = b->requests.data[i].result;

		if (!error || (no_faults && !md_is_no_fault(error)))
			continue;
		md_request_fail(p->request, md_is_no_fault(error) ? error : -EIO, not_taken);
		if (p->dead)
			continue;
		/* Data and parity, or copies, may disagree there from now on. */
		if (md_has_parity(b->md))
			md_doubt_add(b->md, &p->range);
		b->md->guard->ops->doubt(b->md->guard, &p->range, 1);
		p->dead = true;
	}
}

/* The members that did not take their part are failed; without them everything that was written must be there. */
static void handle_errors(struct md_batch *b, const struct md_failure *failed)
{
	int r;

	/* A change of the members may be waiting for this state. */
	md_state_put(b->md, b->state);
	r = md_fail(b->md, failed);
	b->state = md_state_get(b->md);
	if (r < 0) {
		fail_touched(b, false);
		if (atomic_load(&b->md->broken))
			md_batch_fail(b, -EIO, atomic_load(&b->md->broken));
		return;
	}
	for (size_t i = 0; i < b->pieces.count; i++)
		if (!b->pieces.data[i].dead && !is_held(b, &b->pieces.data[i]))
			md_request_fail(b->pieces.data[i].request, -EIO, not_taken);
}

static bool run_writes(struct md_batch *b)
{
	_cleanup_free_ struct md_failure *failed = NULL;
	bool no_faults = false;

	dev_run(b->requests.data, b->requests.count, NULL);
	for (size_t i = 0; i < b->requests.count; i++) {
		struct dev_request *q = &b->requests.data[i];

		if (!q->result)
			continue;
		if (md_is_no_fault(q->result)) {
			no_faults = true;
		} else if (md_rewrite_pages(b, i)) {
			q->result = 0;
		} else if (md_note_failure(b->md, &failed, b->leaves.data[i].slot, q) < 0) {
			fail_touched(b, false);
			return false;
		}
	}
	if (no_faults)
		fail_touched(b, true);
	if (failed)
		handle_errors(b, failed);
	return !failed && !no_faults && b->state->complete;
}

static bool write_begun(struct md_batch *b)
{
	int r;

	md_gather(b);
	add_writes(b);
	if (!b->requests.count)
		return b->state->complete;
	r = md_log(b);
	if (r >= 0)
		return run_writes(b);
	md_batch_fail(b, r, not_logged);
	return b->state->complete;
}

/* Begun before anything is read: what the guard does then may be to bring parity up to date. */
static void write_locked(struct md_batch *b)
{
	struct map_md_guard *guard = b->md->guard;
	int r = guard->ops->begin(guard, b->ranges.data, b->ranges.count, NULL);

	if (r < 0)
		md_batch_fail(b, r, not_begun);
	else
		guard->ops->end(guard, b->ranges.data, b->ranges.count, write_begun(b));
}

static void write_group(struct md_batch *b)
{
	const char *broken = atomic_load(&b->md->broken);
	struct md_lock lock = { .shared = !md_redundant(b->md) };
	int r = broken ? -EIO : md_ranges(b, true);

	if (r < 0) {
		md_batch_fail(b, r, broken);
		return;
	}
	lock.ranges = b->ranges.data;
	lock.count = b->ranges.count;
	md_lock(b->md, &lock);
	b->state = md_state_get(b->md);
	write_locked(b);
	md_state_put(b->md, b->state);
	md_unlock(b->md, &lock);
}

void md_write(struct md *md, struct dev_request *requests, size_t count)
{
	struct md_cursor cursor = { .requests = requests, .count = count, .op = DEV_WRITE };
	struct md_piece piece;
	struct md_batch b = { .md = md };

	while (md_next_piece(md, &cursor, &piece))
		if (md_add_piece(&b, &piece, write_group) < 0)
			md_request_fail(piece.request, -ENOMEM, NULL);
	if (b.pieces.count)
		write_group(&b);
	md_batch_next(&b);
	md_mend(&b);
	md_batch_done(&b);
}

/* -ENOMEM: not all of it was done, and nothing is known to be lost. -EIO: a member failed, and that could not even be noted. */
static int flush_members(struct md *md, struct md_state *state, struct md_failure **failed)
{
	_cleanup_free_ struct dev_request *flushes = calloc(md->geometry.members, sizeof(*flushes));
	_cleanup_free_ uint32_t *slots = calloc(md->geometry.members, sizeof(*slots));
	size_t count = 0;
	int r = 0;

	if (!flushes || !slots)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < md->geometry.members; slot++) {
		if (!state->members[slot].dev)
			continue;
		slots[count] = slot;
		flushes[count++] = (struct dev_request){ .dev = state->members[slot].dev, .op = DEV_FLUSH };
	}
	dev_run(flushes, count, NULL);
	for (size_t i = 0; i < count; i++) {
		if (dev_error_is_ours(flushes[i].result))
			r = r ? r : -ENOMEM;
		else if (flushes[i].result && md_note_failure(md, failed, slots[i], &flushes[i]) < 0)
			r = -EIO;
	}
	return r;
}

static void break_by_flush(struct md *md)
{
	const struct byte_range all = { 0, UINT64_MAX };

	atomic_store(&md->broken, "a flush failed on members that the array cannot do without: what was written may be lost");
	md->guard->ops->doubt(md->guard, &all, 1);
}

/* A failed flush may have lost any earlier write: without that member everything is there, or nothing is written any more. */
int md_flush(struct md *md)
{
	_cleanup_free_ struct md_failure *failed = NULL;
	uint64_t mark = md->guard->ops->flushing(md->guard);
	struct md_state *state = md_state_get(md);
	int r = flush_members(md, state, &failed);

	md_state_put(md, state);
	if (r == -EIO || (failed && md_fail(md, failed) < 0))
		break_by_flush(md);
	if (atomic_load(&md->broken))
		r = -EIO;
	if (r < 0)
		return r;
	r = md->guard->ops->flushed(md->guard, mark);
	if (r < 0)
		break_by_flush(md);
	return r;
}
