/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dev/dev.h"

#define SIZE (UINT64_C(3) * 65536 + 700)

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525U + 1013904223U;
	return *seed >> 8;
}

static void fill(uint8_t *data, size_t length, uint32_t seed)
{
	for (size_t i = 0; i < length; i++)
		data[i] = (uint8_t)next_random(&seed);
}

/* Against a plain copy in memory: ranges of every alignment, read back after each write. */
static void test_model(void **state)
{
	static uint8_t base[SIZE], kept[SIZE], model[SIZE], got[SIZE], data[20000];
	_cleanup_dev_ struct dev *below = NULL, *cow = NULL;
	uint32_t seed = 7;

	(void)state;
	fill(base, SIZE, 1);
	memcpy(kept, base, SIZE);
	memcpy(model, base, SIZE);
	assert_int_equal(dev_open_memory("below", base, SIZE, false, &below), 0);
	assert_int_equal(dev_open_cow(below, &cow, NULL), 0);
	for (unsigned i = 0; i < 300; i++) {
		size_t length = next_random(&seed) % sizeof(data);
		uint64_t offset = next_random(&seed) % (SIZE - length + 1);

		fill(data, length, i);
		memcpy(model + offset, data, length);
		assert_int_equal(dev_write(cow, offset, data, length, NULL), 0);
		if (i % 20 == 0) {
			assert_int_equal(dev_flush(cow, NULL), 0);
			assert_int_equal(dev_read(cow, 0, got, SIZE, NULL), 0);
			assert_memory_equal(got, model, SIZE);
		}
		length = next_random(&seed) % sizeof(data);
		offset = next_random(&seed) % (SIZE - length + 1);
		assert_int_equal(dev_read(cow, offset, got, length, NULL), 0);
		assert_memory_equal(got, model + offset, length);
	}
	assert_memory_equal(base, kept, SIZE);
	assert_int_equal(dev_write(cow, SIZE - 1, data, 2, NULL), -ERANGE);
}

/* What is unreadable below can be overwritten whole, and not in part. */
static void test_bad_below(void **state)
{
	static uint8_t base[65536];
	uint8_t data[4096] = { 1 };
	_cleanup_dev_ struct dev *below = NULL, *bad = NULL, *cow = NULL;
	struct dev_request q[3];

	(void)state;
	assert_int_equal(dev_open_memory("below", base, sizeof(base), false, &below), 0);
	assert_int_equal(dev_open_fault(below, 8192, 4096, -EIO, &bad), 0);
	assert_int_equal(dev_open_cow(bad, &cow, NULL), 0);
	assert_int_equal(dev_write(cow, 8192, data, 512, NULL), -EIO);
	for (unsigned i = 0; i < 3; i++)
		q[i] = (struct dev_request){
			.dev = cow, .op = DEV_READ, .offset_bytes = 4096 * (uint64_t)(i + 1), .length_bytes = 4096, .buffer = data
		};
	assert_int_equal(dev_run(q, 3, NULL), -EIO);
	assert_int_equal(q[0].result, 0);
	assert_int_equal(q[1].result, -EIO);
	assert_int_equal(q[2].result, 0);
	assert_int_equal(dev_write(cow, 8192, data, 4096, NULL), 0);
	assert_int_equal(dev_run(q, 3, NULL), 0);
}

static void test_sparse_and_huge(void **state)
{
	char path[64];
	uint64_t size = UINT64_C(8) << 40;
	_cleanup_dev_ struct dev *below = NULL, *cow = NULL;
	uint8_t data[3] = { 1, 2, 3 }, got[3];
	int fd = scratch_file(path);

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(dev_open_file(path, &below, NULL), 0);
	assert_int_equal(dev_open_cow(below, &cow, NULL), 0);
	/* Across the border between two pages of bitmap. */
	assert_int_equal(dev_write(cow, (UINT64_C(5) << 30) - 1, data, 3, NULL), 0);
	assert_int_equal(dev_read(cow, (UINT64_C(5) << 30) - 1, got, 3, NULL), 0);
	assert_memory_equal(got, data, 3);
	assert_int_equal(dev_write(cow, size - 1, data, 1, NULL), 0);
	assert_int_equal(dev_read(cow, size - 1, got, 1, NULL), 0);
	assert_int_equal(got[0], 1);
	assert_int_equal(dev_read(below, size - 1, got, 1, NULL), 0);
	assert_int_equal(got[0], 0);
	close(fd);
	unlink(path);
}

