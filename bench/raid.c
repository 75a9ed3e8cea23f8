/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rates of lib/raid on one core, beside bare isa-l. A rate counts the bytes of all data blocks (7 of them), as snapraid does. Each figure is the median of samples
 * of a few milliseconds of CPU time, taken in turn with its rival's, so that a busy machine hardly changes them. Usage: raid [SAMPLES]
 */
#include <isa-l/raid.h>
#include <stdio.h>
#include <time.h>

#include "raid/raid.h"

#define MEMBERS	     9U
#define SAMPLE_BYTES (64 * MIB) /* of all data blocks together */
#define SAMPLES_MAX  1001U
#define PAGE	     ((size_t)4096)
#define SHIFT	     ((size_t)1792)

static struct raid_geometry md, ddf;
static uint8_t *blocks[MEMBERS], *fresh;
static struct raid_row row;

/* In the order that pq_gen() takes them: data from behind Q, then P and Q. */
static void *by_power[MEMBERS];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Blocks begin 1792 bytes apart within their pages, as snapraid's do, so that they do not all fall into the same sets of the cache. */
static bool make_blocks(const struct raid_geometry *g, size_t length)
{
	uint32_t state = 1;

	row = (struct raid_row){ g, raid_stripe_at(g, 0), blocks, length };
	for (uint32_t slot = 0; slot < MEMBERS; slot++) {
		uint8_t *memory = aligned_alloc(PAGE, length + 5 * PAGE);

		if (!memory)
			return false;
		blocks[slot] = memory + slot * SHIFT;
		for (size_t i = 0; i < length; i++)
			blocks[slot][i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
	}
	for (uint32_t slot = 0; slot < MEMBERS; slot++)
		switch (raid_role_at(&row.stripe, slot)) {
		case RAID_ROLE_DATA:
			by_power[g == &md ? raid_exponent(g, &row.stripe, slot) : slot - (slot > row.stripe.p_slot ? 2 : 0)] = blocks[slot];
			break;
		case RAID_ROLE_P:
			by_power[MEMBERS - 2] = blocks[slot];
			break;
		case RAID_ROLE_Q:
			by_power[MEMBERS - 1] = blocks[slot];
			break;
		}
	raid_generate(&row);
	return true;
}

static void free_blocks(void)
{
	for (uint32_t slot = 0; slot < MEMBERS; slot++)
		free(blocks[slot] - slot * SHIFT);
}

/* --- what is measured --- */

static void bare_pq(void) { pq_gen(MEMBERS, (int)row.length_bytes, by_power); }

static void ours_pq(void) { raid_generate(&row); }

static void recover_two(void)
{
	uint32_t lost[2], count = 0;

	for (uint32_t slot = 0; slot < MEMBERS && count < 2; slot++)
		if (raid_role_at(&row.stripe, slot) == RAID_ROLE_DATA)
			lost[count++] = slot;
	raid_recover(&row, lost, 2);
}

static void recover_one(void)
{
	uint32_t lost = raid_data_slot(row.geometry, &row.stripe, 3);

	raid_recover(&row, &lost, 1);
}

static void compare(void)
{
	if (!raid_consistent(&row))
		abort();
}

static void judge(void)
{
	struct raid_judgement j;

	raid_judge(&row, &j);
}

static void change(void)
{
	uint32_t slot = raid_data_slot(row.geometry, &row.stripe, 2);

	raid_update(row.geometry, &row.stripe, slot, blocks[slot], fresh, blocks[row.stripe.p_slot], blocks[row.stripe.q_slot],
		    row.length_bytes);
}

/* --- how --- */

static double sample(void (*run)(void))
{
	size_t rounds = SAMPLE_BYTES / (row.length_bytes * (MEMBERS - 2)) + 1;
	double begin = seconds();

	for (size_t i = 0; i < rounds; i++)
		run();
	return (double)(rounds * row.length_bytes * (MEMBERS - 2)) / (seconds() - begin) / 1e9;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

static void measure(const char *name, void (*ours)(void), void (*rival)(void), unsigned samples)
{
	double a[SAMPLES_MAX], b[SAMPLES_MAX], mine;

	for (unsigned i = 0; i < samples; i++) {
		a[i] = sample(ours);
		b[i] = rival ? sample(rival) : 0;
	}
	mine = median(a, samples);
	printf("  %s, blocks of %zu KiB: %.1f GB/s", name, row.length_bytes / 1024, mine);
	if (rival)
		printf("; bare pq_gen() %.1f, ratio %.2f", median(b, samples), mine / median(b, samples));
	printf("\n");
}

static bool measure_size(size_t length, unsigned samples)
{
	if (!make_blocks(&md, length))
		return false;
	measure("P and Q", ours_pq, bare_pq, samples);
	measure("do P and Q fit", compare, bare_pq, samples);
	free_blocks();
	if (!make_blocks(&ddf, length))
		return false;
	measure("P and Q, DDF layout", ours_pq, bare_pq, samples);
	free_blocks();
	return true;
}

static bool measure_rest(unsigned samples)
{
	if (!make_blocks(&md, 4096))
		return false;
	measure("do P and Q fit", compare, bare_pq, samples);
	measure("who is wrong (nobody)", judge, NULL, samples);
	measure("one of 7 changes", change, NULL, samples);
	free_blocks();
	if (!make_blocks(&md, 256 * KIB))
		return false;
	measure("recover one data block", recover_one, NULL, samples);
	measure("recover two data blocks", recover_two, NULL, samples);
	free_blocks();
	return true;
}

int main(int argc, char **argv)
{
	unsigned long samples = argc > 1 ? strtoul(argv[1], NULL, 10) : 101;
	uint64_t lengths[MEMBERS];
	bool done;

	if (!samples || samples > SAMPLES_MAX)
		return EXIT_FAILURE;
	for (uint32_t i = 0; i < MEMBERS; i++)
		lengths[i] = 64 * MIB;
	if (raid_geometry_init(&md, &(struct raid_shape){ RAID_6, 2, MIB, MEMBERS, lengths }, NULL) < 0 ||
	    raid_geometry_init(&ddf, &(struct raid_shape){ RAID_6, 8, MIB, MEMBERS, lengths }, NULL) < 0)
		return EXIT_FAILURE;
	fresh = calloc(1, 4096);
	printf("raid6, 7 data + P + Q, bytes of all data blocks per second of CPU time, one core\n");
	done = fresh && measure_size(64 * KIB, (unsigned)samples) && measure_size(256 * KIB, (unsigned)samples) &&
	       measure_size(MIB, (unsigned)samples) && measure_rest((unsigned)samples);
	free(fresh);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
