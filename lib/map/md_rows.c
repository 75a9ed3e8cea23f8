/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a stripe: cut into bands in which nothing changes, and computed where blocks are lost. */
#include "map/md_priv.h"

static void note_lost(struct md_batch *b, struct md_band *band, uint64_t *run)
{
	if (b->state->whole && !b->exclusions.count)
		return;
	for (uint32_t slot = 0; slot < b->md->geometry.members; slot++) {
		if (md_readable(b, slot, band->device_bytes, run))
			continue;
		if (band->lost_count < ARRAY_SIZE(band->lost))
			band->lost[band->lost_count] = slot;
		band->lost_count++;
	}
}

void md_next_band(struct md_batch *b, uint32_t piece, uint64_t at, struct md_band *ret)
{
	const struct raid_geometry *g = &b->md->geometry;
	const struct md_piece *p = &b->pieces.data[piece];
	struct raid_stripe stripe = raid_stripe_at(g, at);
	struct md_span span = md_span(b->md, p->request, stripe.number);
	uint64_t run = p->range.offset_bytes + p->range.length_bytes - at, row = at % g->chunk_bytes;
	uint32_t first = row < span.from ? span.first + 1 : span.first, end = row < span.to ? span.last + 1 : span.last;

	*ret = (struct md_band){ .piece = piece, .stripe = stripe, .device_bytes = at, .first = first };
	ret->count = end > first ? end - first : 0;
	if (row < span.from)
		md_cut(&run, span.from - row);
	if (row < span.to)
		md_cut(&run, span.to - row);
	note_lost(b, ret, &run);
	ret->doubtful = md_doubtful(b->md, at, &run);
	ret->length_bytes = (size_t)run;
}

uint8_t *md_caller_block(const struct md_batch *b, const struct md_band *band, uint32_t index)
{
	const struct raid_geometry *g = &b->md->geometry;
	const struct dev_request *q = b->pieces.data[band->piece].request;
	uint64_t array_bytes = (band->stripe.number * b->md->data_members + index) * g->chunk_bytes + band->device_bytes % g->chunk_bytes;

	return (uint8_t *)q->buffer + (array_bytes - q->offset_bytes);
}

uint8_t *md_lane(struct md_batch *b, const struct md_band *band, uint32_t slot)
{
	const struct byte_range *rows = &b->pieces.data[band->piece].range;
	size_t lanes_bytes = (b->md->geometry.members + 1) * sizeof(*b->lanes);

	if (!b->lanes) {
		b->lanes = md_scratch_get(b, lanes_bytes);
		if (!b->lanes)
			return NULL;
		memset(b->lanes, 0, lanes_bytes);
	}
	if (!b->lanes[slot])
		b->lanes[slot] = md_scratch_get(b, rows->length_bytes);
	return b->lanes[slot] ? b->lanes[slot] + (band->device_bytes - rows->offset_bytes) : NULL;
}

bool md_is_lost(const struct md_band *band, uint32_t slot)
{
	for (uint32_t i = 0; i < band->lost_count && i < ARRAY_SIZE(band->lost); i++)
		if (band->lost[i] == slot)
			return true;
	return false;
}

int md_refuse(struct md_batch *b, const struct md_band *band, const char *reason)
{
	for (size_t i = 0; i < b->exclusions.count; i++) {
		const struct md_exclusion *x = &b->exclusions.data[i];

		if (md_is_lost(band, x->slot) && x->range.offset_bytes < band->device_bytes + band->length_bytes &&
		    band->device_bytes < x->range.offset_bytes + x->range.length_bytes && reason != md_in_doubt)
			reason = md_slot_reason(b->md, x->slot);
	}
	b->reason = reason;
	return -EIO;
}

int md_add_block(struct md_batch *b, struct md_band *band, uint32_t slot, uint8_t *block)
{
	if (!block)
		return -ENOMEM;
	band->blocks[slot] = block;
	return md_add_leaf(b, band->piece, slot, DEV_READ, band->device_bytes, block, band->length_bytes);
}

int md_need_blocks(struct md_batch *b, struct md_band *band)
{
	size_t size = b->md->geometry.members * sizeof(*band->blocks);

	band->blocks = md_scratch_get(b, size);
	if (!band->blocks)
		return -ENOMEM;
	memset(band->blocks, 0, size);
	return 0;
}

