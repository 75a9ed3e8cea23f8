/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Downwards, by the edges of the graph; md arrays and looked up volumes by their own maps, which are exact where edges are not. */
#include <inttypes.h>

#include "run/locate.h"

const char *blkalign_role_name(enum blkalign_role role)
{
	static const char *const names[] = { "data", "copy", "P", "Q", "metadata", "unused", "unknown" };

	return names[role];
}

int locate_add(struct locating *l, const struct blkalign_location *location)
{
	return l->found.count == LOCATE_MAX ? -E2BIG : vec_push(&l->found, *location);
}

/* --- edges --- */

/* Neighbours in the list that are areas of one segment. */
struct segment {
	const struct blkalign_node *node;
	size_t first, end; /* of the node's edges */
	const struct blkalign_edge *edge;
	uint32_t slots; /* the highest number of an area, and one */
	uint32_t areas; /* that hold data */
};

static void read_segment(const struct blkalign_node *node, size_t first, struct segment *ret)
{
	*ret = (struct segment){ .node = node, .first = first, .end = first, .edge = blkalign_node_edge(node, first) };
	while (ret->end < blkalign_node_edges(node)) {
		const struct blkalign_edge *e = blkalign_node_edge(node, ret->end);

		if (e->segment != ret->edge->segment)
			break;
		ret->end++;
		if (e->slot == BLKALIGN_SLOT_NONE)
			continue;
		ret->edge = e;
		ret->areas++;
		if (e->slot >= ret->slots)
			ret->slots = e->slot + 1;
	}
}

static uint64_t area_byte(const struct blkalign_edge *e, uint64_t r)
{
	uint64_t row = e->stripes > 1 ? (uint64_t)e->stripes * e->chunk_bytes : 0,
		 at = row ? r / row * e->chunk_bytes + r % e->chunk_bytes : r;

	return e->lower_offset_bytes != BLKALIGN_UNKNOWN && u64_add(e->lower_offset_bytes, at, &at) ? at : BLKALIGN_UNKNOWN;
}

static int down_area(struct locating *l, const struct segment *s, const struct blkalign_edge *e, uint64_t r, struct blkalign_location to)
{
	bool striped = e->stripes > 1, plain = striped && s->slots <= e->stripes;

	if (plain && e->slot != r / e->chunk_bytes % e->stripes)
		return 0;
	to.node = e->lower;
	to.offset_bytes = area_byte(e, r);
	to.slot = s->areas > 1 || striped ? e->slot : BLKALIGN_SLOT_NONE;
	if (striped && !plain) {
		to.role = BLKALIGN_ROLE_UNKNOWN;
		to.note = "the row of the stripe: data or redundancy";
	} else if (!striped && s->areas > 1) {
		to.copy = e->slot;
		to.role = e->slot ? BLKALIGN_ROLE_COPY : BLKALIGN_ROLE_DATA;
	}
	if (to.offset_bytes == BLKALIGN_UNKNOWN && !to.note)
		to.note = "where on it is not in the metadata that is read";
	return locate_down(l, &to);
}

/* What of the segment is asked about, piece by piece. */
static int down_segment(struct locating *l, const struct segment *s, const struct locate_place *place)
{
	const struct blkalign_edge *e = s->edge;
	uint64_t begin = e->upper_offset_bytes, end = begin + e->length_bytes, at = place->offset_bytes;
	uint64_t until = place->offset_bytes + place->length_bytes;
	int r = 0;

	if (!s->areas || begin == BLKALIGN_UNKNOWN || e->length_bytes == BLKALIGN_UNKNOWN || end < begin)
		return 0;
	at = at < begin ? begin : at;
	until = until > end ? end : until;
	for (uint64_t run; r == 0 && at < until; at += run) {
		run = until - at;
		if (e->stripes > 1 && run > e->chunk_bytes - (at - begin) % e->chunk_bytes)
			run = e->chunk_bytes - (at - begin) % e->chunk_bytes;
		for (size_t i = s->first; r == 0 && i < s->end; i++) {
			const struct blkalign_edge *area = blkalign_node_edge(s->node, i);

			if (area->slot != BLKALIGN_SLOT_NONE)
				r = down_area(
					l, s, area, at - begin,
					(struct blkalign_location){ .depth = place->depth + 1, .length_bytes = run, .above_bytes = at });
		}
	}
	return r;
}

int locate_down_edges(struct locating *l, const struct locate_place *place)
{
	struct segment s;
	int r = 0;

	for (size_t i = 0; r == 0 && i < blkalign_node_edges(place->node); i = s.end) {
		read_segment(place->node, i, &s);
		r = down_segment(l, &s, place);
	}
	return r;
}

int locate_down(struct locating *l, const struct blkalign_location *location)
{
	const struct locate_place place = { location->node, location->offset_bytes, location->length_bytes, location->depth };
	bool done = false;
	int r = locate_add(l, location);

	if (r < 0 || !location->node || location->offset_bytes == BLKALIGN_UNKNOWN)
		return r;
	r = locate_down_md(l, &place, &done);
	if (r == 0 && !done)
		r = locate_down_charted(l, &place, &done);
	return r < 0 || done ? r : locate_down_edges(l, &place);
}

/* --- the interface --- */

static int finish(struct locating *l, int r, const struct blkalign_node *node, struct blkalign_location **ret_locations, size_t *ret_count,
		  struct blkalign_error *reterr)
{
	if (r < 0) {
		vec_done(&l->found);
		return r == -E2BIG ? blkalign_error_set(reterr, r, blkalign_node_name(node), BLKALIGN_UNKNOWN,
							"there are more than %u pieces; ask about fewer bytes", LOCATE_MAX)
				   : r;
	}
	*ret_locations = l->found.data;
	*ret_count = l->found.count;
	return 0;
}

static int check_range(const struct blkalign_node *node, uint64_t offset_bytes, uint64_t length_bytes, struct blkalign_error *reterr)
{
	uint64_t size = blkalign_node_u64(node, BLKALIGN_ATTR_SIZE);

	if (length_bytes && (size == BLKALIGN_UNKNOWN || range_inside(offset_bytes, length_bytes, size)))
		return 0;
	return blkalign_error_set(reterr, -ERANGE, blkalign_node_name(node), offset_bytes,
				  "has %" PRIu64 " bytes: byte %" PRIu64 " is not there", size,
				  offset_bytes + (length_bytes ? length_bytes - 1 : 0));
}

int blkalign_locate(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, uint64_t length_bytes,
		    struct blkalign_location **ret_locations, size_t *ret_count, struct blkalign_error *reterr)
{
	const struct blkalign_location first = { .node = node,
						 .offset_bytes = offset_bytes,
						 .length_bytes = length_bytes,
						 .above_bytes = offset_bytes,
						 .slot = BLKALIGN_SLOT_NONE };
	struct locating l = { .run = run };
	int r = check_range(node, offset_bytes, length_bytes, reterr);

	return r < 0 ? r : finish(&l, locate_down(&l, &first), node, ret_locations, ret_count, reterr);
}

int blkalign_locate_upward(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes,
			   struct blkalign_location **ret_locations, size_t *ret_count, struct blkalign_error *reterr)
{
	const struct blkalign_location first = {
		.node = node, .offset_bytes = offset_bytes, .length_bytes = 1, .slot = BLKALIGN_SLOT_NONE
	};
	struct locating l = { .run = run };
	int r = check_range(node, offset_bytes, 1, reterr);

	return r < 0 ? r : finish(&l, locate_up(&l, &first), node, ret_locations, ret_count, reterr);
}
