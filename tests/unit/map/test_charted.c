/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices whose bytes are looked up: against a model in memory, with lists that are long, and with charts that fail or lie. */
#include "unit.h"

#include "map/map.h"

#define BLOCK  512U
#define BLOCKS 64U
#define SIZE   (BLOCK * BLOCKS)
#define HALF   (SIZE / 2 + 100)
#define MANY   UINT32_C(1000000)

static uint8_t low[SIZE], high[SIZE], expected[SIZE], got[SIZE];

static uint32_t next(uint32_t *state) { return *state = *state * 1664525U + 1013904223U; }

/* A list of distinct blocks, with runs in it, and what the device then holds; below ends in the middle. */
static size_t make(uint32_t seed, struct block_run **ret)
{
	struct block_run *list = malloc(BLOCKS * sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < SIZE; i++) {
		low[i] = (uint8_t)(i * 7 + i / 256);
		high[i] = (uint8_t)(i * 11 + i / 512);
		expected[i] = i < HALF ? low[i] : 0;
	}
	for (uint64_t b = 0; b < BLOCKS; b++) {
		uint64_t over_block;

		if (next(&seed) >> 31)
			continue;
		over_block = b % 5 ? b : (b + 17) % BLOCKS;
		if (!count || !block_run_append(&list[count - 1], b, over_block))
			list[count++] = block_run_of(b, over_block);
		memcpy(expected + b * BLOCK, high + over_block * BLOCK, BLOCK);
	}
	*ret = list;
	return count;
}

static void test_model(void **state)
{
	struct dev *below, *over, *dev;

	(void)state;
	assert_int_equal(dev_open_memory("low", low, HALF, false, &below), 0);
	assert_int_equal(dev_open_memory("high", high, SIZE, false, &over), 0);
	for (uint32_t seed = 0; seed < 200; seed++) {
		struct block_run *list;
		size_t count = make(seed, &list);

		assert_int_equal(map_open_overlaid("both", SIZE, below, over, BLOCK, list, count, "over", &dev), 0);
		assert_false(dev->writable);
		for (uint32_t i = 0, at = seed; i < 50; i++) {
			uint64_t from = next(&at) % SIZE, length = next(&at) % (SIZE - from) + 1;

			memset(got, 0xee, sizeof(got));
			assert_int_equal(dev_read(dev, from, got, length, NULL), 0);
			assert_memory_equal(got, expected + from, length);
		}
		for (uint64_t at = 0, length; at < SIZE; at += length) {
			bool zero;

			length = SIZE - at;
			assert_int_equal(dev_extent(dev, at, &length, &zero), 0);
			assert_true(length);
			for (uint64_t i = 0; zero && i < length; i++)
				assert_int_equal(expected[at + i], 0);
		}
		dev_close(dev);
	}
	dev_close(over);
	dev_close(below);
}

/* What is asked of the map, byte by byte: the devices that hold it, and why. */
static void test_runs(void **state)
{
	struct dev *below, *over, *dev;
	struct block_run *list;
	size_t count = make(1, &list);
	struct map_run run;
	const char *reason;

	(void)state;
	assert_int_equal(dev_open_memory("low", low, HALF, false, &below), 0);
	assert_int_equal(dev_open_memory("high", high, SIZE, false, &over), 0);
	assert_int_equal(map_open_overlaid("both", SIZE, below, over, BLOCK, list, count, "over", &dev), 0);
	for (uint64_t at = 0; at < SIZE; at += run.length_bytes) {
		assert_int_equal(map_charted_run(dev, at, &run, &reason), 0);
		assert_true(run.length_bytes && run.length_bytes <= SIZE - at);
		if (run.dev)
			assert_memory_equal((run.dev == over ? high : low) + run.offset_bytes, expected + at, run.length_bytes);
		assert_int_equal(run.note != NULL, run.dev == over);
	}
	assert_int_equal(map_charted_run(below, 0, &run, &reason), BLKALIGN_NOT_THIS);
	dev_close(dev);
	dev_close(over);
	dev_close(below);
}

static void refused(uint64_t first, uint64_t second, uint64_t over_block, struct dev *below, struct dev *over)
{
	struct block_run *list = malloc(2 * sizeof(*list));
	struct dev *dev;

	list[0] = block_run_of(first, 0);
	list[1] = block_run_of(second, over_block);
	assert_int_equal(map_open_overlaid("bad", SIZE, below, over, BLOCK, list, 2, NULL, &dev), -EINVAL);
}

