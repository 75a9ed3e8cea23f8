/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * After a read error that redundancy hid: what the member should hold is written to it, so that the drive can put another sector in the place, and read once more. As the
 * kernel does (raid5.c, raid5_end_read_request(); raid1.c, fix_read_error()). A member that does not take it fails.
 */
#include "map/md_priv.h"

struct mend {
	struct md_batch b; /* one exclusion: the unit itself */
	uint32_t slot;
	struct byte_range unit;
	uint8_t content[MD_UNIT_BYTES];
	uint8_t again[MD_UNIT_BYTES];
};

static int read_unit(struct mend *m, uint32_t slot, uint64_t at, void *buffer)
{
	const struct map_md_member *member = &m->b.state->members[slot];
	uint64_t offset;

	if (!u64_add(member->data_offset_bytes, at, &offset))
		return -ERANGE;
	return dev_read(member->dev, offset, buffer, m->unit.length_bytes, NULL);
}

static int from_copy(struct mend *m, uint64_t array_bytes)
{
	struct raid_place place;
	uint64_t run = m->unit.length_bytes;

	while (md_pick_copy(&m->b, array_bytes, &run, &place) && run == m->unit.length_bytes) {
		struct md_exclusion x = { place.slot, true, { place.device_bytes, run } };

		if (read_unit(m, place.slot, place.device_bytes, m->content) >= 0)
			return 0;
		if (vec_push(&m->b.exclusions, x) < 0)
			return -ENOMEM;
	}
	return -EIO;
}

/* All slots but this one, and but those that cannot be read or are not needed. */
static int from_rows(struct mend *m)
{
	const struct raid_geometry *g = &m->b.md->geometry;
	uint64_t at = m->unit.offset_bytes, run = m->unit.length_bytes;
	struct raid_row row = { .geometry = g, .stripe = raid_stripe_at(g, at), .length_bytes = m->unit.length_bytes };
	uint8_t **blocks = md_scratch_get(&m->b, g->members * sizeof(*blocks));
	uint32_t lost[2], lost_count = 0;

	if (!blocks || md_doubtful(m->b.md, at, &run) || run < m->unit.length_bytes)
		return -EIO;
	row.blocks = blocks;
	for (uint32_t slot = 0; slot < g->members; slot++) {
		blocks[slot] = slot == m->slot ? m->content : NULL;
		run = m->unit.length_bytes;
		if (slot != m->slot && md_readable(&m->b, slot, at, &run) && run == m->unit.length_bytes) {
			blocks[slot] = md_scratch_get(&m->b, m->unit.length_bytes);
			if (blocks[slot] && read_unit(m, slot, at, blocks[slot]) >= 0)
				continue;
			blocks[slot] = NULL;
		}
		if (lost_count == raid_redundancy(g))
			return -EIO;
		lost[lost_count++] = slot;
	}
	return raid_recover(&row, lost, lost_count);
}

static int find_content(struct mend *m, const struct byte_range *locked)
{
	struct md_exclusion x = { m->slot, true, m->unit };

	if (vec_push(&m->b.exclusions, x) < 0)
		return -ENOMEM;
	return md_has_parity(m->b.md) ? from_rows(m) : from_copy(m, locked->offset_bytes);
}

static int write_unit(struct mend *m)
{
	const struct map_md_member *member = &m->b.state->members[m->slot];
	uint64_t offset = member->data_offset_bytes + m->unit.offset_bytes;
	int r = dev_write(member->dev, offset, m->content, m->unit.length_bytes, NULL);

	if (r >= 0)
		r = dev_read(member->dev, offset, m->again, m->unit.length_bytes, NULL);
	return r >= 0 && memcmp(m->content, m->again, m->unit.length_bytes) != 0 ? -EIO : r;
}

static void write_back(struct mend *m, const struct byte_range *locked)
{
	struct md *md = m->b.md;
	_cleanup_free_ struct dev **failed = calloc(md->geometry.members, sizeof(*failed));
	int r;

	if (!failed || md->guard->ops->begin(md->guard, locked, 1, NULL) < 0)
		return;
	r = write_unit(m);
	if (r < 0) {
		failed[m->slot] = m->b.state->members[m->slot].dev;
		md_state_put(md, m->b.state);
		md_fail(md, failed);
		m->b.state = md_state_get(md);
	} else {
		atomic_fetch_add(&md->rewritten_bytes, m->unit.length_bytes);
	}
	md->guard->ops->end(md->guard, locked, 1, r >= 0 && m->b.state->complete);
}

static void mend_locked(struct mend *m, const struct byte_range *locked)
{
	uint64_t run = m->unit.length_bytes;

	if (!md_readable(&m->b, m->slot, m->unit.offset_bytes, &run) || run < m->unit.length_bytes)
		return;
	if (read_unit(m, m->slot, m->unit.offset_bytes, m->again) >= 0)
		return;
	if (find_content(m, locked) >= 0)
		write_back(m, locked);
}

static void mend_unit(struct md *md, uint32_t slot, const struct byte_range *unit)
{
	struct mend m = { .b = { .md = md }, .slot = slot, .unit = *unit };
	struct byte_range locked = *unit;
	struct md_lock lock = { .ranges = &locked, .count = 1 };
	struct raid_origin origin;

	if (md->geometry.level == RAID_10) {
		if (raid_origin(&md->geometry, slot, unit->offset_bytes, &origin) < 0 || origin.run_bytes < unit->length_bytes)
			return;
		locked.offset_bytes = origin.array_bytes;
	}
	md_lock(md, &lock);
	m.b.state = md_state_get(md);
	mend_locked(&m, &locked);
	md_state_put(md, m.b.state);
	md_unlock(md, &lock);
	md_batch_done(&m.b);
}

/* Whole units, for a part of a sector cannot be written where it cannot be read. */
static void mend_range(struct md *md, uint32_t slot, const struct byte_range *range)
{
	uint64_t end = range->offset_bytes + range->length_bytes;

	for (uint64_t at = round_down_u64(range->offset_bytes, MD_UNIT_BYTES); at < end && !atomic_load(&md->broken); at += MD_UNIT_BYTES) {
		struct byte_range unit = { at, MD_UNIT_BYTES };

		md_cut(&unit.length_bytes, md->geometry.used_bytes - at);
		mend_unit(md, slot, &unit);
	}
}

void md_mend(struct md_batch *b)
{
	if (!b->md->dev.writable || !md_redundant(b->md))
		return;
	for (size_t i = 0; i < b->exclusions.count; i++)
		if (b->exclusions.data[i].range.length_bytes)
			mend_range(b->md, b->exclusions.data[i].slot, &b->exclusions.data[i].range);
}
