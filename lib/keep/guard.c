/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The four moments of struct map_md_guard. */
#include "keep/keep_priv.h"

#define CLEAN_AFTER_FLUSHES 16U /* the kernel cleans every daemon_sleep of 5 seconds; an engine has no clock but its user's flushes */

static struct keep *keep_of(struct map_md_guard *guard) { return (struct keep *)guard; }

/*
 * What the logs of a dirty array say is written first. Then they are empty, before anything is written that they do not tell of. Where a resync is due nevertheless they
 * stay so: entries of ours would make the kernel believe that all is told.
 */
static int prepare_log(struct keep *keep, struct blkalign_error *reterr)
{
	struct log *log = &keep->log;
	int r = 0;

	if (!log->present)
		return 0;
	if (!log->replayed)
		r = replay_write(keep, reterr);
	if (r >= 0 && !log->emptied)
		r = log_empty(keep, NULL, reterr);
	log->emptied = r >= 0;
	log->on = r >= 0 && !keep->unsynced.count;
	return r;
}

/* The superblocks say "active" before anything is written; bits that were set until now go along. */
static int activate(struct keep *keep, struct blkalign_error *reterr)
{
	int r = 0;

	while (r >= 0 && !keep->active && !keep->broken) {
		if (keep->io_busy) {
			pthread_cond_wait(&keep->changed, &keep->lock);
			continue;
		}
		keep->io_busy = true;
		r = prepare_log(keep, reterr);
		keep->say_active = r >= 0;
		if (r >= 0)
			r = records_update(keep, reterr);
		keep->active = r >= 0;
		io_give(keep);
	}
	return r >= 0 && keep->broken ? broken(keep, reterr) : r;
}

static int guard_begin(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, struct blkalign_error *reterr)
{
	struct keep *keep = keep_of(guard);
	uint64_t sequence = 0;
	int r;

	if (!keep->redundant)
		return 0;
	pthread_mutex_lock(&keep->lock);
	r = keep->broken ? broken(keep, reterr) : bits_begin(&keep->bits, ranges, count, &sequence);
	if (r >= 0) {
		keep->in_flight++;
		r = activate(keep, reterr);
		if (r >= 0)
			r = bits_commit(keep, sequence, reterr);
		if (r < 0) {
			keep->in_flight--;
			bits_end(&keep->bits, ranges, count, true);
		}
	}
	pthread_mutex_unlock(&keep->lock);
	return r;
}

static void guard_end(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, bool complete)
{
	struct keep *keep = keep_of(guard);

	if (!keep->redundant)
		return;
	pthread_mutex_lock(&keep->lock);
	keep->in_flight--;
	bits_end(&keep->bits, ranges, count, complete);
	log_end(keep, ranges, count);
	pthread_mutex_unlock(&keep->lock);
}

static int guard_log(struct map_md_guard *guard, const struct map_md_partial *partials, size_t count, struct blkalign_error *reterr)
{
	struct keep *keep = keep_of(guard);
	int r = 0;

	pthread_mutex_lock(&keep->lock);
	if (keep->broken)
		r = broken(keep, reterr);
	else if (keep->log.on)
		r = log_write(keep, partials, count, reterr);
	pthread_mutex_unlock(&keep->lock);
	return r;
}

static int guard_fail(struct map_md_guard *guard, uint32_t slot, struct blkalign_error *reterr)
{
	struct keep *keep = keep_of(guard);
	struct member *m;
	int r = 0;

	pthread_mutex_lock(&keep->lock);
	io_take(keep);
	m = member_at(keep, slot);
	if (keep->broken) {
		r = broken(keep, reterr);
	} else if (m) {
		member_lost(keep, m, NULL);
		r = records_update(keep, reterr);
	}
	io_give(keep);
	pthread_mutex_unlock(&keep->lock);
	return r;
}

static int doubt_range(struct keep *keep, const struct byte_range *range)
{
	uint64_t end;

	if (!u64_add(range->offset_bytes, range->length_bytes, &end) || end > keep->unit_bytes)
		end = keep->unit_bytes;
	return range->offset_bytes < end ? ranges_add(&keep->unsynced, range->offset_bytes, end - range->offset_bytes) : 0;
}

/*
 * What is unsynced is never called clean, and its bits stay. Where there is a parity log, its entries mend the stripes at the next start: nothing is written any more that could overwrite
 * them, and the array stays active.
 */
static void guard_doubt(struct map_md_guard *guard, const struct byte_range *ranges, size_t count)
{
	struct keep *keep = keep_of(guard);

	if (!keep->redundant)
		return;
	pthread_mutex_lock(&keep->lock);
	for (size_t i = 0; i < count; i++)
		if (keep->log.present || doubt_range(keep, &ranges[i]) < 0)
			keep->broken = true;
	ranges_sort(&keep->unsynced);
	keep->doubted = true;
	keep->resynced = true; /* what the superblocks say must be written again, whatever it is */
	pthread_cond_broadcast(&keep->changed);
	pthread_mutex_unlock(&keep->lock);
}

static void clean(struct keep *keep)
{
	unsigned lost = keep->lost;
	int r = bits_clean(keep, NULL);

	if (r >= 0)
		r = bits_write(keep, NULL);
	record_losses(keep, lost, r, NULL);
}

static uint64_t guard_flushing(struct map_md_guard *guard)
{
	struct keep *keep = keep_of(guard);
	uint64_t mark;

	pthread_mutex_lock(&keep->lock);
	mark = ++keep->log.epoch;
	pthread_mutex_unlock(&keep->lock);
	return mark;
}

/* Cleaning of bits flushes the members once more, after it has seen what had ended: bits have no marks of their own. */
static int guard_flushed(struct map_md_guard *guard, uint64_t mark)
{
	struct keep *keep = keep_of(guard);
	int r;

	pthread_mutex_lock(&keep->lock);
	log_flushed(keep, mark);
	if (keep->bits.present && keep->active && !keep->broken && ++keep->bits.flushes >= CLEAN_AFTER_FLUSHES && !keep->io_busy) {
		keep->bits.flushes = 0;
		keep->io_busy = true;
		clean(keep);
		io_give(keep);
	}
	r = keep->broken ? -EIO : 0;
	pthread_mutex_unlock(&keep->lock);
	return r;
}

const struct map_md_guard_ops keep_guard_ops = {
	.begin = guard_begin,
	.end = guard_end,
	.log = guard_log,
	.fail = guard_fail,
	.doubt = guard_doubt,
	.flushing = guard_flushing,
	.flushed = guard_flushed,
};