static void test_refused(void **state)
{
	struct dev *below, *over;

	(void)state;
	assert_int_equal(dev_open_memory("low", low, SIZE, false, &below), 0);
	assert_int_equal(dev_open_memory("high", high, HALF, false, &over), 0);
	refused(3, 3, 1, below, over);
	refused(3, 2, 1, below, over);
	refused(3, 4, HALF / BLOCK, below, over); /* only half of it is there */
	refused(3, 4, UINT64_MAX / 2, below, over);
	refused(3, UINT64_MAX / 4, 1, below, over);
	dev_close(over);
	dev_close(below);
}

/* A million blocks, scattered: each is found. */
static void test_many(void **state)
{
	size_t bytes = (size_t)MANY * 2 * 8;
	uint8_t *numbers = malloc(bytes);
	struct block_run *list = malloc(MANY * sizeof(*list));
	static uint8_t zero[1];
	struct dev *below, *over, *dev;
	uint8_t read[8];

	(void)state;
	for (uint64_t i = 0; i < 2 * (uint64_t)MANY; i++)
		for (unsigned k = 0; k < 8; k++)
			numbers[8 * i + k] = (uint8_t)(i >> 8 * k);
	for (uint64_t i = 0; i < MANY; i++)
		list[i] = block_run_of(2 * i, (i * 7919) % (2 * (uint64_t)MANY));
	assert_int_equal(dev_open_memory("none", zero, 1, false, &below), 0);
	assert_int_equal(dev_open_memory("numbers", numbers, bytes, false, &over), 0);
	assert_int_equal(map_open_overlaid("many", bytes, below, over, 8, list, MANY, NULL, &dev), 0);
	for (uint64_t i = 1; i < MANY; i += 997) {
		assert_int_equal(dev_read(dev, 16 * i, read, 8, NULL), 0);
		assert_int_equal(load_le64(read), (i * 7919) % (2 * (uint64_t)MANY));
		assert_int_equal(dev_read(dev, 16 * i + 8, read, 8, NULL), 0);
		assert_int_equal(load_le64(read), 0);
	}
	dev_close(dev);
	dev_close(over);
	dev_close(below);
	free(numbers);
}

/* --- charts that fail --- */

struct liar {
	struct map_chart chart;
	struct map_run run;
	int result;
	bool *freed;
};

static int liar_find(struct map_chart *chart, uint64_t at, struct map_run *ret, const char **ret_reason)
{
	struct liar *l = (struct liar *)chart;

	*ret = l->run;
	*ret_reason = "nobody knows";
	return at < BLOCK ? 0 : l->result;
}

static void liar_free(struct map_chart *chart) { *((struct liar *)chart)->freed = true; }

static void test_liars(void **state)
{
	static const struct map_chart_ops ops = { .find = liar_find, .free = liar_free };
	struct dev *below, *dev;
	bool freed = false, zero;
	uint64_t length = 10;
	struct liar liar = { .chart.ops = &ops, .freed = &freed, .result = -EIO };
	struct blkalign_error err;

	(void)state;
	assert_int_equal(dev_open_memory("low", low, SIZE, false, &below), 0);
	liar.run = (struct map_run){ .dev = below, .offset_bytes = SIZE - BLOCK, .length_bytes = BLOCK };
	assert_int_equal(map_open_charted("liar", SIZE, &liar.chart, &dev), 0);
	assert_int_equal(dev_read(dev, 0, got, BLOCK, NULL), 0);
	assert_int_equal(dev_read(dev, 0, got, BLOCK + 1, &err), -EIO);
	assert_non_null(strstr(err.message, "nobody knows"));
	assert_int_equal(dev_extent(dev, BLOCK, &length, &zero), 0);
	assert_false(zero);
	/* Behind the end of the device, and nothing at all. */
	liar.run.length_bytes = BLOCK + 1;
	assert_int_equal(dev_read(dev, 0, got, 1, NULL), -EIO);
	liar.run = (struct map_run){ 0 };
	assert_int_equal(dev_read(dev, 0, got, 1, NULL), -EIO);
	assert_int_equal(dev_write(dev, 0, got, 1, NULL), -EROFS);
	dev_close(dev);
	assert_true(freed);
	dev_close(below);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model), cmocka_unit_test(test_runs),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),  cmocka_unit_test(test_liars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
