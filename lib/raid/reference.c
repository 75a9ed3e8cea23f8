/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "raid/reference.h"

uint8_t reference_times(uint8_t a, uint8_t b)
{
	unsigned product = 0;

	for (unsigned bit = 0; bit < 8; bit++)
		if (b >> bit & 1)
			product ^= (unsigned)a << bit;
	for (unsigned bit = 14; bit >= 8; bit--)
		if (product >> bit & 1)
			product ^= 0x11dU << (bit - 8);
	return (uint8_t)product;
}

uint8_t reference_power(uint32_t exponent)
{
	uint8_t power = 1;

	while (exponent--)
		power = reference_times(power, 2);
	return power;
}

uint32_t reference_exponent(const struct raid_geometry *g, const struct raid_stripe *s, uint32_t slot)
{
	bool ddf = g->layout >= 8 && g->layout <= 10;
	uint32_t at = ddf ? 0 : (s->q_slot + 1) % g->members, exponent = 0;

	if (g->level != RAID_6)
		return 0;
	for (; at != slot; at = (at + 1) % g->members)
		exponent += ddf || at != s->p_slot;
	return exponent;
}

void reference_generate(const struct raid_row *row)
{
	const struct raid_geometry *g = row->geometry;
	uint8_t *p = row->blocks[row->stripe.p_slot], *q = g->level == RAID_6 ? row->blocks[row->stripe.q_slot] : NULL;

	if (p)
		memset(p, 0, row->length_bytes);
	if (q)
		memset(q, 0, row->length_bytes);
	for (uint32_t slot = 0; slot < g->members; slot++) {
		uint8_t weight;

		if (slot == row->stripe.p_slot || slot == row->stripe.q_slot)
			continue;
		weight = reference_power(reference_exponent(g, &row->stripe, slot));
		for (size_t i = 0; i < row->length_bytes; i++) {
			if (p)
				p[i] ^= row->blocks[slot][i];
			if (q)
				q[i] ^= reference_times(weight, row->blocks[slot][i]);
		}
	}
}
