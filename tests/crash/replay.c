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

static bool find_story(const char *line, uint64_t seed, struct story *ret, struct start *ret_start)
{
	const char *slash = strchr(line, '/'), *from = value_of(line, "from"), *after = value_of(line, "after");
	struct story before = { .seed = seed };

	if (!slash)
		return false;
	*ret = (struct story){ .shape = shape_named(line, (size_t)(slash - line)),
			       .script = script_named(slash + 1, strcspn(slash + 1, " "), seed),
			       .seed = seed };
	if (!ret->shape || !ret->script || !from || !after)
		return ret->shape && ret->script;
	before.shape = ret->shape;
	before.script = script_named(after, strcspn(after, " "), seed);
	ret->start = ret_start;
	return before.script && start_named(&before, from, ret_start);
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
	static const char *const kinds[] = { [OP_WRITE] = "write", [OP_FLUSH] = "flush", [OP_RESYNC] = "resync", [OP_REBUILD] = "rebuild" };

	for (size_t i = 0; i < stage->history.count; i++) {
		const struct op *op = &stage->history.ops[i];

		printf("%s%s", op->before ? "before the power cut: " : "", kinds[op->kind]);
		if (op->kind == OP_WRITE)
			printf(" %u: sectors %llu, count %llu", op->tag, (unsigned long long)op->first, (unsigned long long)op->count);
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

bool stage_dump(const struct stage *stage, uint8_t *const *images, const char *folder, const char *word)
{
	bool ok = true;

	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++) {
		char path[512];
		FILE *f;

		if (!images[slot])
			continue;
		snprintf(path, sizeof(path), "%s/%s%u.img", folder, word, slot);
		f = fopen(path, "we");
		ok = f && fwrite(images[slot], shape_member_bytes(stage->shape), 1, f) == 1 && fclose(f) == 0 && ok;
		if (!ok)
			printf("%s: %s\n", path, strerror(errno));
	}
	return ok;
}

static void load(const struct stage *stage, uint8_t *const *images, const char *folder)
{
	for (uint32_t slot = 0; slot < MEMBERS_MAX; slot++) {
		char path[512];
		FILE *f;

		if (!images[slot])
			continue;
		snprintf(path, sizeof(path), "%s/m%u.img", folder, slot);
		f = fopen(path, "re");
		if (!f || fread(images[slot], shape_member_bytes(stage->shape), 1, f) != 1 || fclose(f) != 0) {
			printf("%s: %s\n", path, strerror(errno));
			exit(1);
		}
	}
}

static const char *judge_line(const struct stage *stage, const char *line, const struct replay_folders *folders)
{
	const char *unit = value_of(line, "unit"), *point = value_of(line, "point"), *keep = value_of(line, "keep"), *why;
	_cleanup_power_states_ struct power_states *states = NULL;
	struct history history = stage->history;
	size_t moment = MOMENT_END;
	uint8_t *images[MEMBERS_MAX];

	if (unit && point && keep) {
		size_t number = strtoull(point, NULL, 10);

		if (power_states_open(stage->machine, number, (uint32_t)strtoul(unit, NULL, 10), 0, &states) < 0)
			abort();
		moment = power_point_moment(stage->machine, number);
		set_state(states, keep);
		if (!folders->images)
			print_writes(stage, states);
	}
	history.killed = !states;
	stage_images(stage, states, images);
	if (folders->images)
		load(stage, images, folders->images);
	if (folders->dump)
		stage_dump(stage, images, folders->dump, "cut");
	why = judge(stage->shape, &history, moment, images, true);
	if (folders->dump)
		stage_dump(stage, images, folders->dump, "end");
	return why;
}

bool replay(const char *line, uint64_t seed, const struct replay_folders *folders, struct totals *totals)
{
	struct start start = { 0 };
	struct story story;
	struct stage stage;
	const char *why;
	int r;

	if (!find_story(line, seed, &story, &start))
		return false;
	stage_set(&stage, &story);
	set_failure(&stage, value_of(line, "fail"));
	stage.history.failing = value_of(line, "fail") != NULL;
	r = stage_play(&stage);
	printf("%s/%s: %s: %s\n", story.shape->name, story.script->name, story.script->text, r < 0 ? strerror(-r) : "played");
	print_history(&stage);
	why = judge_line(&stage, line, folders);
	printf("%s\n", why ? why : "every promise holds");
	totals->faults += why != NULL;
	stage_clear(&stage);
	start_done(&start);
	return true;
}
