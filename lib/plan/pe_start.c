/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where data may begin: doc/pe-start.md. The words are like those of lvm2's -v (lib/metadata/metadata.c: set_pe_align, set_pe_align_offset). */
#include <inttypes.h>

#include "plan/plan.h"

#define DEFAULT_ALIGN	 MIB
#define AREA_AT		 4096U
#define STRIPE_MAX_BYTES (64 * MIB)

const struct blkalign_node *plan_judged(const struct plan_facts *facts, const struct blkalign_node *node, struct check **ret_check)
{
	for (size_t i = 0; facts->live && i < facts->twin_count; i++)
		if (facts->twins[i].node == node) {
			*ret_check = facts->live;
			return facts->twins[i].live;
		}
	*ret_check = facts->stack;
	return node;
}

/* --- what is below --- */

static uint64_t shift_of(uint64_t residue, uint64_t unit) { return residue ? unit - residue : 0; }

/* The largest physical block of the drives that hold byte 0, and where it begins. */
static int physical_below(struct check *c, const struct blkalign_node *node, struct plan_grain *grain)
{
	_cleanup_free_ struct blkalign_place *places = NULL;
	size_t count;
	int r = blkalign_node_places(node, 0, &places, &count);

	for (size_t i = 0; r >= 0 && i < count; i++) {
		const struct grain *g = &facts_of(c, places[i].node)->grains[BOUNDARY_PHYSICAL];
		uint64_t at = places[i].offset_bytes == BLKALIGN_UNKNOWN ? 0 : places[i].offset_bytes;

		if (blkalign_node_edges(places[i].node) || edge_is_idle(places[i].edge) || g->bytes <= grain->physical_bytes)
			continue;
		grain->physical_bytes = g->bytes;
		grain->physical_first_bytes = shift_of(grain_residue(g, at), g->bytes);
	}
	return r;
}

/* Nobody told where the device lies: the kernel's word counts. */
static void physical_unplaced(const struct blkalign_node *node, struct plan_grain *grain)
{
	int64_t offset = blkalign_node_i64(node, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0);

	if (!is_placed(node) && grain->physical_bytes)
		grain->physical_first_bytes = offset > 0 && offset < INT32_MAX ? (uint64_t)offset % grain->physical_bytes : 0;
}

static bool has_geometry(struct check *c, const struct blkalign_node *node)
{
	return facts_of(c, node)->grains[BOUNDARY_STRIPE].bytes || facts_of(c, node)->grains[BOUNDARY_CHUNK].bytes;
}

/* The nearest device at or below that has chunks; its stripe, or its chunk where no stripe is known. */
static void stripe_below(struct check *c, const struct blkalign_node *node, struct plan_grain *grain)
{
	const struct blkalign_node *n = node;
	const struct facts *f;
	uint64_t at = 0;

	while (!has_geometry(c, n) && blkalign_node_edges(n) == 1) {
		const struct blkalign_edge *e = blkalign_node_edge(n, 0);

		if (e->lower_offset_bytes == BLKALIGN_UNKNOWN || !u64_add(at, e->lower_offset_bytes, &at))
			return;
		n = e->lower;
	}
	f = facts_of(c, n);
	grain->stripe_bytes = f->grains[BOUNDARY_STRIPE].bytes ? f->grains[BOUNDARY_STRIPE].bytes : f->grains[BOUNDARY_CHUNK].bytes;
	if (grain->stripe_bytes)
		grain->stripe_first_bytes = shift_of(at % grain->stripe_bytes, grain->stripe_bytes);
}

/* --- hints that are not believed --- */

static int say_hint(struct check *c, const struct blkalign_node *node, struct plan *plan)
{
	const struct facts *f = facts_of(c, node);
	uint64_t logical = blkalign_node_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK);

	if (!plan || !hint_is_bogus(f->hint))
		return 0;
	if (f->hint == HINT_SATURATED && is_set(logical) && f->optimal_bytes == 65535 * logical)
		return plan_say(plan, "%s: optimal_io_size %" PRIu64 " is 65535 blocks, a saturated field: ignored", check_name(c, node),
				f->optimal_bytes);
	return plan_say(plan, "%s: optimal_io_size %" PRIu64 " is %s: ignored", check_name(c, node), f->optimal_bytes,
			hint_shape_text(f->hint));
}

