/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From data to parity: computed anew, and carried along when a block changes. */
#include "raid/field.h"
#include "raid/kernels.h"
#include "raid/raid_priv.h"
#include "raid/sums.h"

static uint32_t gather_data(const struct raid_row *row, size_t at, uint8_t **ret)
{
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < row->geometry->members; slot++)
		if (slot != row->stripe.p_slot)
			ret[count++] = row->blocks[slot] + at;
	return count;
}

/* By power of g; NULL where a DDF layout leaves one out. */
static uint32_t gather_by_exponent(const struct raid_row *row, size_t at, uint8_t **ret)
{
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < row->geometry->members; slot++) {
		uint32_t exponent;

		if (raid_role_at(&row->stripe, slot) != RAID_ROLE_DATA)
			continue;
		exponent = raid_exponent(row->geometry, &row->stripe, slot);
		while (count <= exponent)
			ret[count++] = NULL;
		ret[exponent] = row->blocks[slot] + at;
	}
	return count;
}

/* Lengths that no kernel takes, and processors without one: the caller computes and compares. */
bool parity_compare(const struct raid_row *row, size_t at, size_t length_bytes, bool *ret_fits)
{
	const struct raid_kernel *kernel = raid_kernel_best();
	uint8_t *sources[RAID_MEMBERS_MAX];
	bool has_q = row->stripe.q_slot != RAID_SLOT_NONE;
	uint32_t count;

	if (!kernel->fits || length_bytes % KERNEL_BYTES)
		return false;
	count = has_q ? gather_by_exponent(row, at, sources) : gather_data(row, at, sources);
	*ret_fits = kernel->fits(sources, count, row->blocks[row->stripe.p_slot] + at, has_q ? row->blocks[row->stripe.q_slot] + at : NULL,
				 length_bytes);
	return true;
}

void parity_compute(const struct raid_row *row, size_t at, size_t length_bytes, uint8_t *p, uint8_t *q)
{
	uint8_t *sources[RAID_MEMBERS_MAX];
	bool has_q = row->stripe.q_slot != RAID_SLOT_NONE;

	if (!has_q && p)
		sums_xor(sources, gather_data(row, at, sources), p, length_bytes);
	else if (has_q && (p || q))
		sums_pq(sources, gather_by_exponent(row, at, sources), p, q, length_bytes);
}

static void difference(const uint8_t *a, const uint8_t *b, uint8_t *ret, size_t length_bytes)
{
	uint8_t *both[] = { (uint8_t *)(uintptr_t)a, (uint8_t *)(uintptr_t)b }; /* read only: isa-l's prototypes know no const */

	sums_xor(both, 2, ret, length_bytes);
}

void raid_generate(const struct raid_row *row)
{
	uint8_t *q = row->stripe.q_slot == RAID_SLOT_NONE ? NULL : row->blocks[row->stripe.q_slot];

	parity_compute(row, 0, row->length_bytes, row->blocks[row->stripe.p_slot], q);
}

void raid_update(const struct raid_geometry *g, const struct raid_stripe *stripe, uint32_t slot, const uint8_t *old, const uint8_t *new,
		 uint8_t *p, uint8_t *q, size_t length_bytes)
{
	uint8_t delta[SUMS_PIECE_BYTES / 4] __attribute__((aligned(64))), weights[2], *parity[2];
	uint32_t count = 0;

	if (p) {
		weights[count] = 1;
		parity[count++] = p;
	}
	if (q && stripe->q_slot != RAID_SLOT_NONE) {
		weights[count] = field_power(raid_exponent(g, stripe, slot));
		parity[count++] = q;
	}
	for (size_t at = 0; count && at < length_bytes; at += sizeof(delta)) {
		size_t piece = length_bytes - at < sizeof(delta) ? length_bytes - at : sizeof(delta);

		difference(old + at, new + at, delta, piece);
		sums_add(delta, weights, parity, count, piece);
		for (uint32_t i = 0; i < count; i++)
			parity[i] += piece;
	}
}
