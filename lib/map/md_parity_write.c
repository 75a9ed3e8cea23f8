/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * New parity for rows that are written: from what needs fewer reads. Where the old parity may not fit, never from it.
 */
#include "map/md_priv.h"

/* What the rows have lost, and what they can do without. */
struct losses {
	bool p_wanted, q_wanted;  /* the member is there to take it */
	uint32_t written, others; /* lost data blocks */
	bool parity;		  /* a wanted one cannot be read */
};

static struct losses losses_of(const struct md_batch *b, const struct md_band *band)
{
	const struct raid_stripe *s = &band->stripe;
	struct losses l = {
		.p_wanted = b->state->members[s->p_slot].dev != NULL,
		.q_wanted = s->q_slot != RAID_SLOT_NONE && b->state->members[s->q_slot].dev != NULL,
	};

	if (!band->lost_count)
		return l;
	l.parity = (l.p_wanted && md_is_lost(band, s->p_slot)) || (l.q_wanted && md_is_lost(band, s->q_slot));
	for (uint32_t i = 0; i < b->md->data_members; i++) {
		if (!md_is_lost(band, raid_data_slot(&b->md->geometry, s, i)))
			continue;
		if (md_in_band(band, i))
			l.written++;
		else
			l.others++;
	}
	return l;
}

static int read_others(struct md_batch *b, struct md_band *band)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < b->md->data_members; i++) {
		uint32_t slot = raid_data_slot(&b->md->geometry, &band->stripe, i);

		if (!md_in_band(band, i))
			r = md_add_block(b, band, slot, md_lane(b, band, slot));
	}
	return r;
}

static int read_old(struct md_batch *b, struct md_band *band, const struct losses *l)
{
	int r = 0;

	for (uint32_t i = band->first; r >= 0 && i < band->first + band->count; i++) {
		uint32_t slot = raid_data_slot(&b->md->geometry, &band->stripe, i);

		r = md_add_block(b, band, slot, md_lane(b, band, slot));
	}
	if (r >= 0 && l->p_wanted)
		r = md_add_block(b, band, band->stripe.p_slot, md_lane(b, band, band->stripe.p_slot));
	if (r >= 0 && l->q_wanted)
		r = md_add_block(b, band, band->stripe.q_slot, md_lane(b, band, band->stripe.q_slot));
	return r;
}

static int plan_band(struct md_batch *b, struct md_band *band)
{
	struct losses l = losses_of(b, band);
	bool can_reconstruct = !l.others, can_modify = !l.written && !l.parity && !band->doubtful;
	uint32_t others = b->md->data_members - band->count, old = band->count + l.p_wanted + l.q_wanted;
	int r;

	if (band->lost_count > raid_redundancy(&b->md->geometry))
		return md_refuse(b, band, md_no_parity);
	band->how = MD_DIRECT;
	if (!l.p_wanted && !l.q_wanted)
		return 0;
	if (!can_reconstruct && !can_modify)
		return md_plan_recover(b, band, false);
	band->how = can_reconstruct && (!can_modify || others <= old) ? MD_RECONSTRUCT : MD_MODIFY;
	r = md_need_blocks(b, band);
	if (r < 0)
		return r;
	return band->how == MD_MODIFY ? read_old(b, band, &l) : read_others(b, band);
}

/* The lanes that new parity, and what the log wants, are computed in. */
static int give_lanes(struct md_batch *b, struct md_band *band)
{
	if (band->how == MD_DIRECT)
		return 0;
	if (!md_lane(b, band, band->stripe.p_slot))
		return -ENOMEM;
	if (band->stripe.q_slot != RAID_SLOT_NONE && !md_lane(b, band, band->stripe.q_slot))
		return -ENOMEM;
	if (!b->md->has_log || band->count == b->md->data_members)
		return 0;
	band->partial = md_lane(b, band, b->md->geometry.members);
	return band->partial ? 0 : -ENOMEM;
}

