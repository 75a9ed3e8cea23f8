/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>

#include <isa-l/erasure_code.h>
#include <isa-l/raid.h>

#include "raid/field.h"
#include "raid/kernels.h"
#include "raid/raid.h"
#include "raid/sums.h"

#define WEIGHTED_SOURCES_MAX (FIELD_POWERS + 2)
#define TABLE_BYTES	     32U /* isa-l's per coefficient */

static bool aligned(void *const *blocks, uint32_t count)
{
	uintptr_t all = 0;

	for (uint32_t i = 0; i < count; i++)
		all |= (uintptr_t)blocks[i];
	return all % SUMS_ALIGNMENT == 0;
}

void sums_weighted(uint8_t *const *sources, uint32_t count, const uint8_t *weights, uint8_t *const *destinations,
		   uint32_t destinations_count, size_t length_bytes)
{
	uint8_t tables[TABLE_BYTES * WEIGHTED_SOURCES_MAX * 2], a[WEIGHTED_SOURCES_MAX * 2];
	uint8_t *from[WEIGHTED_SOURCES_MAX], *to[2];

	memcpy(a, weights, (size_t)count * destinations_count);
	memcpy(from, sources, count * sizeof(*from));
	memcpy(to, destinations, destinations_count * sizeof(*to));
	ec_init_tables((int)count, (int)destinations_count, a, tables);
	ec_encode_data((int)length_bytes, (int)count, (int)destinations_count, tables, from, to);
}

void sums_add(const uint8_t *source, const uint8_t *weights, uint8_t *const *destinations, uint32_t destinations_count, size_t length_bytes)
{
	uint8_t tables[TABLE_BYTES * 2], a[2], *to[2], *from = (uint8_t *)(uintptr_t)source; /* isa-l's prototypes know no const */

	memcpy(a, weights, destinations_count);
	memcpy(to, destinations, destinations_count * sizeof(*to));
	ec_init_tables(1, (int)destinations_count, a, tables);
	ec_encode_data_update((int)length_bytes, 1, (int)destinations_count, 0, tables, from, to);
}

/* Sources of raid4 and raid5 may be more than the field has powers: by twos, then. */
static void xor_unaligned(uint8_t *const *sources, uint32_t count, uint8_t *destination, size_t length_bytes)
{
	static const uint8_t one = 1;

	memcpy(destination, sources[0], length_bytes);
	for (uint32_t i = 1; i < count; i++)
		sums_add(sources[i], &one, &destination, 1, length_bytes);
}

void sums_xor(uint8_t *const *sources, uint32_t count, uint8_t *destination, size_t length_bytes)
{
	void *array[RAID_MEMBERS_MAX + 1];

	assert(count);
	if (count == 1) { /* isa-l wants two at least */
		memcpy(destination, sources[0], length_bytes);
		return;
	}
	memcpy(array, sources, count * sizeof(*array));
	array[count] = destination;
	if (aligned(array, count + 1))
		xor_gen((int)count + 1, (int)length_bytes, array);
	else
		xor_unaligned(sources, count, destination, length_bytes);
}

/* Sources that are there, closed up, with the powers that they enter Q by. */
struct present {
	uint8_t *sources[FIELD_POWERS];
	uint8_t powers[FIELD_POWERS];
	uint32_t count;
};

static void close_up(struct present *ret, uint8_t *const *sources, uint32_t count, size_t at)
{
	ret->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (sources[i]) {
			ret->sources[ret->count] = sources[i] + at;
			ret->powers[ret->count++] = field_power(i);
		}
}

/* What nothing else takes: Q alone, and the ends of odd lengths. */
static void pq_by_tables(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t at, size_t length_bytes)
{
	uint8_t weights[FIELD_POWERS * 2], *destinations[2];
	uint32_t rows = 0;
	struct present there;

	if (at == length_bytes)
		return;
	close_up(&there, sources, count, at);
	if (p) {
		memset(weights, 1, there.count);
		destinations[rows++] = p + at;
	}
	memcpy(weights + (size_t)rows * there.count, there.powers, there.count);
	destinations[rows++] = q + at;
	sums_weighted(there.sources, there.count, weights, destinations, rows, length_bytes - at);
}

/* Returns how many of the bytes are done. */
static size_t pq_gapless(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length_bytes)
{
	size_t whole = round_down_u64(length_bytes, SUMS_ALIGNMENT);
	void *array[FIELD_POWERS + 2];

	memcpy(array, sources, count * sizeof(*array));
	array[count] = p;
	array[count + 1] = q;
	if (whole)
		pq_gen((int)count + 2, (int)whole, array);
	return whole;
}

static size_t pq_by_kernel(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length_bytes)
{
	const struct raid_kernel *kernel = raid_kernel_best();
	size_t whole = kernel->make ? round_down_u64(length_bytes, KERNEL_BYTES) : 0;

	if (whole)
		kernel->make(sources, count, p, q, whole);
	return whole;
}

void sums_pq(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length_bytes)
{
	uintptr_t all = (uintptr_t)p | (uintptr_t)q;
	size_t done = 0;
	bool gaps = false;

	for (uint32_t i = 0; i < count; i++) {
		all |= (uintptr_t)sources[i];
		gaps |= !sources[i];
	}
	if (!q) {
		struct present there;

		close_up(&there, sources, count, 0);
		sums_xor(there.sources, there.count, p, length_bytes);
		return;
	}
	if (p && !gaps && all % SUMS_ALIGNMENT == 0)
		done = pq_gapless(sources, count, p, q, length_bytes);
	else if (p)
		done = pq_by_kernel(sources, count, p, q, length_bytes);
	pq_by_tables(sources, count, p, q, done, length_bytes);
}
