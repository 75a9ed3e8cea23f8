/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plan, read, and plan anew around what could not be read, until a group has all that it needs. */
#include "map/md_priv.h"

static int plan_piece(struct md_batch *b, uint32_t piece)
{
	enum dev_op op = b->pieces.data[piece].request->op;

	b->lanes = NULL;
	b->piece_leaves = b->band_leaves = b->requests.count;
	b->reason = NULL;
	if (md_has_parity(b->md))
		return md_plan_rows(b, piece, op);
	return op == DEV_READ ? md_plan_copies(b, piece) : 0;
}

static void kill_piece(struct md_batch *b, uint32_t piece, int error, const char *reason)
{
	md_request_fail(b->pieces.data[piece].request, error, reason);
	b->pieces.data[piece].dead = true;
}

/* False when it must be planned once more, for less is excluded now. */
static bool plan_all(struct md_batch *b)
{
	md_plan_reset(b);
	for (uint32_t i = 0; i < b->pieces.count; i++) {
		int r;

		if (b->pieces.data[i].request->result)
			b->pieces.data[i].dead = true;
		if (b->pieces.data[i].dead)
			continue;
		r = plan_piece(b, i);
		if (r == -EIO && md_exclusions_refine(b))
			return false;
		if (r < 0)
			kill_piece(b, i, r, b->reason);
	}
	return true;
}

/* True when something failed that can be planned around. */
static bool note_errors(struct md_batch *b)
{
	bool again = false;

	for (size_t i = 0; i < b->requests.count; i++) {
		const struct dev_request *q = &b->requests.data[i];
		const struct md_leaf *leaf = &b->leaves.data[i];
		uint64_t at = q->offset_bytes - b->state->members[leaf->slot].data_offset_bytes;
		struct md_exclusion x = { leaf->slot, q->length_bytes <= MD_UNIT_BYTES, { at, q->length_bytes } };

		if (!q->result)
			continue;
		md_note_read_error(b->md, q);
		b->pieces.data[leaf->piece].read_errors++;
		if (dev_error_is_ours(q->result) || vec_push(&b->exclusions, x) < 0)
			kill_piece(b, leaf->piece, -ENOMEM, NULL);
		else
			again = true;
	}
	return again;
}

static void compute_band(struct md_batch *b, struct md_band *band)
{
	const struct md_piece *p = &b->pieces.data[band->piece];
	int r = 0;

	if (p->dead)
		return;
	if (p->request->op == DEV_WRITE) {
		r = md_compute_parity(b, band);
	} else if (band->how == MD_RECOVER) {
		r = md_recover_band(b, band);
		for (uint32_t i = 0; i < band->count; i++)
			if (md_is_lost(band, raid_data_slot(&b->md->geometry, &band->stripe, band->first + i)))
				atomic_fetch_add(&b->md->computed_bytes, band->length_bytes);
	}
	if (r < 0)
		kill_piece(b, band->piece, r, md_no_parity);
}

static void count_errors(struct md_batch *b)
{
	for (size_t i = 0; i < b->pieces.count; i++) {
		struct md_piece *p = &b->pieces.data[i];

		if (!p->dead)
			atomic_fetch_add(&b->md->read_errors, p->read_errors);
	}
}

void md_gather(struct md_batch *b)
{
	/* Each round finds something more that cannot be read; a member has that once as a whole and once in parts. */
	unsigned rounds = 8 + 2 * raid_redundancy(&b->md->geometry);

	for (;;) {
		while (!plan_all(b))
			;
		if (!b->requests.count)
			break;
		dev_run(b->requests.data, b->requests.count, NULL);
		if (!note_errors(b))
			break;
		if (!rounds--) {
			md_batch_fail(b, -EIO, md_slot_reason(b->md, b->exclusions.data[b->exclusions.count - 1].slot));
			return;
		}
	}
	for (size_t i = 0; i < b->bands.count; i++)
		compute_band(b, &b->bands.data[i]);
	count_errors(b);
}

/* Read each unit of the range by itself; those that fail replace it. */
static int try_units(struct md_batch *b, const struct md_exclusion *x, uint8_t *buffer)
{
	const struct map_md_member *m = &b->state->members[x->slot];
	uint64_t end = x->range.offset_bytes + x->range.length_bytes, next;

	for (uint64_t at = x->range.offset_bytes; at < end; at = next) {
		struct md_exclusion unit = { x->slot, true, { at, 0 } };
		uint64_t offset;

		next = round_down_u64(at, MD_UNIT_BYTES) + MD_UNIT_BYTES;
		unit.range.length_bytes = (next < end ? next : end) - at;
		if (!u64_add(m->data_offset_bytes, at, &offset))
			return -ERANGE;
		if (dev_read(m->dev, offset, buffer, unit.range.length_bytes, NULL) < 0 && vec_push(&b->exclusions, unit) < 0)
			return -ENOMEM;
	}
	return 0;
}

bool md_exclusions_refine(struct md_batch *b)
{
	uint8_t buffer[MD_UNIT_BYTES];
	size_t count = b->exclusions.count;
	bool refined = false;

	for (size_t i = 0; i < count; i++) {
		struct md_exclusion x = b->exclusions.data[i];

		if (x.exact)
			continue;
		b->exclusions.data[i].exact = true;
		if (!b->state->members[x.slot].dev || try_units(b, &x, buffer) < 0)
			continue;
		b->exclusions.data[i].range.length_bytes = 0;
		refined = true;
	}
	return refined;
}
