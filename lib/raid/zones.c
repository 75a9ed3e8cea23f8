/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * linear and raid0. Members may differ in size: a raid0 array stripes over all of them as far as the smallest goes, then over those that
 * are longer, and so on. Each such piece is a zone; a linear array is a zone per member.
 */
#include "raid/raid_priv.h"

int zones_init_linear(struct raid_geometry *g, const uint64_t *component_bytes)
{
	g->zones = calloc(g->members, sizeof(*g->zones));
	g->zone_slots = calloc(g->members, sizeof(*g->zone_slots));
	if (!g->zones || !g->zone_slots)
		return -ENOMEM;
	for (uint32_t k = 0; k < g->members; k++) {
		uint64_t length = g->chunk_bytes ? round_down_u64(component_bytes[k], g->chunk_bytes) : component_bytes[k];

		g->zones[k] = (struct raid_zone){ .start_bytes = g->array_bytes, .length_bytes = length, .members = 1, .first = k };
		g->zone_slots[k] = k;
		if (!u64_add(g->array_bytes, length, &g->array_bytes))
			return -EOVERFLOW;
	}
	g->zones_count = g->members;
	return 0;
}

static uint64_t rounded(const struct raid_geometry *g, uint64_t bytes) { return round_down_u64(bytes, g->chunk_bytes); }

/* The smallest length above `floor`, 0 when there is none. */
static uint64_t next_length(const struct raid_geometry *g, const uint64_t *component_bytes, uint64_t floor)
{
	uint64_t best = 0;

	for (uint32_t k = 0; k < g->members; k++) {
		uint64_t length = rounded(g, component_bytes[k]);

		if (length > floor && (!best || length < best))
			best = length;
	}
	return best;
}

/*
 * The kernel cuts each member by masking with ~(chunk - 1). That is the same as rounding down only for powers of two; with other chunks the
 * array ends before its last zone does.
 */
static int masked_size(struct raid_geometry *g, const uint64_t *component_bytes)
{
	uint64_t mask = ~(g->chunk_bytes / 512 - 1);

	for (uint32_t k = 0; k < g->members; k++)
		if (!u64_add(g->array_bytes, (rounded(g, component_bytes[k]) / 512 & mask) * 512, &g->array_bytes))
			return -EOVERFLOW;
	return 0;
}

static int add_zone(struct raid_geometry *g, const uint64_t *component_bytes, uint64_t floor, uint64_t end)
{
	struct raid_zone *zone = &g->zones[g->zones_count], *before = g->zones_count ? zone - 1 : NULL;

	zone->start_bytes = before ? before->start_bytes + before->length_bytes : 0;
	zone->device_start_bytes = floor;
	zone->first = before ? before->first + before->members : 0;
	for (uint32_t k = 0; k < g->members; k++)
		if (rounded(g, component_bytes[k]) > floor)
			g->zone_slots[zone->first + zone->members++] = k;
	if (!u64_mul(end - floor, zone->members, &zone->length_bytes) || zone->start_bytes + zone->length_bytes < zone->start_bytes)
		return -EOVERFLOW;
	g->zones_count++;
	return 0;
}

/* Slots over all zones: every zone but the first holds at least one member less than the one before. */
static int count_zones(struct raid_geometry *g, const uint64_t *component_bytes, uint32_t *ret_zones, size_t *ret_slots)
{
	uint32_t zones = 0;
	size_t slots = 0;

	for (uint64_t floor = 0, end; (end = next_length(g, component_bytes, floor)); floor = end, zones++)
		for (uint32_t k = 0; k < g->members; k++)
			slots += rounded(g, component_bytes[k]) > floor;
	*ret_zones = zones;
	*ret_slots = slots;
	return slots ? 0 : -EINVAL;
}

int zones_init_raid0(struct raid_geometry *g, const uint64_t *component_bytes, struct blkalign_error *reterr)
{
	uint32_t zones;
	size_t slots;
	int r = count_zones(g, component_bytes, &zones, &slots);

	if (r < 0)
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "no member holds a whole chunk");
	g->zones = calloc(zones, sizeof(*g->zones));
	g->zone_slots = calloc(slots, sizeof(*g->zone_slots));
	if (!g->zones || !g->zone_slots)
		return -ENOMEM;
	for (uint64_t floor = 0, end; r >= 0 && (end = next_length(g, component_bytes, floor)); floor = end)
		r = add_zone(g, component_bytes, floor, end);
	return r < 0 ? r : masked_size(g, component_bytes);
}

