/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A member that a kernel failed and removed, and what the bitmaps say that it lacks: the chunks in which it differs from the array, and nothing else of note. */
#include "keep/bench.h"

static struct byte_range *lacks;
static size_t count;

static void setup_case(const char *name)
{
	bench_load(name, 'm', 0);
	assert_int_equal(bench_open(), 0);
}

static void teardown_case(void)
{
	free(lacks);
	lacks = NULL;
	keep_abandon(bench.keep);
	bench_done();
}

static bool is_lacking(uint64_t at)
{
	for (size_t i = 0; i < count; i++)
		if (at >= lacks[i].offset_bytes && at - lacks[i].offset_bytes < lacks[i].length_bytes)
			return true;
	return false;
}

/* The image differs from what it would hold now only where it is told to lack something. */
static void compare(unsigned stale, const uint8_t *truth, uint64_t data_offset, uint64_t used)
{
	uint64_t lacking = 0;

	for (uint64_t at = 0; at < used; at += 512) {
		bool differs = memcmp(bench.images.data[stale] + data_offset + at, truth + data_offset + at, 512) != 0;

		lacking += is_lacking(at) ? 512 : 0;
		if (differs)
			assert_true(is_lacking(at));
	}
	assert_true(lacking > 0);
	assert_true(lacking < used);
}

/* raid1: m1 was away while 8000 sectors were written; m0 holds what it lacks. */
static void test_mirror(void **state)
{
	(void)state;
	setup_case("raid1-stale-bitmap");
	assert_int_equal(keep_lacking(bench.keep, bench.devs[1], NULL, 1, &lacks, &count), 0);
	compare(1, bench.images.data[0], MIB, bench.geometry.used_bytes);
	teardown_case();
}

/* raid5: what m2 would hold is the sum of the others. */
static void test_parity(void **state)
{
	uint8_t *truth;

	(void)state;
	setup_case("raid5-stale-bitmap");
	truth = calloc(1, bench.images.size[2]);
	for (unsigned i = 0; i < 4; i++)
		for (size_t b = 0; i != 2 && b < bench.images.size[2]; b++)
			truth[b] ^= bench.images.data[i][b];
	assert_int_equal(keep_lacking(bench.keep, bench.devs[2], NULL, 2, &lacks, &count), 0);
	compare(2, truth, MIB, bench.geometry.used_bytes);
	free(truth);
	teardown_case();
}

static void expect_absent(unsigned image, uint32_t slot)
{
	assert_int_equal(keep_lacking(bench.keep, bench.devs[image], NULL, slot, &lacks, &count), BLKALIGN_ABSENT);
	assert_null(lacks);
}

/* Its superblock, changed and sealed again. */
static void poke(unsigned image, size_t at, uint8_t value)
{
	uint8_t *super = bench.images.data[image] + 4096;

	super[at] = value;
	md1_seal(super);
}

static void test_needs_everything(void **state)
{
	uint8_t *super, *bitmap;

	(void)state;
	setup_case("raid5-stale");
	expect_absent(2, 2); /* no bitmap */
	teardown_case();
	setup_case("raid5-stale-bitmap");
	expect_absent(0, 2); /* another slot's member */
	expect_absent(2, 1); /* not that slot's */
	super = bench.images.data[2] + 4096;
	bitmap = super + 8 * 512;
	poke(2, 16, super[16] ^ 1); /* another array's */
	expect_absent(2, 2);
	poke(2, 16, super[16] ^ 1);
	poke(2, 200, 0xff); /* more events than the array itself */
	expect_absent(2, 2);
	poke(2, 200, 0); /* it left before bits were cleared last */
	expect_absent(2, 2);
	bench_rewind(0);
	poke(2, 8, super[8] | 2); /* half rebuilt when it left */
	expect_absent(2, 2);
	bench_rewind(0);
	poke(2, 128, super[128] ^ 8); /* its data lies elsewhere */
	expect_absent(2, 2);
	bench_rewind(0);
	bitmap[48] |= 2; /* its own bitmap is stale */
	expect_absent(2, 2);
	bench_rewind(0);
	poke(2, 8, super[8] | 8); /* it has bad blocks, which were not written while it was there */
	expect_absent(2, 2);
	bench_rewind(0);
	poke(2, 256, 0xfe); /* it was in use without m0, and no bit tells what was done to it then */
	poke(2, 257, 0xff);
	expect_absent(2, 2);
	bench_rewind(0);
	bitmap[33] = 0xff; /* it cleared bits when it was whole with others than these */
	expect_absent(2, 2);
	bench_rewind(0);
	assert_int_equal(keep_lacking(bench.keep, bench.devs[2], NULL, 2, &lacks, &count), 0);
	teardown_case();
}

/* A host had it alone meanwhile, and wrote: its own bits count as well. */
static void test_own_bits(void **state)
{
	(void)state;
	setup_case("raid5-stale-bitmap");
	assert_int_equal(keep_lacking(bench.keep, bench.devs[2], NULL, 2, &lacks, &count), 0);
	assert_false(is_lacking(100 * 65536));
	free(lacks);
	lacks = NULL;
	bench.images.data[2][4096 + 8 * 512 + 256 + 100 / 8] |= 1 << 100 % 8;
	assert_int_equal(keep_lacking(bench.keep, bench.devs[2], NULL, 2, &lacks, &count), 0);
	assert_true(is_lacking(100 * 65536));
	teardown_case();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mirror),
		cmocka_unit_test(test_parity),
		cmocka_unit_test(test_needs_everything),
		cmocka_unit_test(test_own_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
