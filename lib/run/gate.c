/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Degraded reads and writes need several times their length in scratch rows, and threads may be many: so much is under way at a time, the rest waits. */
#include "run/run.h"

#define UNDER_WAY_MAX_BYTES (16 * MIB)
#define SMALL_BYTES	    (64 * KIB) /* not counted: threads, not lengths, limit these */

int gate_init(struct gate *gate)
{
	int r = pthread_mutex_init(&gate->mutex, NULL);

	if (r)
		return -r;
	r = pthread_cond_init(&gate->left, NULL);
	if (r) {
		pthread_mutex_destroy(&gate->mutex);
		return -r;
	}
	gate->ready = true;
	return 0;
}

void gate_done(struct gate *gate)
{
	if (!gate->ready)
		return;
	pthread_cond_destroy(&gate->left);
	pthread_mutex_destroy(&gate->mutex);
}

/* In the order of coming, so that a large one is not overtaken for ever. A request that alone is larger waits until it is alone. */
void gate_enter(struct gate *gate, uint64_t length_bytes)
{
	uint64_t number;

	if (length_bytes < SMALL_BYTES)
		return;
	pthread_mutex_lock(&gate->mutex);
	number = gate->came++;
	while (number != gate->entered || (gate->under_way_bytes && gate->under_way_bytes + length_bytes > UNDER_WAY_MAX_BYTES))
		pthread_cond_wait(&gate->left, &gate->mutex);
	gate->entered++;
	gate->under_way_bytes += length_bytes;
	/* The next one may fit as well. */
	if (gate->came != gate->entered)
		pthread_cond_broadcast(&gate->left);
	pthread_mutex_unlock(&gate->mutex);
}

void gate_leave(struct gate *gate, uint64_t length_bytes)
{
	if (length_bytes < SMALL_BYTES)
		return;
	pthread_mutex_lock(&gate->mutex);
	gate->under_way_bytes -= length_bytes;
	pthread_cond_broadcast(&gate->left);
	pthread_mutex_unlock(&gate->mutex);
}
