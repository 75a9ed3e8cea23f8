/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Through volumes whose bytes are looked up: thin volumes, snapshots, cached volumes. Devices bear the names of their nodes. */
#include "run/locate.h"

/* The kernel's name for an origin's own bytes, which has no node beside the origin's. */
#define REAL "-real"

static struct dev *charted_dev(const struct locating *l, const struct blkalign_node *node, uint64_t at)
{
	struct dev *dev = blkalign_node_kind(node) == BLKALIGN_KIND_LV ? stack_dev(l->run->stack, node) : NULL;
	struct map_run run;

	return dev && at < dev->size_bytes && map_charted_run(dev, at, &run, &(const char *){ NULL }) != BLKALIGN_NOT_THIS ? dev : NULL;
}

/* *ret_real: the device is what the node itself lies on. */
static const struct blkalign_node *node_of(const struct locating *l, const struct dev *dev, bool *ret_real)
{
	const struct blkalign_graph *graph = stack_graph(l->run->stack);
	const struct blkalign_node *node = blkalign_graph_find(graph, dev->name);
	size_t length = strlen(dev->name), suffix = strlen(REAL);
	_cleanup_free_ char *base = NULL;

	*ret_real = false;
	if (node || length <= suffix || strcmp(dev->name + length - suffix, REAL) != 0)
		return node;
	*ret_real = true;
	base = strndup(dev->name, length - suffix);
	return base ? blkalign_graph_find(graph, base) : NULL;
}

static int add_run(struct locating *l, const struct locate_place *place, uint64_t at, const struct map_run *run)
{
	struct blkalign_location to = { .depth = place->depth + 1,
					.offset_bytes = run->offset_bytes,
					.length_bytes = run->length_bytes,
					.above_bytes = at,
					.slot = BLKALIGN_SLOT_NONE,
					.note = run->note };
	bool real;

	if (!run->dev) {
		to.offset_bytes = BLKALIGN_UNKNOWN;
		to.role = BLKALIGN_ROLE_UNUSED;
		to.note = "nothing is allocated for it: it reads as zeros";
		return locate_add(l, &to);
	}
	to.node = node_of(l, run->dev, &real);
	if (to.node && real)
		return locate_down_edges(l, &(struct locate_place){ to.node, run->offset_bytes, run->length_bytes, place->depth });
	return locate_down(l, &to);
}

static int add_lost(struct locating *l, const struct locate_place *place, uint64_t at, uint64_t length_bytes, const char *reason)
{
	return locate_add(l, &(struct blkalign_location){ .depth = place->depth + 1,
							  .offset_bytes = BLKALIGN_UNKNOWN,
							  .length_bytes = length_bytes,
							  .above_bytes = at,
							  .role = BLKALIGN_ROLE_UNKNOWN,
							  .slot = BLKALIGN_SLOT_NONE,
							  .note = reason ? reason : "where it lies cannot be read" });
}

int locate_down_charted(struct locating *l, const struct locate_place *place, bool *ret_done)
{
	struct dev *dev = charted_dev(l, place->node, place->offset_bytes);
	uint64_t at = place->offset_bytes, end = at + place->length_bytes;
	struct map_run run;
	int r = 0;

	*ret_done = dev != NULL;
	for (; dev && r == 0 && at < end; at += run.length_bytes) {
		const char *reason = NULL;

		bool lost = map_charted_run(dev, at, &run, &reason) < 0;

		if (run.length_bytes > end - at)
			run.length_bytes = end - at;
		r = lost ? add_lost(l, place, at, run.length_bytes, reason) : add_run(l, place, at, &run);
	}
	return r;
}

/* All of the volume is asked: there is no map that goes upwards. */
int locate_up_charted(struct locating *l, const struct locate_place *place, const struct blkalign_node *upper, bool *ret_done)
{
	struct dev *dev = charted_dev(l, upper, 0);
	struct map_run run = { 0 };

	*ret_done = dev != NULL;
	for (uint64_t at = 0; dev && at < dev->size_bytes; at += run.length_bytes) {
		uint64_t within;
		bool real;

		if (map_charted_run(dev, at, &run, &(const char *){ NULL }) < 0)
			continue;
		within = place->offset_bytes - run.offset_bytes;
		if (!run.dev || within >= run.length_bytes || node_of(l, run.dev, &real) != place->node)
			continue;
		return locate_up(l, &(struct blkalign_location){ .depth = place->depth + 1,
								 .node = upper,
								 .offset_bytes = at + within,
								 .length_bytes = run.length_bytes - within,
								 .slot = BLKALIGN_SLOT_NONE,
								 .note = run.note });
	}
	return 0;
}
