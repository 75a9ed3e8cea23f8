/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "raid/field.h"
#include "raid/raid_priv.h"

static int refuse(struct blkalign_error *reterr, const char *what, uint64_t value)
{
	return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "%s (%" PRIu64 ")", what, value);
}

static uint64_t smallest(const struct raid_shape *shape)
{
	uint64_t best = shape->component_bytes[0];

	for (uint32_t k = 1; k < shape->members; k++)
		if (shape->component_bytes[k] < best)
			best = shape->component_bytes[k];
	return best;
}

static bool is_parity(int32_t level) { return level == RAID_4 || level == RAID_5 || level == RAID_6; }

static int check_chunk(const struct raid_shape *s, struct blkalign_error *reterr)
{
	if (s->level == RAID_1)
		return 0;
	if (s->chunk_bytes % 512 || s->chunk_bytes > RAID_CHUNK_MAX_BYTES)
		return refuse(reterr, "the chunk is no multiple of 512 bytes up to 1 GiB", s->chunk_bytes);
	if (s->level == RAID_0 && !s->chunk_bytes)
		return refuse(reterr, "raid0 without a chunk", 0);
	if ((is_parity(s->level) || s->level == RAID_10) && (!is_power_of_2(s->chunk_bytes) || s->chunk_bytes < RAID_CHUNK_MIN_BYTES))
		return refuse(reterr, "the chunk is no power of two from 4096 bytes on", s->chunk_bytes);
	return 0;
}

static int check_members(const struct raid_shape *s, struct blkalign_error *reterr)
{
	uint32_t least = s->level == RAID_6 ? 4 : s->level == RAID_5 || s->level == RAID_4 || s->level == RAID_10 ? 2 : 1;

	if (s->members < least || s->members > RAID_MEMBERS_MAX)
		return refuse(reterr, "the number of members is not one the level allows", s->members);
	return 0;
}

/* Powers of g that Q uses. */
static uint32_t exponents(const struct raid_geometry *g) { return parity_exponent_is_slot(g->parity) ? g->members : g->members - 2; }

static int init_parity(struct raid_geometry *g, uint64_t component_bytes, struct blkalign_error *reterr)
{
	g->parity = parity_layout_find(g->level, g->layout);
	if (!g->parity)
		return refuse(reterr, "the level has no layout of this number", g->layout);
	if (g->level == RAID_6 && exponents(g) > FIELD_POWERS)
		return refuse(reterr, "Q cannot tell so many members apart", g->members);
	g->used_bytes = round_down_u64(component_bytes, g->chunk_bytes);
	if (!u64_mul(g->used_bytes, raid_data_members(g), &g->array_bytes))
		return refuse(reterr, "the array would be larger than 2^64 bytes: component size", component_bytes);
	return 0;
}

static int init_level(struct raid_geometry *g, const struct raid_shape *shape, struct blkalign_error *reterr)
{
	switch (g->level) {
	case RAID_LINEAR:
		return zones_init_linear(g, shape->component_bytes);
	case RAID_0:
		if (g->layout > RAID0_ALTERNATE)
			return refuse(reterr, "the level has no layout of this number", g->layout);
		return zones_init_raid0(g, shape->component_bytes, reterr);
	case RAID_1:
		g->chunk_bytes = 0;
		g->array_bytes = g->used_bytes = smallest(shape);
		return 0;
	case RAID_10:
		return raid10_init(g, smallest(shape), reterr);
	default:
		return init_parity(g, smallest(shape), reterr);
	}
}

int raid_geometry_init(struct raid_geometry *ret, const struct raid_shape *shape, struct blkalign_error *reterr)
{
	struct raid_geometry g = {
		.level = shape->level, .layout = shape->layout, .chunk_bytes = shape->chunk_bytes, .members = shape->members
	};
	int r = check_members(shape, reterr);

	if (!raid_level_name(shape->level))
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "level %" PRId32 " is not known", shape->level);
	if (r >= 0)
		r = check_chunk(shape, reterr);
	if (r >= 0)
		r = init_level(&g, shape, reterr);
	if (r == -EOVERFLOW)
		r = blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "the array would be larger than 2^64 bytes");
	if (r >= 0 && !g.array_bytes)
		r = blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "the members hold no whole chunk");
	if (r < 0) {
		raid_geometry_done(&g);
		return r;
	}
	*ret = g;
	return 0;
}

