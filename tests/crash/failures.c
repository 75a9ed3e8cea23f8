/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every n-th read, write and flush of a story fails: once, that device from then on, or all devices from then on. */
#include "stage.h"

size_t cuts_every = 16;

struct injection {
	enum dev_op op;
	enum power_failure failure;
	size_t nth;
};

static const char *const op_words[] = { [DEV_READ] = "read", [DEV_WRITE] = "write", [DEV_FLUSH] = "flush" };
static const char *const failure_words[] = { [POWER_FAIL_ONCE] = "once", [POWER_FAIL_DEVICE] = "device", [POWER_FAIL_ALL] = "all" };

/* Plays the story with the failure; returns how many requests of that kind there were. */
static size_t stage_play_failing(struct stage *stage, const struct shape *shape, const struct script *script, const struct injection *i)
{
	stage_set(stage, shape);
	stage->script = script;
	snprintf(stage->failure, sizeof(stage->failure), " fail=%s,%s,%zu", op_words[i->op], failure_words[i->failure], i->nth);
	power_machine_fail(stage->machine, 1U << i->op, i->nth, i->failure, -EIO);
	/* Opening may fail as well; what was promised before counts. */
	(void)play(shape, script->text, stage->machine, stage->devs, &stage->history);
	return power_machine_counted(stage->machine);
}

/* As it is while the power stays, and, where a write or flush failed, what a power cut then makes of it. */
static void judge_injection(const struct stage *stage, const struct injection *i, uint64_t seed, struct totals *totals)
{
	const char *why = stage_judge(stage, NULL, 0, true);

	totals->injections++;
	if (why) {
		totals->faults++;
		printf("FAULT %s\n      crash --seed %llu --state '%s/%s%s'\n      script: %s\n", why, (unsigned long long)seed,
		       stage->shape->name, stage->script->name, stage->failure, stage->script->text);
		fflush(stdout);
	} else if (i->op == DEV_WRITE || i->op == DEV_FLUSH) {
		stage_try_cuts(stage, cuts_every, seed, totals);
	}
}

void test_failures(const struct shape *shape, const struct script *script, uint64_t seed, struct totals *totals)
{
	struct stage stage;

	for (enum dev_op op = DEV_READ; op <= DEV_FLUSH; op++)
		for (enum power_failure failure = POWER_FAIL_ONCE; failure <= POWER_FAIL_ALL; failure++)
			for (struct injection i = { op, failure, 1 };; i.nth++) {
				size_t counted = stage_play_failing(&stage, shape, script, &i);
				bool hit = counted >= i.nth;

				if (hit)
					judge_injection(&stage, &i, seed, totals);
				stage_clear(&stage);
				if (!hit)
					break;
			}
}
