/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches on files: more requests than a ring holds, many threads, after a fork, and with a ring that breaks or is refused. */
#include "scratch.h"

#include <liburing.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev/dev.h"

#define WORDS 65536U

static unsigned broken_waits, refusals, rings;

int __real_io_uring_submit_and_wait(struct io_uring *ring, unsigned wait_nr);
int __wrap_io_uring_submit_and_wait(struct io_uring *ring, unsigned wait_nr);
int __real_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);

/* Broken before the kernel takes the requests, or after it. */
int __wrap_io_uring_submit_and_wait(struct io_uring *ring, unsigned wait_nr)
{
	if (!broken_waits)
		return __real_io_uring_submit_and_wait(ring, wait_nr);
	if (broken_waits-- == 1)
		io_uring_submit(ring);
	return -EBADR;
}

int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
	if (refusals)
		return -EPERM;
	__atomic_add_fetch(&rings, 1, __ATOMIC_SEQ_CST);
	return __real_io_uring_queue_init(entries, ring, flags);
}

static struct dev *words_open(void)
{
	char path[64];
	static uint32_t words[WORDS];
	struct dev *dev = NULL;
	int fd = scratch_file(path);

	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = i * 2654435761U;
	assert_int_equal(write(fd, words, sizeof(words)), sizeof(words));
	close(fd);
	assert_int_equal(dev_open_file(path, &dev, NULL), 0);
	dev->leaf_in_memory = false; /* whatever /tmp is: the ring is tested here */
	unlink(path);
	return dev;
}

static bool read_words(struct dev *dev, unsigned count, unsigned stride)
{
	struct dev_request *q = calloc(count, sizeof(*q));
	uint32_t *got = calloc(count, sizeof(*got));
	bool ok;

	for (unsigned i = 0; i < count; i++)
		q[i] = (struct dev_request){ .dev = dev,
					     .op = DEV_READ,
					     .offset_bytes = 4 * (uint64_t)((i * stride) % WORDS),
					     .length_bytes = 4,
					     .buffer = &got[i] };
	ok = dev_run(q, count, NULL) == 0;
	for (unsigned i = 0; i < count; i++)
		ok = ok && got[i] == (i * stride) % WORDS * 2654435761U;
	free(got);
	free(q);
	return ok;
}

static void test_more_than_a_ring(void **state)
{
	_cleanup_dev_ struct dev *dev = words_open();

	(void)state;
	rings = 0;
	for (unsigned i = 0; i < 3; i++)
		assert_true(read_words(dev, 1000 + i, 7 + i));
	assert_int_equal(rings, 1);
}

static void *reader(void *p)
{
	bool ok = true;

	for (unsigned i = 0; i < 50; i++)
		ok = ok && read_words(p, 100 + i, 1 + i);
	return ok ? p : NULL;
}

static void test_threads(void **state)
{
	_cleanup_dev_ struct dev *dev = words_open();
	pthread_t threads[8];
	void *result;

	(void)state;
	rings = 0;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reader, dev), 0);
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(threads[i], &result);
		assert_ptr_equal(result, dev);
	}
	assert_int_equal(rings, 8);
}

static void test_fork(void **state)
{
	_cleanup_dev_ struct dev *dev = words_open();
	int status = -1;
	pid_t pid;

	(void)state;
	assert_true(read_words(dev, 100, 3));
	rings = 0;
	pid = fork();
	if (pid == 0)
		_exit(read_words(dev, 100, 5) && rings == 1 ? 0 : 1);
	assert_true(read_words(dev, 300, 9));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(read_words(dev, 300, 11));
	assert_int_equal(rings, 0);
}

static void test_mixed(void **state)
{
	_cleanup_dev_ struct dev *dev = words_open();
	struct dev_request q[3];
	uint32_t word = 0;

	(void)state;
	q[0] = (struct dev_request){ .dev = dev, .op = DEV_FLUSH };
	q[1] = (struct dev_request){ .dev = dev, .op = DEV_READ, .length_bytes = 4, .offset_bytes = 4, .buffer = &word };
	q[2] = q[0];
	assert_int_equal(dev_run(q, 3, NULL), -EROFS);
	assert_int_equal(q[1].result, 0);
	assert_int_equal(word, 2654435761U);
}

static void test_broken_wait(void **state)
{
	_cleanup_dev_ struct dev *dev = words_open();

	(void)state;
	for (unsigned i = 1; i <= 2; i++) {
		broken_waits = i;
		assert_true(read_words(dev, 500, 13));
		assert_int_equal(broken_waits, i - 1);
		broken_waits = 0;
		/* A new ring takes its place. */
		rings = 0;
		assert_true(read_words(dev, 500, 17));
		assert_int_equal(rings, 1);
	}
}

static void test_refused(void **state)
{
	_cleanup_dev_ struct dev *dev = words_open();

	(void)state;
	broken_waits = 1;
	refusals = 1;
	assert_true(read_words(dev, 200, 19));
	assert_true(read_words(dev, 200, 23));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_than_a_ring),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_broken_wait),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