struct hammer {
	struct dev *dev;
	unsigned number;
	bool ok;
};

#define THREADS	   8U
#define SHARE	   37U /* bytes of each thread in turn: all share every granule */
#define HAMMER_MAX (THREADS * SHARE * 400)

static void *hammer(void *p)
{
	struct hammer *h = p;
	uint8_t mine[SHARE], got[SHARE];
	uint32_t seed = h->number;

	h->ok = true;
	for (unsigned i = 0; i < 1500; i++) {
		uint64_t at = (uint64_t)(next_random(&seed) % (HAMMER_MAX / (THREADS * SHARE))) * THREADS * SHARE + h->number * SHARE;

		memset(mine, (int)(h->number + 1 + i), SHARE);
		h->ok = h->ok && dev_write(h->dev, at, mine, SHARE, NULL) == 0 && dev_read(h->dev, at, got, SHARE, NULL) == 0 &&
			!memcmp(mine, got, SHARE);
	}
	return NULL;
}

static void test_threads(void **state)
{
	static uint8_t base[HAMMER_MAX];
	_cleanup_dev_ struct dev *below = NULL, *cow = NULL;
	struct hammer hammers[THREADS];
	pthread_t threads[THREADS];

	(void)state;
	assert_int_equal(dev_open_memory("below", base, sizeof(base), false, &below), 0);
	assert_int_equal(dev_open_cow(below, &cow, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		hammers[i] = (struct hammer){ .dev = cow, .number = i };
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, &hammers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_true(hammers[i].ok);
	}
}

/* The overlay's folder is full: the write fails, what was there stays readable. */
static void test_no_space(void **state)
{
	char folder[64];
	static uint8_t base[1 << 20], data[1 << 20], got[4096];
	_cleanup_dev_ struct dev *below = NULL;
	struct dev *cow = NULL;
	struct blkalign_error err = { 0 };

	(void)state;
	scratch_folder(folder);
	if (mount("tmpfs", folder, "tmpfs", 0, "size=256k") < 0) {
		rmdir(folder);
		skip();
	}
	memset(data, 5, sizeof(data));
	setenv("TMPDIR", folder, 1);
	assert_int_equal(dev_open_memory("below", base, sizeof(base), false, &below), 0);
	assert_int_equal(dev_open_cow(below, &cow, NULL), 0);
	unsetenv("TMPDIR");
	assert_int_equal(dev_write(cow, 0, data, 4096, NULL), 0);
	assert_int_equal(dev_write(cow, 8192, data, sizeof(data) - 8192, &err), -ENOSPC);
	assert_non_null(strstr(err.message, "folder of temporary files"));
	assert_int_equal(dev_read(cow, 0, got, 4096, NULL), 0);
	assert_memory_equal(got, data, 4096);
	assert_int_equal(dev_read(cow, 4096, got, 4096, NULL), 0);
	assert_int_equal(got[0], 0);
	dev_close(cow);
	assert_int_equal(umount(folder), 0);
	rmdir(folder);
}

static void test_no_folder(void **state)
{
	static uint8_t base[4096];
	_cleanup_dev_ struct dev *below = NULL;
	struct dev *cow = NULL;
	struct blkalign_error err = { 0 };

	(void)state;
	assert_int_equal(dev_open_memory("below", base, sizeof(base), false, &below), 0);
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(dev_open_cow(below, &cow, &err), -ENOENT);
	unsetenv("TMPDIR");
	assert_non_null(strstr(err.message, "TMPDIR"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),	cmocka_unit_test(test_bad_below), cmocka_unit_test(test_sparse_and_huge),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_no_space),  cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
