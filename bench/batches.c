/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches of reads through dev_run() beside bare pread of the same ranges, in turn. Usage: batches FOLDER: nine files of 64 MiB are made there, and removed. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "dev/dev.h"

#define FILES	   9U
#define FILE_BYTES (64 * MIB)
#define DEEP	   2U /* requests of a batch on each file */
#define RUNS	   7U

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool make(const char *folder, struct dev *ret[FILES])
{
	static uint8_t block[MIB];
	char path[512];

	memset(block, 1, sizeof(block));
	for (unsigned i = 0; i < FILES; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/blkalign-batches-XXXXXX", folder);
		fd = mkstemp(path);
		for (uint64_t n = 0; fd >= 0 && n < FILE_BYTES / MIB; n++)
			if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
				return false;
		if (fd < 0 || dev_open_file(path, &ret[i], NULL) < 0)
			return false;
		close(fd);
		unlink(path);
	}
	return true;
}

static bool batch(struct dev *const devs[FILES], uint64_t offset, size_t length, uint8_t *buffer, bool plain)
{
	struct dev_request q[FILES * DEEP];

	for (size_t i = 0; i < ARRAY_SIZE(q); i++)
		q[i] = (struct dev_request){ .dev = devs[i % FILES],
					     .op = DEV_READ,
					     .offset_bytes = offset + i / FILES * length,
					     .length_bytes = length,
					     .buffer = buffer + i * length };
	if (!plain)
		return dev_run(q, ARRAY_SIZE(q), NULL) == 0;
	for (size_t i = 0; i < ARRAY_SIZE(q); i++)
		if (pread(q[i].dev->leaf_fd, q[i].buffer, length, (off_t)q[i].offset_bytes) != (ssize_t)length)
			return false;
	return true;
}

/* Best of RUNS, in GB/s. */
static double rate(struct dev *const devs[FILES], size_t length, uint8_t *buffer, bool plain)
{
	double best = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		double begin = seconds(), r;

		for (uint64_t offset = 0; offset < FILE_BYTES; offset += DEEP * length)
			if (!batch(devs, offset, length, buffer, plain))
				return -1;
		r = (double)(FILES * FILE_BYTES) / (seconds() - begin) / 1e9;
		best = r > best ? r : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	struct dev *devs[FILES] = { NULL };
	uint8_t *buffer = aligned_alloc(4096, FILES * DEEP * MIB);

	if (argc != 2 || !buffer || !make(argv[1], devs)) {
		fprintf(stderr, "usage: batches FOLDER (room for 576 MiB)\n");
		return 1;
	}
	memset(buffer, 1, FILES * DEEP * MIB);
	for (size_t length = 4 * KIB; length <= MIB; length *= 4)
		printf("%4zu KiB: dev_run %.2f GB/s, pread %.2f GB/s\n", length / 1024, rate(devs, length, buffer, false),
		       rate(devs, length, buffer, true));
	for (unsigned i = 0; i < FILES; i++)
		dev_close(devs[i]);
	free(buffer);
	return 0;
}
