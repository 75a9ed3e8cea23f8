/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * raid10 seen from its members: what a place holds, whether a set of members holds everything, and whether two chunks claim one place.
 *
 * Words: near copy j of chunk q is copy number t = q * near + j of all near copies; they fill the members row by row (t / members, t % members). Copies of a
 * chunk that run over the end of a row continue one chunk lower (`spill`). With offset copies a row is far_copies chunks high, else one.
 */
#include "raid/raid_priv.h"

static uint64_t array_chunks(const struct raid_geometry *g) { return g->array_bytes / g->chunk_bytes; }

static uint64_t row_height(const struct raid_geometry *g) { return g->far_is_offset ? g->far_copies : 1; }

/* The near copy whose far copy number `far` lies at chunk `device_chunk` when that one lies in slot `near_slot`. False when there is none. */
static bool near_copy_at(const struct raid_geometry *g, uint32_t near_slot, uint32_t far, uint64_t device_chunk, bool spill,
			 uint64_t *ret_t)
{
	uint64_t below = far * (g->far_stride_bytes / g->chunk_bytes) + spill, row, t;

	if (device_chunk < below || (device_chunk - below) % row_height(g))
		return false;
	row = (device_chunk - below) / row_height(g);
	t = (row + spill) * g->members + near_slot;
	*ret_t = t;
	return t / g->near_copies < array_chunks(g) && t / g->near_copies * g->near_copies / g->members == row;
}

int raid10_origin(const struct raid_geometry *g, uint32_t slot, uint64_t device_bytes, struct raid_origin *ret)
{
	uint64_t within = device_bytes % g->chunk_bytes, t;
	uint32_t best = UINT32_MAX;

	for (uint32_t near_slot = 0; near_slot < g->members; near_slot++)
		for (uint32_t far = 0, at = near_slot; far < g->far_copies; far++, at = raid10_next_far(g, at))
			for (unsigned spill = 0; at == slot && spill < 2; spill++) {
				uint32_t copy;

				if (!near_copy_at(g, near_slot, far, device_bytes / g->chunk_bytes, spill, &t))
					continue;
				copy = (uint32_t)(t % g->near_copies) * g->far_copies + far;
				if (copy >= best)
					continue;
				best = copy;
				ret->array_bytes = t / g->near_copies * g->chunk_bytes + within;
			}
	if (best == UINT32_MAX)
		return -ENODATA;
	ret->role = RAID_ROLE_DATA;
	ret->copy = best;
	ret->run_bytes = g->chunk_bytes - within;
	return 0;
}

/* Which slots hold a chunk depends on where in a row it begins: after as many chunks as there are members that repeats. */
bool raid10_survives(const struct raid_geometry *g, const bool *present)
{
	for (uint64_t chunk = 0; chunk < g->members && chunk < array_chunks(g); chunk++) {
		bool any = false;

		for (uint32_t near = 0; !any && near < g->near_copies; near++) {
			uint32_t slot = (uint32_t)((chunk * g->near_copies + near) % g->members);

			for (uint32_t far = 0; !any && far < g->far_copies; far++, slot = raid10_next_far(g, slot))
				any = present[slot];
		}
		if (!any)
			return false;
	}
	return true;
}

/* Whose chunk each slot of one row of places holds, and where the far copies put what begins in a slot. */
struct claims {
	uint64_t chunk_of[RAID_MEMBERS_MAX];	    /* UINT64_MAX: nobody's */
	uint32_t far_slot[RAID_MEMBERS_MAX];	    /* of this far copy */
	uint32_t far_slot_before[RAID_MEMBERS_MAX]; /* of the one before, in offset arrays one chunk higher */
	bool overlap;
};

/* Near copies from t = first_t on, one row of them; with offset copies only those of chunks that begin in row `begins`. */
static void claim_row(const struct raid_geometry *g, uint64_t first_t, uint64_t begins, const uint32_t *far_slot, struct claims *claims)
{
	for (uint32_t k = 0; k < g->members; k++) {
		uint64_t chunk = (first_t + k) / g->near_copies, *claimed = &claims->chunk_of[far_slot[k]];

		if (chunk >= array_chunks(g) || (g->far_is_offset && chunk * g->near_copies / g->members != begins))
			continue;
		claims->overlap |= *claimed != UINT64_MAX && *claimed != chunk;
		*claimed = chunk;
	}
}

/* Far copy `far` of row `row`; in offset arrays what spills over from the far copy before lies there too. */
static void claim_place(const struct raid_geometry *g, uint64_t row, uint32_t far, struct claims *claims)
{
	uint64_t spills_from = far ? row : row - 1;

	memset(claims->chunk_of, 0xff, g->members * sizeof(*claims->chunk_of));
	claim_row(g, row * g->members, row, claims->far_slot, claims);
	if (g->far_is_offset && (far || row))
		claim_row(g, (spills_from + 1) * g->members, spills_from, claims->far_slot_before, claims);
}

static void step_far(const struct raid_geometry *g, struct claims *claims)
{
	memcpy(claims->far_slot_before, claims->far_slot, g->members * sizeof(*claims->far_slot));
	for (uint32_t k = 0; k < g->members; k++)
		claims->far_slot[k] = raid10_next_far(g, claims->far_slot[k]);
}

static void begin_far(const struct raid_geometry *g, struct claims *claims)
{
	for (uint32_t k = 0; k < g->members; k++)
		claims->far_slot[k] = k;
	for (uint32_t far = 0; far + 1 < g->far_copies; far++)
		step_far(g, claims);
	memcpy(claims->far_slot_before, claims->far_slot, g->members * sizeof(*claims->far_slot));
	for (uint32_t k = 0; k < g->members; k++)
		claims->far_slot[k] = k;
}

/*
 * Far copies of one number have places of their own (bands when they are far, rows when offset), so that only chunks of one row can meet, and in offset arrays
 * those that spill. Which do repeats after at most near_copies rows.
 */
bool raid10_overlaps(const struct raid_geometry *g)
{
	struct claims claims = { .overlap = false };

	begin_far(g, &claims);
	for (uint32_t far = 0; far < g->far_copies && !claims.overlap; far++, step_far(g, &claims))
		for (uint64_t row = 0; row <= g->near_copies; row++)
			claim_place(g, row, far, &claims);
	return claims.overlap;
}
