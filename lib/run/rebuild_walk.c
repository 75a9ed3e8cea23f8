/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pass of a rebuild, and what is recorded of it: first the data is on the new members, flushed, then the superblocks say so. */
#include "keep/keep.h"
#include "run/rebuild.h"

#define CHECKPOINT_NS (10 * 1000000000ULL)

int rebuild_start(struct blkalign_rebuild *b, const struct blkalign_rebuild_options *options, struct blkalign_error *reterr)
{
	int r;

	walk_init(&b->walk, b->view.geometry->used_bytes, options ? options->rate_bytes : 0);
	b->checkpoint_bytes = options && options->checkpoint_bytes ? options->checkpoint_bytes : UINT64_MAX;
	b->walk.position_bytes = b->walk.total_bytes;
	for (size_t i = 0; i < b->target_count; i++)
		if (b->targets[i].told.start_bytes < b->walk.position_bytes)
			b->walk.position_bytes = b->targets[i].told.start_bytes;
	b->recorded_bytes = b->walk.position_bytes;
	b->recorded_ns = walk_now_ns();
	r = workers_start(options ? options->threads : 0, &b->workers, reterr);
	for (unsigned i = 0; r >= 0 && i < workers_count(b->workers); i++)
		r = rebuild_worker_init(&b->worker[i], b);
	return r;
}

/* The first range that ends behind `at`, or NULL. */
static const struct byte_range *range_behind(const struct blkalign_rebuild *b, uint64_t at)
{
	size_t i = ranges_behind(b->ranges, b->range_count, at);

	return i < b->range_count ? &b->ranges[i] : NULL;
}

bool rebuild_lacks(const struct blkalign_rebuild *b, uint64_t sync_bytes, uint64_t length_bytes)
{
	const struct byte_range *range = b->by_bitmap ? range_behind(b, sync_bytes) : NULL;

	return !b->by_bitmap || (range && range->offset_bytes < sync_bytes + length_bytes);
}

/* Where the next unit begins that lacks something. Of raid10, ranges are of the array: there each piece is asked for by itself. */
static uint64_t skip_clean(const struct blkalign_rebuild *b, uint64_t at)
{
	const struct byte_range *range;

	if (!b->by_bitmap || b->view.geometry->level == RAID_10)
		return at;
	range = range_behind(b, at);
	if (!range)
		return b->walk.total_bytes;
	return range->offset_bytes > at ? round_down_u64(range->offset_bytes, VIEW_ROW_BYTES) : at;
}

static bool take_unit(struct blkalign_rebuild *b, uint64_t *ret_at, uint64_t *ret_length)
{
	uint64_t skip;

	if (!walk_more(&b->walk))
		return false;
	skip = skip_clean(b, b->walk.next_bytes) - b->walk.next_bytes;
	*ret_at = b->walk.next_bytes + skip;
	*ret_length = *ret_at < b->walk.total_bytes ? rebuild_unit_bytes(b, *ret_at) : 0;
	walk_take(&b->walk, skip + *ret_length);
	return true;
}

static void work(void *context, unsigned number)
{
	struct blkalign_rebuild *b = context;
	struct rebuild_worker *w = &b->worker[number];
	uint64_t at, length;

	while (!w->error && take_unit(b, &at, &length)) {
		view_read_ahead(&b->view, at, length);
		rebuild_unit(w, at, length);
	}
}

static int collect(struct blkalign_rebuild *b, struct blkalign_error *reterr)
{
	int error = 0;

	for (unsigned i = 0; i < workers_count(b->workers); i++) {
		struct rebuild_worker *w = &b->worker[i];

		if (w->error && !error) {
			error = w->error;
			if (reterr)
				*reterr = w->why;
		}
		b->read_bytes += w->read_bytes;
		b->written_bytes += w->written_bytes;
		b->mismatch_sectors512 += w->mismatch_sectors512;
		b->unreadable_bytes += w->unreadable_bytes;
		w->read_bytes = w->written_bytes = w->mismatch_sectors512 = w->unreadable_bytes = 0;
		w->error = 0;
	}
	return error;
}

