/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chunks larger than the scratch, many members, long lists of doubtful ranges: what is cut for memory's sake is put together right. */
#include "md_bench.h"

#define M (UINT64_C(1024) * 1024)

static void random_writes(struct bench *b, unsigned count, uint64_t most, uint64_t unit)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t length = round_up_u64(1 + bench_random(b) % most, unit);
		uint64_t offset = round_down_u64(bench_random(b) % (b->size_bytes - length + 1), unit);

		b->happened = 0;
		assert_int_equal(bench_write(b, offset, length), 0);
	}
}

/* A stripe of 2 x 16 MiB does not fit: it is written in slices of rows, also with a log, which gets no more than it takes. */
static void test_large_chunks(void **state)
{
	const struct shape s = { RAID_5, 2, 3, 16 * M, 16 * M, 0 };

	(void)state;
	for (unsigned with_log = 0; with_log < 2; with_log++) {
		struct bench *b = bench_new(&s);

		b->with_log = with_log;
		bench_open(b, &s);
		for (uint64_t i = 0; i < b->size_bytes; i += 8) {
			uint64_t word = bench_random(b);

			memcpy(b->model + i, &word, 8);
		}
		assert_int_equal(dev_write(b->md, 0, b->model, b->size_bytes, NULL), 0);
		bench_expect_consistent(b);
		b->keep_journal = true;
		random_writes(b, 12, 3 * M, with_log ? 512 : 1);
		bench_expect_consistent(b);
		b->members[0].dev = NULL;
		bench_open(b, &s);
		random_writes(b, 6, 3 * M, with_log ? 512 : 1);
		bench_expect_all(b);
		bench_free(b);
	}
}

/* Rows of 4 KiB on 600 members: two megabytes for one partial stripe. */
static void test_many_members(void **state)
{
	enum { MEMBERS = 600 };
	static uint8_t disks[MEMBERS][8192], model[(MEMBERS - 1) * 8192];
	static uint64_t lengths[MEMBERS];
	static struct map_md_member members[MEMBERS];
	_cleanup_dev_ struct dev *md = NULL;
	static struct bench nobody = { .guard = { &guard_ops } };
	struct raid_geometry g;
	uint8_t sum = 0;

	(void)state;
	for (unsigned i = 0; i < MEMBERS; i++) {
		struct dev *dev;

		lengths[i] = 8192;
		assert_int_equal(dev_open_memory("m", disks[i], 8192, true, &dev), 0);
		members[i] = (struct map_md_member){ .dev = dev, .valid_bytes = UINT64_MAX };
	}
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_5, 2, 4096, MEMBERS, lengths }, NULL), 0);
	assert_int_equal(map_open_md("md0", &(struct map_md){ .geometry = &g, .members = members, .guard = &nobody.guard }, &md), 0);
	for (size_t i = 0; i < sizeof(model); i++)
		model[i] = (uint8_t)(i * 31 + i / 4099);
	assert_int_equal(dev_write(md, 0, model, sizeof(model), NULL), 0);
	memset(model + 5000, 0x3c, 1200000);
	assert_int_equal(dev_write(md, 5000, model + 5000, 1200000, NULL), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		sum ^= disks[i][5001];
	assert_int_equal(sum, 0);
	assert_int_equal(map_md_set_member(md, 17, &(struct map_md_member){ .dev = NULL }), 0);
	{
		uint8_t *back = malloc(sizeof(model));

		assert_non_null(back);
		assert_int_equal(dev_read(md, 0, back, sizeof(model), NULL), 0);
		assert_memory_equal(back, model, sizeof(model));
		free(back);
	}
	dev_close(md);
	md = NULL;
	for (unsigned i = 0; i < MEMBERS; i++)
		dev_close(members[i].dev);
}

