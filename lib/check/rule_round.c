/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts that are on every block and chunk but not on 1 MiB: good, and still a surprise to some tools. */
#include <inttypes.h>

#include "check/rules.h"

static bool is_blamed(const struct facts *f)
{
	return f->blames[BOUNDARY_PHYSICAL] || f->blames[BOUNDARY_CHUNK] || f->blames[BOUNDARY_STRIPE];
}

/* On 1 MiB, or on the stripe of what lies below, which is the better reason. */
static bool is_round(const struct check *c, const struct blkalign_node *below, uint64_t offset)
{
	const struct facts *f = facts_of(c, below);
	const struct grain *block = &f->grains[BOUNDARY_PHYSICAL];
	uint64_t stripe = f->grains[BOUNDARY_STRIPE].bytes, first = block->offset_bytes;

	/* Off the block without blame: a layer above makes up for it, and there is no point in talking of 1 MiB. */
	if (block->bytes && grain_residue(block, offset))
		return true;
	return offset < first || (offset - first) % MIB == 0 || (stripe && offset % stripe == 0);
}

static const char *waste(struct check *c, const struct blkalign_node *n, uint64_t offset)
{
	const struct facts *drive = facts_of(c, drive_below(n));
	bool asked = hint_is_bogus(drive->hint) && offset % drive->optimal_bytes == 0;
	uint64_t print = asked ? drive->optimal_bytes : hint_fingerprint(offset);

	if (!print)
		return "";
	hint_betrayed(c, drive_below(n), print);
	return report_text(c->report,
			   "; it bears the fingerprint of a bogus optimal_io_size %" PRIu64 ", which wastes space and harms nothing",
			   print);
}

static void report_round(struct check *c, const struct blkalign_node *n, enum finding finding, uint64_t offset)
{
	report_add(c->report, &(struct draft){
				      .finding = finding,
				      .impact = IMPACT_TUNING,
				      .node = n,
				      .found_bytes = offset,
				      .expected_bytes = round_up_u64(offset, MIB),
				      .message = report_text(c->report,
							     "%s starts at byte %" PRIu64
							     ": on the blocks below, but no multiple of 1 MiB; nothing to do%s",
							     check_name(c, n), offset, waste(c, n, offset)),
			      });
}

void rule_round_partition(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	const struct blkalign_edge *e = blkalign_node_edges(n) ? blkalign_node_edge(n, 0) : NULL;

	if (!e || f->exempt != EXEMPT_NO || f->misplaced || is_blamed(f) || e->lower_offset_bytes == BLKALIGN_UNKNOWN)
		return;
	if (!is_round(c, e->lower, e->lower_offset_bytes))
		report_round(c, n, FINDING_PARTITION_START, e->lower_offset_bytes);
}

void rule_round_pv(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	const struct blkalign_edge *e = blkalign_node_edges(n) ? blkalign_node_edge(n, 0) : NULL;
	uint64_t start = blkalign_node_u64(n, BLKALIGN_ATTR_PE_START);

	if (!e || !is_set(start) || f->misplaced || is_blamed(f))
		return;
	if (!is_round(c, e->lower, start))
		report_round(c, n, FINDING_PE_START, start);
}
