/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit.h"

#include <sys/sysmacros.h>

#include "dev/dev_priv.h"

static struct same_identity file(dev_t device, ino_t inode)
{
	return (struct same_identity){ .known = true, .device = device, .disk = device, .inode = inode };
}

static struct same_identity disk(dev_t device, dev_t around)
{
	return (struct same_identity){ .known = true, .block = true, .device = device, .disk = around };
}

static void test_what_stands_for_what(void **state)
{
	const dev_t sda = makedev(8, 0), sda1 = makedev(8, 1), sda2 = makedev(8, 2), sdb1 = makedev(8, 17), sdb = makedev(8, 16);
	const struct same_identity
		all
			[] = {
				file(1, 10),	 file(1, 11),	  file(1, 10),	   file(2, 10),	   { 0 },
				{ 0 },		 disk(sda1, sda), disk(sda2, sda), disk(sda, sda), disk(sda, sda),
				disk(sdb1, sdb), disk(sdb1, sdb), file(sda, 0), /* the number of a disk, but of a file system */
			};
	/* Partitions are read with their disk, also when that comes later; those of a disk that is not given are members of their own. */
	static const size_t wanted[] = { 0, 1, 0, 3, 4, 5, 8, 8, 8, 8, 10, 10, 12 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		assert_int_equal(same_stands_for(all, ARRAY_SIZE(all), i), wanted[i]);
}

static void test_paths(void **state)
{
	static const char *const paths[] = { "/dev/null", "/", "/dev/../dev/null", "/no such file", "/no such file" };
	struct dev_repeated *repeated;

	(void)state;
	assert_int_equal(dev_find_repeated(paths, ARRAY_SIZE(paths), &repeated), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(repeated[i].by, i == 2 ? 0 : i);
		assert_false(repeated[i].partition);
	}
	free(repeated);
	assert_true(dev_same_file("/dev/null", "/dev/../dev/null"));
	assert_true(dev_same_file("/no such file", "/no such file"));
	assert_false(dev_same_file("/no such file", "/no such file either"));
	assert_false(dev_same_file("/dev/null", "/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_stands_for_what),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