static const struct raid_zone *zone_at(const struct raid_geometry *g, uint64_t array_bytes)
{
	uint32_t low = 0, high = g->zones_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (g->zones[middle].start_bytes <= array_bytes)
			low = middle;
		else
			high = middle;
	}
	return &g->zones[low];
}

/* The zone that holds `device_bytes` of `slot`, and which of its members that is. */
static const struct raid_zone *zone_of(const struct raid_geometry *g, uint32_t slot, uint64_t device_bytes, uint32_t *ret_index)
{
	for (uint32_t z = 0; z < g->zones_count; z++) {
		const struct raid_zone *zone = &g->zones[z];

		if (device_bytes < zone->device_start_bytes ||
		    device_bytes - zone->device_start_bytes >= zone->length_bytes / zone->members)
			continue;
		for (uint32_t i = 0; i < zone->members; i++)
			if (g->zone_slots[zone->first + i] == slot) {
				*ret_index = i;
				return zone;
			}
	}
	return NULL;
}

/* Original counts chunks from the start of the array, alternate from the start of the zone. */
static int member_index(const struct raid_geometry *g, const struct raid_zone *zone, uint64_t array_bytes, uint32_t *ret)
{
	uint64_t original = array_bytes / g->chunk_bytes % zone->members;
	uint64_t alternate = (array_bytes - zone->start_bytes) / g->chunk_bytes % zone->members;

	if (g->layout == RAID0_UNRECORDED && original != alternate)
		return -ENODATA;
	*ret = (uint32_t)(g->layout == RAID0_ALTERNATE ? alternate : original);
	return 0;
}

int zones_locate(const struct raid_geometry *g, uint64_t array_bytes, struct raid_place *ret)
{
	const struct raid_zone *zone = zone_at(g, array_bytes);
	uint64_t within = array_bytes - zone->start_bytes, chunk = g->chunk_bytes;
	uint32_t index;
	int r;

	if (g->level == RAID_LINEAR) {
		*ret = (struct raid_place){ g->zone_slots[zone->first], within, zone->length_bytes - within };
		return 0;
	}
	r = member_index(g, zone, array_bytes, &index);
	if (r < 0)
		return r;
	*ret = (struct raid_place){
		.slot = g->zone_slots[zone->first + index],
		.device_bytes = zone->device_start_bytes + within / (chunk * zone->members) * chunk + within % chunk,
		.run_bytes = chunk - within % chunk,
	};
	return 0;
}

/* Which chunk of each row of the zone member `index` holds. */
static int position_in_row(const struct raid_geometry *g, const struct raid_zone *zone, uint32_t index, uint32_t *ret)
{
	uint32_t shift = (uint32_t)(zone->start_bytes / g->chunk_bytes % zone->members);

	if (g->layout == RAID0_UNRECORDED && shift)
		return -ENODATA;
	*ret = g->layout == RAID0_ALTERNATE ? index : (index + zone->members - shift) % zone->members;
	return 0;
}

int zones_origin(const struct raid_geometry *g, uint32_t slot, uint64_t device_bytes, struct raid_origin *ret)
{
	uint32_t index, position = 0;
	const struct raid_zone *zone = zone_of(g, slot, device_bytes, &index);
	uint64_t within, chunk = g->level == RAID_LINEAR ? zone ? zone->length_bytes : 0 : g->chunk_bytes, at;
	int r = 0;

	if (!zone)
		return -ENODATA;
	if (g->level == RAID_0)
		r = position_in_row(g, zone, index, &position);
	if (r < 0)
		return r;
	within = device_bytes - zone->device_start_bytes;
	at = zone->start_bytes + (within / chunk * zone->members + position) * chunk + within % chunk;
	if (at >= g->array_bytes)
		return -ENODATA;
	*ret = (struct raid_origin){ .array_bytes = at, .run_bytes = chunk - within % chunk };
	if (ret->run_bytes > g->array_bytes - at)
		ret->run_bytes = g->array_bytes - at;
	return 0;
}

bool zones_survive(const struct raid_geometry *g, const bool *present)
{
	for (uint32_t z = 0; z < g->zones_count; z++)
		for (uint32_t i = 0; i < g->zones[z].members; i++) {
			uint32_t slot = g->zone_slots[g->zones[z].first + i];
			struct raid_origin first;

			if (!present[slot] && zones_origin(g, slot, g->zones[z].device_start_bytes, &first) != -ENODATA)
				return false;
		}
	return true;
}
