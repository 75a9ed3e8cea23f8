/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lost blocks from the others. Every lost block is a weighted sum of blocks that are left, so there is one loop, and what differs from case to case are the
 * weights. With p and q for P and Q without the data that is left:
 *
 *   data x        from P:      D_x = p
 *   data x, P     from Q:      D_x = q / g^x                    P = sum of the data
 *   data x, Q     from P:      D_x = p                          Q = sum of g^j D_j
 *   data x, y     from P, Q:   D_x = (g^y p + q) / (g^x + g^y)  D_y likewise
 */
#include "raid/field.h"
#include "raid/raid_priv.h"
#include "raid/sums.h"

#define LEFT_MAX (FIELD_POWERS + 2)

/* The blocks that are left, and each one's share in P's and in Q's equation: 1 and g^e for data, 1 and 0 for P, 0 and 1 for Q. */
struct left {
	uint8_t *blocks[LEFT_MAX];
	uint8_t in_p[LEFT_MAX];
	uint8_t in_q[LEFT_MAX];
	uint32_t count;
};

/* A lost block as so many times P's equation and so many times Q's. */
struct answer {
	uint8_t *block; /* NULL: not wanted */
	uint8_t by_p;
	uint8_t by_q;
};

static uint8_t share_in_q(const struct raid_row *row, uint32_t slot)
{
	switch (raid_role_at(&row->stripe, slot)) {
	case RAID_ROLE_P:
		return 0;
	case RAID_ROLE_Q:
		return 1;
	case RAID_ROLE_DATA:
		break;
	}
	return field_power(raid_exponent(row->geometry, &row->stripe, slot));
}

static void gather_left(const struct raid_row *row, const uint32_t *lost, uint32_t lost_count, struct left *ret)
{
	ret->count = 0;
	for (uint32_t slot = 0; slot < row->geometry->members; slot++) {
		if (slot == lost[0] || (lost_count > 1 && slot == lost[1]))
			continue;
		ret->blocks[ret->count] = row->blocks[slot];
		ret->in_p[ret->count] = slot != row->stripe.q_slot;
		ret->in_q[ret->count++] = share_in_q(row, slot);
	}
}

/* Blocks without weight, as Q where P answers alone, are not read: they are closed up. */
static uint32_t weigh(const struct left *left, const struct answer *answers, uint32_t rows, uint8_t **ret_blocks,
		      uint8_t (*ret_weights)[LEFT_MAX])
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < left->count; i++) {
		uint8_t any = 0;

		for (uint32_t r = 0; r < rows; r++) {
			ret_weights[r][used] = field_times(answers[r].by_p, left->in_p[i]) ^ field_times(answers[r].by_q, left->in_q[i]);
			any |= ret_weights[r][used];
		}
		ret_blocks[used] = left->blocks[i];
		used += any != 0;
	}
	return used;
}

static void answer(const struct left *left, const struct answer *answers, uint32_t rows, size_t length_bytes)
{
	uint8_t weights[2][LEFT_MAX], packed[2 * LEFT_MAX], *blocks[LEFT_MAX], *wanted[2];
	uint32_t used = weigh(left, answers, rows, blocks, weights);

	for (uint32_t r = 0; r < rows; r++) {
		memcpy(packed + (size_t)r * used, weights[r], used);
		wanted[r] = answers[r].block;
	}
	if (rows == 1 && answers[0].by_p == 1 && !answers[0].by_q)
		sums_xor(blocks, used, wanted[0], length_bytes);
	else if (rows)
		sums_weighted(blocks, used, packed, wanted, rows, length_bytes);
}

/* raid4, raid5: whatever is lost is the sum of the others. */
static void recover_xor(const struct raid_row *row, uint32_t lost)
{
	uint8_t *others[RAID_MEMBERS_MAX];
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < row->geometry->members; slot++)
		if (slot != lost)
			others[count++] = row->blocks[slot];
	if (row->blocks[lost])
		sums_xor(others, count, row->blocks[lost], row->length_bytes);
}

/* Data slot `x` and perhaps one more. */
static void answers_for(const struct raid_row *row, uint32_t x, uint32_t other, struct answer *ret)
{
	uint8_t gx = share_in_q(row, x), gy;

	ret[0] = (struct answer){ row->blocks[x], 1, 0 };
	if (other == RAID_SLOT_NONE)
		return;
	gy = share_in_q(row, other);
	ret[1].block = row->blocks[other];
	switch (raid_role_at(&row->stripe, other)) {
	case RAID_ROLE_P:
		ret[0].by_p = 0;
		ret[0].by_q = ret[1].by_q = field_inverse(gx);
		ret[1].by_p = 1;
		return;
	case RAID_ROLE_Q:
		ret[1].by_p = gx;
		ret[1].by_q = 1;
		return;
	case RAID_ROLE_DATA:
		break;
	}
	ret[0].by_q = ret[1].by_q = field_inverse(gx ^ gy);
	ret[0].by_p = field_times(gy, ret[0].by_q);
	ret[1].by_p = field_times(gx, ret[0].by_q);
}

static void recover_data(const struct raid_row *row, uint32_t x, uint32_t other, const uint32_t *lost, uint32_t lost_count)
{
	struct answer answers[2] = { 0 };
	struct left left;
	uint32_t rows = lost_count;

	answers_for(row, x, other, answers);
	gather_left(row, lost, lost_count, &left);
	if (rows == 2 && !answers[1].block)
		rows = 1;
	if (!answers[0].block) {
		answers[0] = answers[1];
		rows--;
	}
	answer(&left, answers, rows, row->length_bytes);
}

static void recover_parity(const struct raid_row *row, const uint32_t *lost, uint32_t lost_count)
{
	uint8_t *wanted[2] = { NULL, NULL };

	for (uint32_t i = 0; i < lost_count; i++)
		wanted[lost[i] == row->stripe.q_slot] = row->blocks[lost[i]];
	parity_compute(row, 0, row->length_bytes, wanted[0], wanted[1]);
}

int raid_recover(const struct raid_row *row, const uint32_t *lost, uint32_t lost_count)
{
	const struct raid_stripe *s = &row->stripe;
	bool data[2];

	if (lost_count > raid_redundancy(row->geometry))
		return -EIO;
	if (!lost_count)
		return 0;
	if (s->q_slot == RAID_SLOT_NONE) {
		recover_xor(row, lost[0]);
		return 0;
	}
	for (uint32_t i = 0; i < lost_count; i++)
		data[i] = raid_role_at(s, lost[i]) == RAID_ROLE_DATA;
	if (data[0])
		recover_data(row, lost[0], lost_count > 1 ? lost[1] : RAID_SLOT_NONE, lost, lost_count);
	else if (lost_count > 1 && data[1])
		recover_data(row, lost[1], lost[0], lost, lost_count);
	else
		recover_parity(row, lost, lost_count);
	return 0;
}
