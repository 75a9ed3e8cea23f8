/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/md.h"

struct connecting {
	struct blkalign_graph *graph;
	const struct blkalign_node *upper;
	const struct raid_geometry *g; /* NULL: not known */
	const struct md_link **by_slot;
	bool refused; /* an edge was left out */
};

static uint64_t on_device(const struct md_link *link, uint64_t device_bytes)
{
	uint64_t at;

	return link->data_offset_bytes != BLKALIGN_UNKNOWN && u64_add(link->data_offset_bytes, device_bytes, &at) ? at : BLKALIGN_UNKNOWN;
}

/* The last zone of a raid0 array whose chunk is no power of two ends after the array does. */
static uint64_t zone_length(const struct raid_geometry *g, const struct raid_zone *zone)
{
	uint64_t left = zone->start_bytes < g->array_bytes ? g->array_bytes - zone->start_bytes : 0;

	return zone->length_bytes < left ? zone->length_bytes : left;
}

/* Goes on behind an edge that is refused, so that the others are there. */
static int connect(struct connecting *c, struct blkalign_edge edge)
{
	int r;

	edge.upper = c->upper;
	r = graph_connect(c->graph, &edge);
	if (r != -ELOOP)
		return r;
	c->refused = true;
	return graph_remark(c->graph, "%s: its place on %s is left out: devices lie on each other in a circle or too deep",
			    blkalign_node_name(edge.upper), blkalign_node_name(edge.lower));
}

static int connect_zone(struct connecting *c, uint32_t number)
{
	const struct raid_geometry *g = c->g;
	const struct raid_zone *zone = &g->zones[number];
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < zone->members; i++) {
		const struct md_link *link = c->by_slot[g->zone_slots[zone->first + i]];

		if (!link)
			continue;
		r = connect(c, (struct blkalign_edge){ .lower = link->lower,
						       .upper_offset_bytes = zone->start_bytes,
						       .lower_offset_bytes = on_device(link, zone->device_start_bytes),
						       .length_bytes = zone_length(g, zone),
						       .chunk_bytes = zone->members > 1 ? g->chunk_bytes : 0,
						       .stripes = zone->members,
						       .segment = number,
						       .slot = link->slot,
						       .state = link->state });
	}
	return r;
}

/*
 * Whole-array edges. raid10 is told as its stripe tells it: exact for near copies that divide the members and for the first far copy;
 * with offset copies and odd near counts the row is not, but the phase within the chunk is.
 */
static int connect_whole(struct connecting *c, const struct md_link *link)
{
	const struct raid_geometry *g = c->g;
	uint32_t stripes = g ? raid_data_members(g) : 1;

	return connect(c, (struct blkalign_edge){ .lower = link->lower,
						  .upper_offset_bytes = g ? 0 : BLKALIGN_UNKNOWN,
						  .lower_offset_bytes = link->data_offset_bytes,
						  .length_bytes = g ? raid_array_bytes(g) : BLKALIGN_UNKNOWN,
						  .chunk_bytes = stripes > 1 ? g->chunk_bytes : 0,
						  .stripes = stripes,
						  .slot = link->slot,
						  .state = link->state });
}

static int connect_zones(struct connecting *c, const struct md_link *links, size_t count)
{
	_cleanup_free_ const struct md_link **by_slot = calloc(c->g->members, sizeof(const struct md_link *));
	int r = 0;

	if (!by_slot)
		return -ENOMEM;
	for (size_t i = count; i-- > 0;)
		if (links[i].takes_part && links[i].slot < c->g->members)
			by_slot[links[i].slot] = &links[i];
	c->by_slot = by_slot;
	for (uint32_t z = 0; r >= 0 && z < c->g->zones_count; z++)
		r = connect_zone(c, z);
	return r;
}

int md_connect(struct blkalign_graph *graph, const struct blkalign_node *upper, const struct md_link *links, size_t count,
	       const struct raid_geometry *g)
{
	struct connecting c = { .graph = graph, .upper = upper, .g = g };
	bool zoned = g && g->zones_count;
	int r = zoned ? connect_zones(&c, links, count) : 0;

	for (size_t i = 0; r >= 0 && i < count; i++)
		if (!zoned || !links[i].takes_part)
			r = connect_whole(&c, &links[i]);
	return r < 0 ? r : c.refused ? -ELOOP : 0;
}
