/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where results may go, and ranges that are known to be bad. */
#include "scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/dev.h"

#define SIZE (1 << 20)

struct folder {
	char path[64];
	char source[96];
	char output[96];
};

static void make_folder(struct folder *f)
{
	int fd;

	scratch_folder(f->path);
	snprintf(f->source, sizeof(f->source), "%s/source", f->path);
	snprintf(f->output, sizeof(f->output), "%s/output", f->path);
	fd = open(f->source, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	assert_int_equal(pwrite(fd, "source", 6, 0), 6);
	close(fd);
}

static void remove_folder(struct folder *f)
{
	unlink(f->source);
	unlink(f->output);
	assert_int_equal(rmdir(f->path), 0);
}

static void test_new_and_resumed(void **state)
{
	struct folder f;
	const char *source;
	struct dev *dev;
	struct stat st;
	struct blkalign_error err = { 0 };
	bool zeros = false;
	uint8_t got[4];

	(void)state;
	make_folder(&f);
	source = f.source;
	assert_int_equal(dev_open_output(f.output, SIZE, DEV_OUTPUT_RESUME, &source, 1, &dev, &zeros, &err), -ENOENT);
	assert_int_equal(dev_open_output(f.output, SIZE, DEV_OUTPUT_NEW, &source, 1, &dev, &zeros, &err), 0);
	assert_true(zeros);
	assert_int_equal(dev_write(dev, SIZE - 4, "last", 4, NULL), 0);
	assert_int_equal(dev_write(dev, SIZE - 3, "last", 4, NULL), -ERANGE);
	dev_close(dev);
	assert_int_equal(stat(f.output, &st), 0);
	assert_int_equal(st.st_size, SIZE);
	assert_true(st.st_blocks * 512 < SIZE / 2);
	assert_int_equal(dev_open_output(f.output, SIZE, DEV_OUTPUT_NEW, &source, 1, &dev, &zeros, &err), -EEXIST);
	assert_int_equal(dev_open_output(f.output, SIZE - 512, DEV_OUTPUT_RESUME, &source, 1, &dev, &zeros, &err), -EINVAL);
	assert_int_equal(dev_open_output(f.output, SIZE, DEV_OUTPUT_RESUME, &source, 1, &dev, &zeros, &err), 0);
	assert_false(zeros);
	assert_int_equal(dev_read(dev, SIZE - 4, got, 4, NULL), 0);
	assert_memory_equal(got, "last", 4);
	assert_int_equal(dev_write_zeros(dev, SIZE - 3, 2, NULL), 0);
	assert_int_equal(dev_read(dev, SIZE - 4, got, 4, NULL), 0);
	assert_memory_equal(got, "l\0\0t", 4);
	dev_close(dev);
	assert_int_equal(dev_open_output(f.output, 512, DEV_OUTPUT_OVERWRITE, &source, 1, &dev, &zeros, &err), 0);
	assert_true(zeros);
	assert_int_equal(dev_read(dev, 0, got, 4, NULL), 0);
	assert_memory_equal(got, "\0\0\0", 4);
	dev_close(dev);
	assert_int_equal(stat(f.output, &st), 0);
	assert_int_equal(st.st_size, 512);
	remove_folder(&f);
}

static void test_never_the_source(void **state)
{
	static const enum dev_output ways[] = { DEV_OUTPUT_NEW, DEV_OUTPUT_OVERWRITE, DEV_OUTPUT_RESUME };
	struct folder f;
	const char *source;
	struct dev *dev;
	const char *other;
	struct blkalign_error err = { 0 };
	uint8_t got[6];
	char loop[32] = "", command[160];
	FILE *p;
	bool zeros;

	(void)state;
	make_folder(&f);
	source = f.source;
	assert_int_equal(link(f.source, f.output), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(dev_open_output(f.source, SIZE, ways[i], &source, 1, &dev, &zeros, &err), -EINVAL);
		assert_non_null(strstr(err.message, "what is read from"));
		assert_int_equal(dev_open_output(f.output, SIZE, ways[i], &source, 1, &dev, &zeros, &err), -EINVAL);
	}
	snprintf(command, sizeof(command), "losetup -f --show %s 2>/dev/null", f.source);
	p = popen(command, "r");
	if (p && fgets(loop, sizeof(loop), p) && pclose(p) == 0) {
		loop[strcspn(loop, "\n")] = '\0';
		assert_int_equal(dev_open_output(loop, SIZE, DEV_OUTPUT_OVERWRITE, &source, 1, &dev, &zeros, &err), -EINVAL);
		other = loop;
		assert_int_equal(dev_open_output(f.source, SIZE, DEV_OUTPUT_OVERWRITE, &other, 1, &dev, &zeros, &err), -EINVAL);
		assert_int_equal(dev_open_output(loop, SIZE, DEV_OUTPUT_OVERWRITE, &other, 1, &dev, &zeros, &err), -EINVAL);
		/* A disk that is nobody's source: as it is, and only when it is long enough. */
		assert_int_equal(dev_open_output(loop, SIZE, DEV_OUTPUT_NEW, NULL, 0, &dev, &zeros, &err), -EEXIST);
		assert_int_equal(dev_open_output(loop, SIZE + 512, DEV_OUTPUT_OVERWRITE, NULL, 0, &dev, &zeros, &err), -ENOSPC);
		assert_int_equal(dev_open_output(loop, SIZE / 2, DEV_OUTPUT_OVERWRITE, NULL, 0, &dev, &zeros, &err), 0);
		assert_false(zeros);
		assert_int_equal(dev->size_bytes, SIZE / 2);
		assert_int_equal(dev_read(dev, 0, got, 6, NULL), 0);
		assert_memory_equal(got, "source", 6);
		assert_int_equal(dev_write_zeros(dev, 0, 4096, NULL), 0);
		assert_int_equal(dev_flush(dev, NULL), 0);
		assert_int_equal(dev_read(dev, 0, got, 6, NULL), 0);
		assert_memory_equal(got, "\0\0\0\0\0", 6);
		dev_close(dev);
		snprintf(command, sizeof(command), "losetup -d %s", loop);
		assert_int_equal(system(command), 0);
	}
	remove_folder(&f);
}

static void test_too_large(void **state)
{
	struct folder f;
	const char *source;
	struct dev *dev;
	bool zeros;

	(void)state;
	make_folder(&f);
	source = f.source;
	assert_int_equal(dev_open_output(f.output, UINT64_MAX, DEV_OUTPUT_NEW, &source, 1, &dev, &zeros, NULL), -EFBIG);
	assert_int_equal(access(f.output, F_OK), -1);
	remove_folder(&f);
}

static void test_zeros_in_memory(void **state)
{
	static uint8_t data[200000];
	_cleanup_dev_ struct dev *mem = NULL;

	(void)state;
	memset(data, 1, sizeof(data));
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), true, &mem), 0);
	assert_int_equal(dev_write_zeros(mem, 1, sizeof(data) - 2, NULL), 0);
	assert_int_equal(data[0], 1);
	assert_int_equal(data[sizeof(data) - 1], 1);
	for (size_t i = 1; i < sizeof(data) - 1; i++)
		assert_int_equal(data[i], 0);
	assert_int_equal(dev_write_zeros(mem, 1, sizeof(data), NULL), -ERANGE);
}