/* --- records --- */

/*
 * By way of the array, which drops a target whose flush fails: a later flush may succeed, and what this one has lost, also of what others wrote meanwhile, would pass for
 * being there.
 */
static int flush_targets(struct blkalign_rebuild *b, struct blkalign_error *reterr)
{
	int r = 0;

	if (b->keep && b->view.md)
		return dev_flush(b->view.md, reterr);
	for (size_t i = 0; r >= 0 && i < b->target_count; i++)
		r = dev_flush(b->targets[i].dev, reterr);
	return r;
}

/* How much of a target is rebuilt when the pass is at `bytes`. */
static uint64_t rebuilt_bytes(const struct rebuild_target *t, uint64_t bytes)
{
	return bytes > t->told.start_bytes ? bytes : t->told.start_bytes;
}

static int set_valid(struct blkalign_rebuild *b, const struct rebuild_target *t, uint64_t valid_bytes)
{
	struct map_md_member m = *view_member(&b->view, t->told.slot);
	int r;

	if (!b->view.md)
		return 0;
	m.valid_bytes = valid_bytes;
	r = map_md_set_member(b->view.md, t->told.slot, &m);
	b->view.members = map_md_members(b->view.md, NULL);
	return r;
}

static int record(struct blkalign_rebuild *b, uint64_t bytes, struct blkalign_error *reterr)
{
	int r = flush_targets(b, reterr);

	for (size_t i = 0; r >= 0 && i < b->target_count; i++) {
		const struct rebuild_target *t = &b->targets[i];
		uint64_t valid = bytes == UINT64_MAX ? bytes : rebuilt_bytes(t, bytes);

		if (b->keep)
			r = keep_recovered(b->keep, t->told.slot, valid, reterr);
		if (r >= 0)
			r = set_valid(b, t, valid);
	}
	b->recorded_bytes = bytes;
	b->recorded_ns = walk_now_ns();
	return r;
}

int rebuild_checkpoint(struct blkalign_rebuild *b, struct blkalign_error *reterr)
{
	return b->recorded_bytes < b->walk.position_bytes && !b->done && !b->broken ? record(b, b->walk.position_bytes, reterr) : 0;
}

static int record_when_due(struct blkalign_rebuild *b, struct blkalign_error *reterr)
{
	if (b->walk.position_bytes >= b->walk.total_bytes) {
		int r = record(b, UINT64_MAX, reterr);

		b->done = r >= 0;
		return r < 0 ? r : BLKALIGN_REBUILD_DONE;
	}
	if (b->walk.position_bytes - b->recorded_bytes >= b->checkpoint_bytes || walk_now_ns() - b->recorded_ns >= CHECKPOINT_NS)
		return rebuild_checkpoint(b, reterr);
	return 0;
}

int blkalign_rebuild_step(struct blkalign_rebuild *b, struct blkalign_rebuild_progress *ret_progress, struct blkalign_error *reterr)
{
	int r = b->broken;

	if (r < 0)
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "an earlier step failed: nothing more is written");
	if (!b->keep && b->run)
		return blkalign_error_set(reterr, -EROFS, NULL, BLKALIGN_UNKNOWN, "this is a dry run");
	if (b->done) {
		r = BLKALIGN_REBUILD_DONE;
	} else if (b->walk.position_bytes < b->walk.total_bytes) {
		walk_begin_round(&b->walk);
		workers_round(b->workers, work, b);
		r = collect(b, reterr);
		if (r >= 0)
			walk_end_round(&b->walk);
	}
	if (r == 0)
		r = record_when_due(b, reterr);
	b->broken = r < 0 ? r : 0;
	if (ret_progress)
		*ret_progress = (struct blkalign_rebuild_progress){
			.position_bytes = b->walk.position_bytes,
			.total_bytes = b->walk.total_bytes,
			.read_bytes = b->read_bytes,
			.written_bytes = b->written_bytes,
			.mismatch_sectors512 = b->mismatch_sectors512,
			.unreadable_bytes = b->unreadable_bytes,
		};
	return r;
}
