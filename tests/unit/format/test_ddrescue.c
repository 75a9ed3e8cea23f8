/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit.h"

#include "format/ddrescue/ddrescue.h"

/* Written by ddrescue 1.27. */
static const char real[] = "# Mapfile. Created by GNU ddrescue version 1.27\n"
			   "# Command line: ddrescue -q -s 200000 in out map1\n"
			   "# Start time:   2026-11-30 14:04:30\n"
			   "# Current time: 2026-11-30 14:04:30\n"
			   "# Finished\n"
			   "# current_pos  current_status  current_pass\n"
			   "0x00030000     +               1\n"
			   "#      pos        size  status\n"
			   "0x00000000  0x00030D40  +\n"
			   "0x00030D40  0x000186A0  ?\n";

static void decode(const char *text, struct ddrescue_map *ret) { assert_int_equal(ddrescue_decode(text, strlen(text), ret, NULL), 0); }

static void block(const struct ddrescue_map *map, size_t index, uint64_t offset, uint64_t length, char status)
{
	assert_true(index < map->blocks.count);
	assert_int_equal(map->blocks.data[index].offset_bytes, offset);
	assert_int_equal(map->blocks.data[index].length_bytes, length);
	assert_int_equal(map->blocks.data[index].status, status);
}

static void test_decode(void **state)
{
	_cleanup_ddrescue_map_ struct ddrescue_map map, old;

	(void)state;
	decode(real, &map);
	assert_int_equal(map.position_bytes, 0x30000);
	assert_int_equal(map.state, '+');
	assert_int_equal(map.blocks.count, 2);
	block(&map, 0, 0, 200000, '+');
	block(&map, 1, 200000, 100000, '?');
	/* As old versions wrote it: no pass; numbers of all bases; blocks that are alike; no feed at the end. */
	decode("# Rescue Logfile\r\n\n0x10 -\n16 16 -\n0x20\t010  -\n40 8 /", &old);
	assert_int_equal(old.blocks.count, 2);
	block(&old, 0, 16, 24, '-');
	block(&old, 1, 40, 8, '/');
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{ "", 1 },
		{ "# only\n# comments\n", 2 },
		{ "0x0 +\n", 1 },
		{ "0x0 + 1 1\n0 1 +\n", 1 },
		{ "0x0 x\n0 1 +\n", 1 },
		{ "0x0 ++\n0 1 +\n", 1 },
		{ "0x0 +\n0 0 +\n", 2 },
		{ "0x0 +\n0 1 F\n", 2 },
		{ "0x0 +\n0 1\n", 2 },
		{ "0x0 +\n0 1 + 1\n", 2 },
		{ "0x0 +\n0 5 +\n6 1 +\n", 3 },
		{ "0x0 +\n0 5 +\n4 1 +\n", 3 },
		{ "0x0 +\n-1 5 +\n", 2 },
		{ "0x0 +\n0x 5 +\n", 2 },
		{ "0x0 +\n09 5 +\n", 2 },
		{ "0x0 +\n0 0x8000000000000000 +\n", 2 },
		{ "0x0 +\n1 0x7fffffffffffffff +\n", 2 },
		{ "0x0 +\n0 99999999999999999999999 +\n", 2 },
		{ "0x0 +\n0 0x000000000000000000000000000000000000000000001 +\n", 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct blkalign_error err = { 0 };
		struct ddrescue_map map;

		assert_int_equal(ddrescue_decode(cases[i].text, strlen(cases[i].text), &map, &err), -EBADMSG);
		if (err.offset_bytes != cases[i].line)
			fail_msg("case %zu: line %llu", i, (unsigned long long)err.offset_bytes);
		assert_int_equal(map.blocks.count, 0);
	}
	/* A NUL ends a word, not the text. */
	assert_int_equal(ddrescue_decode("0x0 \0\n0 1 +\n", 12, &(struct ddrescue_map){ 0 }, NULL), -EBADMSG);
}

#define MODEL 300U

