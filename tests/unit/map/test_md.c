/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays made here by hand, so that each way to a byte can be forced. Arrays that kernels filled: tests/golden. */
#include "unit.h"

#include "map/map.h"

#define CHUNK  (4 * KIB)
#define ROWS   8
#define OFFSET 512

static uint8_t content[8 * ROWS * CHUNK];
static uint8_t disks[5][OFFSET + ROWS * CHUNK];
static struct dev *devs[5];
static struct map_md_member members[5];
static struct blkalign_error err;

static void fill(void)
{
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 7 + i / 251 * 13 + i / 4096);
	memset(disks, 0xee, sizeof(disks));
	for (unsigned i = 0; i < 5; i++) {
		char name[8];

		dev_close(devs[i]);
		snprintf(name, sizeof(name), "m%u", i);
		assert_int_equal(dev_open_memory(name, disks[i], sizeof(disks[i]), false, &devs[i]), 0);
		members[i] = (struct map_md_member){ .dev = devs[i], .data_offset_bytes = OFFSET, .valid_bytes = UINT64_MAX };
	}
}

static struct dev *open_array(int32_t level, uint32_t layout, uint32_t n)
{
	uint64_t lengths[5] = { ROWS * CHUNK, ROWS * CHUNK, ROWS * CHUNK, ROWS * CHUNK, ROWS * CHUNK };
	struct raid_geometry g;
	struct dev *dev = NULL;

	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ level, layout, CHUNK, n, lengths }, NULL), 0);
	assert_int_equal(map_open_md("md0", &(struct map_md){ .geometry = &g, .members = members }, &dev), 0);
	return dev;
}

static uint8_t twice(uint8_t v) { return (uint8_t)(v << 1 ^ (v & 0x80 ? 0x1d : 0)); }

/* Left-symmetric: P goes down from the last slot, Q follows it, and the data follows round; in Q each counts twice as much as the one before. */
static void fill_parity(unsigned n, bool raid6)
{
	unsigned data = n - 1 - raid6;

	fill();
	for (unsigned row = 0; row < ROWS; row++) {
		unsigned p = n - 1 - row % n;
		uint8_t *parity = disks[p] + OFFSET + row * CHUNK, *q = disks[(p + 1) % n] + OFFSET + row * CHUNK;

		memset(parity, 0, CHUNK);
		if (raid6)
			memset(q, 0, CHUNK);
		for (unsigned i = data; i-- > 0;) {
			const uint8_t *from = content + (row * data + i) * CHUNK;

			memcpy(disks[(p + 1 + raid6 + i) % n] + OFFSET + row * CHUNK, from, CHUNK);
			for (unsigned b = 0; b < CHUNK; b++) {
				parity[b] ^= from[b];
				if (raid6)
					q[b] = twice(q[b]) ^ from[b];
			}
		}
	}
}

static void expect_all(struct dev *dev)
{
	static uint8_t buffer[sizeof(content)];
	struct dev_request q[3];
	const size_t at[4] = { 0, 4097, 30001, dev->size_bytes };

	for (unsigned i = 0; i < 3; i++)
		q[i] = (struct dev_request){
			.dev = dev, .op = DEV_READ, .offset_bytes = at[i], .length_bytes = at[i + 1] - at[i], .buffer = buffer + at[i]
		};
	if (dev_run(q, 3, &err) < 0)
		fail_msg("%s", err.message);
	assert_memory_equal(buffer, content, dev->size_bytes);
	for (size_t offset = 1; offset + 5000 < dev->size_bytes; offset += 3777) {
		assert_int_equal(dev_read(dev, offset, buffer, 5000, &err), 0);
		assert_memory_equal(buffer, content + offset, 5000);
	}
}

static void test_raid5(void **state)
{
	(void)state;
	for (unsigned lost = 0; lost <= 4; lost++) {
		_cleanup_dev_ struct dev *dev = NULL;

		fill_parity(4, false);
		if (lost < 4)
			members[lost].dev = NULL;
		dev = open_array(RAID_5, 2, 4);
		assert_int_equal(dev->size_bytes, 3 * ROWS * CHUNK);
		expect_all(dev);
	}
}

/* Of two members: xor of one source. */
static void test_raid5_of_two(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL;

	(void)state;
	fill_parity(2, false);
	members[1].dev = NULL;
	dev = open_array(RAID_5, 2, 2);
	expect_all(dev);
}

static void test_raid5_two_lost(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL;
	uint8_t buffer[CHUNK];

	(void)state;
	fill_parity(4, false);
	members[0].dev = members[1].dev = NULL;
	dev = open_array(RAID_5, 2, 4);
	/* Row 0 holds data 0 1 2 on slots 0 1 2. */
	assert_int_equal(dev_read(dev, 2 * CHUNK, buffer, CHUNK, &err), 0);
	assert_memory_equal(buffer, content + 2 * CHUNK, CHUNK);
	assert_int_equal(dev_read(dev, CHUNK, buffer, 16, &err), -EIO);
	assert_string_equal(err.where, "md0");
	assert_int_equal(err.offset_bytes, CHUNK);
	assert_non_null(strstr(err.message, "more members are missing"));
}

