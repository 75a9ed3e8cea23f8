/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holes of an array: where the member that would be read has one. */
#include "map/md_priv.h"

#define RUNS_MAX 65536U /* looked at in one go */

/* What a member said last, about its data area. */
struct known {
	uint64_t begin_bytes, end_bytes;
	bool zero;
};

static bool ask(const struct map_md_member *m, const struct raid_place *place, struct known *known)
{
	uint64_t offset, length;

	if (place->device_bytes >= known->begin_bytes && place->device_bytes < known->end_bytes)
		return known->zero;
	*known = (struct known){ 0 };
	if (!u64_add(m->data_offset_bytes, place->device_bytes, &offset) || offset >= m->dev->size_bytes)
		return false;
	length = m->dev->size_bytes - offset;
	if (dev_extent(m->dev, offset, &length, &known->zero) < 0)
		return false;
	known->begin_bytes = place->device_bytes;
	known->end_bytes = place->device_bytes + length;
	return known->zero;
}

/* Whether the run at `at` reads as zeros; *run_bytes is cut to where that may change. What must be computed is data. */
static bool is_zero(struct md_batch *b, uint64_t at, uint64_t *run_bytes, struct known *known)
{
	struct raid_place place;
	bool zero;

	if (!md_pick_copy(b, at, run_bytes, &place))
		return false;
	zero = ask(&b->state->members[place.slot], &place, &known[place.slot]);
	if (known[place.slot].end_bytes > place.device_bytes)
		md_cut(run_bytes, known[place.slot].end_bytes - place.device_bytes);
	return zero;
}

int md_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	struct md *md = (struct md *)dev;
	struct md_batch b = { .md = md };
	_cleanup_free_ struct known *known = calloc(md->geometry.members, sizeof(*known));
	uint64_t done = 0, run;

	if (!known)
		return -ENOMEM;
	b.state = md_state_get(md);
	for (unsigned runs = 0; done < *length_bytes && runs < RUNS_MAX; done += run, runs++) {
		bool zero;

		run = *length_bytes - done;
		zero = is_zero(&b, offset_bytes + done, &run, known);
		if (done && zero != *ret_zero)
			break;
		*ret_zero = zero;
	}
	md_state_put(md, b.state);
	*length_bytes = done;
	return 0;
}
