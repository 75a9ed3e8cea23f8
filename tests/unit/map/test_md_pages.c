/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes of less than a page to members that cannot read the rest of it. */
#include "md_bench.h"

/* Writes of sectors that touch what `slot` cannot read. */
static void write_sectors(struct bench *b)
{
	for (unsigned k = 0; k < 40; k++) {
		uint64_t offset, length;

		bench_random_range(b, 512, &offset, &length);
		b->happened = 0;
		assert_int_equal(bench_write(b, offset, length), 0);
	}
}

/* Neither the drive nor the kernel can write a part of a page of which they cannot read the rest: whole pages are written, and no member fails. */
static void test_part_of_a_page(void **state)
{
	unsigned shapes = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_shapes); i++) {
		const struct shape *s = &all_shapes[i];
		struct bench *b = bench_start(s);
		uint64_t rewritten = 0;

		for (uint32_t slot = 0; bench_redundant(s) && slot < s->members; slot++) {
			struct probe *p = b->probes[slot];
			struct map_md_events events;

			bench_open(b, s);
			p->pages = true;
			p->bad_from = 4096;
			p->bad_end = 12288;
			write_sectors(b);
			bench_expect_all(b);
			map_md_events(b->md, &events);
			assert_int_equal(events.failed_members, 0);
			rewritten += events.rewritten_bytes;
			p->bad_from = p->bad_end = 0;
			bench_expect_consistent(b);
		}
		shapes += rewritten != 0;
		bench_free(b);
	}
	assert_true(shapes > ARRAY_SIZE(all_shapes) / 2);
}

/* The data areas begin within a page: the file's pages count, as far as they lie in one chunk. */
static void test_part_of_a_page_askew(void **state)
{
	static const struct shape shapes[] = { { RAID_1, 0, 2, 0, 256 * K, 0 },
					       { RAID_5, 2, 4, 64 * K, 256 * K, 0 },
					       { RAID_6, 2, 5, 32 * K, 256 * K, 0 },
					       { RAID_10, 0x102, 4, 64 * K, 256 * K, 0 },
					       { RAID_10, 0x201, 3, 32 * K, 256 * K, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct bench *b = bench_new(&shapes[i]);
		struct map_md_events events;
		uint64_t rewritten = 0;

		for (uint32_t slot = 0; slot < shapes[i].members; slot++)
			b->members[slot].data_offset_bytes = BENCH_OFFSET - 1024;
		for (uint32_t slot = 0; slot < shapes[i].members; slot++) {
			struct probe *p = b->probes[slot];

			bench_open(b, &shapes[i]);
			bench_fill(b);
			p->pages = true;
			p->bad_from = 8192;
			p->bad_end = 16 * K;
			write_sectors(b);
			bench_expect_all(b);
			map_md_events(b->md, &events);
			assert_int_equal(events.failed_members, 0);
			rewritten += events.rewritten_bytes;
			p->bad_from = p->bad_end = 0;
		}
		assert_true(rewritten > 0);
		bench_free(b);
	}
}

/* Whole pages are refused as well, and so is a write of them: the member fails. */
static void test_page_stays_bad(void **state)
{
	const struct shape *shapes[] = { &all_shapes[5], &all_shapes[10], &all_shapes[19], &all_shapes[34] };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct bench *b = bench_start(shapes[i]);
		struct probe *p = b->probes[0];
		unsigned writes;

		p->pages = p->stays_bad = true;
		p->bad_from = 4096;
		p->bad_end = 8192;
		write_sectors(b);
		assert_null(map_md_members(b->md, NULL)[0].dev);
		writes = p->writes;
		write_sectors(b);
		assert_int_equal(p->writes, writes);
		bench_expect_without(b, shapes[i], 0);
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part_of_a_page),
		cmocka_unit_test(test_part_of_a_page_askew),
		cmocka_unit_test(test_page_stays_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
