/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Upwards, by the edges of the graph. */
#include "run/locate.h"

/* Where in the segment the byte lies, by one of its areas; false when it is beside that. */
static bool segment_byte(const struct blkalign_edge *e, uint32_t slots, uint64_t at, uint64_t *ret, uint64_t *ret_run)
{
	uint64_t r;

	if (e->lower_offset_bytes == BLKALIGN_UNKNOWN || e->upper_offset_bytes == BLKALIGN_UNKNOWN || at < e->lower_offset_bytes)
		return false;
	r = at - e->lower_offset_bytes;
	*ret_run = e->length_bytes == BLKALIGN_UNKNOWN ? 1 : e->length_bytes - r;
	if (e->stripes > 1) {
		uint64_t row = r / e->chunk_bytes;

		*ret_run = e->chunk_bytes - r % e->chunk_bytes;
		if (!u64_mul(row, (uint64_t)e->stripes * e->chunk_bytes, &row))
			return false;
		r = row + (slots <= e->stripes ? e->slot * e->chunk_bytes : 0) + r % e->chunk_bytes;
	}
	*ret = r;
	return r < e->length_bytes;
}

static uint32_t slots_of(const struct blkalign_node *node, uint32_t segment)
{
	uint32_t slots = 0;

	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(node, i);

		if (e->segment == segment && e->slot != BLKALIGN_SLOT_NONE && e->slot >= slots)
			slots = e->slot + 1;
	}
	return slots;
}

static int up_edge(struct locating *l, const struct locate_place *place, const struct blkalign_edge *e, bool *found)
{
	struct blkalign_location to = { .depth = place->depth + 1, .node = e->upper, .slot = BLKALIGN_SLOT_NONE };
	uint32_t slots = slots_of(e->upper, e->segment);
	uint64_t r;

	if (e->slot == BLKALIGN_SLOT_NONE || !segment_byte(e, slots, place->offset_bytes, &r, &to.length_bytes))
		return 0;
	*found = true;
	to.offset_bytes = e->upper_offset_bytes + r;
	to.slot = slots > 1 ? e->slot : BLKALIGN_SLOT_NONE;
	if (e->stripes > 1 && slots > e->stripes) {
		to.role = BLKALIGN_ROLE_UNKNOWN;
		to.note = "the row of the stripe that begins about there: data or redundancy";
		return locate_add(l, &to);
	}
	if (e->stripes <= 1 && slots > 1) {
		to.copy = e->slot;
		to.role = e->slot ? BLKALIGN_ROLE_COPY : BLKALIGN_ROLE_DATA;
	}
	return locate_up(l, &to);
}

/* All edges of one upper node onto this place; its other bytes are its records. */
static int up_node(struct locating *l, const struct locate_place *place, const struct blkalign_node *upper)
{
	bool found = false, unknown = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < blkalign_node_edges(upper); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(upper, i);

		if (e->lower != place->node)
			continue;
		unknown = unknown || e->lower_offset_bytes == BLKALIGN_UNKNOWN;
		r = up_edge(l, place, e, &found);
	}
	if (r < 0 || found || !unknown)
		return r;
	return locate_add(l, &(struct blkalign_location){ .depth = place->depth + 1,
							  .node = upper,
							  .offset_bytes = BLKALIGN_UNKNOWN,
							  .length_bytes = 1,
							  .role = BLKALIGN_ROLE_UNKNOWN,
							  .slot = BLKALIGN_SLOT_NONE,
							  .note = "where on it is not in the metadata that is read" });
}

int locate_up(struct locating *l, const struct blkalign_location *location)
{
	const struct locate_place place = { location->node, location->offset_bytes, location->length_bytes, location->depth };
	size_t self = l->found.count;
	int r = locate_add(l, location);

	for (size_t i = 0; r == 0 && i < blkalign_node_uppers(location->node); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(location->node, i);
		bool done;

		r = locate_up_md(l, &place, upper, &done);
		if (r == 0 && !done)
			r = locate_up_charted(l, &place, upper, &done);
		if (r == 0 && !done)
			r = up_node(l, &place, upper);
	}
	if (r == 0 && l->found.count == self + 1 && blkalign_node_uppers(location->node) && !l->found.data[self].note)
		l->found.data[self].note = "nothing above has this byte: a table, a label or a gap";
	return r;
}