/* What is doubtful, and what a resync has passed, byte by byte: a lost byte is computed where it is not doubtful. */
static void test_doubtful_ranges(void **state)
{
	enum { BYTES = 3000 };
	const struct shape s = { RAID_4, 0, 3, 4 * K, 4 * K, 0 };
	static bool doubtful[BYTES];
	struct byte_range ranges[40];
	struct bench *b = bench_new(&s);
	size_t count = 0;

	(void)state;
	bench_open(b, &s);
	bench_fill(b);
	for (uint64_t at = 7; at < BYTES - 100 && count < 40; at += 75) {
		ranges[count++] = (struct byte_range){ at, 1 + bench_random(b) % 70 };
		memset(doubtful + at, 1, ranges[count - 1].length_bytes);
	}
	b->doubtful = ranges;
	b->doubtful_count = count;
	b->members[0].dev = NULL;
	bench_open(b, &s);
	for (unsigned round = 0; round < 120; round++) {
		struct byte_range trusted = { bench_random(b) % BYTES, bench_random(b) % 60 };

		for (uint64_t at = 0; at < BYTES; at++) {
			uint8_t byte;

			assert_int_equal(dev_read(b->md, at, &byte, 1, NULL), doubtful[at] ? -EIO : 0);
			assert_true(doubtful[at] || byte == b->model[at]);
		}
		assert_int_equal(map_md_set_trusted(b->md, &trusted), 0);
		for (uint64_t at = trusted.offset_bytes; at < trusted.offset_bytes + trusted.length_bytes && at < BYTES; at++)
			doubtful[at] = false;
	}
	assert_int_equal(map_md_set_trusted(b->md, &(struct byte_range){ 0, UINT64_MAX }), 0);
	bench_expect_all(b);
	bench_free(b);
}

static void test_reshaping(void **state)
{
	static uint8_t low_bytes[6000], high_bytes[9000], buffer[6000];
	_cleanup_dev_ struct dev *low = NULL, *high = NULL, *dev = NULL, *bad = NULL;
	struct blkalign_error err = { 0 };
	struct dev_request q[2];

	(void)state;
	memset(low_bytes, 'l', sizeof(low_bytes));
	memset(high_bytes, 'h', sizeof(high_bytes));
	assert_int_equal(dev_open_memory("low", low_bytes, 6000, true, &low), 0);
	assert_int_equal(dev_open_memory("high", high_bytes, 9000, true, &high), 0);
	assert_int_equal(map_open_reshaping("md0", low, high, 2500, 6000, &dev), 0);
	assert_int_equal(dev->size_bytes, 6000);
	assert_int_equal(dev_read(dev, 0, buffer, 6000, NULL), 0);
	for (unsigned i = 0; i < 6000; i++)
		assert_int_equal(buffer[i], i < 2500 ? 'l' : 'h');
	assert_int_equal(dev_read(dev, 2499, buffer, 1, NULL), 0);
	assert_int_equal(buffer[0], 'l');
	assert_int_equal(dev_read(dev, 2500, buffer, 1, NULL), 0);
	assert_int_equal(buffer[0], 'h');
	assert_int_equal(dev_write(dev, 0, buffer, 1, NULL), -EROFS);
	dev_close(dev);
	dev = NULL;
	assert_int_equal(dev_open_fault(high, 3000, 1, -EIO, &bad), 0);
	assert_int_equal(map_open_reshaping("md0", low, bad, 2500, 6000, &dev), 0);
	for (unsigned i = 0; i < 2; i++)
		q[i] = (struct dev_request){
			.dev = dev, .op = DEV_READ, .offset_bytes = i * 2000U, .length_bytes = 1500, .buffer = buffer + i * 2000
		};
	assert_int_equal(dev_run(q, 2, &err), -EIO);
	assert_int_equal(q[0].result, 0);
	assert_int_equal(q[1].result, -EIO);
	assert_int_equal(err.offset_bytes, 2000);
	dev_close(dev);
	dev = NULL;
	/* A map that ends before its part does. */
	assert_int_equal(map_open_reshaping("md0", low, high, 6500, 7000, &dev), -ERANGE);
	assert_int_equal(map_open_reshaping("md0", low, high, 2500, 9001, &dev), -ERANGE);
	assert_int_equal(map_open_reshaping("md0", low, high, 9000, 6000, &dev), 0);
	assert_int_equal(dev_read(dev, 0, buffer, 6000, NULL), 0);
	assert_int_equal(buffer[5999], 'l');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_chunks),
		cmocka_unit_test(test_many_members),
		cmocka_unit_test(test_doubtful_ranges),
		cmocka_unit_test(test_reshaping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
