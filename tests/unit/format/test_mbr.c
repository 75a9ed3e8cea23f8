/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables written by sfdisk and fdisk; the numbers are those that `fdisk -l` prints (golden/parts/NAME.txt). */
#include "image.h"

#include "format/mbr/mbr.h"

struct row {
	uint32_t number;
	uint64_t start, count;
	uint8_t type;
};

static void expect(const struct mbr_table *t, const struct row *rows, size_t count)
{
	assert_int_equal(t->partitions.count, count);
	for (size_t i = 0; i < count; i++) {
		const struct mbr_partition *p = &t->partitions.data[i];

		assert_int_equal(p->number, rows[i].number);
		assert_int_equal(p->type, rows[i].type);
		assert_int_equal(p->start_bytes, rows[i].start * t->unit_bytes);
		assert_int_equal(p->length_bytes, rows[i].count * t->unit_bytes);
	}
}

static void read_image(struct image *image, uint32_t unit, struct mbr_table *ret)
{
	_cleanup_dev_ struct dev *dev = image_open(image);

	assert_int_equal(mbr_read(dev, unit, ret, NULL), 0);
}

static void test_logical(void **state)
{
	static const struct row rows[] = {
		{ 1, 2048, 16384, 0x83 },  { 2, 18432, 8192, 0x82 },  { 3, 26624, 102400, 0x05 },
		{ 5, 28672, 20480, 0x83 }, { 6, 51200, 20480, 0x8e }, { 7, 73728, 20480, 0xfd },
	};
	_cleanup_image_ struct image image;
	_cleanup_mbr_table_ struct mbr_table t;

	(void)state;
	image_golden(&image, "mbr-logical");
	read_image(&image, 512, &t);
	expect(&t, rows, ARRAY_SIZE(rows));
	assert_int_equal(t.disk_id, 0x1badf00d);
	assert_int_equal(t.chain, MBR_CHAIN_OK);
	assert_int_equal(t.chain_stop_bytes, BLKALIGN_UNKNOWN);
	assert_true(t.partitions.data[0].active);
	assert_true(t.partitions.data[2].extended);
	assert_false(t.protective);
}

static void test_chain_that_runs_backwards(void **state)
{
	static const struct row rows[] = {
		{ 1, 2048, 126976, 0x0f }, { 5, 4096, 16384, 0x83 }, { 6, 61440, 16384, 0x83 }, { 7, 30720, 16385, 0x83 }
	};
	_cleanup_image_ struct image image;
	_cleanup_mbr_table_ struct mbr_table t;

	(void)state;
	image_golden(&image, "mbr-backward");
	read_image(&image, 512, &t);
	expect(&t, rows, ARRAY_SIZE(rows));
	assert_int_equal(t.chain, MBR_CHAIN_OK);
}

static void test_units(void **state)
{
	static const struct row rows[] = { { 1, 16, 15646704, 0x0c } };
	_cleanup_image_ struct image image;
	_cleanup_mbr_table_ struct mbr_table t;

	(void)state;
	image_golden(&image, "mbr-2048");
	read_image(&image, 2048, &t);
	expect(&t, rows, ARRAY_SIZE(rows));
}

static void test_boot_sectors_are_no_table(void **state)
{
	static const char *const images[] = { "boot-fat", "boot-ntfs" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		_cleanup_image_ struct image image;
		uint8_t sector[512];
		struct mbr_sector s;

		image_golden(&image, images[i]);
		image_get(&image, 0, sector, sizeof(sector));
		assert_true(mbr_is_boot_sector(sector, sizeof(sector)));
		assert_false(mbr_is_boot_sector(sector, sizeof(sector) - 1));
		assert_int_equal(mbr_decode(sector, sizeof(sector), &s), BLKALIGN_NOT_THIS);
	}
}

static void test_boot_sectors_by_name(void **state)
{
	static const char *const oem_ids[] = { "EXFAT   ", "-FVE-FS-" };
	uint8_t sector[512] = { 0xeb, 0x76, 0x90 };

	(void)state;
	sector[510] = 0x55;
	sector[511] = 0xaa;
	assert_false(mbr_is_boot_sector(sector, sizeof(sector)));
	for (size_t i = 0; i < ARRAY_SIZE(oem_ids); i++) {
		memcpy(sector + 3, oem_ids[i], 8);
		assert_true(mbr_is_boot_sector(sector, sizeof(sector)));
	}
}

static void test_boot_code_is_no_table(void **state)
{
	uint8_t sector[512] = { 0 };
	struct mbr_sector s;

	(void)state;
	assert_int_equal(mbr_decode(sector, sizeof(sector), &s), BLKALIGN_NOT_THIS); /* no signature */
	sector[510] = 0x55;
	sector[511] = 0xaa;
	assert_int_equal(mbr_decode(sector, sizeof(sector), &s), 0);
	assert_int_equal(s.count, 0);
	sector[446 + 16] = 0x7f; /* a boot indicator that is none */
	assert_int_equal(mbr_decode(sector, sizeof(sector), &s), BLKALIGN_NOT_THIS);
	assert_int_equal(mbr_decode(sector, 511, &s), BLKALIGN_NOT_THIS);
}

