/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash [--seed N] [--jobs N] [--random N] [--only TEXT] [--least N] [--every N] [--failures N] [--stories N] [--recoveries] [--lying]
 * crash [--seed N] --state LINE [--dump FOLDER] [--images FOLDER]
 * crash [--seed N] --sample N --dump FOLDER
 *
 * Plays every script on every shape and judges all crash states, then lets every n-th request fail. Prints how many distinct states there were.
 *
 * --random: so many more scripts, that the seed makes. --only: stories whose "SHAPE/SCRIPT" contains TEXT. --least: fail with fewer states. --every: after a
 * failed request power is cut at one of so many points (16). --failures: one of so many requests fails (1; 0: none). --stories: one of so many is played (1).
 * --recoveries: what is played after these have lost power. --lying: flushes do nothing, so that there must be faults. --state: one state again, from the
 * line that a fault printed; --dump: its images into FOLDER; --images: not that state is judged, but what somebody made of it. --sample: so many states as
 * image files, for others.
 */
#include <getopt.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crash.h"

/* The clock stands still: states that hold the same are one state whenever they were made. */
time_t time(time_t *ret)
{
	time_t now = 1700000000;

	if (ret)
		*ret = now;
	return now;
}

struct options {
	uint64_t seed, least;
	size_t jobs, random, sample, every_story;
	bool recoveries;
	const char *only, *state;
	struct replay_folders folders;
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

static void one_story(const struct options *o, size_t number, struct totals *totals)
{
	struct story story = { .shape = &shapes[number % shapes_count], .script = script_at(o, number / shapes_count), .seed = o->seed };
	char name[96];

	snprintf(name, sizeof(name), "%s/%s", story.shape->name, story.script->name);
	if ((o->only && !strstr(name, o->only)) || !script_fits(story.script, story.shape) || number % o->every_story)
		return;
	if (o->recoveries)
		test_recoveries(&story, totals);
	else
		test_story(&story, totals);
}

static void work(const struct options *o, struct shared *shared)
{
	size_t stories = shapes_count * (scripts_count + o->random), story;

	while ((story = shared->next++) < stories)
		one_story(o, story, &shared->totals);
}

static void print_totals(const struct options *o, const struct totals *t)
{
	printf("seed %llu: %llu stories, %llu distinct crash states, %llu kills, %llu failing requests, %llu faults\n",
	       (unsigned long long)o->seed, (unsigned long long)t->stories, (unsigned long long)t->states, (unsigned long long)t->kills,
	       (unsigned long long)t->injections, (unsigned long long)t->faults);
	printf("every subset of what was in flight at %llu points, a sample at %llu (of more than %u sectors); power cut after a failed "
	       "request at one of %zu points; one of %zu requests fails; one of %zu stories\n",
	       (unsigned long long)t->points_whole, (unsigned long long)t->points_sampled, POWER_ALL_SUBSETS, cuts_every, failures_every,
	       o->every_story);
}

static int run_all(const struct options *o)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < o->jobs; i++)
		if (fork() == 0) {
			work(o, shared);
			fflush(stdout);
			_exit(0);
		}
	for (size_t i = 0; i < o->jobs; i++) {
		int status = 1;

		wait(&status);
		if (status) {
			printf("FAULT a process ended with status %#x\n", status);
			shared->totals.faults++;
		}
	}
	print_totals(o, &shared->totals);
	if (shared->totals.states < o->least)
		printf("FAULT fewer than %llu states\n", (unsigned long long)o->least);
	return shared->totals.faults || shared->totals.states < o->least;
}

static uint64_t number(const char *text) { return strtoull(text, NULL, 10); }

static bool take_option(struct options *o, int option, const char *value)
{
	switch (option) {
	case 's':
		o->seed = number(value);
		return true;
	case 'j':
		o->jobs = number(value);
		return true;
	case 'r':
		o->random = number(value);
		return true;
	case 'l':
		o->least = number(value);
		return true;
	case 'e':
		cuts_every = number(value);
		return true;
	case 'm':
		o->sample = number(value);
		return true;
	case 'o':
		o->only = value;
		return true;
	case 't':
		o->state = value;
		return true;
	case 'd':
		o->folders.dump = value;
		return true;
	case 'i':
		o->folders.images = value;
		return true;
	case 'f':
		failures_every = number(value);
		return true;
	case 'v':
		o->every_story = number(value);
		return true;
	case 'c':
		o->recoveries = true;
		return true;
	case 'y':
		lying_flushes = true;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "random", required_argument, NULL, 'r' },
		{ "only", required_argument, NULL, 'o' },
		{ "least", required_argument, NULL, 'l' },
		{ "state", required_argument, NULL, 't' },
		{ "dump", required_argument, NULL, 'd' },
		{ "images", required_argument, NULL, 'i' },
		{ "sample", required_argument, NULL, 'm' },
		{ "lying", no_argument, NULL, 'y' },
		{ "every", required_argument, NULL, 'e' },
		{ "failures", required_argument, NULL, 'f' },
		{ "stories", required_argument, NULL, 'v' },
		{ "recoveries", no_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	struct options o = { .seed = 1, .jobs = 2, .every_story = 1 };
	struct totals totals = { 0 };
	int option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (!take_option(&o, option, optarg))
			return 2;
	if (o.sample && o.folders.dump)
		return !sample(o.sample, o.seed, o.folders.dump);
	if (!o.state)
		return run_all(&o);
	if (!replay(o.state, o.seed, &o.folders, &totals)) {
		printf("not a state: %s\n", o.state);
		return 2;
	}
	return totals.faults != 0;
}
