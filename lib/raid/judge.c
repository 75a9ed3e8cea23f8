/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does a row's parity fit its data, and who is wrong if not. With a = P + P' and b = Q + Q' (stored and computed), a byte that is wrong in one member only leaves
 * b = 0 (P), a = 0 (Q) or b = g^e a (data of power e): each differing byte names a member. A member is blamed when all of them name the same.
 *
 * Two members in each other's place leave such traces as well: a = 0 for two data members, b = a for P and Q. So who is blamed is
 * cleared when exchanging any two members makes the row fit.
 */
#include "raid/field.h"
#include "raid/raid_priv.h"
#include "raid/sums.h"

#define JUDGE_BYTES 4096U

struct computed {
	uint8_t p[SUMS_PIECE_BYTES] __attribute__((aligned(64)));
	uint8_t q[SUMS_PIECE_BYTES] __attribute__((aligned(64)));
};

static bool piece_fits(const struct raid_row *row, size_t at, size_t length_bytes, struct computed *c)
{
	const uint8_t *p = row->blocks[row->stripe.p_slot], *q = NULL;

	if (row->stripe.q_slot != RAID_SLOT_NONE)
		q = row->blocks[row->stripe.q_slot];
	parity_compute(row, at, length_bytes, c->p, q ? c->q : NULL);
	return !memcmp(c->p, p + at, length_bytes) && (!q || !memcmp(c->q, q + at, length_bytes));
}

static size_t piece_at(const struct raid_row *row, size_t at, size_t most)
{
	return row->length_bytes - at < most ? row->length_bytes - at : most;
}

bool raid_consistent(const struct raid_row *row)
{
	struct computed c;
	bool fits = true;

	if (parity_compare(row, 0, row->length_bytes, &fits))
		return fits;
	for (size_t at = 0; fits && at < row->length_bytes; at += sizeof(c.p))
		fits = piece_fits(row, at, piece_at(row, at, sizeof(c.p)), &c);
	return fits;
}

/* What the differing bytes said up to now. */
struct hearing {
	size_t differing_bytes;
	uint32_t accused;
	bool contradicted;
	size_t first; /* differing byte */
	uint8_t first_a;
	uint8_t first_b;
	uint32_t slot_of[FIELD_POWERS]; /* data slot by power, or RAID_SLOT_NONE */
};

static void know_slots(const struct raid_row *row, struct hearing *h)
{
	for (uint32_t e = 0; e < FIELD_POWERS; e++)
		h->slot_of[e] = RAID_SLOT_NONE;
	for (uint32_t slot = 0; slot < row->geometry->members; slot++)
		if (raid_role_at(&row->stripe, slot) == RAID_ROLE_DATA)
			h->slot_of[raid_exponent(row->geometry, &row->stripe, slot)] = slot;
}

static uint32_t named_by(const struct raid_row *row, const struct hearing *h, uint8_t a, uint8_t b)
{
	if (!b)
		return row->stripe.p_slot;
	if (!a)
		return row->stripe.q_slot;
	return h->slot_of[(field_log(b) + FIELD_POWERS - field_log(a)) % FIELD_POWERS];
}

static void hear(const struct raid_row *row, struct hearing *h, size_t at, uint8_t a, uint8_t b)
{
	uint32_t named = row->stripe.q_slot == RAID_SLOT_NONE ? RAID_SLOT_NONE : named_by(row, h, a, b);

	if (!h->differing_bytes++) {
		h->accused = named;
		h->first = at;
		h->first_a = a;
		h->first_b = b;
	}
	h->contradicted |= named == RAID_SLOT_NONE || named != h->accused;
}

static void hear_piece(const struct raid_row *row, struct hearing *h, size_t at, size_t length_bytes, const struct computed *c)
{
	const uint8_t *p = row->blocks[row->stripe.p_slot] + at, *q = NULL;

	if (row->stripe.q_slot != RAID_SLOT_NONE)
		q = row->blocks[row->stripe.q_slot] + at;
	for (size_t i = 0; i < length_bytes; i++) {
		uint8_t a = p[i] ^ c->p[i], b = q ? q[i] ^ c->q[i] : 0;

		if (a || b)
			hear(row, h, at + i, a, b);
	}
}

static uint8_t weight_in_q(const struct raid_row *row, uint32_t slot)
{
	enum raid_role role = raid_role_at(&row->stripe, slot);

	if (role == RAID_ROLE_DATA)
		return field_power(raid_exponent(row->geometry, &row->stripe, slot));
	return role == RAID_ROLE_Q;
}

static bool fits_exchanged(const struct raid_row *row, uint32_t x, uint32_t y)
{
	uint8_t *blocks[FIELD_POWERS + 2];
	struct raid_row other = *row;

	memcpy(blocks, row->blocks, row->geometry->members * sizeof(*blocks));
	blocks[x] = row->blocks[y];
	blocks[y] = row->blocks[x];
	other.blocks = blocks;
	return raid_consistent(&other);
}

/* Exchanging x and y changes a by (their difference) * (the difference of their weights in P), b likewise: one byte rules nearly all pairs out. */
static bool exchange_explains(const struct raid_row *row, const struct hearing *h, uint32_t x, uint32_t y)
{
	uint8_t difference = row->blocks[x][h->first] ^ row->blocks[y][h->first];
	uint8_t in_p = (x == row->stripe.q_slot) ^ (y == row->stripe.q_slot);

	return h->first_a == (in_p ? difference : 0) && h->first_b == field_times(difference, weight_in_q(row, x) ^ weight_in_q(row, y)) &&
	       fits_exchanged(row, x, y);
}

static bool any_exchange_explains(const struct raid_row *row, const struct hearing *h)
{
	for (uint32_t x = 0; x < row->geometry->members; x++)
		for (uint32_t y = x + 1; y < row->geometry->members; y++)
			if (exchange_explains(row, h, x, y))
				return true;
	return false;
}

void raid_judge(const struct raid_row *row, struct raid_judgement *ret)
{
	struct hearing h = { 0 };
	struct computed c;

	if (row->stripe.q_slot != RAID_SLOT_NONE)
		know_slots(row, &h);
	for (size_t at = 0; at < row->length_bytes; at += JUDGE_BYTES)
		if (!piece_fits(row, at, piece_at(row, at, JUDGE_BYTES), &c))
			hear_piece(row, &h, at, piece_at(row, at, JUDGE_BYTES), &c);
	*ret = (struct raid_judgement){ RAID_CANNOT_SAY, RAID_SLOT_NONE, h.differing_bytes };
	if (!h.differing_bytes)
		ret->verdict = RAID_CONSISTENT;
	else if (!h.contradicted && h.differing_bytes >= RAID_BLAME_BYTES && !any_exchange_explains(row, &h)) {
		ret->verdict = RAID_ONE_WRONG;
		ret->slot = h.accused;
	}
}
