/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading through segments, against the table arithmetic of dm-linear and dm-stripe done byte by byte. */
#include "map/map.h"
#include "unit.h"

#define DISK 65536U

static uint8_t disks[3][DISK];
static struct dev *devs[3];

static int setup(void **state)
{
	(void)state;
	for (unsigned d = 0; d < 3; d++) {
		for (unsigned i = 0; i < DISK; i++)
			disks[d][i] = (uint8_t)((i * 7 + i / 251) ^ (d << 6));
		if (dev_open_memory("disk", disks[d], DISK, false, &devs[d]) < 0)
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned d = 0; d < 3; d++)
		dev_close(devs[d]);
	return 0;
}

/* 1000 bytes linear, 3 x 4 chunks of 100 bytes, 500 zeros, 300 linear: odd sizes on purpose. */
static void open_mixed(struct dev **ret)
{
	const struct map_area first = { .dev = devs[1], .offset_bytes = 77 }, last = { .dev = devs[2], .offset_bytes = 9 };
	const struct map_area stripes[] = { { devs[0], 10, NULL }, { devs[1], 20000, NULL }, { devs[2], 3000, NULL } };
	const struct map_segment segments[] = {
		{ .length_bytes = 1000, .areas = &first, .area_count = 1 },
		{ .length_bytes = 1200, .chunk_bytes = 100, .areas = stripes, .area_count = 3 },
		{ .length_bytes = 500 },
		{ .length_bytes = 300, .areas = &last, .area_count = 1 },
	};

	assert_int_equal(map_open_segments("mixed", segments, 4, ret), 0);
	assert_int_equal((*ret)->size_bytes, 3000);
}

static uint8_t expected(uint64_t at)
{
	static const uint64_t starts[] = { 10, 20000, 3000 };

	if (at < 1000)
		return disks[1][77 + at];
	if (at < 2200) {
		uint64_t chunk = (at - 1000) / 100;

		return disks[chunk % 3][starts[chunk % 3] + chunk / 3 * 100 + (at - 1000) % 100];
	}
	return at < 2700 ? 0 : disks[2][9 + at - 2700];
}

static void test_every_range(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL;
	uint8_t buffer[3000];

	(void)state;
	open_mixed(&dev);
	for (uint64_t at = 0; at < 3000; at += 37)
		for (size_t length = 0; length <= 3000 - at; length += 1 + length / 3) {
			memset(buffer, 0xa5, sizeof(buffer));
			assert_int_equal(dev_read(dev, at, buffer, length, NULL), 0);
			for (size_t i = 0; i < length; i++)
				if (buffer[i] != expected(at + i))
					fail_msg("byte %zu of %zu at %u", i, length, (unsigned)at);
		}
	assert_int_equal(dev_read(dev, 2999, buffer, 2, NULL), -ERANGE);
}

static void test_missing(void **state)
{
	const struct map_area good = { .dev = devs[0] }, gone = { .missing_because = "the cat has it" }, unsaid = { .dev = NULL };
	const struct map_segment segments[] = {
		{ .length_bytes = 512, .areas = &good, .area_count = 1 },
		{ .length_bytes = 512, .areas = &gone, .area_count = 1 },
		{ .length_bytes = 512, .areas = &unsaid, .area_count = 1 },
	};
	_cleanup_dev_ struct dev *dev = NULL;
	struct blkalign_error err = { 0 };
	uint8_t buffer[600];
	struct dev_request q[2];

	(void)state;
	assert_int_equal(map_open_segments("holed", segments, 3, &dev), 0);
	for (unsigned i = 0; i < 2; i++)
		q[i] = (struct dev_request){ .dev = dev, .op = DEV_READ, .offset_bytes = 400 * i, .length_bytes = 200, .buffer = buffer };
	/* One request of a batch failing leaves the other alone. */
	assert_int_equal(dev_run(q, 2, &err), -EIO);
	assert_int_equal(q[0].result, 0);
	assert_int_equal(q[1].result, -EIO);
	assert_string_equal(err.message, "read of 200 bytes at byte 400 failed: the cat has it");
	assert_int_equal(dev_read(dev, 1024, buffer, 1, &err), -EIO);
	assert_non_null(strstr(err.message, "a device below is missing"));
}

