/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing to an open stack on disks that fail to flush: no false success, and nothing is called clean that may not be. */
#include "scratch.h"

#include <unistd.h>

#include "base/base.h"
#include "run/run.h"

#define MEMBERS	    4U
#define SUPER_BYTES 4096U /* metadata 1.2 */

struct disk {
	struct dev dev;
	uint8_t *data; /* of the bench: outlives the disk */
	bool fails_to_flush, fails_to_write, fails_to_read;
	bool fails_records; /* to write them; data goes well */
};

static void disk_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct disk *d = (struct disk *)dev;

	for (size_t i = 0; i < count; i++) {
		struct dev_request *q = &requests[i];

		q->result = 0;
		if (q->op == DEV_READ && d->fails_to_read)
			q->result = -EIO;
		else if (q->op == DEV_READ)
			memcpy(q->buffer, d->data + q->offset_bytes, q->length_bytes);
		else if ((q->op == DEV_FLUSH && d->fails_to_flush) || (q->op == DEV_WRITE && d->fails_to_write))
			q->result = -EIO;
		else if (q->op == DEV_WRITE && d->fails_records && q->offset_bytes == SUPER_BYTES)
			q->result = -EIO;
		else if (q->op == DEV_WRITE)
			memcpy(d->data + q->offset_bytes, q->buffer, q->length_bytes);
	}
}

static const struct dev_ops disk_ops = { .kind = "disk", .run = disk_run };

struct bench {
	uint8_t *data[MEMBERS];
	size_t size_bytes;
	struct disk *disks[MEMBERS];
	struct blkalign_run *run;
	const struct blkalign_node *node;
};

/* The members of a golden array in memory. */
static void load(struct bench *b, const char *name)
{
	char archive[64], folder[64], unpacked[128], path[192];

	snprintf(archive, sizeof(archive), "md/%s", name);
	scratch_unpack(archive, folder, unpacked);
	for (unsigned i = 0; i < MEMBERS; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/m%u.img", unpacked, i);
		f = fopen(path, "re");
		assert_non_null(f);
		assert_int_equal(fseek(f, 0, SEEK_END), 0);
		b->size_bytes = (size_t)ftell(f);
		rewind(f);
		b->data[i] = malloc(b->size_bytes);
		assert_non_null(b->data[i]);
		assert_int_equal(fread(b->data[i], 1, b->size_bytes, f), b->size_bytes);
		fclose(f);
	}
	scratch_remove(folder);
}