int md_plan_write_band(struct md_batch *b, struct md_band *band)
{
	int r = plan_band(b, band);

	return r < 0 ? r : give_lanes(b, band);
}

static uint8_t *parity_lane(const struct md_batch *b, const struct md_band *band, uint32_t slot)
{
	if (slot == RAID_SLOT_NONE || !b->state->members[slot].dev)
		return NULL;
	return band->lanes[slot] + (band->device_bytes - b->pieces.data[band->piece].range.offset_bytes);
}

static const uint8_t zeros[MD_LOG_SLICE_BYTES];

/* Xor of the data that is not written. */
static void partial_from_others(struct md_batch *b, struct md_band *band, const struct raid_row *row)
{
	for (uint32_t i = band->first; i < band->first + band->count; i++)
		band->blocks[raid_data_slot(row->geometry, &band->stripe, i)] = (uint8_t *)(uintptr_t)zeros;
	band->blocks[band->stripe.p_slot] = band->partial;
	(void)b;
	raid_generate(row);
}

static void reconstruct(struct md_batch *b, struct md_band *band, const struct raid_row *row)
{
	if (band->partial)
		partial_from_others(b, band, row);
	for (uint32_t i = band->first; i < band->first + band->count; i++)
		band->blocks[raid_data_slot(row->geometry, &band->stripe, i)] = md_caller_block(b, band, i);
	band->blocks[band->stripe.p_slot] = parity_lane(b, band, band->stripe.p_slot);
	if (band->stripe.q_slot != RAID_SLOT_NONE)
		band->blocks[band->stripe.q_slot] = parity_lane(b, band, band->stripe.q_slot);
	raid_generate(row);
}

static void modify(struct md_batch *b, struct md_band *band, const struct raid_row *row)
{
	uint8_t *p = parity_lane(b, band, band->stripe.p_slot), *q = parity_lane(b, band, band->stripe.q_slot);

	if (band->partial)
		memcpy(band->partial, p, band->length_bytes);
	for (uint32_t i = band->first; i < band->first + band->count; i++) {
		uint32_t slot = raid_data_slot(row->geometry, &band->stripe, i);
		const uint8_t *old = band->blocks[slot];

		if (band->partial)
			raid_update(row->geometry, &band->stripe, slot, old, zeros, band->partial, NULL, band->length_bytes);
		raid_update(row->geometry, &band->stripe, slot, old, md_caller_block(b, band, i), p, q, band->length_bytes);
	}
}

int md_compute_parity(struct md_batch *b, struct md_band *band)
{
	struct raid_row row = {
		.geometry = &b->md->geometry, .stripe = band->stripe, .blocks = band->blocks, .length_bytes = band->length_bytes
	};

	if (band->how == MD_DIRECT)
		return 0;
	if (band->how == MD_RECOVER && md_recover_band(b, band) < 0)
		return -EIO;
	if (band->how == MD_MODIFY)
		modify(b, band, &row);
	else
		reconstruct(b, band, &row);
	return 0;
}

static int add_write(struct md_batch *b, const struct md_band *band, uint32_t slot, uint8_t *block)
{
	if (!b->state->members[slot].dev)
		return 0;
	return md_add_leaf(b, band->piece, slot, DEV_WRITE, band->device_bytes, block, band->length_bytes);
}

int md_add_parity_writes(struct md_batch *b, const struct md_band *band)
{
	int r = 0;

	for (uint32_t i = band->first; r >= 0 && i < band->first + band->count; i++)
		r = add_write(b, band, raid_data_slot(&b->md->geometry, &band->stripe, i), md_caller_block(b, band, i));
	if (band->how == MD_DIRECT || r < 0)
		return r;
	r = add_write(b, band, band->stripe.p_slot, parity_lane(b, band, band->stripe.p_slot));
	if (r >= 0 && band->stripe.q_slot != RAID_SLOT_NONE)
		r = add_write(b, band, band->stripe.q_slot, parity_lane(b, band, band->stripe.q_slot));
	return r;
}
