/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every level and layout, healthy and with every set of members missing that it survives, against a byte model: what is written is read, and stays when more go. */
#include "md_bench.h"

static uint8_t *saved[BENCH_MEMBERS];
static uint8_t *saved_model;

static void save(struct bench *b)
{
	for (uint32_t i = 0; i < b->members_count; i++) {
		saved[i] = malloc(b->probes[i]->dev.size_bytes);
		assert_non_null(saved[i]);
		memcpy(saved[i], b->probes[i]->data, b->probes[i]->dev.size_bytes);
	}
	saved_model = malloc(b->size_bytes);
	assert_non_null(saved_model);
	memcpy(saved_model, b->model, b->size_bytes);
}

static void restore(struct bench *b)
{
	for (uint32_t i = 0; i < b->members_count; i++)
		memcpy(b->probes[i]->data, saved[i], b->probes[i]->dev.size_bytes);
	memcpy(b->model, saved_model, b->size_bytes);
}

static void forget(const struct bench *b)
{
	for (uint32_t i = 0; i < b->members_count; i++)
		free(saved[i]);
	free(saved_model);
}

/* Those of the set are missing; false when the array cannot do without them. */
static bool without(struct bench *b, unsigned set)
{
	bool present[BENCH_MEMBERS];

	bench_members(b);
	for (uint32_t i = 0; i < b->members_count; i++) {
		present[i] = !(set >> i & 1);
		if (!present[i])
			b->members[i].dev = NULL;
	}
	return raid_survives(&b->geometry, present);
}

static void random_work(struct bench *b, unsigned count, uint64_t unit)
{
	uint64_t offset, length;

	for (unsigned i = 0; i < count; i++) {
		bench_random_range(b, unit, &offset, &length);
		assert_int_equal(bench_write(b, offset, length), 0);
		bench_random_range(b, 1, &offset, &length);
		bench_expect_range(b, offset, length);
	}
}

/* Whatever else is lost now, within what the level survives, nothing that was written is. */
static void expect_without_more(struct bench *b, const struct shape *s, unsigned set)
{
	b->read_only = true;
	for (unsigned more = 0; more < 1U << b->members_count; more++) {
		if ((more & set) || !without(b, set | more))
			continue;
		bench_open(b, s);
		bench_expect_all(b);
	}
	b->read_only = false;
}

static void scribble_missing(struct bench *b, unsigned set)
{
	for (uint32_t i = 0; i < b->members_count; i++)
		if (set >> i & 1)
			memset(b->probes[i]->data, 0x99, b->probes[i]->dev.size_bytes);
}

static void run_shape(const struct shape *s, bool with_log)
{
	struct bench *b = bench_new(s);
	uint64_t unit = with_log ? 512 : 1;

	b->with_log = with_log;
	bench_open(b, s);
	assert_int_equal(b->md->block_bytes, unit);
	bench_fill(b);
	bench_expect_consistent(b);
	random_work(b, 60, unit);
	bench_expect_all(b);
	bench_expect_consistent(b);
	save(b);
	for (unsigned set = 0; set < 1U << b->members_count; set++) {
		if (!without(b, set))
			continue;
		restore(b);
		scribble_missing(b, set);
		bench_open(b, s);
		bench_expect_all(b);
		random_work(b, 25, unit);
		expect_without_more(b, s, set);
	}
	forget(b);
	bench_free(b);
}

static void test_mirrors_and_stripes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++)
		if (all_shapes[i].level < RAID_4)
			run_shape(&all_shapes[i], false);
}

static void test_raid5(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		if (all_shapes[i].level != RAID_4 && all_shapes[i].level != RAID_5)
			continue;
		run_shape(&all_shapes[i], false);
		if (all_shapes[i].level == RAID_5)
			run_shape(&all_shapes[i], true);
	}
}

static void test_raid6(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++)
		if (all_shapes[i].level == RAID_6)
			run_shape(&all_shapes[i], false);
}

static void test_raid10(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++)
		if (all_shapes[i].level == RAID_10)
			run_shape(&all_shapes[i], false);
}

/* The copies of near 2 with offset 2 on 5 members lie on each other. */
static void test_overlapping(void **state)
{
	const struct shape s = { RAID_10, 0x10202, 5, 4 * K, 32 * K, 0 };
	struct bench *b = bench_new(&s);
	uint8_t byte = 1;

	(void)state;
	bench_open(b, &s);
	assert_int_equal(dev_write(b->md, 0, &byte, 1, NULL), -EROFS);
	assert_int_equal(dev_read(b->md, 0, &byte, 1, NULL), 0);
	assert_int_equal(byte, 0xee);
	bench_free(b);
}

static void test_read_only(void **state)
{
	struct bench *b = bench_new(&all_shapes[10]);
	uint8_t byte = 1;

	(void)state;
	b->read_only = true;
	bench_open(b, &all_shapes[10]);
	assert_int_equal(dev_write(b->md, 0, &byte, 1, NULL), -EROFS);
	assert_int_equal(dev_flush(b->md, NULL), -EROFS);
	b->read_only = false;
	b->probes[1]->dev.writable = false;
	assert_int_equal(bench_try_open(b, &all_shapes[10]), -EROFS);
	b->probes[1]->dev.writable = true;
	b->probes[1]->dev.size_bytes--;
	assert_int_equal(bench_try_open(b, &all_shapes[10]), -ERANGE);
	bench_free(b);
}

/* A batch whose writes share stripes, and read what others of the batch do not touch. */
static void test_batch(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		struct bench *b = bench_new(&all_shapes[i]);
		uint64_t part;

		bench_open(b, &all_shapes[i]);
		bench_fill(b);
		part = b->size_bytes / 24;
		for (unsigned round = 0; round < 4; round++) {
			struct dev_request q[20];
			uint8_t *buffer = malloc(b->size_bytes);

			assert_non_null(buffer);
			for (unsigned k = 0; k < 20; k++) {
				uint64_t offset = part * (k * 7 % 20) + bench_random(b) % (part / 2);
				uint64_t length = 1 + bench_random(b) % (part / 2);

				q[k] = (struct dev_request){ .dev = b->md,
							     .op = k % 3 ? DEV_WRITE : DEV_READ,
							     .offset_bytes = offset,
							     .length_bytes = length,
							     .buffer = k % 3 ? b->model + offset : buffer + offset };
				for (uint64_t at = offset; k % 3 && at < offset + length; at++)
					b->model[at] = (uint8_t)bench_random(b);
			}
			assert_int_equal(dev_run(q, 20, NULL), 0);
			for (unsigned k = 0; k < 20; k += 3)
				assert_memory_equal(q[k].buffer, b->model + q[k].offset_bytes, q[k].length_bytes);
			free(buffer);
		}
		bench_expect_all(b);
		bench_expect_consistent(b);
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mirrors_and_stripes),
		cmocka_unit_test(test_raid5),
		cmocka_unit_test(test_raid6),
		cmocka_unit_test(test_raid10),
		cmocka_unit_test(test_overlapping),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
