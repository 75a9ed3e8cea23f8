/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A failed flush is final. The kernel tells an error once to each open file (errseq_check_and_advance()): of several flushes of one that are under way together only the first to end hears
 * of it, and the others would be called good. So none ends before those beside it have, and all of them fail together.
 */
#include <pthread.h>

#include "dev/dev_priv.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t round_ended = PTHREAD_COND_INITIALIZER;

static const char *const lost = "an earlier flush of this device failed: what was written before may be lost, and nothing more is written";

static bool counts(const struct dev_request *q) { return q->op == DEV_FLUSH && q->dev->failed_flush_is_final; }

bool flushes_any(const struct dev_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (counts(&requests[i]))
			return true;
	return false;
}

int flushes_refuse(struct dev_request *q)
{
	int failed = q->op != DEV_READ ? q->dev->flush_error : 0;

	if (failed)
		q->reason = lost;
	return failed;
}

void flushes_begin(const struct dev_request *requests, size_t count)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count; i++)
		if (counts(&requests[i]))
			requests[i].dev->flushes++;
	pthread_mutex_unlock(&lock);
}

/* Of all devices first: two threads must not wait for each other. */
static void note_ended(const struct dev_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct dev_request *q = &requests[i];
		int none = 0;

		if (!counts(q))
			continue;
		if (q->result && q->result != -EROFS && q->result != -ERANGE)
			atomic_compare_exchange_strong(&q->dev->flush_error, &none, q->result);
		if (--q->dev->flushes == 0) {
			q->dev->flush_rounds++;
			pthread_cond_broadcast(&round_ended);
		}
	}
}

void flushes_end(struct dev_request *requests, size_t count)
{
	pthread_mutex_lock(&lock);
	note_ended(requests, count);
	for (size_t i = 0; i < count; i++) {
		struct dev_request *q = &requests[i];
		uint64_t rounds;

		if (!counts(q))
			continue;
		for (rounds = q->dev->flush_rounds; q->dev->flushes && q->dev->flush_rounds == rounds;)
			pthread_cond_wait(&round_ended, &lock);
		if (!q->result)
			q->result = flushes_refuse(q);
	}
	pthread_mutex_unlock(&lock);
}
