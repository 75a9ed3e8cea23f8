/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <time.h>

#include "run/walk.h"

#define ROUNDS_A_SECOND 10U

uint64_t walk_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

void walk_init(struct walk *w, uint64_t total_bytes, uint64_t rate_bytes)
{
	*w = (struct walk){ .total_bytes = total_bytes, .rate_bytes = rate_bytes };
	pthread_mutex_init(&w->mutex, NULL);
}

void walk_done(struct walk *w) { pthread_mutex_destroy(&w->mutex); }

void walk_begin_round(struct walk *w)
{
	uint64_t left = w->total_bytes - w->position_bytes, most = w->rate_bytes ? w->rate_bytes / ROUNDS_A_SECOND + 1 : left;

	w->next_bytes = w->position_bytes;
	w->end_bytes = w->position_bytes + (most < left ? most : left);
	w->begin_ns = walk_now_ns();
}

/* One unit at least, also when the machine is so busy that the time is over before. */
bool walk_more(struct walk *w)
{
	pthread_mutex_lock(&w->mutex);
	if (w->next_bytes < w->end_bytes && (w->next_bytes == w->position_bytes || walk_now_ns() - w->begin_ns < WALK_STEP_NS))
		return true;
	pthread_mutex_unlock(&w->mutex);
	return false;
}

void walk_take(struct walk *w, uint64_t length_bytes)
{
	w->next_bytes += length_bytes;
	pthread_mutex_unlock(&w->mutex);
}

void walk_end_round(struct walk *w)
{
	uint64_t used = walk_now_ns() - w->begin_ns, due = 0;

	if (w->rate_bytes)
		due = (uint64_t)((double)(w->next_bytes - w->position_bytes) * 1e9 / (double)w->rate_bytes);
	w->position_bytes = w->next_bytes;
	if (due > used) {
		struct timespec t = { (time_t)((due - used) / 1000000000U), (long)((due - used) % 1000000000U) };

		nanosleep(&t, NULL);
	}
}
