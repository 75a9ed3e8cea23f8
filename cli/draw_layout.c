/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where everything lies on each drive, worked out from the edges; drives of an array that look the same are drawn once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static int add_box(struct draw_drive *d, struct draw_box box)
{
	if (d->count >= DRAW_BOXES_MAX) {
		d->left_out++;
		return 0;
	}
	if (!(d->count & (d->count - 1))) {
		size_t room = d->count ? d->count * 2 : 1;
		struct draw_box *grown = realloc(d->boxes, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		d->boxes = grown;
	}
	d->boxes[d->count++] = box;
	if (box.row > d->rows)
		d->rows = box.row;
	return 0;
}

/* Offset on `drive` of byte `offset` of the node, by the first way down that leads there. */
static int on_drive(const struct blkalign_node *node, uint64_t offset, const struct blkalign_node *drive, uint64_t *ret_offset,
		    unsigned *ret_row)
{
	struct blkalign_place *places = NULL;
	size_t count = 0;
	int r = blkalign_node_places(node, offset, &places, &count);

	*ret_offset = BLKALIGN_UNKNOWN;
	for (size_t i = 0; r >= 0 && i < count; i++)
		if (places[i].node == drive) {
			*ret_offset = places[i].offset_bytes;
			*ret_row = places[i].depth;
			break;
		}
	free(places);
	return r == -ENOMEM ? r : 0;
}

/* A box per segment: from the place of its first byte to that of its last. */
static int add_segment(struct draw_drive *d, const struct blkalign_node *node, uint64_t from, uint64_t length,
		       enum blkalign_verdict verdict)
{
	struct draw_box box = { .node = node, .verdict = verdict };
	uint64_t last = BLKALIGN_UNKNOWN;
	unsigned row;
	int r;

	if (from == BLKALIGN_UNKNOWN)
		return 0;
	r = on_drive(node, from, d->node, &box.start_bytes, &box.row);
	if (!r && length && length != BLKALIGN_UNKNOWN)
		r = on_drive(node, from + length - 1, d->node, &last, &row);
	if (r || box.start_bytes == BLKALIGN_UNKNOWN)
		return r;
	box.end_bytes = last == BLKALIGN_UNKNOWN || last < box.start_bytes ? d->size_bytes : last + 1;
	return add_box(d, box);
}

static int add_node(struct draw_drive *d, const struct blkalign_node *node, const struct blkalign_report *report)
{
	enum blkalign_verdict verdict = column_verdict(node, report);
	int r = 0;

	for (size_t i = 0; !r && i < blkalign_node_edges(node); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(node, i);

		if (!i || e->segment != blkalign_node_edge(node, i - 1)->segment)
			r = add_segment(d, node, e->upper_offset_bytes, e->length_bytes, verdict);
	}
	return r;
}

/* Everything that can be reached upwards, each node once. */
static int climb(struct draw_drive *d, const struct blkalign_node *node, const struct blkalign_report *report, bool *seen)
{
	int r = 0;

	for (size_t i = 0; !r && i < blkalign_node_uppers(node); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(node, i);

		if (seen[blkalign_node_index(upper)])
			continue;
		seen[blkalign_node_index(upper)] = true;
		r = add_node(d, upper, report);
		if (!r)
			r = climb(d, upper, report, seen);
	}
	return r;
}

static void describe_drive(struct draw_drive *d, const struct blkalign_node *node)
{
	uint64_t physical = blkalign_node_u64(node, BLKALIGN_ATTR_PHYSICAL_BLOCK);
	int64_t shift = blkalign_node_i64(node, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0);

	d->node = node;
	d->size_bytes = blkalign_node_u64(node, BLKALIGN_ATTR_SIZE);
	d->physical_bytes = physical == BLKALIGN_UNKNOWN ? 0 : physical;
	d->grid_shift_bytes = shift > 0 && d->physical_bytes ? (uint64_t)shift % d->physical_bytes : 0;
}

static bool twins(const struct draw_drive *a, const struct draw_drive *b)
{
	if (a->size_bytes != b->size_bytes || a->physical_bytes != b->physical_bytes || a->count != b->count || !a->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct draw_box *x = &a->boxes[i], *y = &b->boxes[i];

		if (x->start_bytes != y->start_bytes || x->end_bytes != y->end_bytes || x->row != y->row || x->verdict != y->verdict ||
		    blkalign_node_kind(x->node) != blkalign_node_kind(y->node))
			return false;
	}
	return true;
}

static int add_twin(struct draw_drive *d, const char *name)
{
	char *grown;

	if (d->twin_count++ >= DRAW_TWINS_NAMED)
		return 0;
	if (asprintf(&grown, "%s%s%s", d->twins ? d->twins : "", d->twins ? ", " : "", name) < 0)
		return -ENOMEM;
	free(d->twins);
	d->twins = grown;
	return 0;
}

static int add_drive(const struct blkalign_graph *graph, const struct blkalign_report *report, const struct blkalign_node *node,
		     struct draw_drive *drives, size_t *count)
{
	struct draw_drive d = { 0 };
	bool *seen = calloc(blkalign_graph_size(graph) + 1, sizeof(*seen));
	int r;

	if (!seen)
		return -ENOMEM;
	describe_drive(&d, node);
	r = climb(&d, node, report, seen);
	free(seen);
	for (size_t i = 0; !r && i < *count; i++)
		if (twins(&drives[i], &d)) {
			r = add_twin(&drives[i], blkalign_node_name(node));
			free(d.boxes);
			return r;
		}
	drives[(*count)++] = d;
	return r;
}

int draw_layout(const struct blkalign_graph *graph, const struct blkalign_report *report, struct draw_drive **ret_drives, size_t *ret_count)
{
	struct draw_drive *drives = calloc(blkalign_graph_size(graph) + 1, sizeof(*drives));
	size_t count = 0;
	int r = drives ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		uint64_t size = blkalign_node_u64(node, BLKALIGN_ATTR_SIZE);

		if (blkalign_node_kind(node) == BLKALIGN_KIND_DISK && size && size != BLKALIGN_UNKNOWN)
			r = add_drive(graph, report, node, drives, &count);
	}
	if (r) {
		draw_layout_free(drives, count);
		return r;
	}
	*ret_drives = drives;
	*ret_count = count;
	return 0;
}

void draw_layout_free(struct draw_drive *drives, size_t count)
{
	for (size_t i = 0; drives && i < count; i++) {
		free(drives[i].boxes);
		free(drives[i].twins);
	}
	free(drives);
}
