/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "graph/graph_priv.h"

/* A hostile graph may hold exponentially many paths. */
#define PLACES_MAX 1000000U

static bool in_segment(const struct blkalign_edge *e, uint64_t offset)
{
	if (e->upper_offset_bytes == BLKALIGN_UNKNOWN || offset == BLKALIGN_UNKNOWN)
		return e->segment == 0;
	return offset >= e->upper_offset_bytes &&
	       (e->length_bytes == BLKALIGN_UNKNOWN || offset - e->upper_offset_bytes < e->length_bytes || !e->length_bytes);
}

static uint64_t offset_below(const struct blkalign_edge *e, uint64_t offset)
{
	uint64_t within, row = 0, ret;

	if (e->lower_offset_bytes == BLKALIGN_UNKNOWN || e->upper_offset_bytes == BLKALIGN_UNKNOWN || offset == BLKALIGN_UNKNOWN)
		return BLKALIGN_UNKNOWN;
	within = offset - e->upper_offset_bytes;
	if (e->stripes > 1) {
		uint64_t stripe;

		if (!e->chunk_bytes || !u64_mul(e->chunk_bytes, e->stripes, &stripe))
			return BLKALIGN_UNKNOWN;
		row = within / stripe;
		within = row * e->chunk_bytes + within % e->chunk_bytes;
	}
	return u64_add(e->lower_offset_bytes, within, &ret) ? ret : BLKALIGN_UNKNOWN;
}

static int descend(const struct blkalign_node *node, uint64_t offset, uint32_t depth, struct graph_places *out)
{
	if (depth > GRAPH_DEPTH_MAX)
		return -ELOOP;
	for (size_t i = 0; i < node->edges.count; i++) {
		const struct blkalign_edge *e = &node->edges.data[i];
		struct blkalign_place place = { .node = e->lower, .edge = e, .depth = depth };
		int r;

		if (!in_segment(e, offset))
			continue;
		place.offset_bytes = offset_below(e, offset);
		if (out->count >= PLACES_MAX)
			return -E2BIG;
		if (vec_push(out, place) < 0)
			return -ENOMEM;
		r = descend(e->lower, place.offset_bytes, depth + 1, out);
		if (r < 0)
			return r;
	}
	return 0;
}

int graph_places(const struct blkalign_node *node, uint64_t offset_bytes, struct graph_places *places)
{
	places->count = 0;
	return descend(node, offset_bytes, 1, places);
}

int blkalign_node_places(const struct blkalign_node *node, uint64_t offset_bytes, struct blkalign_place **ret_places, size_t *ret_count)
{
	struct graph_places found = { 0 };
	int r = graph_places(node, offset_bytes, &found);

	if (r < 0) {
		vec_done(&found);
		return r;
	}
	*ret_places = found.data;
	*ret_count = found.count;
	return 0;
}
