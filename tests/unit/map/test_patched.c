/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices with some of their bytes replaced, and arrays in two shapes. */
#include "unit.h"

#include "map/map.h"

#define SIZE (64 * KIB)

static uint8_t below[SIZE], other[SIZE], expected[SIZE], buffer[SIZE];
static struct dev *base, *second, *patched;

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZE; i++) {
		below[i] = (uint8_t)(i * 7 + i / 256);
		other[i] = (uint8_t)(i * 11 + 3);
	}
	assert_int_equal(dev_open_memory("below", below, SIZE, true, &base), 0);
	assert_int_equal(dev_open_memory("other", other, SIZE, true, &second), 0);
	patched = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dev_close(patched);
	dev_close(base);
	dev_close(second);
	return 0;
}

static void reads_as_expected(void)
{
	const uint64_t starts[] = { 0, 1, 999, 1000, 1500, 4095, 4096, 8191, SIZE - 5 };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		for (uint64_t length = 0; length <= SIZE - starts[i]; length += 1 + length / 2) {
			memset(buffer, 0xee, sizeof(buffer));
			assert_int_equal(dev_read(patched, starts[i], buffer, length, NULL), 0);
			assert_memory_equal(buffer, expected + starts[i], length);
		}
}

static void test_patches(void **state)
{
	const uint8_t text[] = "0123456789";
	const struct map_patch patches[] = {
		{ .range = { 0, 10 }, .data = text },
		{ .range = { 10, 990 }, .dev = second, .dev_offset_bytes = 500 },
		{ .range = { 4096, 4096 }, .dev = second },
		{ .range = { SIZE - 3, 3 }, .data = text },
	};

	(void)state;
	memcpy(expected, below, SIZE);
	memcpy(expected, text, 10);
	memcpy(expected + 10, other + 500, 990);
	memcpy(expected + 4096, other, 4096);
	memcpy(expected + SIZE - 3, text, 3);
	assert_int_equal(map_open_patched(base, patches, ARRAY_SIZE(patches), &patched), 0);
	reads_as_expected();
	assert_int_equal(dev_write(patched, 0, text, 1, NULL), -EROFS);
}

static void test_no_patches(void **state)
{
	(void)state;
	memcpy(expected, below, SIZE);
	assert_int_equal(map_open_patched(base, NULL, 0, &patched), 0);
	reads_as_expected();
}

static void refused(struct map_patch first, struct map_patch second_patch)
{
	const struct map_patch patches[] = { first, second_patch };

	assert_int_equal(map_open_patched(base, patches, 2, &patched), -EINVAL);
}

static void test_impossible_patches(void **state)
{
	const uint8_t byte[16] = { 0 };
	struct map_patch good = { .range = { 100, 10 }, .data = byte };

	(void)state;
	refused(good, (struct map_patch){ .range = { 109, 1 }, .data = byte });
	refused(good, (struct map_patch){ .range = { 0, 1 }, .data = byte });
	refused(good, (struct map_patch){ .range = { 200, 0 }, .data = byte });
	refused(good, (struct map_patch){ .range = { SIZE, 1 }, .data = byte });
	refused(good, (struct map_patch){ .range = { UINT64_MAX, 2 }, .data = byte });
	refused(good, (struct map_patch){ .range = { 200, 1 } });
	refused(good, (struct map_patch){ .range = { 200, 1 }, .data = byte, .dev = second });
	refused(good, (struct map_patch){ .range = { 200, 2 }, .dev = second, .dev_offset_bytes = SIZE - 1 });
}

static void test_failing_patch(void **state)
{
	_cleanup_dev_ struct dev *fault = NULL;
	struct map_patch patch = { .range = { 4096, 4096 } };

	(void)state;
	assert_int_equal(dev_open_fault(second, 0, 512, -EIO, &fault), 0);
	patch.dev = fault;
	assert_int_equal(map_open_patched(base, &patch, 1, &patched), 0);
	assert_int_equal(dev_read(patched, 0, buffer, 4096, NULL), 0);
	assert_int_equal(dev_read(patched, 0, buffer, 4097, NULL), -EIO);
	assert_int_equal(dev_read(patched, 8192, buffer, 4096, NULL), 0);
}

static void two_shapes(uint64_t position, uint64_t size)
{
	uint64_t low = position < size ? position : size;

	memcpy(expected, below, low);
	memcpy(expected + low, other + low, size - low);
	assert_int_equal(map_open_reshaping("md", base, second, position, size, &patched), 0);
	assert_int_equal(patched->size_bytes, size);
	assert_int_equal(dev_read(patched, 0, buffer, size, NULL), 0);
	assert_memory_equal(buffer, expected, size);
	assert_int_equal(dev_write(patched, 0, buffer, 512, NULL), -EROFS);
	dev_close(patched);
	patched = NULL;
}

static void test_reshaping(void **state)
{
	(void)state;
	two_shapes(12 * KIB, SIZE);
	two_shapes(0, SIZE);
	two_shapes(SIZE, SIZE);
	two_shapes(UINT64_MAX, SIZE - 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_patches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_patches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_impossible_patches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failing_patch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reshaping, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
