/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments are told by the edges of a volume: those with a slot are its areas, in order. */
#include <inttypes.h>
#include <string.h>

#include "columns_lvm.h"

struct segment {
	const struct blkalign_node *node;
	const char *type;		  /* of the volume */
	size_t first, end;		  /* of its edges */
	const struct blkalign_edge *edge; /* of the first area; NULL: none is there */
	uint32_t areas;
	uint64_t extent_bytes;
};

typedef void write_fn(const struct segment *segment, struct lvm_text *ret);

static bool is_raid(const struct segment *s) { return !strncmp(s->type, "raid", 4) || !strcmp(s->type, "mirror"); }

/* A thin volume's bytes lie in its pool, and on nothing that lvm2 calls a device. */
static bool has_areas(const struct segment *s) { return s->edge && strcmp(s->type, "thin") != 0 && strcmp(s->type, "snapshot") != 0; }

static bool next_segment(const struct blkalign_node *node, struct segment *s)
{
	size_t count = blkalign_node_edges(node);
	const char *type = blkalign_node_str(node, BLKALIGN_ATTR_LV_TYPE);

	*s = (struct segment){ .node = node, .type = type ? type : "", .first = s->end, .end = s->end };
	if (s->first == count)
		return false;
	s->extent_bytes = blkalign_node_u64(lvm_owner(node, BLKALIGN_ATTR_EXTENT) ? lvm_owner(node, BLKALIGN_ATTR_EXTENT) : node,
					    BLKALIGN_ATTR_EXTENT);
	while (s->end < count && blkalign_node_edge(node, s->end)->segment == blkalign_node_edge(node, s->first)->segment) {
		const struct blkalign_edge *e = blkalign_node_edge(node, s->end++);

		s->areas += e->slot != BLKALIGN_SLOT_NONE;
		if (e->slot != BLKALIGN_SLOT_NONE && !s->edge)
			s->edge = e;
	}
	return true;
}

static void each(const struct blkalign_node *node, struct lvm_text *ret, write_fn *write)
{
	struct segment s = { 0 };
	bool more = false;

	while (next_segment(node, &s)) {
		lvm_add(ret, "%s", more ? "\n" : "");
		write(&s, ret);
		more = true;
	}
}

/* --- numbers --- */

static void write_type(const struct segment *s, struct lvm_text *ret)
{
	bool plain = !strcmp(s->type, "linear") || !strcmp(s->type, "striped");

	lvm_add(ret, "%s", !plain || !s->edge ? s->type : s->edge->stripes > 1 ? "striped" : "linear");
}

static void write_stripes(const struct segment *s, struct lvm_text *ret) { lvm_add(ret, "%" PRIu32, has_areas(s) ? s->areas : 0); }

static void write_data_stripes(const struct segment *s, struct lvm_text *ret)
{
	lvm_add(ret, "%" PRIu32, !has_areas(s) ? 0 : s->edge->stripes > 1 ? s->edge->stripes : s->areas);
}

static void write_stripe_size(const struct segment *s, struct lvm_text *ret)
{
	lvm_add(ret, "%" PRIu64, s->edge && s->edge->stripes > 1 ? s->edge->chunk_bytes : 0);
}

static void write_extents(const struct segment *s, struct lvm_text *ret, uint64_t bytes)
{
	if (s->extent_bytes && s->extent_bytes != BLKALIGN_UNKNOWN)
		lvm_add(ret, "%" PRIu64, bytes / s->extent_bytes);
}

static uint64_t start_of(const struct segment *s) { return blkalign_node_edge(s->node, s->first)->upper_offset_bytes; }
static uint64_t size_of(const struct segment *s) { return blkalign_node_edge(s->node, s->first)->length_bytes; }
static void write_start(const struct segment *s, struct lvm_text *ret) { lvm_add(ret, "%" PRIu64, start_of(s)); }
static void write_start_pe(const struct segment *s, struct lvm_text *ret) { write_extents(s, ret, start_of(s)); }
static void write_size(const struct segment *s, struct lvm_text *ret) { lvm_add(ret, "%" PRIu64, size_of(s)); }
static void write_size_pe(const struct segment *s, struct lvm_text *ret) { write_extents(s, ret, size_of(s)); }