static void test_below_fails(void **state)
{
	_cleanup_dev_ struct dev *bad = NULL, *dev = NULL;
	struct blkalign_error err = { 0 };
	uint8_t buffer[64];
	struct map_area area;
	struct map_segment segment = { .length_bytes = 4096, .areas = &area, .area_count = 1 };

	(void)state;
	assert_int_equal(dev_open_fault(devs[0], 1000, 10, -EIO, &bad), 0);
	area = (struct map_area){ .dev = bad, .offset_bytes = DISK - 2048 };
	assert_int_equal(map_open_segments("end", &segment, 1, &dev), 0);
	assert_int_equal(dev_read(dev, 2000, buffer, 48, NULL), 0);
	assert_int_equal(dev_read(dev, 2000, buffer, 49, &err), -EIO);
	assert_non_null(strstr(err.message, "ends before this byte"));
	dev_close(dev);
	area.offset_bytes = 900;
	assert_int_equal(map_open_segments("eio", &segment, 1, &dev), 0);
	assert_int_equal(dev_read(dev, 50, buffer, 50, NULL), 0);
	assert_int_equal(dev_read(dev, 50, buffer, 51, NULL), -EIO);
}

static void test_refused(void **state)
{
	const struct map_area areas[2] = { { devs[0], 0, NULL }, { devs[1], UINT64_MAX - 100, NULL } };
	const struct map_segment bad[] = {
		{ .length_bytes = 1000, .chunk_bytes = 300, .areas = areas, .area_count = 2 },
		{ .length_bytes = 1000, .chunk_bytes = 0, .areas = areas, .area_count = 2 },
		{ .length_bytes = 1000, .chunk_bytes = UINT64_MAX / 2 + 1, .areas = areas, .area_count = 2 },
		{ .length_bytes = 1000, .chunk_bytes = 500, .areas = areas, .area_count = 2 },
	};
	const struct map_segment wraps[] = { { .length_bytes = UINT64_MAX }, { .length_bytes = 1 } };
	struct dev *dev;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(map_open_segments("bad", &bad[i], 1, &dev), -EINVAL);
	assert_int_equal(map_open_segments("wraps", wraps, 2, &dev), -EINVAL);
}

/* Written bytes lie where the table says, and nowhere else. */
static void test_write(void **state)
{
	static uint8_t copies[3][DISK], before[3][DISK], data[2200];
	struct dev *below[3];
	_cleanup_dev_ struct dev *dev = NULL;
	const struct map_area stripes[] = { { NULL, 10, NULL }, { NULL, 20000, NULL }, { NULL, 3000, NULL } };
	struct map_area areas[4] = { { NULL, 77, NULL }, stripes[0], stripes[1], stripes[2] };
	struct map_segment segments[3] = {
		{ .length_bytes = 1000, .areas = &areas[0], .area_count = 1 },
		{ .length_bytes = 1200, .chunk_bytes = 100, .areas = &areas[1], .area_count = 3 },
		{ .length_bytes = 500 },
	};

	(void)state;
	memcpy(copies, disks, sizeof(copies));
	for (unsigned d = 0; d < 3; d++)
		assert_int_equal(dev_open_memory("disk", copies[d], DISK, true, &below[d]), 0);
	areas[0].dev = areas[2].dev = below[1];
	areas[1].dev = below[0];
	areas[3].dev = below[2];
	assert_int_equal(map_open_segments("lv", segments, 2, &dev), 0);
	assert_true(dev->writable);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 11 + i / 100);
	for (uint64_t at = 0; at < 2200; at += 131)
		for (size_t length = 1; length <= 2200 - at; length += 1 + length * 2) {
			memcpy(before, disks, sizeof(before));
			memcpy(copies, disks, sizeof(copies));
			for (uint64_t i = at; i < at + length; i++) {
				static const uint64_t starts[] = { 10, 20000, 3000 };
				uint64_t chunk = (i - 1000) / 100;

				if (i < 1000)
					before[1][77 + i] = data[i];
				else
					before[chunk % 3][starts[chunk % 3] + chunk / 3 * 100 + (i - 1000) % 100] = data[i];
			}
			assert_int_equal(dev_write(dev, at, data + at, length, NULL), 0);
			assert_memory_equal(copies, before, sizeof(before));
		}
	assert_int_equal(dev_flush(dev, NULL), 0);
	dev_close(dev);
	/* A part that reads as zeros, a missing one, a read-only one. */
	assert_int_equal(map_open_segments("lv", segments, 3, &dev), 0);
	assert_int_equal(dev_write(dev, 0, data, 1, NULL), -EROFS);
	dev_close(dev);
	areas[2].dev = NULL;
	assert_int_equal(map_open_segments("lv", segments, 2, &dev), 0);
	assert_int_equal(dev_write(dev, 0, data, 1, NULL), -EROFS);
	dev_close(dev);
	areas[2].dev = devs[1];
	assert_int_equal(map_open_segments("lv", segments, 2, &dev), 0);
	assert_int_equal(dev_write(dev, 0, data, 1, NULL), -EROFS);
	for (unsigned d = 0; d < 3; d++)
		dev_close(below[d]);
}

