/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of plain images with parts that cannot be read, against the images themselves; the command's tests copy arrays. */
#include "scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <blkalign/copy.h>

#include "format/ddrescue/ddrescue.h"

#define SIZE (UINT64_C(21) * 1024 * 1024 + 700)

struct bench {
	char folder[64];
	char source[96], output[96], map[96];
	uint8_t *data;
	struct blkalign_run *run;
	const struct blkalign_node *node;
};

static void write_file(const char *path, const void *data, size_t length)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, length), length);
	close(fd);
}

/* `bad`: a map file's text, or NULL. */
static void begin(struct bench *b, const char *bad)
{
	struct blkalign_run_bad one = { .path = b->source, .map_path = b->map };
	struct blkalign_run_options options = { .bad = bad ? &one : NULL, .bad_count = bad ? 1 : 0 };
	const char *paths[] = { b->source };
	uint32_t seed = 1;

	*b = (struct bench){ .data = NULL };
	scratch_folder(b->folder);
	snprintf(b->source, sizeof(b->source), "%s/source.img", b->folder);
	snprintf(b->output, sizeof(b->output), "%s/output", b->folder);
	snprintf(b->map, sizeof(b->map), "%s/map", b->folder);
	b->data = malloc(SIZE);
	for (size_t i = 0; i < SIZE; i++) {
		seed = seed * 1664525U + 1013904223U;
		b->data[i] = (uint8_t)(seed >> 24);
	}
	memset(b->data + 9000000, 0, 5000000);
	write_file(b->source, b->data, SIZE);
	if (bad)
		write_file(b->map, bad, strlen(bad));
	assert_int_equal(blkalign_run_open(&options, paths, 1, &b->run, NULL), 0);
	assert_int_equal(blkalign_run_node(b->run, "source.img", &b->node, NULL), 0);
}

static void end(struct bench *b)
{
	assert_int_equal(blkalign_run_close(b->run, NULL), 0);
	unlink(b->source);
	unlink(b->output);
	unlink(b->map);
	assert_int_equal(rmdir(b->folder), 0);
	free(b->data);
}

static int finish(struct blkalign_copy *copy, struct blkalign_copy_progress *p)
{
	uint64_t before = 0;
	int r;

	do {
		r = blkalign_copy_step(copy, p, NULL);
		assert_true(p->done_bytes >= before || p->trying_again);
		assert_true(p->done_bytes <= p->total_bytes);
		before = p->done_bytes;
	} while (r == 0);
	return r;
}

static void read_output(const struct bench *b, uint8_t *ret, size_t length)
{
	int fd = open(b->output, O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, length);
	assert_int_equal(pread(fd, ret, length, 0), length);
	close(fd);
}

static void test_narrowed(void **state)
{
	struct bench b;
	struct blkalign_copy_options options = { .output = b.output };
	struct blkalign_copy_progress p;
	struct blkalign_copy *copy;
	_cleanup_ddrescue_map_ struct ddrescue_map map = { 0 };
	uint8_t *got = malloc(SIZE);
	char *text;

	(void)state;
	/* 1000 to 1300 lie in sectors 1 and 2; a whole unit of 4 MiB and more; the end, which the map does not have. */
	begin(&b, "0 +\n0 1000 +\n1000 300 -\n1300 3999000 +\n4000300 5000000 *\n9000300 13020000 +\n");
	assert_int_equal(blkalign_copy_open(b.run, b.node, &options, &copy, NULL), 0);
	assert_int_equal(finish(copy, &p), BLKALIGN_COPY_DONE);
	assert_int_equal(blkalign_copy_step(copy, &p, NULL), BLKALIGN_COPY_DONE);
	assert_int_equal(p.good_bytes + p.bad_bytes, SIZE);
	assert_int_equal(p.done_bytes, SIZE);
	assert_int_equal(p.bad_areas, 3);
	assert_true(p.zero_bytes >= 4000000);
	assert_int_equal(blkalign_copy_map(copy, &text, NULL), 0);
	assert_int_equal(ddrescue_decode(text, strlen(text), &map, NULL), 0);
	free(text);
	blkalign_copy_close(copy);
	assert_int_equal(map.blocks.count, 6);
	assert_int_equal(map.blocks.data[1].offset_bytes, 512);
	assert_int_equal(map.blocks.data[1].length_bytes, 1024);
	assert_int_equal(map.blocks.data[3].offset_bytes, 4000300 / 512 * 512);
	assert_int_equal(map.blocks.data[3].offset_bytes + map.blocks.data[3].length_bytes, (9000300 + 511) / 512 * 512);
	assert_int_equal(map.blocks.data[5].offset_bytes, 22020300 / 512 * 512);
	assert_int_equal(map.state, '+');
	read_output(&b, got, SIZE);
	for (size_t i = 0; i < map.blocks.count; i++) {
		const struct ddrescue_block *block = &map.blocks.data[i];

		if (block->status == '-')
			memset(b.data + block->offset_bytes, 0, block->length_bytes);
	}
	assert_memory_equal(got, b.data, SIZE);
	free(got);
	end(&b);
}