static int read_data(struct md_batch *b, struct md_band *band, bool to_caller, uint32_t *lost_data)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < b->md->data_members; i++) {
		uint32_t slot = raid_data_slot(&b->md->geometry, &band->stripe, i);
		bool wanted = md_in_band(band, i), lost = md_is_lost(band, slot);
		uint8_t *block = NULL;

		*lost_data += lost;
		/* Of a write, what is about to be overwritten is computed only where it cannot be left out. */
		if (!lost || wanted == to_caller) {
			block = wanted && to_caller ? md_caller_block(b, band, i) : md_lane(b, band, slot);
			if (!block)
				return -ENOMEM;
		}
		if (lost)
			band->blocks[slot] = block;
		else
			r = md_add_block(b, band, slot, block);
	}
	return r;
}

/* The slot that is not needed counts as lost, so that the lost ones are all that is not read. */
static void add_lost(struct md_band *band, uint32_t slot)
{
	uint32_t other = band->lost[0];

	if (md_is_lost(band, slot))
		return;
	band->lost[0] = other < slot ? other : slot;
	band->lost[1] = other < slot ? slot : other;
	band->lost_count = 2;
}

static int read_parity(struct md_batch *b, struct md_band *band, uint32_t wanted)
{
	const uint32_t slots[2] = { band->stripe.p_slot, band->stripe.q_slot };
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < 2 && slots[i] != RAID_SLOT_NONE; i++) {
		if (md_is_lost(band, slots[i]))
			continue;
		if (!wanted) {
			add_lost(band, slots[i]);
			continue;
		}
		wanted--;
		r = md_add_block(b, band, slots[i], md_lane(b, band, slots[i]));
	}
	return r;
}

int md_plan_recover(struct md_batch *b, struct md_band *band, bool to_caller)
{
	uint32_t lost_data = 0;
	int r;

	if (band->lost_count > raid_redundancy(&b->md->geometry))
		return md_refuse(b, band, md_no_parity);
	if (band->doubtful && !b->md->use_doubtful)
		return md_refuse(b, band, md_in_doubt);
	band->how = MD_RECOVER;
	r = md_need_blocks(b, band);
	if (r >= 0)
		r = read_data(b, band, to_caller, &lost_data);
	return r < 0 ? r : read_parity(b, band, lost_data);
}

int md_recover_band(struct md_batch *b, const struct md_band *band)
{
	struct raid_row row = {
		.geometry = &b->md->geometry, .stripe = band->stripe, .blocks = band->blocks, .length_bytes = band->length_bytes
	};

	return raid_recover(&row, band->lost, band->lost_count);
}

static bool asks_for_lost(const struct md_batch *b, const struct md_band *band)
{
	if (!band->lost_count)
		return false;
	for (uint32_t i = 0; i < band->count; i++) {
		uint32_t slot = raid_data_slot(&b->md->geometry, &band->stripe, band->first + i);
		uint64_t run = 1;

		if (!md_readable(b, slot, band->device_bytes, &run))
			return true;
	}
	return false;
}

static int read_direct(struct md_batch *b, struct md_band *band)
{
	int r = 0;

	band->how = MD_DIRECT;
	for (uint32_t i = band->first; r >= 0 && i < band->first + band->count; i++)
		r = md_add_leaf(b, band->piece, raid_data_slot(&b->md->geometry, &band->stripe, i), DEV_READ, band->device_bytes,
				md_caller_block(b, band, i), band->length_bytes);
	return r;
}

static int plan_read_band(struct md_batch *b, struct md_band *band)
{
	return asks_for_lost(b, band) ? md_plan_recover(b, band, true) : read_direct(b, band);
}

int md_plan_rows(struct md_batch *b, uint32_t piece, enum dev_op op)
{
	uint64_t at = b->pieces.data[piece].range.offset_bytes, end = at + b->pieces.data[piece].range.length_bytes;
	int r = 0;

	while (r >= 0 && at < end) {
		struct md_band band;

		b->band_leaves = b->requests.count;
		md_next_band(b, piece, at, &band);
		at += band.length_bytes;
		if (!band.count)
			continue;
		r = op == DEV_READ ? plan_read_band(b, &band) : md_plan_write_band(b, &band);
		band.lanes = b->lanes;
		if (r >= 0 && vec_push(&b->bands, band) < 0)
			r = -ENOMEM;
	}
	return r;
}
