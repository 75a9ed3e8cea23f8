/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Rows of blocks with random contents for the tests of parity. */
#ifndef UNIT_RAID_ROWS_H
#define UNIT_RAID_ROWS_H

#include "unit.h"

#include "raid/raid.h"
#include "raid/reference.h"

#define ROWS_CHUNK (64 * KIB)

static const uint32_t raid6_layouts[] = { 0, 1, 2, 3, 4, 5, 8, 9, 10, 16, 17, 18, 19, 20 };

static uint64_t rows_seed = 1;
/** xorshift64*: the same numbers in every run. */
static inline uint32_t rows_random(void)
{
	rows_seed ^= rows_seed >> 12;
	rows_seed ^= rows_seed << 25;
	rows_seed ^= rows_seed >> 27;
	return (uint32_t)(rows_seed * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}
static inline uint32_t rows_below(uint32_t bound) { return (uint32_t)((uint64_t)rows_random() * bound >> 32); }

static inline void rows_fill(uint8_t *block, size_t length)
{
	for (size_t i = 0; i < length; i++)
		block[i] = (uint8_t)rows_random();
}

static inline struct raid_geometry rows_geometry(int32_t level, uint32_t layout, uint32_t members)
{
	uint64_t lengths[RAID_MEMBERS_MAX];
	struct raid_geometry g;
	struct blkalign_error err = { 0 };

	for (uint32_t i = 0; i < members; i++)
		lengths[i] = 300 * ROWS_CHUNK;
	if (raid_geometry_init(&g, &(struct raid_shape){ level, layout, ROWS_CHUNK, members, lengths }, &err) < 0)
		fail_msg("level %d layout %u members %u: %s", level, layout, members, err.message);
	return g;
}

/** A row whose blocks lie in memory of their own, each moved by up to `misalign` bytes. */
struct rows_row {
	struct raid_row row;
	uint8_t **blocks;
	uint8_t *memory;
	size_t stride;
};

static inline void rows_new(struct rows_row *r, const struct raid_geometry *g, uint64_t stripe, size_t length, uint32_t misalign)
{
	r->stride = round_up_u64(length + 64, 64);
	r->blocks = calloc(g->members, sizeof(*r->blocks));
	r->memory = aligned_alloc(64, g->members * r->stride);
	assert_true(r->blocks && r->memory);
	for (uint32_t slot = 0; slot < g->members; slot++) {
		r->blocks[slot] = r->memory + slot * r->stride + (misalign ? rows_below(misalign + 1) : 0);
		rows_fill(r->blocks[slot], length);
	}
	r->row = (struct raid_row){ g, raid_stripe_at(g, stripe * g->chunk_bytes), r->blocks, length };
}

static inline void rows_done(struct rows_row *r)
{
	free(r->blocks);
	free(r->memory);
}

/** All that the row's memory holds, to compare with later. */
static inline uint8_t *rows_keep(const struct rows_row *r)
{
	uint8_t *copy = malloc(r->row.geometry->members * r->stride);

	assert_non_null(copy);
	memcpy(copy, r->memory, r->row.geometry->members * r->stride);
	return copy;
}

static inline void rows_expect(const struct rows_row *r, const uint8_t *kept, const char *what)
{
	if (memcmp(kept, r->memory, r->row.geometry->members * r->stride))
		fail_msg("%s: level %d layout %u members %u stripe %lu length %zu", what, r->row.geometry->level, r->row.geometry->layout,
			 r->row.geometry->members, r->row.stripe.number, r->row.length_bytes);
}

#endif
