/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dev/dev.h"

static void test_range_and_state(void **state)
{
	uint8_t data[64] = { 0 }, buffer[8];
	_cleanup_dev_ struct dev *dev = NULL;
	struct blkalign_error err = { 0 };
	struct dev_request write = { .op = DEV_WRITE, .length_bytes = 4, .buffer = buffer };

	(void)state;
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), false, &dev), 0);
	assert_int_equal(dev_read(dev, 60, buffer, 4, &err), 0);
	assert_int_equal(dev_read(dev, 60, buffer, 5, &err), -ERANGE);
	assert_int_equal(err.offset_bytes, 60);
	assert_string_equal(err.where, "mem");
	assert_int_equal(dev_read(dev, UINT64_MAX, buffer, 5, &err), -ERANGE);
	write.dev = dev;
	assert_int_equal(dev_run(&write, 1, &err), -EROFS);
}

static void test_slice_of_fault(void **state)
{
	uint8_t data[4096], buffer[16];
	_cleanup_dev_ struct dev *mem = NULL, *bad = NULL, *slice = NULL;
	struct dev_request q[3];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i / 16);
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), false, &mem), 0);
	assert_int_equal(dev_open_fault(mem, 1024, 512, -EIO, &bad), 0);
	assert_int_equal(dev_open_slice("slice", bad, 512, 2048, &slice), 0);
	assert_int_equal(dev_open_slice("slice", bad, 4000, 97, &(struct dev *){ NULL }), -ERANGE);
	for (unsigned i = 0; i < 3; i++)
		q[i] = (struct dev_request){
			.dev = slice, .op = DEV_READ, .offset_bytes = 496 * (uint64_t)i, .length_bytes = 16, .buffer = buffer
		};
	/* The requests at 496 and 992 of the slice reach bytes 1008 and 1504 below: the second touches [1024, 1536). */
	assert_int_equal(dev_run(q, 3, NULL), -EIO);
	assert_int_equal(q[0].result, 0);
	assert_int_equal(q[1].result, 0);
	assert_int_equal(q[2].result, -EIO);
	assert_ptr_equal(q[2].dev, slice);
	assert_int_equal(dev_read(slice, 0, buffer, 16, NULL), 0);
	assert_int_equal(buffer[0], 32);
}

static void test_file(void **state)
{
	char path[64], fifo[96];
	_cleanup_dev_ struct dev *dev = NULL;
	struct blkalign_error err = { 0 };
	struct dev_request q[100];
	uint32_t words[100];
	int fd = scratch_file(path);

	(void)state;
	assert_true(fd >= 0);
	for (uint32_t i = 0; i < 1024; i++)
		assert_int_equal(write(fd, &i, sizeof(i)), sizeof(i));
	assert_int_equal(dev_open_file(path, &dev, &err), 0);
	assert_int_equal(dev->size_bytes, 4096);
	for (unsigned i = 0; i < 100; i++)
		q[i] = (struct dev_request){
			.dev = dev, .op = DEV_READ, .offset_bytes = 4 * (uint64_t)(i * 7), .length_bytes = 4, .buffer = &words[i]
		};
	assert_int_equal(dev_run(q, 100, &err), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(words[i], i * 7);
	/* Cut behind our back: an error, not zeros. */
	assert_int_equal(ftruncate(fd, 2048), 0);
	assert_int_equal(dev_read(dev, 2044, words, 8, &err), -EIO);
	assert_int_equal(dev_run(q, 100, &err), -EIO);
	assert_int_equal(q[73].result, 0);
	assert_int_equal(q[74].result, -EIO);
	assert_int_equal(err.offset_bytes, 74 * 7 * 4);
	assert_int_equal(dev_read(dev, 3000, words, 4, &err), -EIO);
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(dev_open_file(fifo, &(struct dev *){ NULL }, &err), -ENOTSUP);
	assert_int_equal(dev_open_file("/nonexistent/x", &(struct dev *){ NULL }, &err), -ENOENT);
	assert_non_null(strstr(err.message, "No such file"));
	close(fd);
	unlink(fifo);
	unlink(path);
}

static void test_leaf_range(void **state)
{
	char path[64];
	uint8_t data[64] = { 0 };
	_cleanup_dev_ struct dev *file = NULL, *mem = NULL, *outer = NULL, *inner = NULL, *of_mem = NULL, *bad = NULL;
	int made = scratch_file(path), fd = -1;
	uint64_t offset = 0;

	(void)state;
	assert_int_equal(ftruncate(made, 1 << 20), 0);
	assert_int_equal(dev_open_file(path, &file, NULL), 0);
	assert_int_equal(dev_open_slice("outer", file, 65536, 131072, &outer), 0);
	assert_int_equal(dev_open_slice("inner", outer, 4096, 8192, &inner), 0);
	assert_true(dev_leaf_range(inner, &fd, &offset));
	assert_int_equal(fd, file->leaf_fd);
	assert_int_equal(offset, 65536 + 4096);
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), false, &mem), 0);
	assert_int_equal(dev_open_slice("of mem", mem, 0, 8, &of_mem), 0);
	assert_false(dev_leaf_range(of_mem, &fd, &offset));
	/* Reads through it fail on purpose: nobody may read past it. */
	assert_int_equal(dev_open_fault(file, 0, 1, -EIO, &bad), 0);
	assert_false(dev_leaf_range(bad, &fd, &offset));
	close(made);
	unlink(path);
}

