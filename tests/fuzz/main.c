/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drives a fuzz target without libFuzzer, with any compiler and sanitizer:
 *
 *   fuzz_X FILE-OR-FOLDER...                 replay the seeds
 *   fuzz_X --mutate SEED COUNT FOLDER...     COUNT inputs, mutated from the seeds by a generator that SEED determines
 *
 * Mutations are made here and checksums are mended in the target, so that the parser is reached.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

#define INPUT_MAX (4U << 20)

static struct {
	uint8_t *data;
	size_t size;
} seeds[4096];
static size_t seed_count;

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static void load(const char *path)
{
	struct stat st;
	struct dirent **names;
	FILE *f;
	int n;

	if (stat(path, &st) < 0) {
		perror(path);
		exit(2);
	}
	if (S_ISDIR(st.st_mode)) {
		n = scandir(path, &names, NULL, by_name);
		for (int i = 0; i < n; i++) {
			char child[4096];

			if (names[i]->d_name[0] != '.') {
				snprintf(child, sizeof(child), "%s/%s", path, names[i]->d_name);
				load(child);
			}
			free(names[i]);
		}
		free(names);
		return;
	}
	f = fopen(path, "rb");
	if (!f || seed_count == sizeof(seeds) / sizeof(seeds[0])) {
		perror(path);
		exit(2);
	}
	seeds[seed_count].data = malloc(INPUT_MAX);
	seeds[seed_count].size = fread(seeds[seed_count].data, 1, INPUT_MAX, f);
	seed_count++;
	fclose(f);
}

/* xorshift64*: small, seeded, the same everywhere. */
static uint64_t state;
static uint64_t rnd(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return below ? (state * UINT64_C(2685821657736338717)) % below : 0;
}

static void mutate_once(uint8_t *d, size_t *size)
{
	static const uint64_t interesting[] = { 0,	    1,		0x7f,	   0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff,
						0x80000000, UINT64_MAX, INT64_MAX, 512,	 4096,	 0xfffe, 0xfffd };
	size_t at = rnd(*size ? *size : 1), width = (size_t)1 << rnd(4);
	uint64_t v = interesting[rnd(sizeof(interesting) / sizeof(interesting[0]))];

	if (!*size)
		return;
	switch (rnd(6)) {
	case 0:
		d[at] ^= (uint8_t)(1U << rnd(8));
		break;
	case 1:
		d[at] = (uint8_t)rnd(256);
		break;
	case 2:
		for (size_t i = 0; i < width && at + i < *size; i++)
			d[at + i] = (uint8_t)(v >> 8 * i);
		break;
	case 3: /* copy one part over another */
		for (size_t from = rnd(*size), n = rnd(64); n-- && at < *size && from < *size; at++, from++)
			d[at] = d[from];
		break;
	case 4:
		if (rnd(8) == 0)
			*size = at;
		break;
	default: /* add a small number, little endian */
		for (size_t i = 0, carry = rnd(16); i < width && at + i < *size; i++, carry >>= 8)
			d[at + i] = (uint8_t)(d[at + i] + carry);
		break;
	}
}

static void mutate(uint64_t seed, uint64_t count)
{
	uint8_t *input = malloc(INPUT_MAX);

	for (uint64_t n = 0; n < count; n++) {
		size_t pick, size;
		uint8_t *exact;

		/* Every input has a state of its own, so that one can be repeated alone: --mutate SEED+N 1. */
		state = (seed + n) * UINT64_C(0x9e3779b97f4a7c15) | 1;
		rnd(1);
		pick = rnd(seed_count);
		size = seeds[pick].size;
		memcpy(input, seeds[pick].data, size);
		for (uint64_t times = 1 + rnd(8); times--;)
			mutate_once(input, &size);
		exact = malloc(size ? size : 1); /* of just that size, so that the sanitizer sees each byte read beyond */
		memcpy(exact, input, size);
		LLVMFuzzerTestOneInput(exact, size);
		free(exact);
	}
	free(input);
	printf("%" PRIu64 " mutated inputs from %zu seeds, seed %" PRIu64 ": no fault\n", count, seed_count, seed);
}

int main(int argc, char **argv)
{
	bool mutating = argc > 4 && !strcmp(argv[1], "--mutate");

	for (int i = mutating ? 4 : 1; i < argc; i++)
		load(argv[i]);
	if (!seed_count) {
		fprintf(stderr, "usage: %s [--mutate SEED COUNT] FILE-OR-FOLDER...\n", argv[0]);
		return 2;
	}
	if (mutating) {
		mutate(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
	} else {
		for (size_t i = 0; i < seed_count; i++)
			LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].size);
		printf("%zu seeds: no fault\n", seed_count);
	}
	for (size_t i = 0; i < seed_count; i++)
		free(seeds[i].data);
	return 0;
}
