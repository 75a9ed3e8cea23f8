/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cuts in the middle of what makes an array whole again: a story loses power in the middle of its writes, and then a resync, a rebuild or more writes are played on what the media
 * hold, and lose power, or fail, in their turn.
 */
#include <ctype.h>

#include "stage.h"

#define PICKS 2U

/* The point with the most sectors in flight, of those with a write of the user's among them. */
static size_t pick_point(const struct stage *stage)
{
	size_t best = 0, most = 0;

	for (size_t point = 0; point < power_points(stage->machine); point++) {
		_cleanup_power_states_ struct power_states *states = NULL;
		size_t moment = power_point_moment(stage->machine, point), data = 0;

		if (power_states_open(stage->machine, point, SECTOR, 0, &states) < 0)
			abort();
		for (size_t i = 0; i < power_states_writes(states); i++)
			data += power_states_write(states, i).offset_bytes >= shape_data_offset(stage->shape);
		if (data > most && history_has(&stage->history, OP_WRITE, moment)) {
			most = data;
			best = point;
		}
	}
	return best;
}

static void take(const struct stage *stage, const struct power_states *states, size_t point, struct start *ret)
{
	uint8_t *images[MEMBERS_MAX];

	ret->history = stage->history;
	ret->history.holes |= stage->shape->missing;
	history_carry(&ret->history, power_point_moment(stage->machine, point));
	stage_images(stage, states, images);
	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++) {
		if (!images[slot])
			continue;
		ret->images[slot] = malloc(shape_member_bytes(stage->shape));
		if (!ret->images[slot])
			abort();
		memcpy(ret->images[slot], images[slot], shape_member_bytes(stage->shape));
	}
}

/* A start is named by its point and the seed of which sectors arrived. */
static void make_start(const struct stage *stage, size_t point, uint64_t seed, struct start *ret)
{
	_cleanup_power_states_ struct power_states *states = NULL;
	_cleanup_free_ bool *keep = NULL;
	uint64_t random = seed;

	if (power_states_open(stage->machine, point, SECTOR, 0, &states) < 0)
		abort();
	keep = calloc(power_states_writes(states) + 1, sizeof(*keep));
	if (!keep)
		abort();
	for (size_t i = 0; i < power_states_writes(states); i++)
		keep[i] = draw(&random) & 1;
	power_states_set(states, keep);
	take(stage, states, point, ret);
	snprintf(ret->line, sizeof(ret->line), " from=%zu,%llu", point, (unsigned long long)seed);
}

static bool start_at(const struct story *story, size_t point, uint64_t seed, struct start *ret)
{
	struct stage stage;
	bool ok;

	*ret = (struct start){ 0 };
	stage_set(&stage, story);
	ok = stage_play(&stage) >= 0;
	if (ok)
		make_start(&stage, point == SIZE_MAX ? pick_point(&stage) : point, seed, ret);
	stage_clear(&stage);
	return ok;
}

bool start_named(const struct story *story, const char *value, struct start *ret)
{
	unsigned long long seed;
	size_t point;

	return sscanf(value, "%zu,%llu", &point, &seed) == 2 && start_at(story, point, seed, ret);
}

void start_done(struct start *start)
{
	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++)
		free(start->images[slot]);
}

void test_recoveries(const struct story *story, struct totals *totals)
{
	for (uint64_t pick = 0; pick < PICKS; pick++) {
		struct start start;
		size_t length;

		if (!start_at(story, SIZE_MAX, story->seed + pick, &start))
			continue;
		length = strlen(start.line);
		for (size_t i = 0; i < recoveries_count; i++) {
			struct story next = { story->shape, &recoveries[i], &start, story->seed };

			snprintf(start.line + length, sizeof(start.line) - length, " after=%s", story->script->name);
			if (script_fits(&recoveries[i], story->shape))
				test_story(&next, totals);
		}
		start_done(&start);
	}
}