/* Of the device and those in one piece below it: where a hint from below shows through, it is named once, at the lowest. */
static int say_hints(struct check *c, const struct blkalign_node *node, struct plan *plan)
{
	int r = 0;

	for (const struct blkalign_node *n = node; r >= 0; n = below(n)) {
		if (!facts_of(c, n)->hint_inherited)
			r = say_hint(c, n, plan);
		if (blkalign_node_edges(n) != 1)
			break;
	}
	return r;
}

int plan_grain(struct check *c, const struct blkalign_node *node, struct plan *plan, struct plan_grain *ret)
{
	const struct grain *own = &facts_of(c, node)->grains[BOUNDARY_PHYSICAL];
	struct plan_grain grain = { 0 };
	int r = 0;

	if (!blkalign_node_edges(node))
		grain = (struct plan_grain){ .physical_bytes = own->bytes, .physical_first_bytes = own->offset_bytes };
	else
		r = physical_below(c, node, &grain);
	if (r < 0)
		return r;
	physical_unplaced(node, &grain);
	if (!grain.physical_bytes)
		grain.physical_bytes = 4096;
	stripe_below(c, node, &grain);
	r = say_hints(c, node, plan);
	*ret = grain;
	return r;
}

/* --- the rule --- */

static const char *size_text(uint64_t bytes, char ret[32]) { return blkalign_format_bytes(ret, 32, bytes, 0); }

static const char *source_of(struct check *c, const struct blkalign_node *node)
{
	const char *source = facts_of(c, drive_below(node))->physical_source;

	return source ? source : "assumed";
}

/* The stripe, where it divides 1 MiB or can take its place; else 1 MiB with the physical blocks alone. */
static int by_rule(struct plan *plan, struct check *c, const struct blkalign_node *node, const struct plan_grain *g,
		   struct plan_pe_start *ret)
{
	uint64_t unit = DEFAULT_ALIGN;
	char stripe[32];

	*ret = (struct plan_pe_start){ .align_bytes = unit, .offset_bytes = g->physical_first_bytes };
	size_text(g->stripe_bytes, stripe);
	if (g->stripe_bytes && unit % g->stripe_bytes != 0 && !topo_lcm(g->stripe_bytes, g->physical_bytes, &unit))
		unit = UINT64_MAX;
	if (!g->stripe_bytes)
		return plan_explain(plan,
				    "%s: setting PE alignment to %" PRIu64 " sectors: 1 MiB, a multiple of the %" PRIu64
				    "-byte physical block (%s); no stripe is proven below",
				    check_name(c, node), unit / 512, g->physical_bytes, source_of(c, node));
	if (unit > STRIPE_MAX_BYTES || g->stripe_first_bytes % g->physical_bytes != g->physical_first_bytes)
		return plan_explain(plan,
				    "%s: setting PE alignment to %" PRIu64
				    " sectors: the stripes of %s below do not begin on physical blocks of "
				    "%" PRIu64 " bytes, which matter more",
				    check_name(c, node), DEFAULT_ALIGN / 512, stripe, g->physical_bytes);
	ret->align_bytes = unit;
	ret->offset_bytes = g->stripe_first_bytes;
	return plan_explain(plan,
			    "%s: setting PE alignment to %" PRIu64 " sectors: a multiple of the %s stripe below and of the %" PRIu64
			    "-byte physical block (%s)",
			    check_name(c, node), unit / 512, stripe, g->physical_bytes, source_of(c, node));
}

/* Past which boundary it would be; 0 when on all of them. */
static uint64_t missed(const struct plan_grain *g, uint64_t start, uint64_t *ret_unit)
{
	uint64_t past = topo_misalignment(start, g->physical_bytes, g->physical_first_bytes);

	*ret_unit = g->physical_bytes;
	if (past || !g->stripe_bytes)
		return past;
	*ret_unit = g->stripe_bytes;
	return topo_misalignment(start, g->stripe_bytes, g->stripe_first_bytes);
}