/* A flush that one of the devices below fails is not called good. */
static void test_flush_fails(void **state)
{
	uint8_t bytes[1024];
	_cleanup_dev_ struct dev *mem = NULL, *bad = NULL, *dev = NULL;
	struct map_area areas[2];
	struct map_segment segments[2] = { { .length_bytes = 512, .areas = &areas[0], .area_count = 1 },
					   { .length_bytes = 512, .areas = &areas[1], .area_count = 1 } };

	(void)state;
	assert_int_equal(dev_open_memory("mem", bytes, sizeof(bytes), true, &mem), 0);
	assert_int_equal(dev_open_fault_nth(mem, DEV_FLUSH, 1, false, -EIO, &bad), 0);
	areas[0] = (struct map_area){ .dev = mem };
	areas[1] = (struct map_area){ .dev = bad, .offset_bytes = 512 };
	assert_int_equal(map_open_segments("lv", segments, 2, &dev), 0);
	assert_int_equal(dev_flush(dev, NULL), -EIO);
}

static void test_extent(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL;
	uint64_t length = 3000;
	bool zero = true;

	(void)state;
	open_mixed(&dev);
	assert_int_equal(dev_extent(dev, 0, &length, &zero), 0);
	assert_int_equal(length, 1000);
	assert_false(zero);
	length = 700;
	assert_int_equal(dev_extent(dev, 2300, &length, &zero), 0);
	assert_int_equal(length, 400);
	assert_true(zero);
	length = 5;
	assert_int_equal(dev_extent(dev, 1050, &length, &zero), 0);
	assert_int_equal(length, 5);
	assert_false(zero);
	length = 0;
	assert_int_equal(dev_extent(dev, 0, &length, &zero), -ERANGE);
	length = 3001;
	assert_int_equal(dev_extent(dev, 0, &length, &zero), -ERANGE);
}

/* Chunks on different areas are told in one piece as long as they are alike. */
static void test_striped_extent(void **state)
{
	static const struct {
		uint64_t offset, asked, length;
		bool zero;
	} expected_of[] = {
		{ 0, 800, 400, false },	 { 150, 800 - 150, 250, false }, { 400, 400, 400, true }, { 399, 2, 1, false },
		{ 450, 100, 100, true }, { 800, 400, 100, false },	 { 900, 300, 100, true }, { 1100, 100, 100, true },
	};
	_cleanup_dev_ struct dev *half = NULL, *dev = NULL;
	const struct map_area data = { .dev = devs[0] };
	/* 200 bytes of data, then 400 of zeros. */
	const struct map_segment parts[] = { { .length_bytes = 200, .areas = &data, .area_count = 1 }, { .length_bytes = 400 } };
	struct map_area stripes[4];
	struct map_segment segments[2];

	(void)state;
	assert_int_equal(map_open_segments("half", parts, 2, &half), 0);
	stripes[0] = stripes[1] = (struct map_area){ .dev = half };
	/* The second pair: data here, zeros there. */
	stripes[2] = (struct map_area){ .dev = devs[1] };
	stripes[3] = (struct map_area){ .dev = half, .offset_bytes = 200 };
	segments[0] = (struct map_segment){ .length_bytes = 800, .chunk_bytes = 100, .areas = &stripes[0], .area_count = 2 };
	segments[1] = (struct map_segment){ .length_bytes = 400, .chunk_bytes = 100, .areas = &stripes[2], .area_count = 2 };
	assert_int_equal(map_open_segments("striped", segments, 2, &dev), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected_of); i++) {
		uint64_t length = expected_of[i].asked;
		bool zero;

		assert_int_equal(dev_extent(dev, expected_of[i].offset, &length, &zero), 0);
		assert_int_equal(length, expected_of[i].length);
		assert_int_equal(zero, expected_of[i].zero);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_range), cmocka_unit_test(test_missing),	   cmocka_unit_test(test_below_fails),
		cmocka_unit_test(test_refused),	    cmocka_unit_test(test_write),	   cmocka_unit_test(test_flush_fails),
		cmocka_unit_test(test_extent),	    cmocka_unit_test(test_striped_extent),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
