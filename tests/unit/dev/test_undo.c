/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is written through an undo log can be put back: after any number of writes, a crash, a resumed run; and only where nobody wrote since. */
#include "scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/dev.h"

#define SIZE_A (UINT64_C(3) * 65536 + 700)
#define SIZE_B (UINT64_C(2) << 20)

/* Two devices, their first contents, and a log in a folder of its own. */
struct bench {
	char folder[64];
	char path[96];
	uint8_t *data[2];
	uint8_t *first[2];
	uint64_t size[2];
	struct dev *raw[2];
	struct dev *dev[2];
	struct dev_undo *undo;
};

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

static void wrap(struct bench *b)
{
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(dev_open_undo(b->raw[i], b->undo, &b->dev[i], NULL), 0);
}

static void begin(struct bench *b)
{
	static const char *const names[] = { "a", "b" };

	*b = (struct bench){ .size = { SIZE_A, SIZE_B } };
	scratch_folder(b->folder);
	snprintf(b->path, sizeof(b->path), "%s/log", b->folder);
	for (unsigned i = 0; i < 2; i++) {
		b->data[i] = malloc(b->size[i]);
		b->first[i] = malloc(b->size[i]);
		fill(b->data[i], b->size[i], i);
		memcpy(b->first[i], b->data[i], b->size[i]);
		assert_int_equal(dev_open_memory(names[i], b->data[i], b->size[i], true, &b->raw[i]), 0);
	}
	assert_int_equal(dev_undo_create(b->path, "test", &b->undo, NULL), 0);
	wrap(b);
}

static void close_log(struct bench *b)
{
	for (unsigned i = 0; i < 2; i++) {
		dev_close(b->dev[i]);
		b->dev[i] = NULL;
	}
	dev_undo_close(b->undo);
	b->undo = NULL;
}

static void reopen(struct bench *b)
{
	struct blkalign_error err = { 0 };

	close_log(b);
	if (dev_undo_resume(b->path, &b->undo, &err) != 0)
		fail_msg("%s", err.message);
	wrap(b);
}

static void end(struct bench *b)
{
	close_log(b);
	for (unsigned i = 0; i < 2; i++) {
		dev_close(b->raw[i]);
		free(b->data[i]);
		free(b->first[i]);
	}
	unlink(b->path);
	rmdir(b->folder);
}

static void some_writes(struct bench *b, uint32_t *seed, unsigned count)
{
	static uint8_t data[3][30000];
	struct dev_request q[3];

	for (unsigned i = 0; i < count; i++) {
		size_t n = 1 + next_random(seed) % 3;

		for (size_t k = 0; k < n; k++) {
			unsigned d = next_random(seed) % 2;
			size_t length = next_random(seed) % sizeof(data[k]);
			uint64_t offset = next_random(seed) % (b->size[d] - length + 1);

			if (i % 2) {
				length = length / 512 * 512;
				offset = offset / 512 * 512;
			}
			fill(data[k], length, *seed);
			q[k] = (struct dev_request){
				.dev = b->dev[d], .op = DEV_WRITE, .offset_bytes = offset, .length_bytes = length, .buffer = data[k]
			};
		}
		assert_int_equal(dev_run(q, n, NULL), 0);
	}
}

static void apply(struct bench *b, int code)
{
	struct blkalign_error err = { 0 };
	uint64_t bytes = 0;
	int r = dev_undo_apply(b->undo, b->raw, 2, &bytes, &err);

	if (r != code)
		fail_msg("%d: %s", r, err.message);
	if (code)
		return;
	for (unsigned i = 0; i < 2; i++)
		assert_memory_equal(b->data[i], b->first[i], b->size[i]);
	assert_int_equal(dev_undo_apply(b->undo, b->raw, 2, &bytes, NULL), 0);
	assert_int_equal(bytes, 0);
}

static void test_put_back(void **state)
{
	struct bench b;
	uint32_t seed = 5;
	uint64_t bytes = 0;

	(void)state;
	begin(&b);
	assert_int_equal(dev_write(b.dev[0], SIZE_A - 700, b.first[1], 700, NULL), 0);
	assert_memory_equal(b.data[0] + SIZE_A - 700, b.first[1], 700);
	assert_int_equal(dev_undo_apply(b.undo, b.raw, 2, &bytes, NULL), 0);
	assert_int_equal(bytes, 700);
	assert_memory_equal(b.data[0], b.first[0], SIZE_A);
	some_writes(&b, &seed, 120);
	apply(&b, 0);
	end(&b);
}

