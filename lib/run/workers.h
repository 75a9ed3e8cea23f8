/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Threads that do one round of work together and then wait for the next. */
#ifndef RUN_WORKERS_H
#define RUN_WORKERS_H

#include "base/base.h"

#define WORKERS_MAX 16U

struct workers;

/** `count` workers (0: as many as this process may use processors), WORKERS_MAX at most; the caller's thread is one of them. */
int workers_start(unsigned count, struct workers **ret_workers, struct blkalign_error *reterr);
unsigned workers_count(const struct workers *workers);
/** Every worker calls work(context, its number); returns when all have returned. */
void workers_round(struct workers *workers, void (*work)(void *context, unsigned number), void *context);
/** NULL is accepted. */
void workers_stop(struct workers *workers);

#endif