static void start(struct bench *b)
{
	const struct blkalign_run_options options = { .writable = true };
	struct blkalign_error err = { 0 };

	assert_int_equal(run_new(&options, &b->run), 0);
	for (unsigned i = 0; i < MEMBERS; i++) {
		char name[16];
		struct blkalign_node *node;

		snprintf(name, sizeof(name), "m%u.img", i);
		b->disks[i] = (struct disk *)dev_new(sizeof(*b->disks[i]), &disk_ops, name, b->size_bytes, 512);
		assert_non_null(b->disks[i]);
		b->disks[i]->data = b->data[i];
		b->disks[i]->dev.writable = true;
		assert_int_equal(stack_add(b->run->stack, BLKALIGN_KIND_DISK, name, &b->disks[i]->dev, &node), 0);
	}
	if (run_start(b->run, &err) < 0 || blkalign_run_node(b->run, NULL, &b->node, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	assert_true(blkalign_run_writable(b->run, b->node, NULL));
}

static void bench_done(struct bench *b)
{
	for (unsigned i = 0; i < MEMBERS; i++)
		free(b->data[i]);
}

/* resync_offset of struct mdp_superblock_1: all ones when the array was stopped cleanly. */
static bool is_clean(const struct bench *b, unsigned member)
{
	uint64_t resync;

	memcpy(&resync, b->data[member] + SUPER_BYTES + 208, sizeof(resync));
	return resync == UINT64_MAX;
}

/* dev_roles[] of `member`'s superblock about device number `device`. */
static uint16_t role(const struct bench *b, unsigned member, unsigned device)
{
	uint16_t value;

	memcpy(&value, b->data[member] + SUPER_BYTES + 256 + 2 * (size_t)device, sizeof(value));
	return value;
}

static void fill(uint8_t *sectors, size_t length, unsigned seed)
{
	for (size_t i = 0; i < length; i++)
		sectors[i] = (uint8_t)(i * 31 + i / 512 + seed);
}

static void test_written(void **state)
{
	struct bench b = { 0 };
	uint8_t data[8192], found[8192];

	(void)state;
	load(&b, "raid5-12-4-bitmap");
	start(&b);
	assert_true(is_clean(&b, 0));
	fill(data, sizeof(data), 1);
	assert_int_equal(blkalign_run_write(b.run, b.node, 65536 - 4096, data, sizeof(data), NULL), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_false(is_clean(&b, i));
	assert_int_equal(blkalign_run_flush(b.run, b.node, NULL), 0);
	assert_int_equal(blkalign_run_close(b.run, NULL), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_true(is_clean(&b, i));
	start(&b);
	assert_int_equal(blkalign_run_read(b.run, b.node, 65536 - 4096, found, sizeof(found), NULL), 0);
	assert_memory_equal(found, data, sizeof(data));
	assert_int_equal(blkalign_run_close(b.run, NULL), 0);
	bench_done(&b);
}

static void test_refused(void **state)
{
	struct bench b = { 0 };
	struct blkalign_error err = { 0 };
	uint8_t sector[1024] = { 0 };
	const struct blkalign_node *member;
	uint64_t size;

	(void)state;
	load(&b, "raid5-12-4-bitmap");
	start(&b);
	size = blkalign_run_size(b.run, b.node);
	assert_int_equal(blkalign_run_write(b.run, b.node, 1, sector, 512, &err), -EINVAL);
	assert_int_equal(blkalign_run_write(b.run, b.node, 512, sector, 100, &err), -EINVAL);
	assert_non_null(strstr(err.message, "512 bytes"));
	assert_int_equal(blkalign_run_write(b.run, b.node, size - 512, sector, 1024, &err), -ERANGE);
	assert_int_equal(blkalign_run_write(b.run, b.node, UINT64_MAX - 511, sector, 1024, &err), -ERANGE);
	member = blkalign_graph_find(blkalign_run_graph(b.run), "m0.img");
	assert_int_equal(blkalign_run_write(b.run, member, 0, sector, 512, &err), -EROFS);
	assert_int_equal(blkalign_run_close(b.run, NULL), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_true(is_clean(&b, i));
	bench_done(&b);
}

/* Success is told to who wrote; who asks hears who failed, once, and why. */
static void expect_failure(const struct bench *b, unsigned member, const char *why)
{
	struct blkalign_run_failure f;
	struct blkalign_run_events e;

	assert_true(blkalign_run_failure(b->run, 0, &f));
	assert_ptr_equal(f.array, b->node);
	assert_int_equal(f.slot, member);
	assert_string_equal(f.member, b->disks[member]->dev.name);
	assert_string_equal(f.why, why);
	assert_false(blkalign_run_failure(b->run, 1, &f));
	assert_int_equal(blkalign_run_events(b->run, b->node, &e), 0);
	assert_int_equal(e.failed_members, 1);
}

/* Of nothing that happened nothing is told. */
static void test_uneventful(void **state)
{
	struct bench b = { 0 };
	uint8_t data[4096] = { 1 };
	struct blkalign_run_failure f;
	struct blkalign_run_events e;

	(void)state;
	load(&b, "raid5-12-4-bitmap");
	start(&b);
	assert_int_equal(blkalign_run_write(b.run, b.node, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(blkalign_run_settle(b.run, NULL), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_true(is_clean(&b, i));
	assert_false(blkalign_run_failure(b.run, 0, &f));
	assert_int_equal(blkalign_run_events(b.run, b.node, &e), 0);
	assert_int_equal(e.computed_bytes + e.read_errors + e.rewritten_bytes + e.failed_members, 0);
	assert_null(e.first_error);
	assert_int_equal(blkalign_run_events(b.run, blkalign_graph_find(blkalign_run_graph(b.run), "m0.img"), &e), -EINVAL);
	/* It goes on, and is settled again. */
	assert_int_equal(blkalign_run_write(b.run, b.node, 0, data, sizeof(data), NULL), 0);
	assert_false(is_clean(&b, 0));
	assert_int_equal(blkalign_run_close(b.run, NULL), 0);
	assert_true(is_clean(&b, 0));
	bench_done(&b);
}

/* A member that cannot be read is made up for, and mended. */
static void test_read_errors(void **state)
{
	struct bench b = { 0 };
	uint8_t data[4096];
	struct blkalign_run_events e;

	(void)state;
	load(&b, "raid5-12-4-bitmap");
	start(&b);
	e.read_errors = 0;
	for (unsigned i = 0; !e.read_errors && i < MEMBERS; i++) {
		b.disks[i]->fails_to_read = true;
		assert_int_equal(blkalign_run_read(b.run, b.node, 0, data, sizeof(data), NULL), 0);
		b.disks[i]->fails_to_read = false;
		assert_int_equal(blkalign_run_events(b.run, b.node, &e), 0);
	}
	assert_int_equal(e.read_errors, 1);
	assert_int_equal(e.computed_bytes, 4096);
	assert_int_equal(e.failed_members, 1); /* what was written back could not be read again */
	assert_non_null(strstr(e.first_error, ".img: read of 4096 bytes at byte "));
	assert_int_equal(blkalign_run_close(b.run, NULL), 0);
	bench_done(&b);
}

/* Its records cannot be written: found when the array becomes active, or at the very end. Data that fails later is not told as another failure. */
static void test_records_fail(void **state)
{
	uint8_t data[192 * 1024] = { 1 };

	(void)state;
	for (unsigned late = 0; late < 2; late++) {
		struct bench b = { 0 };

		load(&b, "raid5-12-4-bitmap");
		start(&b);
		b.disks[1]->fails_records = !late;
		assert_int_equal(blkalign_run_write(b.run, b.node, 0, data, sizeof(data), NULL), 0);
		b.disks[1]->fails_records = true;
		assert_int_equal(blkalign_run_settle(b.run, NULL), 0);
		expect_failure(&b, 1, "write of 4096 bytes at byte 4096 failed: Input/output error");
		b.disks[1]->fails_to_write = true;
		assert_int_equal(blkalign_run_write(b.run, b.node, 0, data, sizeof(data), NULL), 0);
		expect_failure(&b, 1, "write of 4096 bytes at byte 4096 failed: Input/output error");
		assert_int_equal(role(&b, 0, 1), 0xfffe);
		assert_int_equal(blkalign_run_close(b.run, NULL), 0);
		bench_done(&b);
	}
}

/* A member that does not flush is a member less. */
static void test_one_fails_to_flush(void **state)
{
	struct bench b = { 0 };
	struct blkalign_error err = { 0 };
	uint8_t data[4096], found[4096];

	(void)state;
	load(&b, "raid5-12-4-bitmap");
	start(&b);
	fill(data, sizeof(data), 2);
	assert_int_equal(blkalign_run_write(b.run, b.node, 0, data, sizeof(data), NULL), 0);
	b.disks[2]->fails_to_flush = true;
	if (blkalign_run_flush(b.run, b.node, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	assert_int_equal(role(&b, 0, 2), 0xfffe);
	assert_int_equal(role(&b, 3, 2), 0xfffe);
	expect_failure(&b, 2, "flush of 0 bytes at byte 0 failed: Input/output error");
	assert_int_equal(blkalign_run_read(b.run, b.node, 0, found, sizeof(found), NULL), 0);
	assert_memory_equal(found, data, sizeof(data));
	assert_int_equal(blkalign_run_close(b.run, NULL), 0);
	bench_done(&b);
}

/* Nobody knows what is there: everything fails from then on, also closing, and the array is not called clean. */
static void test_all_fail_to_flush(void **state)
{
	struct bench b = { 0 };
	struct blkalign_error err = { 0 };
	uint8_t data[4096];

	(void)state;
	load(&b, "raid5-12-4-bitmap");
	start(&b);
	fill(data, sizeof(data), 3);
	assert_int_equal(blkalign_run_write(b.run, b.node, 0, data, sizeof(data), NULL), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		b.disks[i]->fails_to_flush = true;
	assert_true(blkalign_run_flush(b.run, b.node, &err) < 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		b.disks[i]->fails_to_flush = false;
	assert_int_equal(blkalign_run_flush(b.run, b.node, &err), -EIO);
	assert_non_null(strstr(err.message, "earlier flush"));
	assert_int_equal(blkalign_run_write(b.run, b.node, 0, data, sizeof(data), &err), -EIO);
	assert_int_equal(blkalign_run_close(b.run, &err), -EIO);
	assert_non_null(strstr(err.message, "flush failed"));
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_false(is_clean(&b, i));
	bench_done(&b);
}

/* The records cannot be written at the end: told, and left as they were. */
static void test_close_fails(void **state)
{
	struct bench b = { 0 };
	uint8_t data[4096];

	(void)state;
	load(&b, "raid5-12-4-bitmap");
	start(&b);
	fill(data, sizeof(data), 4);
	assert_int_equal(blkalign_run_write(b.run, b.node, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(blkalign_run_flush(b.run, b.node, NULL), 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		b.disks[i]->fails_to_write = true;
	assert_true(blkalign_run_close(b.run, NULL) < 0);
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_false(is_clean(&b, i));
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),		  cmocka_unit_test(test_refused),      cmocka_unit_test(test_one_fails_to_flush),
		cmocka_unit_test(test_all_fail_to_flush), cmocka_unit_test(test_close_fails),  cmocka_unit_test(test_uneventful),
		cmocka_unit_test(test_read_errors),	  cmocka_unit_test(test_records_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