static int as_asked(struct plan *plan, struct check *c, const struct blkalign_node *node, const struct plan_grain *g,
		    const struct plan_pv_options *o, uint64_t start, struct blkalign_error *reterr)
{
	uint64_t unit, past = missed(g, start, &unit);
	bool physical = unit == g->physical_bytes;

	if (!past)
		return 0;
	if (!o->force)
		return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(node), start,
					  "the first extent would begin at byte %" PRIu64 ", %" PRIu64 " bytes past a %s of %" PRIu64
					  " bytes%s%s%s; --force does it all the same",
					  start, past, physical ? "physical block" : "stripe", unit, physical ? " (" : "",
					  physical ? source_of(c, node) : "", physical ? ")" : "");
	return plan_say(plan, "%s: the first extent begins %" PRIu64 " bytes past a %s of %" PRIu64 " bytes, as forced",
			check_name(c, node), past, physical ? "physical block" : "stripe", unit);
}

static int check_request(const struct blkalign_node *node, const struct plan_pv_options *o, const struct plan_pe_start *at,
			 struct blkalign_error *reterr)
{
	if (at->align_bytes % 512 || at->offset_bytes % 512)
		return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(node), BLKALIGN_UNKNOWN,
					  "the alignment of the data, and its offset, are counted in sectors of 512 bytes");
	if (at->offset_bytes > at->align_bytes)
		return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(node), BLKALIGN_UNKNOWN,
					  "the offset of the data, %" PRIu64 " bytes, is larger than their alignment, %" PRIu64,
					  at->offset_bytes, at->align_bytes);
	if (at->align_bytes > GIB || o->metadata_bytes > GIB)
		return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(node), BLKALIGN_UNKNOWN,
					  "neither metadata nor the alignment of data are larger than 1 GiB");
	return 0;
}

/* Behind the metadata, which takes all the room that is left before it. */
static void place_start(const struct plan_pv_options *o, struct plan_pe_start *at)
{
	uint64_t metadata = o->metadata_bytes ? o->metadata_bytes : DEFAULT_ALIGN - AREA_AT;
	uint64_t end = o->metadata_copies ? AREA_AT + metadata : 1;

	if (at->align_bytes + at->offset_bytes < AREA_AT && end < AREA_AT)
		end = AREA_AT;
	at->pe_start_bytes = round_up_u64(end, at->align_bytes) + at->offset_bytes;
}

int plan_pe_start(struct plan *plan, struct check *c, const struct blkalign_node *node, const struct plan_pv_options *options,
		  struct plan_pe_start *ret, struct blkalign_error *reterr)
{
	bool asked = options->data_alignment_bytes || options->data_alignment_offset_bytes != BLKALIGN_UNKNOWN;
	struct plan_grain grain;
	int r = plan_grain(c, node, plan, &grain);

	if (r >= 0)
		r = by_rule(plan, c, node, &grain, ret);
	if (r < 0)
		return r;
	if (options->data_alignment_bytes)
		ret->align_bytes = options->data_alignment_bytes;
	if (options->data_alignment_offset_bytes != BLKALIGN_UNKNOWN)
		ret->offset_bytes = options->data_alignment_offset_bytes;
	else if (options->data_alignment_bytes)
		ret->offset_bytes %= ret->align_bytes;
	r = check_request(node, options, ret, reterr);
	if (r < 0)
		return r;
	place_start(options, ret);
	if (asked)
		r = as_asked(plan, c, node, &grain, options, ret->pe_start_bytes, reterr);
	if (r >= 0 && asked)
		r = plan_explain(plan, "%s: setting PE alignment to %" PRIu64 " sectors, as asked", check_name(c, node),
				 ret->align_bytes / 512);
	if (r >= 0 && ret->offset_bytes)
		r = plan_explain(plan, "%s: setting PE alignment offset to %" PRIu64 " sectors%s", check_name(c, node),
				 ret->offset_bytes / 512, asked ? "" : ": there the first boundary of what is below begins");
	return r;
}
