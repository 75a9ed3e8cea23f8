/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Full-stripe sequential writes to an array, beside plain pwrite of the same number of bytes to files like its members, in turn.
 *
 *   stripes RUNS THREADS MEMBER...
 *
 * The rival's files are MEMBER.plain, of the same size; the blocks of all files must be there already. Prints medians of wall rate (bytes of all members, parity included, a
 * second) and of CPU time for them. Each thread writes every THREADS-th stripe; a run ends with a flush of everything.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <blkalign/run.h>

#include "base/base.h"

#define RUNS_MAX     101U
#define THREADS_MAX  16U
#define MEMBERS_MAX  64U
#define PASS_BYTES   (1024 * MIB) /* to all members, or as much as fits */
#define PWRITE_BYTES (256 * KIB)

struct job {
	struct blkalign_run *run;
	const struct blkalign_node *node;
	const int *fds;
	size_t members;
	uint64_t stripe_bytes; /* of the array */
	uint64_t row_bytes;    /* of each member */
	uint64_t stripes;
	const uint8_t *data;
};

struct worker {
	const struct job *job;
	uint64_t first, step;
};

static void *write_array(void *argument)
{
	const struct worker *w = argument;
	const struct job *j = w->job;
	struct blkalign_error error = { 0 };

	for (uint64_t i = w->first; i < j->stripes; i += w->step)
		if (blkalign_run_write(j->run, j->node, i * j->stripe_bytes, j->data, j->stripe_bytes, &error) < 0)
			errx(1, "%s", error.message);
	return NULL;
}

static void *write_plain(void *argument)
{
	const struct worker *w = argument;
	const struct job *j = w->job;

	for (uint64_t i = w->first; i < j->stripes; i += w->step)
		for (size_t m = 0; m < j->members; m++)
			for (uint64_t at = 0; at < j->row_bytes; at += PWRITE_BYTES) {
				size_t part = j->row_bytes - at < PWRITE_BYTES ? j->row_bytes - at : PWRITE_BYTES;
				/* From where the array would take it; parity from anywhere. */
				const uint8_t *from = j->data + (m * j->row_bytes + at) % (j->stripe_bytes - part + 1);

				if (pwrite(j->fds[m], from, part, (off_t)(i * j->row_bytes + at)) != (ssize_t)part)
					err(1, "pwrite");
			}
	return NULL;
}

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void flush(const struct job *j, bool array)
{
	struct blkalign_error error = { 0 };

	if (array && blkalign_run_flush(j->run, j->node, &error) < 0)
		errx(1, "%s", error.message);
	for (size_t m = 0; !array && m < j->members; m++)
		if (fdatasync(j->fds[m]) < 0)
			err(1, "fdatasync");
}

struct sample {
	double wall, cpu;
};

static struct sample measure(const struct job *j, unsigned threads, bool array)
{
	struct worker workers[THREADS_MAX];
	pthread_t ids[THREADS_MAX];
	double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned i = 0; i < threads; i++) {
		workers[i] = (struct worker){ j, i, threads };
		if (pthread_create(&ids[i], NULL, array ? write_array : write_plain, &workers[i]) != 0)
			errx(1, "no thread");
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	flush(j, array);
	return (struct sample){ now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu };
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const struct sample *samples, unsigned count, bool cpu)
{
	double values[RUNS_MAX];

	for (unsigned i = 0; i < count; i++)
		values[i] = cpu ? samples[i].cpu : samples[i].wall;
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static void run_all(const struct job *j, unsigned runs, unsigned threads)
{
	static struct sample ours[RUNS_MAX], rival[RUNS_MAX];
	double bytes = (double)(j->stripes * j->row_bytes * j->members);

	/* The first of each only warms up. */
	measure(j, threads, true);
	measure(j, threads, false);
	for (unsigned i = 0; i < runs; i++) {
		ours[i] = measure(j, threads, true);
		rival[i] = measure(j, threads, false);
	}
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		double mine = median(ours, runs, cpu), theirs = median(rival, runs, cpu);

		printf("%s%.2f GB/s%s; pwrite %.2f; %.2f times", cpu ? "; by CPU " : "", bytes / mine / 1e9, cpu ? "" : " of members",
		       bytes / theirs / 1e9, theirs / mine);
	}
	printf("\n");
}

static void open_plain(struct job *j, int *fds, char **paths)
{
	for (j->members = 0; paths[j->members]; j->members++) {
		char path[512];

		if (j->members == MEMBERS_MAX)
			errx(1, "too many members");
		snprintf(path, sizeof(path), "%s.plain", paths[j->members]);
		fds[j->members] = open(path, O_WRONLY | O_CLOEXEC);
		if (fds[j->members] < 0)
			err(1, "%s", path);
	}
	j->fds = fds;
}

static void open_array(struct job *j, char **paths)
{
	struct blkalign_run_options options = { .writable = true };
	struct blkalign_run_blocks blocks;
	struct blkalign_error error = { 0 };
	uint64_t size;

	if (blkalign_run_open(&options, (const char *const *)paths, j->members, &j->run, &error) < 0 ||
	    blkalign_run_node(j->run, NULL, &j->node, &error) < 0)
		errx(1, "%s", error.message);
	blkalign_run_blocks(j->run, j->node, &blocks);
	size = blkalign_run_size(j->run, j->node);
	j->stripe_bytes = blocks.preferred_bytes * (j->members - 2);
	j->row_bytes = blocks.preferred_bytes;
	j->stripes = size / j->stripe_bytes;
	if (j->stripes > PASS_BYTES / (j->row_bytes * j->members))
		j->stripes = PASS_BYTES / (j->row_bytes * j->members);
}

int main(int argc, char **argv)
{
	unsigned runs = argc > 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0, threads = runs ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	struct job j = { 0 };
	int fds[MEMBERS_MAX];
	uint8_t *data;

	if (!runs || runs > RUNS_MAX || !threads || threads > THREADS_MAX)
		errx(2, "usage: stripes RUNS THREADS MEMBER...");
	open_plain(&j, fds, argv + 3);
	open_array(&j, argv + 3);
	data = aligned_alloc(4096, j.stripe_bytes);
	if (!data)
		err(1, "memory");
	for (uint64_t i = 0; i < j.stripe_bytes; i++)
		data[i] = (uint8_t)(i * 2654435761U >> 13);
	j.data = data;
	run_all(&j, runs, threads);
	blkalign_run_close(j.run, NULL);
	free(data);
	return 0;
}
