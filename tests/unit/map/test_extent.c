/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holes, asked for without reading: whatever is told to be zeros must read as zeros, and a large hole must be told. */
#include "scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include "map/map.h"

#define CHUNK	   (64 * KIB)
#define COMPONENT  (4 * MIB)
#define OFFSET	   MIB
#define FILE_BYTES (OFFSET + COMPONENT)

static char folder[64];
static struct dev *devs[4];

static void path_of(unsigned i, char ret[96]) { snprintf(ret, 96, "%s/m%u", folder, i); }

/* Sparse members: data in a few places of each, the first of them in the middle of a chunk. */
static int setup(void **state)
{
	uint8_t block[4096];

	(void)state;
	scratch_folder(folder);
	memset(block, 0x77, sizeof(block));
	for (unsigned i = 0; i < 4; i++) {
		char path[96];
		int fd;

		path_of(i, path);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, FILE_BYTES) < 0 || pwrite(fd, block, sizeof(block), 0) < 0 ||
		    pwrite(fd, block, sizeof(block), (off_t)(OFFSET + i * 512 * KIB + 8192)) < 0 ||
		    pwrite(fd, block, sizeof(block), (off_t)(OFFSET + 3 * MIB)) < 0)
			return -1;
		close(fd);
		if (dev_open_file(path, &devs[i], NULL) < 0)
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		char path[96];

		dev_close(devs[i]);
		path_of(i, path);
		unlink(path);
	}
	return rmdir(folder);
}

static uint64_t check_all(struct dev *dev)
{
	static uint8_t buffer[16 * MIB];
	uint64_t zeros = 0, length;

	for (uint64_t at = 0; at < dev->size_bytes; at += length) {
		bool zero;

		length = dev->size_bytes - at;
		assert_int_equal(dev_extent(dev, at, &length, &zero), 0);
		assert_true(length && length <= dev->size_bytes - at);
		if (!zero)
			continue;
		zeros += length;
		assert_true(length <= sizeof(buffer));
		assert_int_equal(dev_read(dev, at, buffer, length, NULL), 0);
		assert_int_equal(buffer[0], 0);
		assert_memory_equal(buffer, buffer + 1, length - 1);
	}
	return zeros;
}

static void test_file_and_slice(void **state)
{
	_cleanup_dev_ struct dev *slice = NULL, *cow = NULL;
	uint64_t length = FILE_BYTES;
	bool zero = false;

	(void)state;
	assert_true(check_all(devs[1]) >= FILE_BYTES - 3 * 64 * KIB);
	assert_int_equal(dev_open_slice("part", devs[1], 4096, FILE_BYTES - 4096, &slice), 0);
	assert_true(check_all(slice) >= FILE_BYTES - 3 * 64 * KIB);
	length = 4096;
	assert_int_equal(dev_extent(devs[1], 0, &length, &zero), 0);
	assert_false(zero);
	assert_int_equal(dev_open_cow(slice, &cow, NULL), 0);
	assert_true(check_all(cow) >= FILE_BYTES - 3 * 64 * KIB);
	assert_int_equal(dev_write(cow, 2 * MIB + 5, "x", 1, NULL), 0);
	length = 3 * MIB;
	assert_int_equal(dev_extent(cow, MIB + 700 * KIB, &length, &zero), 0);
	assert_true(zero);
	assert_int_equal(length, 324 * KIB);
	length = 2 * MIB;
	assert_int_equal(dev_extent(cow, 2 * MIB, &length, &zero), 0);
	assert_false(zero);
	check_all(cow);
}

/* A file that was cut meanwhile: nothing is promised. */
static void test_cut_file(void **state)
{
	_cleanup_dev_ struct dev *dev = NULL;
	uint64_t length = MIB;
	char path[96];
	bool zero = true;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/cut", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 * (off_t)MIB), 0);
	assert_int_equal(dev_open_file(path, &dev, NULL), 0);
	assert_int_equal(ftruncate(fd, MIB), 0);
	assert_int_equal(dev_extent(dev, MIB, &length, &zero), 0);
	assert_false(zero);
	length = MIB;
	assert_int_equal(dev_extent(dev, 0, &length, &zero), 0);
	assert_true(zero);
	close(fd);
	unlink(path);
}

static void test_md(void **state)
{
	static const struct {
		int32_t level;
		uint32_t layout;
	} kinds[] = {
		{ RAID_LINEAR, 0 }, { RAID_0, 1 }, { RAID_1, 0 }, { RAID_5, 2 }, { RAID_6, 2 }, { RAID_10, 0x102 }, { RAID_10, 0x201 }
	};
	const uint64_t lengths[4] = { COMPONENT, COMPONENT, COMPONENT, COMPONENT };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (unsigned missing = 0; missing < 2; missing++) {
			struct raid_shape shape = { kinds[i].level, kinds[i].layout, CHUNK, 4, lengths };
			struct map_md_member members[4];
			_cleanup_dev_ struct dev *dev = NULL;
			struct raid_geometry g;
			uint64_t zeros;

			for (unsigned k = 0; k < 4; k++)
				members[k] = (struct map_md_member){ devs[k], OFFSET, UINT64_MAX, false, NULL, 0 };
			if (missing && kinds[i].level < 1)
				continue;
			if (missing)
				members[1].dev = NULL;
			assert_int_equal(raid_geometry_init(&g, &shape, NULL), 0);
			assert_int_equal(map_open_md("md0", &(struct map_md){ .geometry = &g, .members = members }, &dev), 0);
			zeros = check_all(dev);
			/* Without the member its data must be computed: a quarter. */
			assert_true(zeros >=
				    dev->size_bytes - 8 * CHUNK - (missing && dev->size_bytes > COMPONENT ? dev->size_bytes / 3 : 0));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_and_slice),
		cmocka_unit_test(test_cut_file),
		cmocka_unit_test(test_md),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
