/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An open stack through the public functions: which node is meant, request sizes, what may be written and what not. */
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include <blkalign/run.h>

#define MEMBERS 10

struct unpacked {
	char folder[64];
	char *names[MEMBERS];
	size_t count;
};

static void unpack(struct unpacked *u, const char *name)
{
	char path[128];

	*u = (struct unpacked){ .count = 0 };
	scratch_unpack(name, u->folder, path);
	u->count = scratch_members(path, u->names, MEMBERS);
}

static void unpacked_done(struct unpacked *u)
{
	scratch_remove(u->folder);
	for (size_t i = 0; i < u->count; i++)
		free(u->names[i]);
}

static struct blkalign_run *open_run(const struct unpacked *u, struct blkalign_run_options options)
{
	struct blkalign_run *run = NULL;
	struct blkalign_error err = { 0 };

	if (blkalign_run_open(&options, (const char *const *)u->names, u->count, &run, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	return run;
}

static const struct blkalign_node *the_node(const struct blkalign_run *run)
{
	const struct blkalign_node *node = NULL;

	assert_int_equal(blkalign_run_node(run, NULL, &node, NULL), 0);
	return node;
}

/* The first fill of the images: sector s holds 64 times the number s. */
static void assert_pattern(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, size_t length_bytes)
{
	uint8_t *buffer = malloc(length_bytes);

	assert_non_null(buffer);
	assert_int_equal(blkalign_run_read(run, node, offset_bytes, buffer, length_bytes, NULL), 0);
	for (size_t i = 0; i < length_bytes; i++)
		assert_int_equal(buffer[i], (uint8_t)(((offset_bytes + i) / 512) >> (8 * ((offset_bytes + i) % 8))));
	free(buffer);
}

static void test_reading(void **state)
{
	struct unpacked u;
	struct blkalign_run *run;
	const struct blkalign_node *node;
	uint64_t length;
	bool zero;

	(void)state;
	unpack(&u, "md/raid6-12-5-left-symmetric");
	run = open_run(&u, (struct blkalign_run_options){ 0 });
	node = the_node(run);
	assert_int_equal(blkalign_node_kind(node), BLKALIGN_KIND_MD);
	assert_int_equal(blkalign_run_size(run, node), 22020096);
	assert_pattern(run, node, 0, 1 << 20);
	assert_pattern(run, node, 65536 * 3 - 7, 65536);
	assert_int_equal(blkalign_run_extent(run, node, 4096, 22020096 - 4096, &zero, &length, NULL), 0);
	assert_false(zero);
	assert_in_range(length, 1, 22020096 - 4096);
	assert_int_equal(blkalign_run_extent(run, node, 4096, 22020096, &zero, &length, NULL), -ERANGE);
	assert_int_equal(blkalign_run_extent(run, node, UINT64_MAX, 2, &zero, &length, NULL), -ERANGE);
	assert_int_equal(blkalign_run_extent(run, node, 0, 0, &zero, &length, NULL), -ERANGE);
	assert_int_equal(blkalign_run_close(run, NULL), 0);
	unpacked_done(&u);
}

static void test_not_writable(void **state)
{
	struct unpacked u;
	struct blkalign_run *run;
	struct blkalign_error err = { 0 };
	const struct blkalign_node *node;
	const char *why = NULL;
	uint8_t sector[512] = { 0 };

	(void)state;
	unpack(&u, "md/raid5-12-3-default");
	run = open_run(&u, (struct blkalign_run_options){ 0 });
	node = the_node(run);
	assert_false(blkalign_run_writable(run, node, &why));
	assert_string_equal(why, "the stack was opened for reading only");
	assert_int_equal(blkalign_run_write(run, node, 0, sector, sizeof(sector), &err), -EROFS);
	assert_non_null(strstr(err.message, why));
	assert_int_equal(blkalign_run_flush(run, node, &err), 0);
	assert_pattern(run, node, 0, 4096);
	assert_int_equal(blkalign_run_close(run, NULL), 0);
	unpacked_done(&u);
}

struct expected_blocks {
	const char *name;
	const char *node; /* NULL: the one that is meant */
	uint64_t minimum, preferred, maximum;
};

/* Chunk and stripe as case.txt has them; whole stripes up to 1 MiB. */
static const struct expected_blocks blocks[] = {
	{ "md/raid6-12-5-left-symmetric", NULL, 512, 64 << 10, 983040 }, /* 3 x 64 KiB, 5 times */
	{ "md/raid5-12-3-default", NULL, 512, 512 << 10, 1 << 20 },	 /* 2 x 512 KiB */
	{ "md/raid0-12-3-c96", NULL, 512, 32 << 10, 3 * 3 * 96 << 10 },	 /* a chunk of 96 KiB is no power of two */
	{ "md/raid1-12-2", NULL, 512, 4096, 1 << 20 },			 /* no chunk: physical block */
	{ "md/part-mbr-raid5", NULL, 512, 64 << 10, 1 << 20 },
	{ "lvm/lvm-on-md", "vg/a", 512, 64 << 10, 983040 }, /* the array below */
};

static void test_blocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		struct unpacked u;
		struct blkalign_run *run;
		const struct blkalign_node *node = NULL;
		struct blkalign_run_blocks found;

		unpack(&u, blocks[i].name);
		run = open_run(&u, (struct blkalign_run_options){ 0 });
		print_message("%s\n", blocks[i].name);
		assert_int_equal(blkalign_run_node(run, blocks[i].node, &node, NULL), 0);
		blkalign_run_blocks(run, node, &found);
		assert_int_equal(found.minimum_bytes, blocks[i].minimum);
		assert_int_equal(found.preferred_bytes, blocks[i].preferred);
		assert_int_equal(found.maximum_bytes, blocks[i].maximum);
		assert_int_equal(blkalign_run_close(run, NULL), 0);
		unpacked_done(&u);
	}
}

/* Which node is meant: only where there is one answer. */
static void test_node(void **state)
{
	struct unpacked u;
	struct blkalign_run *run;
	struct blkalign_error err = { 0 };
	const struct blkalign_node *node;

	(void)state;
	unpack(&u, "lvm/lvm-striped");
	run = open_run(&u, (struct blkalign_run_options){ 0 });
	assert_int_equal(blkalign_run_node(run, NULL, &node, &err), -EINVAL);
	assert_non_null(strstr(err.message, "vg/s3"));
	assert_int_equal(blkalign_run_node(run, "lv:vg/s2", &node, &err), 0);
	assert_string_equal(blkalign_node_name(node), "vg/s2");
	assert_int_equal(blkalign_run_node(run, "lv:pv:m0.img", &node, &err), -ENOENT);
	assert_int_equal(blkalign_run_node(run, "lv:", &node, &err), -ENOENT);
	assert_int_equal(blkalign_run_node(run, "vg/s2", &node, &err), 0);
	assert_pattern(run, node, 0, 65536);
	assert_int_equal(blkalign_run_node(run, "vg/s5", &node, &err), -ENOENT);
	assert_int_equal(blkalign_run_close(run, NULL), 0);
	unpacked_done(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_not_writable),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
