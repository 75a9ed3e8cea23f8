/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One open stack, many threads, as the nbdkit plugin uses it: every thread writes blocks of its own, which lie between those of the others in the same
 * stripes, reads them back and flushes, while all read everywhere. At the end, and after closing and opening again, each block holds what was written last.
 *
 *   parallel read|cow|rw MEMBER...
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <blkalign/blkalign.h>

#define THREADS	    8U
#define ROUNDS	    400U
#define BLOCK_BYTES 4096U
#define BLOCKS_MAX  8192U /* of the beginning: the more threads meet in a stripe */

static struct blkalign_run *run;
static const struct blkalign_node *node;
static uint32_t versions[BLOCKS_MAX]; /* of each block's last write; 0: as found. Used by the owner only */
static uint32_t blocks;
static bool writing;

static void die(const char *what, uint32_t block, const struct blkalign_error *err)
{
	fprintf(stderr, "%s, block %" PRIu32 ": %s: %s\n", what, block, err ? err->where : "", err ? err->message : "");
	exit(EXIT_FAILURE);
}

static void fill(uint64_t *data, uint32_t block, uint32_t version)
{
	for (uint32_t i = 0; i < BLOCK_BYTES / 8; i++) {
		uint64_t sector = (uint64_t)block * (BLOCK_BYTES / 512) + i / 64;

		/* As found: every sector of a golden array is filled with its own number. */
		data[i] = version ? ((uint64_t)block << 32 | version) * UINT64_C(0x9e3779b97f4a7c15) + i : sector;
	}
}

static void expect(uint32_t block, uint32_t version)
{
	uint64_t found[BLOCK_BYTES / 8], wanted[BLOCK_BYTES / 8];
	struct blkalign_error err = { 0 };

	fill(wanted, block, version);
	if (blkalign_run_read(run, node, (uint64_t)block * BLOCK_BYTES, found, BLOCK_BYTES, &err) < 0)
		die("read", block, &err);
	if (memcmp(found, wanted, BLOCK_BYTES) != 0)
		die("wrong contents", block, NULL);
}

static void write_block(uint32_t block)
{
	uint64_t data[BLOCK_BYTES / 8];
	struct blkalign_error err = { 0 };

	fill(data, block, ++versions[block]);
	if (blkalign_run_write(run, node, (uint64_t)block * BLOCK_BYTES, data, BLOCK_BYTES, &err) < 0)
		die("write", block, &err);
	expect(block, versions[block]);
}

static void read_anywhere(uint32_t random)
{
	uint8_t *buffer = malloc(1 << 18);
	uint64_t size = blkalign_run_size(run, node), length = 1 + random % (1 << 18);
	struct blkalign_error err = { 0 };
	bool zero;

	if (!buffer || blkalign_run_read(run, node, random * UINT64_C(7919) % (size - length), buffer, length, &err) < 0)
		die("read anywhere", 0, &err);
	free(buffer);
	if (blkalign_run_extent(run, node, random % size, size - random % size, &zero, &length, &err) < 0)
		die("extent", 0, &err);
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525U + 1013904223U;
	return *state >> 8;
}

static void *work(void *number)
{
	uint32_t me = (uint32_t)(uintptr_t)number, state = me + 1;
	struct blkalign_error err = { 0 };

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t own = next(&state) % (blocks / THREADS) * THREADS + me;

		if (writing)
			write_block(own);
		expect(own, versions[own]);
		if (i % 8 == 0)
			read_anywhere(next(&state));
		if (writing && i % 32 == 0 && blkalign_run_flush(run, node, &err) < 0)
			die("flush", own, &err);
	}
	return NULL;
}

static void open_run(const struct blkalign_run_options *options, const char *const *members, size_t count)
{
	struct blkalign_error err = { 0 };

	if (blkalign_run_open(options, members, count, &run, &err) < 0 || blkalign_run_node(run, NULL, &node, &err) < 0)
		die("open", 0, &err);
}

static void close_run(void)
{
	struct blkalign_error err = { 0 };

	if (blkalign_run_close(run, &err) < 0)
		die("close", 0, &err);
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			die("no thread", 0, NULL);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < blocks; i++)
		expect(i, versions[i]);
}

int main(int argc, char **argv)
{
	const char *const *members = (const char *const *)argv + 2;
	size_t count = argc > 2 ? (size_t)argc - 2 : 0;
	struct blkalign_run_options options = { .writable = count && !strcmp(argv[1], "rw"), .cow = count && !strcmp(argv[1], "cow") };

	if (!count)
		return EXIT_FAILURE;
	writing = options.writable || options.cow;
	open_run(&options, members, count);
	blocks = (uint32_t)(blkalign_run_size(run, node) / BLOCK_BYTES);
	if (blocks > BLOCKS_MAX)
		blocks = BLOCKS_MAX;
	run_threads();
	close_run();
	open_run(NULL, members, count);
	for (uint32_t i = 0; i < blocks; i++)
		expect(i, options.writable ? versions[i] : 0);
	close_run();
	puts("ok");
	return EXIT_SUCCESS;
}