void raid_geometry_done(struct raid_geometry *g)
{
	free(g->zones);
	free(g->zone_slots);
	g->zones = NULL;
	g->zone_slots = NULL;
}

uint32_t raid_copies(const struct raid_geometry *g)
{
	if (g->level == RAID_1)
		return g->members;
	return g->level == RAID_10 ? g->near_copies * g->far_copies : 1;
}

static void cut_run(struct raid_place *place, uint64_t left)
{
	if (place->run_bytes > left)
		place->run_bytes = left;
}

int raid_locate(const struct raid_geometry *g, uint64_t array_bytes, uint32_t copy, struct raid_place *ret)
{
	struct raid_place place = { .slot = copy, .device_bytes = array_bytes, .run_bytes = UINT64_MAX };
	int r = 0;

	if (array_bytes >= g->array_bytes || copy >= raid_copies(g))
		return -ERANGE;
	if (g->level == RAID_LINEAR || g->level == RAID_0)
		r = zones_locate(g, array_bytes, &place);
	else if (g->level == RAID_10)
		raid10_locate(g, array_bytes, copy, &place);
	else if (is_parity(g->level))
		parity_locate(g, array_bytes, &place);
	if (r < 0)
		return r;
	cut_run(&place, g->array_bytes - array_bytes);
	*ret = place;
	return 0;
}

uint32_t raid_data_members(const struct raid_geometry *g)
{
	switch (g->level) {
	case RAID_0:
		return g->members;
	case RAID_4:
	case RAID_5:
		return g->members - 1;
	case RAID_6:
		return g->members - 2;
	case RAID_10: /* raid10_set_io_opt(): a stripe holds each chunk once when the near copies divide the members */
		return g->members % g->near_copies ? g->members : g->members / g->near_copies;
	default:
		return 1;
	}
}

uint32_t raid_redundancy(const struct raid_geometry *g)
{
	switch (g->level) {
	case RAID_4:
	case RAID_5:
		return 1;
	case RAID_6:
		return 2;
	default:
		return raid_copies(g) - 1;
	}
}

const char *raid_level_name(int32_t level)
{
	switch (level) {
	case RAID_LINEAR:
		return "linear";
	case RAID_0:
		return "raid0";
	case RAID_1:
		return "raid1";
	case RAID_4:
		return "raid4";
	case RAID_5:
		return "raid5";
	case RAID_6:
		return "raid6";
	case RAID_10:
		return "raid10";
	default:
		return NULL;
	}
}

static void raid10_name(uint32_t layout, char ret[48])
{
	uint32_t near = layout & 0xff, far = layout >> 8 & 0xff, sets = layout >> 17;
	char far_part[16] = "", near_part[16] = "", sets_part[16] = "";

	if (far > 1)
		snprintf(far_part, sizeof(far_part), "%s=%u", layout & 0x10000 ? "offset" : "far", far);
	if (near > 1 || far <= 1)
		snprintf(near_part, sizeof(near_part), "near=%u%s", near, far > 1 ? ", " : "");
	if (sets)
		snprintf(sets_part, sizeof(sets_part), ", sets=%u", sets & 0x7f);
	snprintf(ret, 48, "%s%s%s", near_part, far_part, sets_part);
}

void raid_layout_name(int32_t level, uint32_t layout, char ret[48])
{
	static const char *const raid0_names[] = { "unrecorded", "original", "alternate" };
	const struct raid_parity_layout *parity = is_parity(level) ? parity_layout_find(level, layout) : NULL;

	if (level == RAID_10)
		raid10_name(layout, ret);
	else if (level == RAID_0 && layout <= RAID0_ALTERNATE)
		snprintf(ret, 48, "%s", raid0_names[layout]);
	else if (level == RAID_0 || (is_parity(level) && !parity))
		snprintf(ret, 48, "unknown");
	else
		snprintf(ret, 48, "%s", parity ? parity_layout_name(parity) : "");
}