void lvm_segment_type(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_type); }
void lvm_segment_stripes(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_stripes); }
void lvm_segment_data_stripes(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_data_stripes); }
void lvm_segment_stripe_size(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_stripe_size); }
void lvm_segment_start(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_start); }
void lvm_segment_start_pe(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_start_pe); }
void lvm_segment_size(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_size); }
void lvm_segment_size_pe(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_size_pe); }

/* --- places --- */

/* First extent of an area. An image's data may begin later, by its superblock; its first extent is 0 all the same. */
static uint64_t extent_of(const struct segment *s, const struct blkalign_edge *e)
{
	uint64_t begin = 0;

	if (blkalign_node_kind(e->lower) == BLKALIGN_KIND_PV)
		begin = blkalign_node_u64(e->lower, BLKALIGN_ATTR_PE_START);
	else if (is_raid(s))
		return 0;
	if (e->lower_offset_bytes == BLKALIGN_UNKNOWN || e->lower_offset_bytes < begin || !s->extent_bytes ||
	    s->extent_bytes == BLKALIGN_UNKNOWN)
		return 0;
	return (e->lower_offset_bytes - begin) / s->extent_bytes;
}

static void write_devices_of(const struct segment *s, struct lvm_text *ret, bool metadata)
{
	const char *between = "";

	for (size_t i = s->first; i < s->end; i++) {
		const struct blkalign_edge *e = blkalign_node_edge(s->node, i);
		bool is_metadata = e->state && !strcmp(e->state, "metadata");

		if (metadata ? !is_metadata : e->slot == BLKALIGN_SLOT_NONE)
			continue;
		lvm_add(ret, "%s", between);
		lvm_add_safe(ret, lvm_name_of(e->lower));
		lvm_add(ret, "(%" PRIu64 ")", extent_of(s, e));
		between = ",";
	}
}

static void write_devices(const struct segment *s, struct lvm_text *ret)
{
	if (has_areas(s))
		write_devices_of(s, ret, false);
}

static void write_metadata_devices(const struct segment *s, struct lvm_text *ret)
{
	if (!strncmp(s->type, "raid", 4))
		write_devices_of(s, ret, true);
}

static void write_ranges(const struct segment *s, struct lvm_text *ret, const char *separator, bool brackets)
{
	const char *between = "";
	uint64_t extents =
		s->edge && s->extent_bytes && s->extent_bytes != BLKALIGN_UNKNOWN ? size_of(s) / s->extent_bytes / s->edge->stripes : 0;

	for (size_t i = s->first; extents && has_areas(s) && i < s->end; i++) {
		const struct blkalign_edge *e = blkalign_node_edge(s->node, i);
		bool part = brackets && blkalign_node_u64(e->lower, BLKALIGN_ATTR_LV_HIDDEN) == 1;

		if (e->slot == BLKALIGN_SLOT_NONE)
			continue;
		lvm_add(ret, "%s%s", between, part ? "[" : "");
		lvm_add_safe(ret, lvm_name_of(e->lower));
		lvm_add(ret, "%s:%" PRIu64 "-%" PRIu64, part ? "]" : "", extent_of(s, e), extent_of(s, e) + extents - 1);
		between = separator;
	}
}

static void write_pe_ranges(const struct segment *s, struct lvm_text *ret) { write_ranges(s, ret, " ", false); }
static void write_le_ranges(const struct segment *s, struct lvm_text *ret) { write_ranges(s, ret, ",", true); }

void lvm_segment_pe_ranges(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_pe_ranges); }
void lvm_segment_le_ranges(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_le_ranges); }
void lvm_segment_devices(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_devices); }
void lvm_segment_metadata_devices(const struct blkalign_node *node, struct lvm_text *ret) { each(node, ret, write_metadata_devices); }