static void check_model(const struct ddrescue_map *map, const char model[MODEL])
{
	uint64_t at = map->blocks.data[0].offset_bytes;

	for (size_t i = 0; i < map->blocks.count; i++) {
		const struct ddrescue_block *b = &map->blocks.data[i];

		assert_int_equal(b->offset_bytes, at);
		assert_true(b->length_bytes > 0);
		assert_true(i == 0 || b->status != b[-1].status);
		for (uint64_t k = 0; k < b->length_bytes; k++)
			assert_int_equal(model[at + k], b->status);
		at += b->length_bytes;
	}
}

/* Against one character per byte. */
static void test_set(void **state)
{
	static const char statuses[] = "?*/-+";
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		_cleanup_ddrescue_map_ struct ddrescue_map map = { 0 };
		char model[MODEL];

		memset(model, '?', MODEL);
		assert_int_equal(ddrescue_cover(&map, 100, 200), 0);
		assert_int_equal(ddrescue_set(&map, 100, round % 2 ? 10 : 0, '+'), 0);
		assert_int_equal(ddrescue_cover(&map, 0, MODEL), 0);
		if (round % 2)
			memset(model + 100, '+', 10);
		for (unsigned i = 0; i < 200; i++) {
			uint32_t begin, end;

			seed = seed * 1664525U + 1013904223U;
			begin = (seed >> 8) % MODEL;
			end = begin + (seed >> 16) % (MODEL - begin + 1);
			memset(model + begin, statuses[i % 5], end - begin);
			assert_int_equal(ddrescue_set(&map, begin, end - begin, statuses[i % 5]), 0);
			check_model(&map, model);
			assert_int_equal(map.blocks.data[map.blocks.count - 1].offset_bytes +
						 map.blocks.data[map.blocks.count - 1].length_bytes,
					 MODEL);
		}
	}
}

static void test_encode(void **state)
{
	_cleanup_ddrescue_map_ struct ddrescue_map map, again;
	_cleanup_strbuf_ struct strbuf text = { 0 }, twice = { 0 };

	(void)state;
	decode(real, &map);
	ddrescue_encode(&map, "blkalign", &text);
	assert_string_equal(strbuf_text(&text), "# Mapfile. Created by blkalign\n"
						"# current_pos  current_status  current_pass\n"
						"0x00030000     +               1\n"
						"#      pos        size  status\n"
						"0x00000000  0x00030D40  +\n"
						"0x00030D40  0x000186A0  ?\n");
	decode(strbuf_text(&text), &again);
	ddrescue_encode(&again, "blkalign", &twice);
	assert_string_equal(strbuf_text(&text), strbuf_text(&twice));
}

static void unfinished(const char *text, uint64_t size, const char *expected)
{
	_cleanup_ddrescue_map_ struct ddrescue_map map;
	_cleanup_strbuf_ struct strbuf got = { 0 };
	struct byte_range *ranges = NULL;
	size_t count = 0;

	decode(text, &map);
	assert_int_equal(ddrescue_unfinished(&map, size, &ranges, &count), 0);
	for (size_t i = 0; i < count; i++)
		strbuf_printf(&got, "%s%llu+%llu", i ? " " : "", (unsigned long long)ranges[i].offset_bytes,
			      (unsigned long long)ranges[i].length_bytes);
	assert_string_equal(strbuf_text(&got), expected);
	free(ranges);
}

static void test_unfinished(void **state)
{
	(void)state;
	unfinished("0 +\n0 100 +\n", 100, "");
	unfinished("0 +\n0 100 +\n", 60, "");
	unfinished("0 +\n0 100 +\n", 160, "100+60");
	unfinished("0 +\n10 20 +\n30 5 -\n35 5 *\n40 10 +\n50 10 /\n", 55, "0+10 30+10 50+5");
	unfinished("0 +\n10 20 -\n30 70 +\n", 200, "0+30 100+100");
	unfinished("0 +\n0 100 -\n", 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode), cmocka_unit_test(test_refused),	  cmocka_unit_test(test_set),
		cmocka_unit_test(test_encode), cmocka_unit_test(test_unfinished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
