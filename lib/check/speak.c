/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "check/speak.h"

void tally_note(struct tally *tally, enum boundary boundary, const struct blkalign_place *place, const struct grain *grain, bool off)
{
	struct tally_entry *entry = &tally->entries[boundary];

	if (entry->grain.bytes && (entry->off || !off))
		return;
	*entry = (struct tally_entry){ *place, *grain, off };
}

/* Ten thousand volumes are ten thousand lines: put together from parts, which takes a fraction of what printf takes. */
static void add(struct strbuf *buf, const char *before, uint64_t number, const char *behind)
{
	strbuf_add(buf, before);
	strbuf_add_u64(buf, number);
	strbuf_add(buf, behind);
}

static void say_physical(struct check *c, const struct tally_entry *e, struct strbuf *buf, struct blkalign_layer *layer)
{
	const struct facts *f = facts_of(c, e->place.node);
	uint64_t from = e->place.offset_bytes - e->grain.offset_bytes, residue = grain_residue(&e->grain, e->place.offset_bytes);

	add(buf, "byte ", e->place.offset_bytes, " of ");
	layer->drive_at = buf->length;
	strbuf_add(buf, check_name(c, e->place.node));
	layer->drive_length = buf->length - layer->drive_at;
	if (e->place.offset_bytes < e->grain.offset_bytes) {
		add(buf, " = before the first boundary at ", e->grain.offset_bytes, "");
	} else {
		add(buf, " = ", from / e->grain.bytes, " x ");
		add(buf, "", e->grain.bytes, "");
	}
	if (e->grain.offset_bytes && e->place.offset_bytes >= e->grain.offset_bytes)
		strbuf_printf(buf, " + %" PRIu64 " (first boundary)", e->grain.offset_bytes);
	if (residue)
		add(buf, " + ", residue, "");
	strbuf_add(buf, " (physical block, ");
	strbuf_add(buf, f->physical_assumed ? "assumed" : f->physical_source);
	strbuf_add(buf, ")");
}

static void say_multiple(struct check *c, const struct tally_entry *e, const char *what, struct strbuf *buf)
{
	char size[32];
	uint64_t residue = grain_residue(&e->grain, e->place.offset_bytes);

	blkalign_format_bytes(size, sizeof(size), e->grain.bytes, 0);
	strbuf_printf(buf, "; %s of %s %s: %" PRIu64 " x", what, check_name(c, e->place.node), size,
		      e->place.offset_bytes / e->grain.bytes);
	if (residue)
		strbuf_printf(buf, " + %" PRIu64, residue);
}

/* A partition's start is not known, but the kernel knew it and found no shift: alignment_offset of a partition is plain arithmetic. */
static bool kernel_vouches(const struct blkalign_node *n, const struct tally *t)
{
	return blkalign_node_kind(n) == BLKALIGN_KIND_PARTITION && !t->entries[BOUNDARY_PHYSICAL].grain.bytes &&
	       blkalign_node_value(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET) && !blkalign_node_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0);
}

static enum blkalign_verdict verdict_of(const struct check *c, const struct blkalign_node *n, const struct tally *t)
{
	const struct tally_entry *chunk = &t->entries[BOUNDARY_CHUNK];

	if (facts_of(c, n)->exempt != EXEMPT_NO || t->exempt)
		return BLKALIGN_VERDICT_UNKNOWN;
	if (t->entries[BOUNDARY_PHYSICAL].off)
		return facts_of(c, n)->misplaced ? BLKALIGN_VERDICT_MISALIGNED : BLKALIGN_VERDICT_ALIGNED;
	if (kernel_vouches(n, t))
		return BLKALIGN_VERDICT_ALIGNED;
	if (t->unknown || !t->entries[BOUNDARY_PHYSICAL].grain.bytes)
		return BLKALIGN_VERDICT_UNKNOWN;
	if (chunk->off && facts_of(c, chunk->place.node)->crossing_costs)
		return BLKALIGN_VERDICT_WARNING;
	return BLKALIGN_VERDICT_ALIGNED;
}