static void test_hole(void **state)
{
	char path[64];
	uint8_t data[64] = { 0 };
	struct dev_hole hole = { .fd = -1 };
	_cleanup_dev_ struct dev *file = NULL, *before = NULL, *at = NULL, *after = NULL, *mem = NULL;
	int made = scratch_file(path);

	(void)state;
	assert_int_equal(ftruncate(made, 1 << 20), 0);
	assert_int_equal(pwrite(made, "x", 1, 512 << 10), 1);
	assert_int_equal(dev_open_file(path, &file, NULL), 0);
	assert_int_equal(dev_open_slice("before", file, 0, 512 << 10, &before), 0);
	assert_int_equal(dev_open_slice("at", file, 4096, (512 << 10) - 4096 + 1, &at), 0);
	assert_int_equal(dev_open_slice("after", file, 768 << 10, 256 << 10, &after), 0);
	assert_true(dev_is_hole(before, &hole));
	assert_int_equal(hole.begin_bytes, 0);
	assert_int_equal(hole.end_bytes, 512 << 10);
	assert_true(dev_is_hole(before, &hole));
	assert_false(dev_is_hole(at, &hole));
	assert_true(dev_is_hole(after, &hole));
	assert_false(dev_is_hole(file, &hole));
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), false, &mem), 0);
	assert_false(dev_is_hole(mem, &hole));
	close(made);
	unlink(path);
}

static void test_write_and_flush(void **state)
{
	uint8_t data[4096] = { 0 }, got[8];
	_cleanup_dev_ struct dev *mem = NULL, *slice = NULL, *nth = NULL;
	struct blkalign_error err = { 0 };

	(void)state;
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), true, &mem), 0);
	assert_int_equal(dev_open_slice("slice", mem, 1024, 1024, &slice), 0);
	assert_int_equal(dev_write(slice, 8, "12345678", 8, NULL), 0);
	assert_int_equal(dev_flush(slice, NULL), 0);
	assert_memory_equal(data + 1032, "12345678", 8);
	assert_int_equal(dev_write(slice, 1020, "12345678", 8, NULL), -ERANGE);
	assert_int_equal(dev_open_fault_nth(slice, DEV_WRITE, 2, false, -ENOSPC, &nth), 0);
	assert_int_equal(dev_write(nth, 0, "abcd", 4, NULL), 0);
	assert_int_equal(dev_write(nth, 0, "efgh", 4, &err), -ENOSPC);
	assert_non_null(strstr(err.message, "write of 4 bytes at byte 0 failed"));
	assert_int_equal(dev_read(nth, 0, got, 4, NULL), 0);
	assert_memory_equal(got, "abcd", 4);
	assert_int_equal(dev_write(nth, 0, "ijkl", 4, NULL), 0);
}