/* Stopped after a few units; gone on with by the map, twice. */
static void test_resumed(void **state)
{
	struct bench b;
	struct blkalign_copy_options options = { .output = b.output, .offset_bytes = 1234, .length_bytes = SIZE - 2000 };
	struct blkalign_copy_progress p;
	struct blkalign_copy *copy;
	uint8_t *got = malloc(SIZE);
	char *text = NULL;
	unsigned rounds = 0;

	(void)state;
	begin(&b, NULL);
	do {
		char *next = NULL;

		options.map = text;
		options.map_bytes = text ? strlen(text) : 0;
		assert_int_equal(blkalign_copy_open(b.run, b.node, &options, &copy, NULL), 0);
		assert_true(blkalign_copy_step(copy, &p, NULL) >= 0);
		assert_int_equal(blkalign_copy_map(copy, &next, NULL), 0);
		blkalign_copy_close(copy);
		free(text);
		text = next;
		rounds++;
	} while (p.good_bytes < SIZE - 2000 && rounds < 100);
	assert_true(rounds >= 4 && rounds <= 8);
	read_output(&b, got, SIZE - 2000);
	assert_memory_equal(got, b.data + 1234, SIZE - 2000);
	free(text);
	free(got);
	end(&b);
}

/* A copy that nobody finishes: its threads end. */
static void test_abandoned(void **state)
{
	struct bench b;
	struct blkalign_copy_options options = { .output = b.output, .overwrite = true };
	struct blkalign_copy *copy;

	(void)state;
	begin(&b, NULL);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(blkalign_copy_open(b.run, b.node, &options, &copy, NULL), 0);
		if (i % 2)
			assert_int_equal(blkalign_copy_step(copy, NULL, NULL), 0);
		blkalign_copy_close(copy);
	}
	blkalign_copy_close(NULL);
	end(&b);
}

static void test_refused(void **state)
{
	struct bench b;
	struct blkalign_copy_options options = { .output = b.output, .map = "none", .map_bytes = 4 };
	struct blkalign_run_options bad_options = { .bad_count = 1 };
	struct blkalign_run_bad bad[2] = { { 0 } };
	struct blkalign_copy *copy;
	struct blkalign_run *run;
	const char *paths[1];
	struct blkalign_error err = { 0 };

	(void)state;
	begin(&b, NULL);
	assert_int_equal(blkalign_copy_open(b.run, b.node, &options, &copy, &err), -EBADMSG);
	options.map = "0 +\n0 512 +\n";
	options.map_bytes = 12;
	assert_int_equal(blkalign_copy_open(b.run, b.node, &options, &copy, &err), -ENOENT);
	options.output = NULL;
	assert_int_equal(blkalign_copy_open(b.run, b.node, &options, &copy, &err), -EINVAL);
	options.map = NULL;
	options.offset_bytes = SIZE + 1;
	assert_int_equal(blkalign_copy_open(b.run, b.node, &options, &copy, &err), -ERANGE);
	options.offset_bytes = 1;
	options.length_bytes = UINT64_MAX;
	assert_int_equal(blkalign_copy_open(b.run, b.node, &options, &copy, &err), -ERANGE);
	/* Map files of members. */
	paths[0] = b.source;
	bad_options.bad = bad;
	bad[0] = (struct blkalign_run_bad){ .path = "other", .map_path = b.map };
	assert_int_equal(blkalign_run_open(&bad_options, paths, 1, &run, &err), -EINVAL);
	bad[0].path = b.source;
	assert_int_equal(blkalign_run_open(&bad_options, paths, 1, &run, &err), -ENOENT);
	write_file(b.map, "0 +\n0 512 x\n", 12);
	assert_int_equal(blkalign_run_open(&bad_options, paths, 1, &run, &err), -EBADMSG);
	assert_string_equal(err.where, b.map);
	assert_non_null(strstr(err.message, "line 2"));
	/* Who would write to it could not read back what was written. */
	write_file(b.map, "0 +\n0 0x1000 -\n0x1000 0x100000000 +\n", 37);
	bad_options.writable = true;
	assert_int_equal(blkalign_run_open(&bad_options, paths, 1, &run, &err), -EINVAL);
	assert_non_null(strstr(err.message, "only read"));
	bad_options.writable = false;
	bad[1] = (struct blkalign_run_bad){ .path = b.source, .map_path = b.output };
	bad_options.bad_count = 2;
	assert_int_equal(blkalign_run_open(&bad_options, paths, 1, &run, &err), -EINVAL);
	end(&b);
}

/* What is written over a part that cannot be read is there to be read. */
static void test_overlay(void **state)
{
	static const char text[] = "0 +\n0 0x100000 -\n0x100000 0x100000000 +\n";
	struct bench b;
	uint8_t buffer[8192];
	struct blkalign_run_bad bad;
	struct blkalign_run_options options = { .bad = &bad, .bad_count = 1, .cow = true };
	const struct blkalign_node *node;
	struct blkalign_run *run;
	const char *paths[1];

	(void)state;
	begin(&b, NULL);
	write_file(b.map, text, strlen(text));
	bad = (struct blkalign_run_bad){ .path = b.source, .map_path = b.map };
	paths[0] = b.source;
	assert_int_equal(blkalign_run_open(&options, paths, 1, &run, NULL), 0);
	assert_int_equal(blkalign_run_node(run, "source.img", &node, NULL), 0);
	assert_int_equal(blkalign_run_read(run, node, 8192, buffer, 4096, NULL), -EIO);
	memset(buffer, 0x5a, sizeof(buffer));
	assert_int_equal(blkalign_run_write(run, node, 8192, buffer, 4096, NULL), 0);
	memset(buffer, 0, sizeof(buffer));
	assert_int_equal(blkalign_run_read(run, node, 8192, buffer, 4096, NULL), 0);
	assert_int_equal(buffer[4095], 0x5a);
	assert_int_equal(blkalign_run_read(run, node, 8192, buffer, 8192, NULL), -EIO);
	assert_int_equal(blkalign_run_close(run, NULL), 0);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrowed), cmocka_unit_test(test_resumed), cmocka_unit_test(test_abandoned),
		cmocka_unit_test(test_overlay),	 cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
