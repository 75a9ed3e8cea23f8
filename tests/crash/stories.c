/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is played. Small numbers on purpose: every state of these can be gone through, and a fault in few sectors is a fault in many. */
#include "crash.h"

#define C 4096U

const struct shape shapes[] = {
	{ "raid1-2", RAID_1, 0, 2, "1.2", RECORD_NONE, 0, 0, 4 * C, 0 },
	{ "raid1-2-bitmap", RAID_1, 0, 2, "1.2", RECORD_BITMAP, 0, 0, 4 * C, 0 },
	{ "raid1-2-bitmap-1.0", RAID_1, 0, 2, "1.0", RECORD_BITMAP, 0, 0, 4 * C, 0 },
	{ "raid1-2-0.90", RAID_1, 0, 2, "0.90", RECORD_NONE, 0, 0, 4 * C, 0 },
	{ "raid1-3-bitmap-miss1", RAID_1, 0, 3, "1.2", RECORD_BITMAP, 2, 0, 4 * C, 0 },
	{ "raid10-4-n2", RAID_10, 0x102, 4, "1.2", RECORD_NONE, 0, C, 2 * C, 0 },
	{ "raid10-3-o2-bitmap", RAID_10, 0x10201, 3, "1.2", RECORD_BITMAP, 0, C, 4 * C, 0 },
	{ "raid10-4-f2-miss2", RAID_10, 0x201, 4, "1.2", RECORD_NONE, 4, C, 4 * C, 0 },
	{ "raid4-3", RAID_4, 0, 3, "1.2", RECORD_NONE, 0, C, 3 * C, 0 },
	{ "raid4-3-miss2", RAID_4, 0, 3, "1.2", RECORD_NONE, 4, C, 3 * C, 0 },
	{ "raid5-3", RAID_5, 2, 3, "1.2", RECORD_NONE, 0, C, 3 * C, 0 },
	{ "raid5-3-0.90", RAID_5, 2, 3, "0.90", RECORD_NONE, 0, C, 3 * C, 0 },
	{ "raid5-4-bitmap", RAID_5, 2, 4, "1.2", RECORD_BITMAP, 0, C, 3 * C, 0 },
	{ "raid5-4-bitmap-0.90", RAID_5, 0, 4, "0.90", RECORD_BITMAP, 0, C, 3 * C, 0 },
	{ "raid5-4-ppl", RAID_5, 2, 4, "1.2", RECORD_PPL, 0, C, 3 * C, 0 },
	{ "raid5-5-ppl-1.1", RAID_5, 1, 5, "1.1", RECORD_PPL, 0, C, 2 * C, 0 },
	{ "raid5-4-miss1", RAID_5, 2, 4, "1.2", RECORD_NONE, 2, C, 3 * C, 0 },
	{ "raid5-4-bitmap-miss1", RAID_5, 2, 4, "1.2", RECORD_BITMAP, 2, C, 3 * C, 0 },
	{ "raid5-4-ppl-miss1", RAID_5, 2, 4, "1.2", RECORD_PPL, 2, C, 3 * C, 0 },
	{ "raid6-4", RAID_6, 2, 4, "1.2", RECORD_NONE, 0, C, 3 * C, 0 },
	{ "raid6-5-bitmap", RAID_6, 2, 5, "1.2", RECORD_BITMAP, 0, C, 2 * C, 0 },
	{ "raid6-5-ddf", RAID_6, 10, 5, "1.2", RECORD_NONE, 0, C, 2 * C, 0 },
	{ "raid6-5-ls6", RAID_6, 18, 5, "1.1", RECORD_BITMAP, 0, C, 2 * C, 0 },
	{ "raid6-5-miss1", RAID_6, 2, 5, "1.2", RECORD_NONE, 2, C, 2 * C, 0 },
	{ "raid6-5-bitmap-miss13", RAID_6, 2, 5, "1.2", RECORD_BITMAP, 10, C, 2 * C, 0 },
};
const size_t shapes_count = ARRAY_SIZE(shapes);