static void say_verdict(const struct check *c, const struct blkalign_node *n, const struct tally *t, enum blkalign_verdict verdict,
			struct strbuf *buf)
{
	if (facts_of(c, n)->exempt != EXEMPT_NO || t->exempt)
		strbuf_add(buf, ": not judged");
	else if (verdict == BLKALIGN_VERDICT_UNKNOWN)
		strbuf_add(buf, ": unknown");
	else if (verdict == BLKALIGN_VERDICT_MISALIGNED)
		strbuf_add(buf, ": misaligned");
	else if (t->entries[BOUNDARY_PHYSICAL].off)
		strbuf_add(buf, ": off by itself, but all that lies on it makes up for it: aligned");
	else if (verdict == BLKALIGN_VERDICT_WARNING)
		strbuf_add(buf, ": aligned to the physical block, off the chunk");
	else
		strbuf_add(buf, ": aligned");
}

static void say_start(const struct blkalign_node *n, uint64_t start, struct strbuf *buf)
{
	if (blkalign_node_kind(n) == BLKALIGN_KIND_PV && start != BLKALIGN_UNKNOWN)
		strbuf_printf(buf, "first extent (pe_start %" PRIu64 ") at ", start);
	else if (blkalign_node_kind(n) == BLKALIGN_KIND_PV)
		strbuf_add(buf, "first extent at an unknown place; the label at ");
	else
		strbuf_add(buf, "data at ");
}

void speak_layer(struct check *c, const struct blkalign_node *n, uint64_t start, const struct tally *t)
{
	struct strbuf *buf = &c->line;
	struct blkalign_layer layer = { .node = n, .verdict = verdict_of(c, n, t) };

	strbuf_clear(buf);
	say_start(n, start, buf);
	if (t->entries[BOUNDARY_PHYSICAL].grain.bytes)
		say_physical(c, &t->entries[BOUNDARY_PHYSICAL], buf, &layer);
	else if (kernel_vouches(n, t))
		strbuf_add(buf, "a place that is not known, but alignment_offset is 0: the kernel finds it on a physical block");
	else
		strbuf_add(buf, "a place that is not known");
	if (t->entries[BOUNDARY_CHUNK].grain.bytes)
		say_multiple(c, &t->entries[BOUNDARY_CHUNK], "chunk", buf);
	if (t->entries[BOUNDARY_STRIPE].grain.bytes)
		say_multiple(c, &t->entries[BOUNDARY_STRIPE], "stripe", buf);
	if (t->drives > 1)
		strbuf_printf(buf, "; %s on %" PRIu32 " places", t->entries[BOUNDARY_PHYSICAL].off ? "judged" : "the same", t->drives);
	say_verdict(c, n, t, layer.verdict, buf);
	if (buf->failed)
		c->failed = true;
	layer.text = strbuf_text(buf);
	report_layer(c->report, &layer);
}

void speak_drive(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	uint64_t logical = blkalign_node_u64(n, BLKALIGN_ATTR_LOGICAL_BLOCK);
	struct blkalign_layer layer = { .node = n, .verdict = BLKALIGN_VERDICT_UNKNOWN };
	char text[256] = "where this lies on the device below is not known: unknown";

	if (blkalign_node_kind(n) == BLKALIGN_KIND_HOST)
		return;
	layer.text = text;
	if (blkalign_node_kind(n) != BLKALIGN_KIND_DISK) {
		report_layer(c->report, &layer);
		return;
	}
	snprintf(text, sizeof(text), "%s%" PRIu64 "-byte physical blocks (%s)%s", is_set(logical) ? "" : "logical block unknown, ",
		 f->grains[BOUNDARY_PHYSICAL].bytes, f->physical_source, f->grains[BOUNDARY_PHYSICAL].offset_bytes ? ", shifted" : "");
	layer.verdict = f->physical_assumed ? BLKALIGN_VERDICT_UNKNOWN : BLKALIGN_VERDICT_ALIGNED;
	report_layer(c->report, &layer);
}
