/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the members' point of view: what their bytes are to the array, and what is left of it when some are gone. */
#include "raid/raid_priv.h"

static int mirror_origin(const struct raid_geometry *g, uint32_t slot, uint64_t device_bytes, struct raid_origin *ret)
{
	if (device_bytes >= g->used_bytes)
		return -ENODATA;
	*ret = (struct raid_origin){ .array_bytes = device_bytes, .copy = slot, .run_bytes = g->used_bytes - device_bytes };
	return 0;
}

static int parity_origin(const struct raid_geometry *g, uint32_t slot, uint64_t device_bytes, struct raid_origin *ret)
{
	struct raid_stripe stripe = raid_stripe_at(g, device_bytes);
	uint64_t within = device_bytes % g->chunk_bytes, first = stripe.number * raid_data_members(g) * g->chunk_bytes;
	uint32_t index = 0;

	if (device_bytes >= g->used_bytes)
		return -ENODATA;
	*ret = (struct raid_origin){ raid_role_at(&stripe, slot), first, 0, g->chunk_bytes - within };
	if (ret->role != RAID_ROLE_DATA)
		return 0;
	while (raid_data_slot(g, &stripe, index) != slot)
		index++;
	ret->array_bytes += index * g->chunk_bytes + within;
	return 0;
}

int raid_origin(const struct raid_geometry *g, uint32_t slot, uint64_t device_bytes, struct raid_origin *ret)
{
	if (slot >= g->members)
		return -ENODATA;
	switch (g->level) {
	case RAID_LINEAR:
	case RAID_0:
		return zones_origin(g, slot, device_bytes, ret);
	case RAID_1:
		return mirror_origin(g, slot, device_bytes, ret);
	case RAID_10:
		return raid10_origin(g, slot, device_bytes, ret);
	default:
		return parity_origin(g, slot, device_bytes, ret);
	}
}

static bool any(const bool *present, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (present[i])
			return true;
	return false;
}

static uint32_t absent(const bool *present, uint32_t count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += !present[i];
	return n;
}

bool raid_survives(const struct raid_geometry *g, const bool *present)
{
	switch (g->level) {
	case RAID_LINEAR:
	case RAID_0:
		return zones_survive(g, present);
	case RAID_1:
		return any(present, g->members);
	case RAID_10:
		return raid10_survives(g, present);
	default:
		return absent(present, g->members) <= raid_redundancy(g);
	}
}

bool raid_overlaps_itself(const struct raid_geometry *g) { return g->level == RAID_10 && raid10_overlaps(g); }

/* Only chunks of one row of places, or of the next one, can meet. */
bool raid_shares_place(const struct raid_geometry *g, uint64_t array_bytes, uint32_t copy)
{
	struct raid_place place, other;
	uint64_t chunk, from, end;

	if (!raid_overlaps_itself(g) || raid_locate(g, array_bytes, copy, &place) < 0)
		return false;
	chunk = array_bytes / g->chunk_bytes;
	from = chunk > g->members ? chunk - g->members : 0;
	end = chunk + g->members;
	for (uint64_t i = from; i <= end; i++)
		for (uint32_t k = 0; i != chunk && k < raid_copies(g); k++)
			if (raid_locate(g, i * g->chunk_bytes, k, &other) == 0 && other.slot == place.slot &&
			    other.device_bytes / g->chunk_bytes == place.device_bytes / g->chunk_bytes)
				return true;
	return false;
}
