/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locks on ranges. Each thread takes all that it needs in one go, in the order of coming: a lock waits for every earlier one that it conflicts with, held or
 * waiting. So there is no circle, and no starving.
 */
#include "map/md_priv.h"

/* What the thread holds by map_md_lock(): its own requests inside do not wait for it. */
static _Thread_local struct {
	const struct md *md;
	struct byte_range range;
	struct md_lock lock;
} explicit;

void md_locks_init(struct md_locks *locks) { pthread_mutex_init(&locks->mutex, NULL); }

void md_locks_done(struct md_locks *locks) { pthread_mutex_destroy(&locks->mutex); }

static bool conflict(const struct md_lock *a, const struct md_lock *b)
{
	size_t i = 0, k = 0;

	if (a->shared && b->shared)
		return false;
	while (i < a->count && k < b->count) {
		const struct byte_range *x = &a->ranges[i], *y = &b->ranges[k];

		if (range_end(x) <= y->offset_bytes)
			i++;
		else if (range_end(y) <= x->offset_bytes)
			k++;
		else
			return true;
	}
	return false;
}

static bool held_already(const struct md *md, const struct md_lock *lock)
{
	const struct byte_range *first = &lock->ranges[0], *last = &lock->ranges[lock->count - 1];

	return explicit.md == md && first->offset_bytes >= explicit.range.offset_bytes && range_end(last) <= range_end(&explicit.range);
}

void md_lock(struct md *md, struct md_lock *lock)
{
	struct md_locks *locks = &md->locks;

	lock->skipped = !lock->count || held_already(md, lock);
	if (lock->skipped)
		return;
	lock->blockers = 0;
	lock->next = NULL;
	pthread_cond_init(&lock->free, NULL);
	pthread_mutex_lock(&locks->mutex);
	for (struct md_lock *other = locks->first; other; other = other->next)
		lock->blockers += conflict(other, lock);
	lock->previous = locks->last;
	if (locks->last)
		locks->last->next = lock;
	else
		locks->first = lock;
	locks->last = lock;
	while (lock->blockers)
		pthread_cond_wait(&lock->free, &locks->mutex);
	pthread_mutex_unlock(&locks->mutex);
}

void md_unlock(struct md *md, struct md_lock *lock)
{
	struct md_locks *locks = &md->locks;

	if (lock->skipped)
		return;
	pthread_mutex_lock(&locks->mutex);
	if (lock->previous)
		lock->previous->next = lock->next;
	else
		locks->first = lock->next;
	if (lock->next)
		lock->next->previous = lock->previous;
	else
		locks->last = lock->previous;
	for (struct md_lock *later = lock->next; later; later = later->next)
		if (conflict(lock, later) && --later->blockers == 0)
			pthread_cond_signal(&later->free);
	pthread_mutex_unlock(&locks->mutex);
	pthread_cond_destroy(&lock->free);
}

void map_md_lock(struct dev *dev, const struct byte_range *range)
{
	struct md *md = (struct md *)dev;

	explicit.range = *range;
	explicit.lock = (struct md_lock){ .ranges = &explicit.range, .count = 1 };
	md_lock(md, &explicit.lock);
	explicit.md = md;
}

void map_md_unlock(struct dev *dev, const struct byte_range *range)
{
	(void)range;
	explicit.md = NULL;
	md_unlock((struct md *)dev, &explicit.lock);
}