static void test_sticky_fault(void **state)
{
	uint8_t data[64] = { 0 };
	_cleanup_dev_ struct dev *mem = NULL, *nth = NULL;

	(void)state;
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), true, &mem), 0);
	assert_int_equal(dev_open_fault_nth(mem, DEV_READ, 2, true, -EIO, &nth), 0);
	assert_int_equal(dev_read(nth, 0, data, 4, NULL), 0);
	assert_int_equal(dev_write(nth, 0, "a", 1, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(dev_read(nth, 0, data, 4, NULL), -EIO);
}

/* The second flush would succeed, and be a lie. */
static void test_failed_flush_is_final(void **state)
{
	uint8_t data[64] = { 0 };
	_cleanup_dev_ struct dev *mem = NULL, *nth = NULL, *slice = NULL;
	struct blkalign_error err = { 0 };

	(void)state;
	assert_int_equal(dev_open_memory("mem", data, sizeof(data), true, &mem), 0);
	assert_int_equal(dev_open_fault_nth(mem, DEV_FLUSH, 1, false, -EIO, &nth), 0);
	nth->failed_flush_is_final = true; /* as of files, whose flushes do not fail on demand */
	assert_int_equal(dev_open_slice("slice", nth, 0, 32, &slice), 0);
	assert_int_equal(dev_write(nth, 0, "a", 1, NULL), 0);
	assert_int_equal(dev_flush(nth, NULL), -EIO);
	assert_int_equal(dev_flush(nth, &err), -EIO);
	assert_non_null(strstr(err.message, "an earlier flush"));
	assert_int_equal(dev_write(nth, 0, "b", 1, NULL), -EIO);
	assert_int_equal(dev_write(slice, 0, "b", 1, NULL), -EIO);
	assert_int_equal(data[0], 'a');
	assert_int_equal(dev_read(nth, 0, data, 4, NULL), 0);
}

/* As the kernel has it: of flushes of one open file that are under way together, the error is told to the first that ends. */
struct shared_error {
	struct dev dev;
	pthread_barrier_t both;
	atomic_bool told;
};

static void shared_error_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct shared_error *s = (struct shared_error *)dev;

	for (size_t i = 0; i < count; i++) {
		pthread_barrier_wait(&s->both);
		requests[i].result = atomic_exchange(&s->told, true) ? 0 : -EIO;
		if (requests[i].result)
			nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
}

static void *flush_it(void *dev) { return (void *)(intptr_t)dev_flush(dev, NULL); }

static void test_flushes_together(void **state)
{
	static const struct dev_ops ops = { .kind = "shared", .run = shared_error_run };
	struct shared_error *s = (struct shared_error *)dev_new(sizeof(*s), &ops, "shared", 4096, 1);
	pthread_t thread;
	void *other;

	(void)state;
	s->dev.writable = s->dev.failed_flush_is_final = true;
	pthread_barrier_init(&s->both, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, flush_it, &s->dev), 0);
	assert_int_equal(dev_flush(&s->dev, NULL), -EIO);
	pthread_join(thread, &other);
	assert_int_equal((intptr_t)other, -EIO);
	pthread_barrier_destroy(&s->both);
	dev_close(&s->dev);
}

/* Counts the batches that reach it. */
struct counter {
	struct dev dev;
	unsigned batches;
	size_t requests;
};

static void counter_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct counter *c = (struct counter *)dev;

	c->batches++;
	c->requests += count;
	for (size_t i = 0; i < count; i++) {
		requests[i].result = requests[i].offset_bytes == 0x300 ? -EIO : 0;
		if (requests[i].op == DEV_READ)
			memset(requests[i].buffer, (int)(requests[i].offset_bytes >> 8), requests[i].length_bytes);
	}
}

static const struct dev_ops counter_ops = { .kind = "counter", .run = counter_run };

/* Parts of one device, and parts of those, in one batch: it gets them together, and they come back as they were. */
static void test_parts_in_one_batch(void **state)
{
	_cleanup_dev_ struct dev *below = dev_new(sizeof(struct counter), &counter_ops, "below", 0x1000, 1);
	_cleanup_dev_ struct dev *a = NULL, *b = NULL, *c = NULL;
	struct counter *counter = (struct counter *)below;
	struct blkalign_error err = { 0 };
	uint8_t bytes[5];
	struct dev_request q[5];

	(void)state;
	assert_non_null(below);
	assert_int_equal(dev_open_slice("a", below, 0x100, 0x400, &a), 0);
	assert_int_equal(dev_open_slice("b", below, 0x600, 0x400, &b), 0);
	assert_int_equal(dev_open_slice("c", b, 0x100, 0x100, &c), 0);
	for (unsigned i = 0; i < 5; i++)
		q[i] = (struct dev_request){ .dev = i % 2    ? a
						    : i == 4 ? c
							     : b,
					     .op = DEV_READ,
					     .offset_bytes = i == 3 ? 0x200 : 0,
					     .length_bytes = 1,
					     .buffer = &bytes[i] };
	assert_int_equal(dev_run(q, 5, &err), -EIO);
	assert_int_equal(counter->batches, 1);
	assert_int_equal(counter->requests, 5);
	assert_memory_equal(bytes, "\x06\x01\x06\x03\x07", 5);
	assert_string_equal(err.where, "a");
	assert_int_equal(err.offset_bytes, 0x200);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(q[i].result, i == 3 ? -EIO : 0);
		assert_ptr_equal(q[i].dev, i % 2 ? a : i == 4 ? c : b);
		assert_int_equal(q[i].offset_bytes, i == 3 ? 0x200 : 0);
	}
	q[2].offset_bytes = 0x400;
	assert_int_equal(dev_run(q + 2, 1, NULL), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range_and_state),
		cmocka_unit_test(test_slice_of_fault),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_leaf_range),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_write_and_flush),
		cmocka_unit_test(test_sticky_fault),
		cmocka_unit_test(test_failed_flush_is_final),
		cmocka_unit_test(test_flushes_together),
		cmocka_unit_test(test_parts_in_one_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