/* An extended container at sector 64 of 1000 whose record at `at` links to `to` (relative to the container). */
static void put_record(struct image *image, uint32_t at, uint32_t to)
{
	uint8_t sector[512] = { 0 }, *link = sector + 446 + 16;

	sector[446 + 4] = 0x83;
	sector[446 + 8] = 1;
	sector[446 + 12] = 1;
	link[4] = 0x05;
	for (unsigned i = 0; i < 4; i++)
		link[8 + i] = (uint8_t)(to >> 8 * i);
	link[12] = 2;
	sector[510] = 0x55;
	sector[511] = 0xaa;
	image_put(image, (uint64_t)at * 512, sector, sizeof(sector));
}

static void container(struct image *image, uint64_t size_bytes)
{
	uint8_t sector[512] = { 0 };

	image_new(image, "chain", size_bytes);
	sector[446 + 4] = 0x0f;
	sector[446 + 8] = 64;
	sector[446 + 13] = 0xff;
	sector[510] = 0x55;
	sector[511] = 0xaa;
	image_put(image, 0, sector, sizeof(sector));
}

static void expect_chain(struct image *image, enum mbr_chain_state chain, uint64_t stop_bytes, size_t partitions)
{
	_cleanup_mbr_table_ struct mbr_table t;

	read_image(image, 512, &t);
	assert_int_equal(t.chain, chain);
	assert_int_equal(t.chain_stop_bytes, stop_bytes);
	assert_int_equal(t.partitions.count, partitions);
}

static void test_loops(void **state)
{
	_cleanup_image_ struct image image;

	(void)state;
	container(&image, 1 << 20);
	put_record(&image, 64, 0); /* to itself */
	expect_chain(&image, MBR_CHAIN_LOOP, 64 * 512, 2);
	put_record(&image, 64, 10); /* a ring of two */
	put_record(&image, 74, 0);
	expect_chain(&image, MBR_CHAIN_LOOP, 64 * 512, 3);
}

static void test_broken_chain(void **state)
{
	_cleanup_image_ struct image image;

	(void)state;
	container(&image, 1 << 20);
	expect_chain(&image, MBR_CHAIN_DAMAGED, 64 * 512, 1);
	put_record(&image, 64, 0xffffffff); /* start and link pass 2^32 */
	expect_chain(&image, MBR_CHAIN_OUTSIDE, (UINT64_C(0xffffffff) + 64) * 512, 2);
}

static void test_longest_chain(void **state)
{
	_cleanup_image_ struct image image;

	(void)state;
	container(&image, 8 << 20);
	for (uint32_t i = 0; i < MBR_CHAIN_MAX; i++)
		put_record(&image, 64 + i * 2, (i + 1) * 2);
	expect_chain(&image, MBR_CHAIN_TOO_LONG, (64 + MBR_CHAIN_MAX * 2) * 512, 1 + MBR_CHAIN_MAX);
	put_record(&image, 64 + (MBR_CHAIN_MAX - 1) * 2, 0); /* the last allowed one is still followed */
	expect_chain(&image, MBR_CHAIN_LOOP, 64 * 512, 1 + MBR_CHAIN_MAX);
}

static void test_wrap_of_32_bits(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_mbr_table_ struct mbr_table t;
	uint8_t sector[512] = { 0 };

	(void)state;
	image_new(&image, "wrap", 1 << 20);
	sector[446 + 4] = 0x83;
	memset(sector + 446 + 8, 0xff, 8);
	sector[510] = 0x55;
	sector[511] = 0xaa;
	image_put(&image, 0, sector, sizeof(sector));
	read_image(&image, 4096, &t);
	assert_int_equal(t.partitions.data[0].start_bytes, UINT64_C(0xffffffff) * 4096);
	assert_int_equal(t.partitions.data[0].length_bytes, UINT64_C(0xffffffff) * 4096);
}

static void test_read_errors(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_mbr_table_ struct mbr_table t = { 0 };
	_cleanup_dev_ struct dev *dev = NULL, *bad = NULL, *bad_record = NULL;
	struct blkalign_error error = { 0 };

	(void)state;
	image_golden(&image, "mbr-logical");
	dev = image_open(&image);
	assert_int_equal(dev_open_fault(dev, 0, 512, -EIO, &bad), 0);
	assert_int_equal(mbr_read(bad, 512, &t, &error), -EIO);
	assert_int_equal(error.offset_bytes, 0);
	assert_int_equal(dev_open_fault(dev, 49152 * 512, 512, -EIO, &bad_record), 0); /* the record of partition 6 */
	assert_int_equal(mbr_read(bad_record, 512, &t, &error), 0);
	assert_int_equal(t.chain, MBR_CHAIN_UNREADABLE);
	assert_int_equal(t.chain_stop_bytes, 49152 * 512);
	assert_int_equal(t.partitions.count, 4);
}

static void test_tiny_devices(void **state)
{
	static const size_t sizes[] = { 0, 1, 511 };
	uint8_t bytes[512] = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_dev_ struct dev *dev = NULL;
		struct mbr_table t;

		assert_int_equal(dev_open_memory("tiny", bytes, sizes[i], false, &dev), 0);
		assert_int_equal(mbr_read(dev, 512, &t, NULL), BLKALIGN_NOT_THIS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logical),
		cmocka_unit_test(test_chain_that_runs_backwards),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_boot_sectors_are_no_table),
		cmocka_unit_test(test_boot_sectors_by_name),
		cmocka_unit_test(test_boot_code_is_no_table),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_broken_chain),
		cmocka_unit_test(test_longest_chain),
		cmocka_unit_test(test_wrap_of_32_bits),
		cmocka_unit_test(test_read_errors),
		cmocka_unit_test(test_tiny_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
