/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parity the slow way: GF(2^8) bit by bit over 0x11d, exponents counted as raid6 defines them. Shares only the addresses with the library. */
#include "crash.h"

static uint8_t times_two(uint8_t v) { return (uint8_t)(v << 1 ^ (v & 0x80 ? 0x1d : 0)); }

/* Row e: every byte times 2^e. */
static const uint8_t *times_power(uint32_t exponent)
{
	static uint8_t table[MEMBERS_MAX][256];

	if (!table[0][1])
		for (unsigned v = 0; v < 256; v++)
			for (uint32_t e = 0; e < MEMBERS_MAX; e++)
				table[e][v] = e ? times_two(table[e - 1][v]) : (uint8_t)v;
	return table[exponent];
}

static bool is_ddf(uint32_t layout) { return layout >= 8 && layout <= 10; }

/* md counts the data members that lie behind Q, around the end, up to this one; the DDF layouts take the slot. */
static uint32_t exponent_of(const struct shape *shape, const struct raid_stripe *stripe, uint32_t slot)
{
	uint32_t exponent = 0;

	if (is_ddf(shape->layout))
		return slot;
	for (uint32_t at = (stripe->q_slot + 1) % shape->members; at != slot; at = (at + 1) % shape->members)
		exponent += at != stripe->p_slot;
	return exponent;
}

static void syndromes(const struct shape *shape, const struct raid_stripe *stripe, const uint8_t *const *sectors, uint8_t *p, uint8_t *q)
{
	memset(p, 0, SECTOR);
	memset(q, 0, SECTOR);
	for (uint32_t slot = 0; slot < shape->members; slot++) {
		const uint8_t *power;

		if (slot == stripe->p_slot || slot == stripe->q_slot)
			continue;
		power = times_power(stripe->q_slot == RAID_SLOT_NONE ? 0 : exponent_of(shape, stripe, slot));
		for (unsigned i = 0; i < SECTOR; i++) {
			p[i] ^= sectors[slot][i];
			q[i] ^= power[sectors[slot][i]];
		}
	}
}

void parity_make(const struct shape *shape, const struct raid_geometry *g, uint8_t *const *images, uint64_t device_sector)
{
	struct raid_stripe stripe = raid_stripe_at(g, device_sector * SECTOR);
	uint64_t at = shape_data_offset(shape) + device_sector * SECTOR;
	const uint8_t *sectors[MEMBERS_MAX];
	uint8_t p[SECTOR], q[SECTOR];

	for (uint32_t slot = 0; slot < shape->members; slot++)
		sectors[slot] = images[slot] + at;
	syndromes(shape, &stripe, sectors, p, q);
	memcpy(images[stripe.p_slot] + at, p, SECTOR);
	if (stripe.q_slot != RAID_SLOT_NONE)
		memcpy(images[stripe.q_slot] + at, q, SECTOR);
}

static bool has(uint8_t *const *images, const uint64_t *valid_bytes, uint32_t slot, uint64_t device_bytes)
{
	return images[slot] && (!valid_bytes || device_bytes < valid_bytes[slot]);
}

static const char *copies_fault(const struct shape *shape, const struct raid_geometry *g, uint8_t *const *images,
				const uint64_t *valid_bytes, uint64_t sector)
{
	uint64_t offset = shape_data_offset(shape);
	const uint8_t *first = NULL;

	for (uint32_t copy = 0; copy < raid_copies(g); copy++) {
		struct raid_place place;
		const uint8_t *at;

		if (raid_locate(g, sector * SECTOR, copy, &place) < 0)
			abort();
		if (!has(images, valid_bytes, place.slot, place.device_bytes))
			continue;
		at = images[place.slot] + offset + place.device_bytes;
		if (first && memcmp(first, at, SECTOR) != 0)
			return "copies of a sector differ";
		first = at;
	}
	return NULL;
}

/* Sectors of all members, the one missing data sector made from P. False when too much is missing to compare anything. */
static bool complete_row(const struct shape *shape, const struct raid_stripe *stripe, uint8_t *const *images, const uint64_t *valid_bytes,
			 uint64_t device_bytes, const uint8_t *sectors[MEMBERS_MAX], uint8_t *made)
{
	uint32_t missing = RAID_SLOT_NONE;

	for (uint32_t slot = 0; slot < shape->members; slot++) {
		sectors[slot] =
			has(images, valid_bytes, slot, device_bytes) ? images[slot] + shape_data_offset(shape) + device_bytes : NULL;
		if (sectors[slot])
			continue;
		if (missing != RAID_SLOT_NONE || stripe->q_slot == RAID_SLOT_NONE)
			return false;
		missing = slot;
	}
	if (missing == RAID_SLOT_NONE || missing == stripe->p_slot || missing == stripe->q_slot)
		return true;
	memset(made, 0, SECTOR);
	for (uint32_t slot = 0; slot < shape->members; slot++)
		for (unsigned i = 0; sectors[slot] && slot != stripe->q_slot && i < SECTOR; i++)
			made[i] ^= sectors[slot][i];
	sectors[missing] = made;
	return true;
}

const char *redundancy_fault(const struct shape *shape, const struct raid_geometry *geometry, uint8_t *const *images,
			     const uint64_t *valid_bytes, uint64_t sync_sector)
{
	struct raid_stripe stripe;
	uint8_t p[SECTOR], q[SECTOR], made[SECTOR];
	const uint8_t *sectors[MEMBERS_MAX];

	if (!shape_has_parity(shape))
		return copies_fault(shape, geometry, images, valid_bytes, sync_sector);
	stripe = raid_stripe_at(geometry, sync_sector * SECTOR);
	if (!complete_row(shape, &stripe, images, valid_bytes, sync_sector * SECTOR, sectors, made))
		return NULL;
	syndromes(shape, &stripe, sectors, p, q);
	if (sectors[stripe.p_slot] && memcmp(sectors[stripe.p_slot], p, SECTOR) != 0)
		return "P does not fit the data";
	if (stripe.q_slot != RAID_SLOT_NONE && sectors[stripe.q_slot] && memcmp(sectors[stripe.q_slot], q, SECTOR) != 0)
		return "Q does not fit the data";
	return NULL;
}
