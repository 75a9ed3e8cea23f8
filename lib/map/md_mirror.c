/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Levels without parity: each byte lies on one member or on several. */
#include "map/md_priv.h"

bool md_pick_copy(const struct md_batch *b, uint64_t array_bytes, uint64_t *run_bytes, struct raid_place *ret)
{
	const struct raid_geometry *g = &b->md->geometry;
	bool found = false;

	for (uint32_t copy = 0; copy < raid_copies(g); copy++) {
		struct raid_place place;
		bool write_mostly;

		if (raid_locate(g, array_bytes, copy, &place) < 0)
			return false;
		md_cut(run_bytes, place.run_bytes);
		write_mostly = b->state->members[place.slot].write_mostly;
		if (!md_readable(b, place.slot, place.device_bytes, run_bytes) || (found && write_mostly))
			continue;
		*ret = place;
		found = true;
		if (!write_mostly)
			break;
	}
	return found;
}

/* Why there is no copy: a member that could not be read, if there is one. */
int md_no_copy_at(struct md_batch *b, uint64_t array_bytes)
{
	struct raid_place place;
	int r = raid_locate(&b->md->geometry, array_bytes, 0, &place);

	b->reason = r == -ENODATA ? md_no_layout : md_no_copy;
	for (size_t i = 0; r >= 0 && i < b->exclusions.count; i++)
		for (uint32_t copy = 0; copy < raid_copies(&b->md->geometry); copy++) {
			const struct md_exclusion *x = &b->exclusions.data[i];

			if (raid_locate(&b->md->geometry, array_bytes, copy, &place) >= 0 && place.slot == x->slot &&
			    place.device_bytes - x->range.offset_bytes < x->range.length_bytes)
				b->reason = md_slot_reason(b->md, x->slot);
		}
	return r < 0 ? r : -EIO;
}

int md_plan_copies(struct md_batch *b, uint32_t piece)
{
	const struct md_piece *p = &b->pieces.data[piece];
	uint64_t at = p->range.offset_bytes, end = at + p->range.length_bytes;
	uint8_t *buffer = p->request->buffer;
	int r = 0;

	while (r >= 0 && at < end) {
		struct raid_place place;
		uint64_t run = end - at;

		if (!md_pick_copy(b, at, &run, &place))
			return md_no_copy_at(b, at);
		r = md_add_leaf(b, piece, place.slot, DEV_READ, place.device_bytes, buffer + (at - p->request->offset_bytes), (size_t)run);
		at += run;
	}
	return r;
}

/* To every copy whose member is there; each byte must be readable from one of them afterwards. */
int md_add_mirror_writes(struct md_batch *b, uint32_t piece)
{
	const struct raid_geometry *g = &b->md->geometry;
	const struct md_piece *p = &b->pieces.data[piece];
	uint64_t at = p->range.offset_bytes, end = at + p->range.length_bytes, run;
	int r = 0;

	for (; r >= 0 && at < end; at += run) {
		uint8_t *buffer = (uint8_t *)p->request->buffer + (at - p->request->offset_bytes);
		struct raid_place place;

		run = end - at;
		if (!md_pick_copy(b, at, &run, &place))
			return md_no_copy_at(b, at);
		for (uint32_t copy = 0; r >= 0 && copy < raid_copies(g); copy++) {
			r = raid_locate(g, at, copy, &place);
			if (r >= 0)
				md_cut(&run, place.run_bytes);
		}
		for (uint32_t copy = 0; r >= 0 && copy < raid_copies(g); copy++) {
			r = raid_locate(g, at, copy, &place);
			if (r >= 0 && b->state->members[place.slot].dev)
				r = md_add_leaf(b, piece, place.slot, DEV_WRITE, place.device_bytes, buffer, (size_t)run);
		}
	}
	return r;
}
