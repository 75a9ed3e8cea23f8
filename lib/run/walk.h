/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A pass over an array by several threads: units of work are taken in order, round by round, each round about a tenth of a second. */
#ifndef RUN_WALK_H
#define RUN_WALK_H

#include <pthread.h>

#include "base/base.h"

#define WALK_STEP_NS UINT64_C(100000000)

struct walk {
	uint64_t position_bytes; /* everything below is done */
	uint64_t total_bytes;
	uint64_t rate_bytes; /* at most so many a second; 0: no limit */
	/* of the round that is running */
	pthread_mutex_t mutex;
	uint64_t next_bytes;
	uint64_t end_bytes;
	uint64_t begin_ns;
};

uint64_t walk_now_ns(void);
void walk_init(struct walk *walk, uint64_t total_bytes, uint64_t rate_bytes);
void walk_done(struct walk *walk);

void walk_begin_round(struct walk *walk);
/** False: the round is over. True: the caller sees next_bytes alone, and says with walk_take() how many bytes of it are its own. */
bool walk_more(struct walk *walk);
void walk_take(struct walk *walk, uint64_t length_bytes);
/** All that was taken is done. Waits where the rate says so; a signal ends the waiting. */
void walk_end_round(struct walk *walk);

#endif
