/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "run/workers.h"

struct workers {
	unsigned count;
	unsigned started; /* threads; one fewer than workers */
	pthread_t threads[WORKERS_MAX];
	pthread_mutex_t mutex;
	pthread_cond_t begin;
	pthread_cond_t ended;
	uint64_t round;
	unsigned busy;
	unsigned next_number;
	bool stop;
	void (*work)(void *context, unsigned number);
	void *context;
};

static void *worker(void *data)
{
	struct workers *w = data;
	uint64_t seen = 0;
	unsigned number;

	pthread_mutex_lock(&w->mutex);
	number = ++w->next_number;
	for (;;) {
		while (!w->stop && w->round == seen)
			pthread_cond_wait(&w->begin, &w->mutex);
		if (w->stop)
			break;
		seen = w->round;
		pthread_mutex_unlock(&w->mutex);
		w->work(w->context, number);
		pthread_mutex_lock(&w->mutex);
		if (--w->busy == 0)
			pthread_cond_signal(&w->ended);
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Signals are the program's: its own thread shall get them. */
static int start_threads(struct workers *w)
{
	sigset_t all, before;
	int r = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (r == 0 && w->started + 1 < w->count) {
		r = pthread_create(&w->threads[w->started], NULL, worker, w);
		w->started += r == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int workers_start(unsigned count, struct workers **ret_workers, struct blkalign_error *reterr)
{
	struct workers *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->count = count ? count : processors();
	w->count = w->count > WORKERS_MAX ? WORKERS_MAX : w->count;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->begin, NULL);
	pthread_cond_init(&w->ended, NULL);
	r = start_threads(w);
	if (r < 0) {
		workers_stop(w);
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "cannot start a thread: %s", strerror(-r));
	}
	*ret_workers = w;
	return 0;
}

unsigned workers_count(const struct workers *w) { return w->count; }

void workers_round(struct workers *w, void (*work)(void *context, unsigned number), void *context)
{
	pthread_mutex_lock(&w->mutex);
	w->work = work;
	w->context = context;
	w->busy = w->started;
	w->round++;
	pthread_cond_broadcast(&w->begin);
	pthread_mutex_unlock(&w->mutex);
	work(context, 0);
	pthread_mutex_lock(&w->mutex);
	while (w->busy)
		pthread_cond_wait(&w->ended, &w->mutex);
	pthread_mutex_unlock(&w->mutex);
}

void workers_stop(struct workers *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	w->stop = true;
	pthread_cond_broadcast(&w->begin);
	pthread_mutex_unlock(&w->mutex);
	for (unsigned i = 0; i < w->started; i++)
		pthread_join(w->threads[i], NULL);
	pthread_cond_destroy(&w->ended);
	pthread_cond_destroy(&w->begin);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
