/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bitmap superblocks that a kernel wrote. */
#include "unit.h"

#include "format/mdbitmap/mdbitmap.h"

static uint8_t data[MDBITMAP_BYTES];
static struct mdbitmap bitmap;
static struct blkalign_error err;

static void load(const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/mdbitmap/%s", getenv("BLKALIGN_TESTS"), name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(data, 1, sizeof(data), f), sizeof(data));
	fclose(f);
}

static int with(size_t at, unsigned width, uint64_t value)
{
	load("raid1-v12");
	for (unsigned i = 0; i < width; i++)
		data[at + i] = (uint8_t)(value >> 8 * i);
	return mdbitmap_decode(data, sizeof(data), &bitmap, &err);
}

/* mdadm --create --bitmap-chunk=64K on a component of 7168 KiB, events 17. */
static void test_fields(void **state)
{
	static const uint8_t uuid[4] = { 0xf7, 0x43, 0x07, 0xd7 };

	(void)state;
	load("raid1-v12");
	assert_int_equal(mdbitmap_decode(data, sizeof(data), &bitmap, &err), 0);
	assert_int_equal(bitmap.version, MDBITMAP_NORMAL);
	assert_memory_equal(bitmap.array_uuid, uuid, 4);
	assert_int_equal(bitmap.chunk_bytes, 64 * KIB);
	assert_int_equal(bitmap.sync_bytes, 7168 * KIB);
	assert_int_equal(bitmap.chunks, 112);
	assert_int_equal(bitmap.events, 17);
	assert_int_equal(bitmap.events_cleared, 8);
	assert_int_equal(bitmap.daemon_sleep_seconds, 5);
	load("raid1-v090");
	assert_int_equal(mdbitmap_decode(data, sizeof(data), &bitmap, &err), 0);
	assert_int_equal(bitmap.sync_bytes, 8128 * KIB);
	assert_int_equal(bitmap.chunks, 127);
	load("lockless");
	assert_int_equal(mdbitmap_decode(data, sizeof(data), &bitmap, &err), 0);
	assert_int_equal(bitmap.version, MDBITMAP_LOCKLESS);
}

static void test_hostile(void **state)
{
	(void)state;
	assert_int_equal(with(4, 4, 3), 0);
	assert_int_equal(with(4, 4, 5), 0);
	assert_int_equal(with(4, 4, 2), -EBADMSG);
	assert_int_equal(with(4, 4, 7), -EBADMSG);
	assert_int_equal(with(4, 4, UINT32_MAX), -EBADMSG);
	assert_int_equal(with(52, 4, 0), -EBADMSG);
	assert_int_equal(with(52, 4, 256), -EBADMSG);
	assert_int_equal(with(52, 4, 65537), -EBADMSG);
	assert_int_equal(with(52, 4, 0x80000000), 0);
	assert_int_equal(with(40, 8, UINT64_MAX), -EBADMSG);
	/* Just as many bits as are read, and one more. */
	assert_int_equal(with(40, 8, MDBITMAP_BITS_MAX * 128), 0);
	assert_int_equal(with(40, 8, MDBITMAP_BITS_MAX * 128 + 1), -EBADMSG);
	assert_int_equal(with(0, 4, 0), BLKALIGN_NOT_THIS);
	load("raid1-v12");
	assert_int_equal(mdbitmap_decode(data, 255, &bitmap, &err), BLKALIGN_NOT_THIS);
	memset(data + 72, 'x', 64);
	assert_int_equal(mdbitmap_decode(data, sizeof(data), &bitmap, &err), 0);
	assert_int_equal(strlen(bitmap.cluster_name), 64);
}

static void test_read(void **state)
{
	uint8_t disk[1024] = { 0 };
	_cleanup_dev_ struct dev *dev = NULL;

	(void)state;
	load("raid1-v12");
	memcpy(disk + 512, data, sizeof(data));
	assert_int_equal(dev_open_memory("disk", disk, sizeof(disk), false, &dev), 0);
	assert_int_equal(mdbitmap_read(dev, 512, &bitmap, &err), 0);
	assert_int_equal(mdbitmap_read(dev, 0, &bitmap, &err), BLKALIGN_NOT_THIS);
	assert_int_equal(mdbitmap_read(dev, 900, &bitmap, &err), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