static void test_resume(void **state)
{
	struct bench b;
	uint32_t seed = 6;

	(void)state;
	begin(&b);
	for (unsigned i = 0; i < 6; i++) {
		some_writes(&b, &seed, 20);
		reopen(&b);
	}
	apply(&b, 0);
	end(&b);
}

/* Power lost: each sector holds what it held first, or anything that was written to it. Here: before the last writes, or after. */
static void test_crash(void **state)
{
	struct bench b;
	uint32_t seed = 7;
	uint8_t *before[2];

	(void)state;
	begin(&b);
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 2; i++) {
			before[i] = malloc(b.size[i]);
			memcpy(before[i], b.data[i], b.size[i]);
		}
		some_writes(&b, &seed, 10);
		for (unsigned i = 0; i < 2; i++) {
			for (uint64_t at = 0; at + 512 <= b.size[i]; at += 512)
				if (next_random(&seed) % 2)
					memcpy(b.data[i] + at, (round % 2 ? before[i] : b.first[i]) + at, 512);
			free(before[i]);
		}
		apply(&b, 0);
	}
	end(&b);
}

static void test_written_by_others(void **state)
{
	struct bench b;
	uint8_t *copy = malloc(SIZE_A);
	uint32_t seed = 8;
	struct blkalign_error err = { 0 };
	uint64_t bytes;

	(void)state;
	begin(&b);
	some_writes(&b, &seed, 5);
	assert_int_equal(dev_write(b.dev[0], 8192, b.first[1], 4096, NULL), 0);
	b.data[0][8192 + 600] ^= 1;
	memcpy(copy, b.data[0], SIZE_A);
	assert_int_equal(dev_undo_apply(b.undo, b.raw, 2, &bytes, &err), -ESTALE);
	assert_int_equal(err.offset_bytes, 8192 + 512);
	assert_memory_equal(copy, b.data[0], SIZE_A);
	b.data[0][8192 + 600] ^= 1;
	apply(&b, 0);
	free(copy);
	end(&b);
}

static void test_devices(void **state)
{
	struct bench b;
	struct dev *read_only, *devs[2];
	struct blkalign_error err = { 0 };
	uint64_t bytes;

	(void)state;
	begin(&b);
	assert_int_equal(dev_undo_apply(b.undo, b.raw, 1, &bytes, &err), -ENOENT);
	assert_non_null(strstr(err.message, "also of b (2097152 bytes)"));
	assert_int_equal(dev_open_memory("b", b.data[1], SIZE_B, false, &read_only), 0);
	devs[0] = b.raw[0];
	devs[1] = read_only;
	assert_int_equal(dev_undo_apply(b.undo, devs, 2, &bytes, &err), -EROFS);
	dev_close(read_only);
	/* Of the same name, but not as long: another device. */
	assert_int_equal(dev_open_memory("b", b.data[1], SIZE_B - 512, true, &devs[1]), 0);
	assert_int_equal(dev_undo_apply(b.undo, devs, 2, &bytes, &err), -ENOENT);
	dev_close(devs[1]);
	end(&b);
}

static uint64_t log_size(const struct bench *b)
{
	struct stat st;

	assert_int_equal(stat(b->path, &st), 0);
	return (uint64_t)st.st_size;
}