static void test_raid6(void **state)
{
	(void)state;
	for (unsigned lost = 0; lost < 5; lost++) {
		_cleanup_dev_ struct dev *dev = NULL;
		uint8_t b;

		fill_parity(5, true);
		members[lost].dev = NULL;
		dev = open_array(RAID_6, 2, 5);
		expect_all(dev);
		for (unsigned second = 0; second < 5; second++) {
			if (second == lost)
				continue;
			members[second].dev = NULL;
			dev_close(dev);
			dev = open_array(RAID_6, 2, 5);
			expect_all(dev);
			members[second].dev = devs[second];
		}
		/* Three: row 0 holds P Q data on 4 0 1 2 3; one of the data blocks is gone, and not enough is left. */
		members[1].dev = members[2].dev = members[3].dev = NULL;
		dev_close(dev);
		dev = open_array(RAID_6, 2, 5);
		assert_int_equal(dev_read(dev, 0, &b, 1, &err), -EIO);
		assert_non_null(strstr(err.message, "more members are missing"));
	}
}

/* A member under rebuild counts below its recovery offset, here in the middle of a chunk. */
static void test_rebuilding(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL;

	(void)state;
	fill_parity(4, false);
	members[2].valid_bytes = 3 * CHUNK + 1024;
	memset(disks[2] + OFFSET + 3 * CHUNK + 1024, 0x11, 4 * CHUNK);
	dev = open_array(RAID_5, 2, 4);
	expect_all(dev);
}

static void test_bad_ranges(void **state)
{
	static const struct byte_range bad[] = { { 512, 1024 }, { CHUNK + 100, 50 }, { 6 * CHUNK, 2 * CHUNK } };
	_cleanup_dev_ struct dev *dev = NULL;

	(void)state;
	fill_parity(4, false);
	members[1].bad = bad;
	members[1].bad_count = ARRAY_SIZE(bad);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		memset(disks[1] + OFFSET + bad[i].offset_bytes, 0x22, bad[i].length_bytes);
	dev = open_array(RAID_5, 2, 4);
	expect_all(dev);
}

static void fill_mirror(void)
{
	fill();
	for (unsigned i = 0; i < 3; i++)
		memcpy(disks[i] + OFFSET, content, ROWS * CHUNK);
}

static uint8_t first_byte(struct dev *dev, uint64_t at)
{
	uint8_t b = 0;

	assert_int_equal(dev_read(dev, at, &b, 1, &err), 0);
	return b;
}

static void test_raid1_choice(void **state)
{
	static const struct byte_range bad[] = { { 100, 1 } };
	_cleanup_dev_ struct dev *dev = NULL;

	(void)state;
	fill_mirror();
	for (unsigned i = 0; i < 3; i++)
		memset(disks[i] + OFFSET, 'a' + (int)i, ROWS * CHUNK);
	members[0].write_mostly = true;
	members[1].bad = bad;
	members[1].bad_count = 1;
	members[2].valid_bytes = 2 * CHUNK;
	dev = open_array(RAID_1, 0, 3);
	assert_int_equal(first_byte(dev, 99), 'b');
	assert_int_equal(first_byte(dev, 100), 'c');
	assert_int_equal(first_byte(dev, 101), 'b');
	dev_close(dev);
	members[1].dev = NULL;
	dev = open_array(RAID_1, 0, 3);
	assert_int_equal(first_byte(dev, 2 * CHUNK - 1), 'c');
	assert_int_equal(first_byte(dev, 2 * CHUNK), 'a');
	dev_close(dev);
	members[0].dev = NULL;
	dev = open_array(RAID_1, 0, 3);
	assert_int_equal(first_byte(dev, 0), 'c');
	assert_int_equal(dev_read(dev, 2 * CHUNK, &(uint8_t){ 0 }, 1, &err), -EIO);
	assert_non_null(strstr(err.message, "missing or not in sync"));
}

static void test_raid10_missing(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL;
	uint8_t buffer[16];

	(void)state;
	fill();
	/* near 2 on 4: chunk q of row r on slots 2(q%2) and the next. */
	for (unsigned q = 0; q < 2 * ROWS; q++)
		for (unsigned copy = 0; copy < 2; copy++)
			memcpy(disks[q % 2 * 2 + copy] + OFFSET + q / 2 * CHUNK, content + q * CHUNK, CHUNK);
	members[0].dev = members[3].dev = NULL;
	dev = open_array(RAID_10, 0x102, 4);
	expect_all(dev);
	dev_close(dev);
	members[2].dev = NULL;
	dev = open_array(RAID_10, 0x102, 4);
	assert_int_equal(dev_read(dev, 0, buffer, 16, &err), 0);
	assert_int_equal(dev_read(dev, CHUNK, buffer, 16, &err), -EIO);
}

