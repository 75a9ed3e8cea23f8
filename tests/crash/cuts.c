/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Playing a story on a machine, and going through what its media may hold when the power is cut. */
#include "stage.h"

bool lying_flushes;

/* --- the stage: images, machine, devices --- */

static void add_disk(struct stage *stage, uint32_t slot, const uint8_t *image)
{
	stage->disk[slot] = stage->disks++;
	if (dev_open_power_cut(stage->machine, "member", image, shape_member_bytes(stage->shape), &stage->devs[slot]) < 0)
		abort();
}

/* What the target holds: nothing, or the member as it was some updates ago. */
static void make_target(const struct story *story, uint32_t slot, uint8_t *const *images)
{
	static uint8_t memory[MEMBERS_MAX][MEMBER_BYTES_MAX];
	struct shape former = *story->shape;
	uint8_t *whole[MEMBERS_MAX];

	memset(images[slot], 0, shape_member_bytes(story->shape));
	if (!strchr(story->script->text, 'o'))
		return;
	former.missing = 0;
	former.behind = 4;
	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		whole[i] = memory[i];
	shape_make(&former, whole);
	memcpy(images[slot], whole[slot], shape_member_bytes(story->shape));
}

void stage_set(struct stage *stage, const struct story *story)
{
	static uint8_t memory[MEMBERS_MAX][MEMBER_BYTES_MAX];
	uint8_t *images[MEMBERS_MAX];
	uint32_t target = script_target(story->script, story->shape);

	*stage = (struct stage){ .story = story, .shape = story->shape };
	if (story->start)
		stage->history = story->start->history;
	stage->history.target = target;
	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++)
		images[slot] = memory[slot];
	shape_make(story->shape, images);
	for (uint32_t slot = 0; story->start && slot < story->shape->members; slot++)
		if (shape_has(story->shape, slot))
			memcpy(images[slot], story->start->images[slot], shape_member_bytes(story->shape));
	if (target != RAID_SLOT_NONE)
		make_target(story, target, images);
	if (power_machine_new(&stage->machine) < 0)
		abort();
	for (uint32_t slot = 0; slot < story->shape->members; slot++)
		if (shape_has(story->shape, slot) || slot == target)
			add_disk(stage, slot, images[slot]);
	if (lying_flushes)
		power_machine_lie(stage->machine);
}

int stage_play(struct stage *stage) { return play(stage->shape, stage->story->script->text, stage->machine, stage->devs, &stage->history); }

void stage_clear(struct stage *stage)
{
	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++)
		dev_close(stage->devs[slot]);
	power_machine_free(stage->machine);
}

void stage_images(const struct stage *stage, const struct power_states *states, uint8_t *ret[MEMBERS_MAX])
{
	static uint8_t work[MEMBERS_MAX][MEMBER_BYTES_MAX];

	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++) {
		size_t disk = stage->disk[slot];

		ret[slot] = NULL;
		if (stage->devs[slot])
			ret[slot] =
				memcpy(work[slot], states ? power_states_image(states, disk) : power_machine_contents(stage->machine, disk),
				       shape_member_bytes(stage->shape));
	}
}

static const char *judge_kill(const struct stage *stage, const struct power_states *states, size_t moment, bool thorough)
{
	struct history history = stage->history;
	uint8_t *images[MEMBERS_MAX];

	history.killed = true;
	stage_images(stage, states, images);
	return judge(stage->shape, &history, moment, images, thorough);
}

const char *stage_judge(const struct stage *stage, const struct power_states *states, size_t point, bool thorough)
{
	uint8_t *images[MEMBERS_MAX];

	if (!states)
		return judge_kill(stage, NULL, MOMENT_END, thorough);
	stage_images(stage, states, images);
	return judge(stage->shape, &stage->history, power_point_moment(stage->machine, point), images, thorough);
}

/* --- which states were judged already --- */

static void seen_grow(struct seen *seen)
{
	struct seen old = *seen;

	seen->room = old.room ? old.room * 2 : 4096;
	seen->count = 0;
	seen->slots = calloc(seen->room, sizeof(*seen->slots));
	if (!seen->slots)
		abort();
	for (size_t i = 0; i < old.room; i++)
		if (old.slots[i])
			seen_add(seen, old.slots[i]);
	free(old.slots);
}

bool seen_add(struct seen *seen, uint64_t key)
{
	size_t at;

	if (seen->count * 2 >= seen->room)
		seen_grow(seen);
	key += !key;
	for (at = key % seen->room; seen->slots[at]; at = (at + 1) % seen->room)
		if (seen->slots[at] == key)
			return false;
	seen->slots[at] = key;
	seen->count++;
	return true;
}

/* States with equal contents are one state only if the same was promised by then. */
static uint64_t promised(const struct history *h, size_t moment)
{
	uint64_t hash = h->killed;

	for (size_t i = 0; i < h->count; i++) {
		const struct op *op = &h->ops[i];
		unsigned how = op->ended <= moment ? 2 + (op->result < 0) : op->issued < moment || (h->killed && op->issued == moment);

		hash = (hash + how + 1) * 0x9e3779b97f4a7c15;
	}
	return hash;
}

/* --- faults --- */

/* As few lost sectors as still show the fault. */
static void shrink(const struct stage *stage, struct power_states *states, size_t point)
{
	size_t count = power_states_writes(states);
	bool *keep = calloc(count + 1, sizeof(*keep));

	if (!keep)
		abort();
	memcpy(keep, power_states_kept(states), count);
	for (size_t i = 0; i < count; i++) {
		if (keep[i])
			continue;
		keep[i] = true;
		power_states_set(states, keep);
		keep[i] = stage_judge(stage, states, point, true) != NULL;
	}
	power_states_set(states, keep);
	free(keep);
}

