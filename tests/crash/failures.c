/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every n-th read, write and flush of a story fails: once, that device from then on, or all devices from then on. */
#include "stage.h"

size_t cuts_every = 16;
size_t failures_every = 1;

struct injection {
	enum dev_op op;
	enum power_failure failure;
	size_t nth;
};

static const char *const op_words[] = { [DEV_READ] = "read", [DEV_WRITE] = "write", [DEV_FLUSH] = "flush" };
static const char *const failure_words[] = { [POWER_FAIL_ONCE] = "once", [POWER_FAIL_DEVICE] = "device", [POWER_FAIL_ALL] = "all" };

/* Plays the story with the failure; returns how many requests of that kind there were. */
static size_t stage_play_failing(struct stage *stage, const struct story *story, const struct injection *i, int *ret_opened)
{
	stage_set(stage, story);
	stage->history.failing = true;
	snprintf(stage->failure, sizeof(stage->failure), " fail=%s,%s,%zu", op_words[i->op], failure_words[i->failure], i->nth);
	power_machine_fail(stage->machine, 1U << i->op, i->nth, i->failure, -EIO);
	/* Opening may fail as well; what was promised before counts. */
	*ret_opened = stage_play(stage);
	return power_machine_counted(stage->machine);
}

/* One member that fails, of an array that can do without it, is nothing that its user sees. */
static bool must_be_hidden(const struct stage *stage, const struct injection *i)
{
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };

	if (i->failure == POWER_FAIL_ALL || stage->shape->missing || stage->story->start)
		return false;
	shape_geometry(stage->shape, &g);
	return raid_redundancy(&g) > 0;
}

static const char *judge_results(const struct stage *stage, const struct injection *i, int opened)
{
	static char why[80];
	bool hidden = must_be_hidden(stage, i);

	/* Records that cannot be read are a reason not to write. */
	if (hidden && opened < 0 && i->op != DEV_READ) {
		snprintf(why, sizeof(why), "one member's failure keeps the array from being opened: %s", strerror(-opened));
		return why;
	}
	for (size_t k = 0; k < stage->history.count; k++) {
		const struct op *op = &stage->history.ops[k];

		snprintf(why, sizeof(why), "word %zu fails %s: %s", k, op->said ? "because of one member" : "without a sentence",
			 strerror(-op->result));
		if (op->result < 0 && !op->before && (hidden || !op->said))
			return why;
	}
	return NULL;
}

/* As it is while the power stays, and, where a write or flush failed, what a power cut then makes of it. */
static void judge_injection(const struct stage *stage, const struct injection *i, int opened, struct seen *seen, struct totals *totals)
{
	const char *why = judge_results(stage, i, opened);

	totals->injections++;
	if (!why)
		why = stage_judge(stage, NULL, 0, true);
	if (why) {
		totals->faults++;
		stage_report(stage, NULL, 0, 0, why);
	} else if (i->op != DEV_READ) {
		stage_try_cuts(stage, cuts_every, seen, totals);
	}
}

void test_failures(const struct story *story, struct seen *seen, struct totals *totals)
{
	struct stage stage;

	for (enum dev_op op = DEV_READ; op <= DEV_FLUSH; op++)
		for (enum power_failure failure = POWER_FAIL_ONCE; failure <= POWER_FAIL_ALL; failure++)
			for (struct injection i = { op, failure, 1 };; i.nth += failures_every) {
				int opened;
				bool hit = stage_play_failing(&stage, story, &i, &opened) >= i.nth;

				if (hit)
					judge_injection(&stage, &i, opened, seen, totals);
				stage_clear(&stage);
				if (!hit)
					break;
			}
}