/* A member that fails to read is made up for, and that is told; two at one place are too much, elsewhere they are not. */
static void test_read_error_below(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL, *bad_too = NULL;
	struct map_md_events events;
	uint8_t buffers[3][CHUNK];
	struct dev_request q[3];

	(void)state;
	fill_parity(4, false);
	assert_int_equal(dev_open_fault(devs[1], OFFSET, 2 * CHUNK, -EIO, &bad), 0);
	assert_int_equal(dev_open_fault(devs[2], OFFSET + CHUNK / 2, CHUNK, -EIO, &bad_too), 0);
	members[1].dev = bad;
	dev = open_array(RAID_5, 2, 4);
	for (unsigned i = 0; i < 3; i++)
		q[i] = (struct dev_request){
			.dev = dev, .op = DEV_READ, .offset_bytes = i * CHUNK, .length_bytes = CHUNK, .buffer = buffers[i]
		};
	assert_int_equal(dev_run(q, 3, &err), 0);
	assert_memory_equal(buffers, content, sizeof(buffers));
	map_md_events(dev, &events);
	assert_int_equal(events.read_errors, 1);
	assert_int_equal(events.computed_bytes, CHUNK);
	assert_int_equal(events.rewritten_bytes, 0);
	dev_close(dev);
	members[2].dev = bad_too;
	dev = open_array(RAID_5, 2, 4);
	for (unsigned i = 0; i < 3; i++)
		q[i].dev = dev;
	assert_int_equal(dev_run(q, 3, &err), -EIO);
	assert_int_equal(q[0].result, 0);
	assert_int_equal(q[1].result, -EIO);
	assert_int_equal(q[2].result, -EIO);
	assert_non_null(strstr(err.message, "could not be read there, and no other member"));
	/* Row 0 of members 1 and 2: only from half the chunk on both are bad; units of 4 KiB are what is tried. Row 3 of member 2 is good. */
	assert_int_equal(dev_read(dev, 9 * CHUNK, buffers, sizeof(buffers), &err), 0);
	assert_memory_equal(buffers, content + 9 * CHUNK, sizeof(buffers));
}

/* Bad at different rows of one long read: the whole of it is more than parity can replace, each part is not. */
static void test_errors_apart(void **state)
{
	const uint64_t lengths[4] = { 4 * CHUNK, 4 * CHUNK, 4 * CHUNK, 4 * CHUNK };
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL, *bad_too = NULL;
	struct raid_geometry g;
	uint8_t *blocks[4], buffer[3 * 4 * CHUNK];

	(void)state;
	fill();
	/* raid4 with a chunk of four units, one stripe. */
	for (unsigned i = 0; i < 4; i++)
		blocks[i] = disks[i] + OFFSET;
	memset(blocks[3], 0, 4 * CHUNK);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned at = 0; at < 4 * CHUNK; at++)
			blocks[3][at] ^= blocks[i][at] = content[i * 4 * CHUNK + at];
	assert_int_equal(dev_open_fault(devs[0], OFFSET + 100, 1, -EIO, &bad), 0);
	assert_int_equal(dev_open_fault(devs[1], OFFSET + 2 * CHUNK, CHUNK, -EIO, &bad_too), 0);
	members[0].dev = bad;
	members[1].dev = bad_too;
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_4, 0, 4 * CHUNK, 4, lengths }, NULL), 0);
	assert_int_equal(map_open_md("md0", &(struct map_md){ .geometry = &g, .members = members }, &dev), 0);
	assert_int_equal(dev_read(dev, 0, buffer, sizeof(buffer), &err), 0);
	assert_memory_equal(buffer, content, sizeof(buffer));
}

/* A member that is shorter than the superblock says. */
static void test_short_member(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL, *half = NULL;
	uint8_t b;

	(void)state;
	fill_mirror();
	assert_int_equal(dev_open_slice("half", devs[0], 0, OFFSET + 100, &half), 0);
	members[0].dev = half;
	dev = open_array(RAID_1, 0, 1);
	assert_int_equal(dev_read(dev, 99, &b, 1, &err), 0);
	assert_int_equal(dev_read(dev, 100, &b, 1, &err), -EIO);
	assert_non_null(strstr(err.message, "slot 0 (half) could not be read"));
	dev_close(dev);
	dev = open_array(RAID_1, 0, 2);
	assert_int_equal(dev_read(dev, 100, &b, 1, &err), 0);
	assert_int_equal(b, content[100]);
}