static void print_name(const struct stage *stage)
{
	const struct story *story = stage->story;

	printf("%s/%s%s%s", stage->shape->name, story->script->name, story->start ? story->start->line : "", stage->failure);
}

void stage_print_state(const struct stage *stage, const struct power_states *states, size_t point, uint32_t unit)
{
	const bool *keep = power_states_kept(states);
	size_t count = power_states_writes(states);

	print_name(stage);
	printf(" unit=%u point=%zu keep=", unit, point);
	for (size_t i = 0; i < count; i += 4) {
		unsigned digit = 0;

		for (size_t bit = 0; bit < 4 && i + bit < count; bit++)
			digit |= (unsigned)keep[i + bit] << bit;
		printf("%x", digit);
	}
}

void stage_report(const struct stage *stage, struct power_states *states, size_t point, uint32_t unit, const char *why)
{
	printf("FAULT %s\n      crash --seed %llu --state '", why, (unsigned long long)stage->story->seed);
	if (states)
		stage_print_state(stage, states, point, unit);
	else
		print_name(stage);
	printf("'\n      script: %s\n", stage->story->script->text);
	fflush(stdout);
}

/* --- going through --- */

#define FAULTS_OF_A_STORY 3U

static unsigned try_point(const struct stage *stage, size_t point, uint32_t unit, struct seen *seen, struct totals *totals)
{
	_cleanup_power_states_ struct power_states *states = NULL;
	uint64_t promise = promised(&stage->history, power_point_moment(stage->machine, point));
	unsigned faults = 0;

	if (power_states_open(stage->machine, point, unit, stage->story->seed, &states) < 0)
		abort();
	totals->points_whole += power_states_all(states);
	totals->points_sampled += !power_states_all(states);
	while (faults < FAULTS_OF_A_STORY && power_states_next(states)) {
		uint64_t key = power_states_hash(states) ^ promise;
		const char *why;

		if (!seen_add(seen, key))
			continue;
		totals->states++;
		why = stage_judge(stage, states, point, key % 16 == 0);
		if (!why)
			continue;
		faults++;
		totals->faults++;
		shrink(stage, states, point);
		why = stage_judge(stage, states, point, true);
		stage_report(stage, states, point, unit, why ? why : "(not seen again)");
	}
	return faults;
}

/* The process is killed, between two writes or within one: what was written until then is there, in order. */
static void try_kills(const struct stage *stage, size_t point, struct seen *seen, struct totals *totals)
{
	_cleanup_power_states_ struct power_states *states = NULL;
	_cleanup_free_ bool *keep = NULL;
	struct history history = stage->history;

	if (power_states_open(stage->machine, point, SECTOR, 0, &states) < 0)
		abort();
	history.killed = true;
	keep = calloc(power_states_writes(states) + 1, sizeof(*keep));
	if (!keep)
		abort();
	for (size_t i = 0; i <= power_states_writes(states); keep[i++] = true) {
		bool last = i == power_states_writes(states);
		size_t moment = last ? power_point_moment(stage->machine, point) : power_states_write(states, i).moment;
		const char *why;
		uint64_t key;

		power_states_set(states, keep);
		key = power_states_hash(states) ^ promised(&history, moment);
		if (!seen_add(seen, key))
			continue;
		totals->kills++;
		why = judge_kill(stage, states, moment, key % 16 == 0);
		if (!why)
			continue;
		totals->faults++;
		printf("killed at moment %zu: ", moment);
		stage_report(stage, states, point, SECTOR, why);
		return;
	}
}

/*
 * A 0.90 superblock is eight sectors without a copy: a cut in the middle of one costs that member. One that has just failed and one that is torn are two.
 */
static bool costs_a_member(const struct stage *stage) { return stage->failure[0] && strcmp(stage->shape->metadata, "0.90") == 0; }

void stage_try_cuts(const struct stage *stage, size_t every, struct seen *seen, struct totals *totals)
{
	unsigned faults = 0;
	size_t points = power_points(stage->machine);

	for (size_t point = 0; point < points && !faults; point++)
		if ((points - 1 - point) % every == 0) {
			if (!costs_a_member(stage))
				faults += try_point(stage, point, 512, seen, totals);
			faults += try_point(stage, point, 4096, seen, totals);
		}
}

static void judge_results(const struct stage *stage, int opened, struct totals *totals)
{
	char why[80];

	snprintf(why, sizeof(why), "cannot be played: %s", strerror(-opened));
	if (opened < 0)
		stage_report(stage, NULL, 0, 0, why);
	totals->faults += opened < 0;
	for (size_t i = 0; i < stage->history.count; i++) {
		const struct op *op = &stage->history.ops[i];

		if (op->before || op->result >= 0)
			continue;
		snprintf(why, sizeof(why), "word %zu failed without a reason: %s", i, strerror(-op->result));
		stage_report(stage, NULL, 0, 0, why);
		totals->faults++;
	}
}

void test_story(const struct story *story, struct totals *totals)
{
	struct seen seen = { 0 };
	struct stage stage;
	int r;

	stage_set(&stage, story);
	r = stage_play(&stage);
	judge_results(&stage, r, totals);
	if (r >= 0)
		stage_try_cuts(&stage, 1, &seen, totals);
	for (size_t point = 0; r >= 0 && point < power_points(stage.machine); point++)
		try_kills(&stage, point, &seen, totals);
	totals->stories++;
	stage_clear(&stage);
	if (failures_every)
		test_failures(story, &seen, totals);
	seen_done(&seen);
}
