/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holes of an array: where the member that would be read has one. */
#include "map/known.h"
#include "map/md_priv.h"

#define RUNS_MAX 65536U /* looked at in one go */

/* Whether the run at `at` reads as zeros; *run_bytes is cut to where that may change. What must be computed is data. */
static bool is_zero(struct md_batch *b, uint64_t at, uint64_t *run_bytes, struct known *known)
{
	const struct map_md_member *m;
	struct raid_place place;
	uint64_t offset;

	if (!md_pick_copy(b, at, run_bytes, &place))
		return false;
	m = &b->state->members[place.slot];
	return u64_add(m->data_offset_bytes, place.device_bytes, &offset) && known_ask(&known[place.slot], m->dev, offset, run_bytes);
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
