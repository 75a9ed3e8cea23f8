/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A fault again, from the line that was printed for it. */
#include <ctype.h>

#include "stage.h"

/* What follows " WORD=" in the line, or NULL. */
static const char *value_of(const char *line, const char *word)
{
	char key[16];
	const char *at;

	snprintf(key, sizeof(key), " %s=", word);
	at = strstr(line, key);
	return at ? at + strlen(key) : NULL;
}

static bool find_story(const char *line, uint64_t seed, const struct shape **ret_shape, const struct script **ret_script)
{
	const char *slash = strchr(line, '/');

	if (!slash)
		return false;
	*ret_shape = shape_named(line, (size_t)(slash - line));
	*ret_script = script_named(slash + 1, strcspn(slash + 1, " "), seed);
	return *ret_shape && *ret_script;
}

static void set_failure(struct stage *stage, const char *words)
{
	char op[8], failure[8];
	unsigned long nth;

	if (!words || sscanf(words, "%7[a-z],%7[a-z],%lu", op, failure, &nth) != 3)
		return;
	power_machine_fail(stage->machine,
			   1U << (op[0] == 'r'	 ? DEV_READ
				  : op[0] == 'w' ? DEV_WRITE
						 : DEV_FLUSH),
			   nth,
			   failure[0] == 'o'   ? POWER_FAIL_ONCE
			   : failure[0] == 'd' ? POWER_FAIL_DEVICE
					       : POWER_FAIL_ALL,
			   -EIO);
}

static void print_history(const struct stage *stage)
{
	for (size_t i = 0; i < stage->history.count; i++) {
		const struct op *op = &stage->history.ops[i];

		if (op->kind == OP_WRITE)
			printf("write %u: sectors %llu, count %llu", op->tag, (unsigned long long)op->first, (unsigned long long)op->count);
		else
			printf("flush");
		printf(", moments %zu to %zu: %s\n", op->issued, op->ended, op->result ? strerror(-op->result) : "done");
	}
}

/* Which sector writes the state lacks. */
static void set_state(struct power_states *states, const char *keep)
{
	size_t count = power_states_writes(states);
	bool *kept = calloc(count + 1, sizeof(*kept));

	if (!kept)
		abort();
	for (size_t i = 0; i < count && isxdigit((unsigned char)keep[i / 4]); i++) {
		char digit[] = { keep[i / 4], '\0' };

		kept[i] = strtoul(digit, NULL, 16) >> i % 4 & 1;
	}
	power_states_set(states, kept);
	free(kept);
}

static uint32_t slot_of(const struct stage *stage, uint32_t device)
{
	uint32_t slot = 0;

	while (!stage->devs[slot] || stage->disk[slot] != device)
		slot++;
	return slot;
}

static void print_writes(const struct stage *stage, const struct power_states *states)
{
	for (size_t i = 0; i < power_states_writes(states); i++) {
		struct power_write w = power_states_write(states, i);

		printf("%s: member %u, byte %llu, %zu bytes\n", power_states_kept(states)[i] ? "arrived" : "lost", slot_of(stage, w.device),
		       (unsigned long long)w.offset_bytes, w.length_bytes);
	}
}

static void dump(const struct stage *stage, uint8_t *const *images, const char *folder, const char *word)
{
	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++) {
		char path[512];
		FILE *f;

		if (!images[slot])
			continue;
		snprintf(path, sizeof(path), "%s/%s%u.img", folder, word, slot);
		f = fopen(path, "we");
		if (!f || fwrite(images[slot], shape_member_bytes(stage->shape), 1, f) != 1 || fclose(f) != 0)
			printf("%s: %s\n", path, strerror(errno));
	}
}

static const char *judge_line(const struct stage *stage, const char *line, const char *folder)
{
	const char *unit = value_of(line, "unit"), *point = value_of(line, "point"), *keep = value_of(line, "keep"), *why;
	_cleanup_power_states_ struct power_states *states = NULL;
	size_t moment = MOMENT_NO_CUT;
	uint8_t *images[MEMBERS_MAX];

	if (unit && point && keep) {
		size_t number = strtoull(point, NULL, 10);

		if (power_states_open(stage->machine, number, (uint32_t)strtoul(unit, NULL, 10), 0, &states) < 0)
			abort();
		moment = power_point_moment(stage->machine, number);
		set_state(states, keep);
		print_writes(stage, states);
	}
	stage_images(stage, states, images);
	if (folder)
		dump(stage, images, folder, "cut");
	why = judge(stage->shape, &stage->history, moment, images, true);
	if (folder)
		dump(stage, images, folder, "end");
	return why;
}

bool replay(const char *line, uint64_t seed, const char *folder, struct totals *totals)
{
	const struct shape *shape;
	const struct script *script;
	struct stage stage;
	const char *why;
	int r;

	if (!find_story(line, seed, &shape, &script))
		return false;
	stage_set(&stage, shape);
	stage.script = script;
	set_failure(&stage, value_of(line, "fail"));
	r = play(shape, script->text, stage.machine, stage.devs, &stage.history);
	printf("%s/%s: %s: %s\n", shape->name, script->name, script->text, r < 0 ? strerror(-r) : "played");
	print_history(&stage);
	why = judge_line(&stage, line, folder);
	printf("%s\n", why ? why : "every promise holds");
	totals->faults += why != NULL;
	stage_clear(&stage);
	return true;
}
