/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Playing a story on a machine, and going through what its media may hold when the power is cut. */
#include "stage.h"

bool lying_flushes;

/* --- the stage: images, machine, devices --- */

void stage_set(struct stage *stage, const struct shape *shape)
{
	static uint8_t memory[MEMBERS_MAX][MEMBER_BYTES_MAX];
	uint8_t *images[MEMBERS_MAX];

	*stage = (struct stage){ .shape = shape };
	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++)
		images[slot] = memory[slot];
	shape_make(shape, images);
	if (power_machine_new(&stage->machine) < 0)
		abort();
	for (uint32_t slot = 0; slot < shape->members; slot++) {
		if (!shape_has(shape, slot))
			continue;
		stage->disk[slot] = stage->disks++;
		if (dev_open_power_cut(stage->machine, "member", images[slot], shape_member_bytes(shape), &stage->devs[slot]) < 0)
			abort();
	}
	if (lying_flushes)
		power_machine_lie(stage->machine);
}

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

const char *stage_judge(const struct stage *stage, const struct power_states *states, size_t point, bool thorough)
{
	uint8_t *images[MEMBERS_MAX];

	stage_images(stage, states, images);
	return judge(stage->shape, &stage->history, states ? power_point_moment(stage->machine, point) : MOMENT_NO_CUT, images, thorough);
}

/* --- which states were judged already --- */

struct seen {
	uint64_t *slots; /* 0: free */
	size_t room, count;
};

static bool seen_add(struct seen *seen, uint64_t key);

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

static bool seen_add(struct seen *seen, uint64_t key)
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
	uint64_t issued = 0, ended = 0;

	for (size_t i = 0; i < h->count; i++) {
		issued += h->ops[i].issued < moment;
		ended += h->ops[i].ended <= moment;
	}
	return (issued << 8 | ended) * 0x9e3779b97f4a7c15;
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

static void print_keep(const struct power_states *states)
{
	const bool *keep = power_states_kept(states);
	size_t count = power_states_writes(states);

	for (size_t i = 0; i < count; i += 4) {
		unsigned digit = 0;

		for (size_t bit = 0; bit < 4 && i + bit < count; bit++)
			digit |= (unsigned)keep[i + bit] << bit;
		printf("%x", digit);
	}
}

static void report(const struct stage *stage, struct power_states *states, size_t point, uint32_t unit, uint64_t seed)
{
	const char *why;

	shrink(stage, states, point);
	why = stage_judge(stage, states, point, true);
	printf("FAULT %s\n      crash --seed %llu --state '%s/%s%s unit=%u point=%zu keep=", why ? why : "(not seen again)",
	       (unsigned long long)seed, stage->shape->name, stage->script->name, stage->failure, unit, point);
	print_keep(states);
	printf("'\n      script: %s\n", stage->script->text);
	fflush(stdout);
}

/* --- going through --- */

#define FAULTS_OF_A_STORY 3U

static void try_point(const struct stage *stage, size_t point, uint32_t unit, uint64_t seed, struct seen *seen, struct totals *totals)
{
	_cleanup_power_states_ struct power_states *states = NULL;
	uint64_t promise = promised(&stage->history, power_point_moment(stage->machine, point));
	unsigned faults = 0;

	if (power_states_open(stage->machine, point, unit, seed, &states) < 0)
		abort();
	while (faults < FAULTS_OF_A_STORY && power_states_next(states)) {
		uint64_t key = power_states_hash(states) ^ promise;

		if (!seen_add(seen, key))
			continue;
		totals->states++;
		if (stage_judge(stage, states, point, key % 16 == 0)) {
			faults++;
			totals->faults++;
			report(stage, states, point, unit, seed);
		}
	}
}

/*
 * A 0.90 superblock is eight sectors without a copy: a cut in the middle of one costs that member. One that has just failed and one that is torn are two.
 */
static bool costs_a_member(const struct stage *stage) { return stage->failure[0] && strcmp(stage->shape->metadata, "0.90") == 0; }

void stage_try_cuts(const struct stage *stage, size_t every, uint64_t seed, struct totals *totals)
{
	struct seen seen = { 0 };
	uint64_t faults = totals->faults;
	size_t points = power_points(stage->machine);

	for (size_t point = 0; point < points && totals->faults == faults; point++)
		if ((points - 1 - point) % every == 0) {
			if (!costs_a_member(stage))
				try_point(stage, point, 512, seed, &seen, totals);
			try_point(stage, point, 4096, seed, &seen, totals);
		}
	free(seen.slots);
}

void test_cuts(const struct shape *shape, const struct script *script, uint64_t seed, struct totals *totals)
{
	struct stage stage;
	int r;

	stage_set(&stage, shape);
	stage.script = script;
	r = play(shape, script->text, stage.machine, stage.devs, &stage.history);
	if (r < 0) {
		printf("FAULT %s/%s: cannot be played: %s\n", shape->name, script->name, strerror(-r));
		totals->faults++;
	}
	for (size_t i = 0; i < stage.history.count; i++)
		if (stage.history.ops[i].result < 0) {
			printf("FAULT %s/%s: word %zu failed without a reason: %s\n", shape->name, script->name, i,
			       strerror(-stage.history.ops[i].result));
			totals->faults++;
		}
	if (r >= 0)
		stage_try_cuts(&stage, 1, seed, totals);
	totals->stories++;
	stage_clear(&stage);
}
