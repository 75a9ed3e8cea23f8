/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * raid10. The layout number holds near copies (bits 0-7), far copies (8-15), whether far copies follow at once (offset, bit 16), and how far
 * copies rotate: over all members, or within sets of members (bits 17-18).
 */
#include "raid/raid_priv.h"

static int refuse(struct blkalign_error *reterr, const struct raid_geometry *g, const char *why)
{
	return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "raid10 layout 0x%x on %u members: %s", g->layout, g->members,
				  why);
}

static int split_layout(struct raid_geometry *g, struct blkalign_error *reterr)
{
	uint32_t sets = g->layout >> 17;

	g->near_copies = g->layout & 0xff;
	g->far_copies = g->layout >> 8 & 0xff;
	g->far_is_offset = g->layout >> 16 & 1;
	if (sets > 2)
		return refuse(reterr, g, "unknown bits are set");
	if (g->near_copies * g->far_copies < 2 || g->near_copies * g->far_copies > g->members)
		return refuse(reterr, g, "the number of copies must be between 2 and the number of members");
	g->far_set_members = g->members;
	if (sets == 1)
		g->far_set_members = g->members / g->far_copies;
	else if (sets == 2)
		g->far_set_members = g->far_copies * g->near_copies;
	return 0;
}

/* The kernel rounds by far copies first, then works out how many chunks of each member that many array chunks take. */
int raid10_init(struct raid_geometry *g, uint64_t component_bytes, struct blkalign_error *reterr)
{
	uint64_t chunks = component_bytes / g->chunk_bytes, array_chunks, copies, used_chunks;
	int r = split_layout(g, reterr);

	if (r < 0)
		return r;
	if (!u64_mul(chunks / g->far_copies, g->members, &array_chunks))
		return refuse(reterr, g, "too large");
	array_chunks /= g->near_copies;
	if (!u64_mul(array_chunks, (uint64_t)g->near_copies * g->far_copies, &copies) ||
	    !u64_mul(array_chunks, g->chunk_bytes, &g->array_bytes))
		return refuse(reterr, g, "too large");
	used_chunks = copies / g->members + (copies % g->members != 0);
	g->used_bytes = used_chunks * g->chunk_bytes;
	g->far_stride_bytes = g->far_is_offset ? g->chunk_bytes : used_chunks / g->far_copies * g->chunk_bytes;
	return 0;
}

/* With sets that do not divide the members, the last set takes the rest. */
uint32_t raid10_next_far(const struct raid_geometry *g, uint32_t slot)
{
	uint32_t set = g->far_set_members, rest = g->members % set, last = (g->members / set - 1) * set;
	uint32_t which = slot / set, next = slot + g->near_copies;

	if (rest && next > last)
		return (next - last) % (set + rest) + last;
	return next % set + set * which;
}

void raid10_locate(const struct raid_geometry *g, uint64_t array_bytes, uint32_t copy, struct raid_place *ret)
{
	uint64_t chunk = array_bytes / g->chunk_bytes, within = array_bytes % g->chunk_bytes;
	uint64_t t = chunk * g->near_copies + copy / g->far_copies;
	uint64_t row = chunk * g->near_copies / g->members;
	uint32_t slot = (uint32_t)(t % g->members), far = copy % g->far_copies;
	uint64_t device_chunk = row * (g->far_is_offset ? g->far_copies : 1) + (t / g->members - row);

	for (uint32_t i = 0; i < far; i++)
		slot = raid10_next_far(g, slot);
	*ret = (struct raid_place){
		.slot = slot,
		.device_bytes = device_chunk * g->chunk_bytes + far * g->far_stride_bytes + within,
		.run_bytes = g->chunk_bytes - within,
	};
}