/* The last record cut at every sector: its write never began. */
static void test_cut(void **state)
{
	struct bench b;
	uint32_t seed = 9;
	uint64_t whole, all;
	uint8_t *bytes, *before = malloc(SIZE_B);
	int fd;

	(void)state;
	begin(&b);
	assert_int_equal(dev_write(b.dev[1], 5000, b.first[0], 100000, NULL), 0);
	memcpy(before, b.data[1], SIZE_B);
	whole = log_size(&b);
	assert_int_equal(dev_write(b.dev[1], SIZE_B - 20000, b.first[0], 20000, NULL), 0);
	all = log_size(&b);
	assert_true(all > whole + 20000);
	memcpy(b.data[1], before, SIZE_B);
	close_log(&b);
	bytes = malloc(all);
	fd = open(b.path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, bytes, all, 0), all);
	for (uint64_t cut = whole; cut < all; cut += 512) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, bytes, cut, 0), cut);
		assert_int_equal(dev_undo_resume(b.path, &b.undo, NULL), 0);
		assert_int_equal(log_size(&b), whole);
		dev_undo_close(b.undo);
	}
	close(fd);
	assert_int_equal(dev_undo_resume(b.path, &b.undo, NULL), 0);
	wrap(&b);
	some_writes(&b, &seed, 8);
	apply(&b, 0);
	free(bytes);
	free(before);
	end(&b);
}

/* A bit of what is not the last record: said, instead of putting back a part. */
static void test_damaged(void **state)
{
	struct bench b;
	uint32_t seed = 10;
	struct blkalign_error err = { 0 };
	uint64_t size;
	uint8_t byte;
	int fd;

	(void)state;
	begin(&b);
	some_writes(&b, &seed, 8);
	close_log(&b);
	size = log_size(&b);
	fd = open(b.path, O_RDWR | O_CLOEXEC);
	for (unsigned i = 0; i < 200; i++) {
		/* Behind the end record nothing tells a damaged one from one that was not finished; it is empty. */
		off_t at = (off_t)(next_random(&seed) % (size - 512));
		bool padding;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		padding = byte == 0;
		byte ^= (uint8_t)(1 << i % 8);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		if (dev_undo_resume(b.path, &b.undo, &err) == 0) {
			assert_true(padding);
			dev_undo_close(b.undo);
			b.undo = NULL;
		} else {
			assert_int_equal(err.code, -EBADMSG);
		}
		byte ^= (uint8_t)(1 << i % 8);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_int_equal(log_size(&b), size);
	}
	close(fd);
	assert_int_equal(dev_undo_resume(b.path, &b.undo, NULL), 0);
	wrap(&b);
	apply(&b, 0);
	end(&b);
}