/* Where the array was not stopped cleanly nothing is computed, unless told to. */
static void test_doubtful(void **state)
{
	static const struct byte_range doubtful[] = { { CHUNK, CHUNK }, { 3 * CHUNK + 512, 512 } };
	const uint64_t lengths[4] = { ROWS * CHUNK, ROWS * CHUNK, ROWS * CHUNK, ROWS * CHUNK };

	(void)state;
	for (unsigned use = 0; use < 2; use++) {
		_cleanup_dev_ struct dev *dev = NULL;
		struct map_md md = { .members = members, .doubtful = doubtful, .doubtful_count = 2, .use_doubtful = use };
		struct raid_geometry g;
		uint8_t buffer[3 * CHUNK];

		fill_parity(4, false);
		members[0].dev = NULL;
		assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_5, 2, CHUNK, 4, lengths }, NULL), 0);
		md.geometry = &g;
		assert_int_equal(map_open_md("md0", &md, &dev), 0);
		if (use) {
			expect_all(dev);
			continue;
		}
		assert_int_equal(dev_read(dev, 0, buffer, 3 * CHUNK, &err), 0);
		/* Stripe 1: data 3 4 5 on slots 3 0 1. */
		assert_int_equal(dev_read(dev, 3 * CHUNK, buffer, CHUNK, &err), 0);
		assert_int_equal(dev_read(dev, 5 * CHUNK, buffer, CHUNK, &err), 0);
		assert_int_equal(dev_read(dev, 4 * CHUNK, buffer, 1, &err), -EIO);
		assert_non_null(strstr(err.message, "not stopped cleanly"));
		/* Stripe 3: P on slot 0. Stripe 7 likewise; stripe 2: data on 2 3 0. */
		assert_int_equal(dev_read(dev, 6 * CHUNK, buffer, 3 * CHUNK, &err), 0);
		assert_int_equal(map_md_set_trusted(dev, &(struct byte_range){ CHUNK, CHUNK }), 0);
		expect_all(dev);
	}
}

/* Each byte from as few members as hold it: a row of which one block is computed is read once. */
static void test_fewest_reads(void **state)
{
	struct map_md_events events;
	_cleanup_dev_ struct dev *dev = NULL;
	uint8_t buffer[6 * CHUNK];

	(void)state;
	fill_parity(4, false);
	members[0].dev = NULL;
	dev = open_array(RAID_5, 2, 4);
	assert_int_equal(dev_read(dev, 0, buffer, sizeof(buffer), &err), 0);
	map_md_events(dev, &events);
	assert_int_equal(events.computed_bytes, 2 * CHUNK);
	assert_int_equal(events.read_errors, 0);
}

static void test_raid0_unrecorded(void **state)
{
	const uint64_t lengths[3] = { 2 * CHUNK, 5 * CHUNK, 5 * CHUNK };
	_cleanup_dev_ struct dev *dev = NULL;
	struct raid_geometry g;
	uint8_t b;

	(void)state;
	fill();
	assert_int_equal(raid_geometry_init(&g, &(struct raid_shape){ RAID_0, 0, CHUNK, 3, lengths }, NULL), 0);
	assert_int_equal(map_open_md("md0", &(struct map_md){ .geometry = &g, .members = members }, &dev), 0);
	/* 6 chunks in the first zone, an even number: both layouts agree. */
	assert_int_equal(dev_read(dev, 11 * CHUNK, &b, 1, &err), 0);
	dev_close(dev);
	assert_int_equal(
		raid_geometry_init(&g, &(struct raid_shape){ RAID_0, 0, CHUNK, 3, (uint64_t[3]){ CHUNK, 5 * CHUNK, 5 * CHUNK } }, NULL), 0);
	assert_int_equal(map_open_md("md0", &(struct map_md){ .geometry = &g, .members = members }, &dev), 0);
	assert_int_equal(dev_read(dev, 2 * CHUNK, &b, 1, &err), 0);
	assert_int_equal(dev_read(dev, 3 * CHUNK, &b, 1, &err), -ENODATA);
	assert_non_null(strstr(err.message, "do not record"));
}

static int done(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++)
		dev_close(devs[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raid5),	     cmocka_unit_test(test_raid5_of_two),     cmocka_unit_test(test_raid5_two_lost),
		cmocka_unit_test(test_raid6),	     cmocka_unit_test(test_rebuilding),	      cmocka_unit_test(test_bad_ranges),
		cmocka_unit_test(test_raid1_choice), cmocka_unit_test(test_raid10_missing),   cmocka_unit_test(test_read_error_below),
		cmocka_unit_test(test_short_member), cmocka_unit_test(test_errors_apart),     cmocka_unit_test(test_doubtful),
		cmocka_unit_test(test_fewest_reads), cmocka_unit_test(test_raid0_unrecorded),
	};

	return cmocka_run_group_tests(tests, NULL, done);
}