static void test_bad_ranges(void **state)
{
	static const struct byte_range ranges[] = { { 100, 50 }, { 150, 1 }, { 4096, 512 }, { 60000, 10000 } };
	static const struct byte_range crossed[] = { { 100, 50 }, { 120, 1 } };
	static uint8_t data[65536], got[65536];
	_cleanup_dev_ struct dev *mem = NULL, *bad = NULL, *none = NULL;
	struct dev_request q[200];
	uint32_t seed = 3;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i / 7);
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), true, &mem), 0);
	assert_int_equal(dev_open_bad_ranges(mem, crossed, 2, &bad), -EINVAL);
	assert_int_equal(dev_open_bad_ranges(mem, NULL, 0, &none), 0);
	assert_int_equal(dev_read(none, 0, got, sizeof(got), NULL), 0);
	assert_int_equal(dev_open_bad_ranges(mem, ranges, ARRAY_SIZE(ranges), &bad), 0);
	for (unsigned round = 0; round < 50; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(q); i++) {
			seed = seed * 1664525U + 1013904223U;
			q[i] = (struct dev_request){
				.dev = bad, .op = DEV_READ, .offset_bytes = (seed >> 8) % (round % 2 ? 65536 : 300), .buffer = got
			};
			q[i].length_bytes = (seed >> 16) % 65536 % (65536 - q[i].offset_bytes + 1) % 80;
		}
		dev_run(q, ARRAY_SIZE(q), NULL);
		for (size_t i = 0; i < ARRAY_SIZE(q); i++) {
			bool touched = false;

			for (size_t k = 0; k < ARRAY_SIZE(ranges); k++)
				touched = touched || (q[i].offset_bytes < ranges[k].offset_bytes + ranges[k].length_bytes &&
						      ranges[k].offset_bytes < q[i].offset_bytes + q[i].length_bytes);
			assert_int_equal(q[i].result, touched ? -EIO : 0);
			assert_ptr_equal(q[i].dev, bad);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_and_resumed), cmocka_unit_test(test_never_the_source), cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_zeros_in_memory), cmocka_unit_test(test_bad_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