static void test_file(void **state)
{
	struct bench b;
	struct dev_undo *other = NULL;
	struct blkalign_error err = { 0 };
	struct stat st;
	char link[128];

	(void)state;
	begin(&b);
	assert_int_equal(stat(b.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(dev_undo_create(b.path, "again", &other, &err), -EEXIST);
	assert_int_equal(dev_undo_resume(b.path, &other, &err), -EBUSY);
	close_log(&b);
	snprintf(link, sizeof(link), "%s.link", b.path);
	assert_int_equal(symlink(b.path, link), 0);
	assert_int_equal(dev_undo_resume(link, &other, &err), -ELOOP);
	assert_int_equal(dev_undo_create(link, "x", &other, &err), -EEXIST);
	unlink(link);
	assert_int_equal(chmod(b.path, 0620), 0);
	assert_int_equal(dev_undo_resume(b.path, &other, &err), -EPERM);
	assert_int_equal(chmod(b.path, 0600), 0);
	assert_int_equal(dev_undo_resume("/dev/null", &other, &err), -ENOTSUP);
	assert_int_equal(dev_undo_resume("/nonexistent/x", &other, &err), -ENOENT);
	assert_int_equal(truncate(b.path, 4000), 0);
	assert_int_equal(dev_undo_resume(b.path, &other, &err), -EBADMSG);
	end(&b);
}

/* What cannot be read cannot be put back; what is beside it can. */
static void test_unreadable(void **state)
{
	struct bench b;
	struct dev *bad = NULL, *undo = NULL;
	uint64_t bytes;

	(void)state;
	begin(&b);
	assert_int_equal(dev_open_fault(b.raw[0], 9000, 100, -EIO, &bad), 0);
	assert_int_equal(dev_open_undo(bad, b.undo, &undo, NULL), 0);
	assert_int_equal(dev_write(undo, 4096, b.first[1], 4096, NULL), 0);
	/* The write itself fails here, because the fault fails writes too; the log has been made. */
	assert_int_equal(dev_write(undo, 8192, b.first[1], 4096, NULL), -EIO);
	memcpy(b.data[0] + 8192, b.first[1], 4096);
	assert_int_equal(dev_undo_apply(b.undo, b.raw, 2, &bytes, NULL), 0);
	assert_memory_equal(b.data[0], b.first[0], 8704);
	assert_memory_equal(b.data[0] + 8704, b.first[1] + 512, 512);
	assert_memory_equal(b.data[0] + 9216, b.first[0] + 9216, SIZE_A - 9216);
	assert_int_equal(bytes, 4096 + 512 + 3072);
	dev_close(undo);
	dev_close(bad);
	end(&b);
}

static void test_failing_device(void **state)
{
	struct bench b;
	struct dev *bad = NULL, *undo = NULL;

	(void)state;
	begin(&b);
	assert_int_equal(dev_open_fault_nth(b.raw[0], DEV_WRITE, 2, true, -EIO, &bad), 0);
	assert_int_equal(dev_open_undo(bad, b.undo, &undo, NULL), 0);
	assert_int_equal(dev_write(undo, 4096, b.first[1], 4096, NULL), 0);
	assert_int_equal(dev_write(undo, 0, b.first[1], 16384, NULL), -EIO);
	assert_int_equal(dev_flush(undo, NULL), 0);
	apply(&b, 0);
	dev_close(undo);
	dev_close(bad);
	end(&b);
}

/* A full disk below the log: nothing is overwritten from then on. */
static void test_no_space(void **state)
{
	struct bench b;
	char folder[64], path[96];
	struct blkalign_error err = { 0 };
	uint8_t *copy = malloc(SIZE_B);

	(void)state;
	scratch_folder(folder);
	if (mount("tmpfs", folder, "tmpfs", 0, "size=256k") < 0) {
		rmdir(folder);
		free(copy);
		skip();
	}
	begin(&b);
	close_log(&b);
	unlink(b.path);
	snprintf(path, sizeof(path), "%s/log", folder);
	assert_int_equal(dev_undo_create(path, "test", &b.undo, NULL), 0);
	wrap(&b);
	assert_int_equal(dev_write(b.dev[1], 0, b.first[0], 65536, NULL), 0);
	memcpy(copy, b.data[1], SIZE_B);
	assert_int_equal(dev_write(b.dev[1], SIZE_B / 2, b.first[1], SIZE_B / 2, &err), -ENOSPC);
	assert_non_null(strstr(err.message, "undo log could not be written"));
	assert_int_equal(dev_write(b.dev[1], 0, b.first[0], 512, &err), -ENOSPC);
	assert_memory_equal(copy, b.data[1], SIZE_B);
	assert_int_equal(dev_read(b.dev[1], 0, copy, 512, NULL), 0);
	apply(&b, 0);
	close_log(&b);
	assert_int_equal(umount(folder), 0);
	rmdir(folder);
	free(copy);
	end(&b);
}

struct hammer {
	struct bench *bench;
	unsigned number;
	bool ok;
};

static void *hammer(void *p)
{
	struct hammer *h = p;
	uint32_t seed = h->number;
	uint8_t data[100];

	h->ok = true;
	for (unsigned i = 0; i < 40; i++) {
		/* Bytes of its own, in sectors that all share. */
		uint64_t at = (uint64_t)(next_random(&seed) % 200) * 800 + h->number * 100;

		memset(data, (int)(h->number + i), sizeof(data));
		h->ok = h->ok && dev_write(h->bench->dev[0], at, data, sizeof(data), NULL) == 0 && dev_flush(h->bench->dev[0], NULL) == 0;
		h->ok = h->ok && memcmp(h->bench->data[0] + at, data, sizeof(data)) == 0;
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct bench b;
	struct hammer hammers[8];
	pthread_t threads[8];

	(void)state;
	begin(&b);
	for (unsigned i = 0; i < 8; i++) {
		hammers[i] = (struct hammer){ .bench = &b, .number = i };
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, &hammers[i]), 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		assert_true(hammers[i].ok);
	}
	reopen(&b);
	apply(&b, 0);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_back),	  cmocka_unit_test(test_resume),   cmocka_unit_test(test_crash),
		cmocka_unit_test(test_written_by_others), cmocka_unit_test(test_devices),  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),		  cmocka_unit_test(test_file),	   cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_failing_device),	  cmocka_unit_test(test_no_space), cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
