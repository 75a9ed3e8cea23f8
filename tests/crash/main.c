/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash [--seed N] [--jobs N] [--random N] [--only TEXT] [--least N] [--every N] [--lying]
 * crash [--seed N] --state LINE [--dump FOLDER]
 *
 * Plays every script on every shape and judges all crash states, then lets every n-th request fail. Prints how many distinct states there were.
 *
 * --random: so many more scripts, that the seed makes. --only: stories whose "SHAPE/SCRIPT" contains TEXT. --least: fail with fewer states. --every: after a
 * failed request power is cut at one of so many points (16). --lying: flushes do nothing, so that there must be faults. --state: one state again, from the
 * line that a fault printed; its images into FOLDER.
 */
#include <getopt.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash.h"

struct options {
	uint64_t seed, least;
	size_t jobs, random;
	const char *only, *state, *dump;
};

/* What the processes share. */
struct shared {
	struct totals totals;
	_Atomic size_t next;
};

static const struct script *script_at(const struct options *o, size_t index)
{
	char name[32];

	if (index < scripts_count)
		return &scripts[index];
	snprintf(name, sizeof(name), "random-%zu", index - scripts_count);
	return script_named(name, strlen(name), o->seed);
}

static void one_story(const struct options *o, size_t story, struct totals *totals)
{
	const struct shape *shape = &shapes[story % shapes_count];
	const struct script *script = script_at(o, story / shapes_count);
	char name[96];

	snprintf(name, sizeof(name), "%s/%s", shape->name, script->name);
	if (o->only && !strstr(name, o->only))
		return;
	test_cuts(shape, script, o->seed, totals);
	test_failures(shape, script, o->seed, totals);
}

static void work(const struct options *o, struct shared *shared)
{
	size_t stories = shapes_count * (scripts_count + o->random), story;

	while ((story = shared->next++) < stories)
		one_story(o, story, &shared->totals);
}

static int run_all(const struct options *o)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool ok = shared != MAP_FAILED;

	for (size_t i = 0; ok && i < o->jobs; i++)
		if (fork() == 0) {
			work(o, shared);
			fflush(stdout);
			_exit(0);
		}
	for (size_t i = 0; ok && i < o->jobs; i++) {
		int status = 1;

		wait(&status);
		if (status) {
			printf("FAULT a process ended with status %#x\n", status);
			shared->totals.faults++;
		}
	}
	if (!ok)
		return 1;
	printf("seed %llu: %llu stories, %llu distinct crash states, %llu failing requests, %llu faults\n", (unsigned long long)o->seed,
	       (unsigned long long)shared->totals.stories, (unsigned long long)shared->totals.states,
	       (unsigned long long)shared->totals.injections, (unsigned long long)shared->totals.faults);
	if (shared->totals.states < o->least)
		printf("FAULT fewer than %llu states\n", (unsigned long long)o->least);
	return shared->totals.faults || shared->totals.states < o->least;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "seed", required_argument, NULL, 's' },   { "jobs", required_argument, NULL, 'j' },
		{ "random", required_argument, NULL, 'r' }, { "only", required_argument, NULL, 'o' },
		{ "least", required_argument, NULL, 'l' },  { "state", required_argument, NULL, 't' },
		{ "dump", required_argument, NULL, 'd' },   { "lying", no_argument, NULL, 'y' },
		{ "every", required_argument, NULL, 'e' },  { NULL, 0, NULL, 0 },
	};
	struct options o = { .seed = 1, .jobs = 2 };
	struct totals totals = { 0 };
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c == 's')
			o.seed = strtoull(optarg, NULL, 10);
		else if (c == 'j')
			o.jobs = strtoull(optarg, NULL, 10);
		else if (c == 'r')
			o.random = strtoull(optarg, NULL, 10);
		else if (c == 'o')
			o.only = optarg;
		else if (c == 'l')
			o.least = strtoull(optarg, NULL, 10);
		else if (c == 't')
			o.state = optarg;
		else if (c == 'd')
			o.dump = optarg;
		else if (c == 'y')
			lying_flushes = true;
		else if (c == 'e')
			cuts_every = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (!o.state)
		return run_all(&o);
	if (!replay(o.state, o.seed, o.dump, &totals)) {
		printf("not a state: %s\n", o.state);
		return 2;
	}
	return totals.faults != 0;
}