const struct script scripts[] = {
	{ "sector", "w 3 1" },
	{ "sector-flushed", "w 3 1 f w 4 1 f" },
	{ "page", "w 8 8 f" },
	{ "across-chunks", "w 6 6 f" },
	{ "full-stripe", "w 1s 1s f" },
	{ "full-and-a-bit", "w 0 1s + w 1s 3 f" },
	{ "twice-unflushed", "w 2 2 w 2 2 w 2 2 f" },
	{ "same-stripe", "w 1 1 f w 9 1 w 17 1 f" },
	{ "batch", "w 0 2 + w 1c 1 + w 1s 1 f" },
	{ "reopen", "w 5 1 c w 6 1 f" },
	{ "flush-idle-flush", "w 1 1 f f w 1 1 f" },
	{ "resync", "w 3 1 r w 3 1 f" },
	{ "rebuild", "w 5 1 n 3 2 f c w 6 1 f" },
	{ "readd", "w 5 1 f w 17 2 f o 3 2 f" },
};
const size_t scripts_count = ARRAY_SIZE(scripts);

const struct script recoveries[] = {
	{ "resync-only", "r" },		{ "write-resync-write", "w 2 3 r w 9 2 f" },
	{ "write", "w 9 1 f w 3 1 f" }, { "resync-reopen", "r c w 4 1 f" },
	{ "rebuild-only", "n 3 2" },	{ "resync-rebuild-reopen", "w 5 1 r n 12 2 f c w 1 1" },
	{ "readd-only", "o 11 2" },
};
const size_t recoveries_count = ARRAY_SIZE(recoveries);

bool script_fits(const struct script *script, const struct shape *shape)
{
	bool rebuilds = strpbrk(script->text, "no"), former = strchr(script->text, 'o');

	return (!rebuilds || shape->missing) && (!former || shape->record == RECORD_BITMAP);
}

uint32_t script_target(const struct script *script, const struct shape *shape)
{
	return strpbrk(script->text, "no") && shape->missing ? (uint32_t)__builtin_ctz(shape->missing) : RAID_SLOT_NONE;
}

const struct shape *shape_named(const char *name, size_t length)
{
	for (size_t i = 0; i < shapes_count; i++)
		if (strlen(shapes[i].name) == length && memcmp(shapes[i].name, name, length) == 0)
			return &shapes[i];
	return NULL;
}

/* splitmix64 */
uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static const struct script *random_script(const char *name, uint64_t number, uint64_t seed)
{
	static char text[512], own_name[32];
	static struct script script = { own_name, text };
	uint64_t state = seed * 1000 + number;
	size_t words = 2 + draw(&state) % 5, length = 0;

	snprintf(own_name, sizeof(own_name), "%s", name);
	for (size_t i = 0; i < words && length < sizeof(text) - 64; i++) {
		unsigned what = (unsigned)(draw(&state) % 8);
		uint64_t first = draw(&state) % 64, count = 1 + draw(&state) % (draw(&state) % 3 ? 4 : 20);

		if (what == 0)
			length += (size_t)snprintf(text + length, sizeof(text) - length, " c");
		else if (what < 3)
			length += (size_t)snprintf(text + length, sizeof(text) - length, " f");
		else
			length += (size_t)snprintf(text + length, sizeof(text) - length, " w %llu %llu", (unsigned long long)first,
						   (unsigned long long)count);
	}
	return &script;
}

const struct script *script_named(const char *name, size_t length, uint64_t seed)
{
	char copy[32];

	for (size_t i = 0; i < scripts_count; i++)
		if (strlen(scripts[i].name) == length && memcmp(scripts[i].name, name, length) == 0)
			return &scripts[i];
	for (size_t i = 0; i < recoveries_count; i++)
		if (strlen(recoveries[i].name) == length && memcmp(recoveries[i].name, name, length) == 0)
			return &recoveries[i];
	if (length >= sizeof(copy) || length < 8 || memcmp(name, "random-", 7) != 0)
		return NULL;
	memcpy(copy, name, length);
	copy[length] = '\0';
	return random_script(copy, strtoull(copy + 7, NULL, 10), seed);
}
