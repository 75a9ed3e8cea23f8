/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Some states as image files, for the kernel to take over. */
#include <sys/stat.h>

#include "stage.h"

static const struct shape *pick_shape(size_t number)
{
	size_t i = number % shapes_count;

	while (shapes[i].missing)
		i = (i + 1) % shapes_count;
	return &shapes[i];
}

#define TRIES 50U

/* Some point with several sectors in flight, and some of these. */
static bool dump_state(const struct stage *stage, uint64_t *random, const char *folder)
{
	_cleanup_power_states_ struct power_states *states = NULL;
	_cleanup_free_ bool *keep = NULL;
	uint32_t unit = strcmp(stage->shape->metadata, "0.90") && draw(random) % 2 ? 512 : 4096;
	uint8_t *images[MEMBERS_MAX];
	size_t point = 0;

	for (unsigned i = 0; i < TRIES && (!states || power_states_writes(states) < 3); i++) {
		power_states_close(states);
		states = NULL;
		point = draw(random) % power_points(stage->machine);
		if (power_states_open(stage->machine, point, unit, 0, &states) < 0)
			abort();
	}
	keep = calloc(power_states_writes(states) + 1, sizeof(*keep));
	if (!keep)
		abort();
	for (size_t i = 0; i < power_states_writes(states); i++)
		keep[i] = draw(random) & 1;
	power_states_set(states, keep);
	stage_images(stage, states, images);
	stage_print_state(stage, states, point, unit);
	printf("\n");
	return stage_dump(stage, images, folder, "m");
}

bool sample(size_t count, uint64_t seed, const char *folder)
{
	uint64_t random = seed;
	bool ok = true;

	for (size_t i = 0; i < count && ok; i++) {
		struct story story = { .seed = seed };
		struct stage stage;
		char path[512];

		snprintf(path, sizeof(path), "%s/%zu", folder, i);
		story.shape = pick_shape(i);
		do
			story.script = &scripts[draw(&random) % scripts_count];
		while (!script_fits(story.script, story.shape));
		stage_set(&stage, &story);
		ok = mkdir(path, 0700) == 0 && stage_play(&stage) >= 0 && dump_state(&stage, &random, path);
		stage_clear(&stage);
	}
	return ok;
}
