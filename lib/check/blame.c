/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From blames to findings: which id, how bad, in which words. */
#include <inttypes.h>

#include "check/check.h"
#include "check/hidden.h"
#include "check/price.h"
#include "check/remedy.h"
#include "check/rules.h"

static bool on_stripe_of_pv(const struct blame *b)
{
	return b->boundary == BOUNDARY_STRIPE && blkalign_node_kind(b->below) == BLKALIGN_KIND_PV;
}

static enum finding finding_of(const struct blame *b)
{
	if (!blkalign_node_edges(b->guilty))
		return FINDING_ALIGNMENT_OFFSET;
	switch (blkalign_node_kind(b->guilty)) {
	case BLKALIGN_KIND_PARTITION:
		return FINDING_PARTITION_START;
	case BLKALIGN_KIND_MD:
		return FINDING_MD_DATA_OFFSET;
	case BLKALIGN_KIND_PV:
		return b->boundary == BOUNDARY_PHYSICAL ? FINDING_PE_START : FINDING_PE_START_VS_STRIPE;
	case BLKALIGN_KIND_CRYPT:
		return FINDING_LUKS_OFFSET;
	case BLKALIGN_KIND_LV:
	case BLKALIGN_KIND_DM:
	case BLKALIGN_KIND_BCACHE:
		return on_stripe_of_pv(b) ? FINDING_EXTENT_VS_STRIPE : FINDING_LV_START;
	case BLKALIGN_KIND_CONTENT:
	case BLKALIGN_KIND_DISK:
	case BLKALIGN_KIND_HOST:
		break;
	}
	return FINDING_ALIGNMENT_OFFSET;
}

static enum impact impact_of(const struct check *c, const struct blame *b)
{
	/* An EFI system partition is written when a kernel is installed: chunks and stripes do not matter to it, torn blocks do. */
	if (b->boundary != BOUNDARY_PHYSICAL && attr_is(b->guilty, BLKALIGN_ATTR_PART_ROLE, "esp"))
		return IMPACT_NONE;
	switch (b->boundary) {
	case BOUNDARY_PHYSICAL:
		return IMPACT_ACROSS_PHYSICAL;
	case BOUNDARY_CHUNK:
		return facts_of(c, b->on)->crossing_costs ? IMPACT_LOSES_SPEED : IMPACT_TUNING;
	case BOUNDARY_STRIPE:
	case BOUNDARIES:
		break;
	}
	return IMPACT_TUNING;
}

/* What the layer's own offset should be: the next boundary, at least 1 MiB; 16 MiB for an encrypted payload. */
static uint64_t expected_offset(const struct blame *b)
{
	uint64_t unit = b->grain.bytes, own = b->own_bytes, from, up;

	if (own == BLKALIGN_UNKNOWN)
		return BLKALIGN_UNKNOWN;
	if (b->guilty == b->on)
		return 0;
	if (b->hinted && blkalign_node_kind(b->guilty) == BLKALIGN_KIND_CRYPT)
		return 16 * MIB;
	if (b->hinted)
		return blkalign_node_kind(b->guilty) == BLKALIGN_KIND_PARTITION ? remedy_partition_target(b, MIB) : round_up_u64(MIB, unit);
	if (MIB % unit == 0)
		unit = MIB;
	from = own > b->grain.offset_bytes ? own - b->grain.offset_bytes : 0;
	up = round_up_u64(from ? from : 1, unit);
	if (!up)
		return BLKALIGN_UNKNOWN;
	up += b->grain.offset_bytes;
	return blkalign_node_kind(b->guilty) == BLKALIGN_KIND_PARTITION ? remedy_partition_target(b, up) : up;
}

static const char *unit_name(struct check *c, const struct blame *b)
{
	const struct facts *f = facts_of(c, b->on);
	char size[32];

	blkalign_format_bytes(size, sizeof(size), b->grain.bytes, 0);
	switch (b->boundary) {
	case BOUNDARY_PHYSICAL:
		return report_text(c->report, "%" PRIu64 "-byte physical block of %s (%s)", b->grain.bytes, check_name(c, b->on),
				   f->physical_source);
	case BOUNDARY_CHUNK:
		return report_text(c->report, "%s chunk of %s", size, check_name(c, b->on));
	case BOUNDARY_STRIPE:
	case BOUNDARIES:
		break;
	}
	return report_text(c->report, "%s stripe of %s", size, check_name(c, b->on));
}

static const char *what_starts(struct check *c, const struct blame *b)
{
	const char *name = check_name(c, b->guilty);

	switch (blkalign_node_kind(b->guilty)) {
	case BLKALIGN_KIND_PV:
		return report_text(c->report, "the first extent of %s is", name);
	case BLKALIGN_KIND_MD:
		return report_text(c->report, "the data of %s is", name);
	case BLKALIGN_KIND_CRYPT:
		return report_text(c->report, "the payload of %s is", name);
	case BLKALIGN_KIND_HOST:
	case BLKALIGN_KIND_DISK:
	case BLKALIGN_KIND_PARTITION:
	case BLKALIGN_KIND_LV:
	case BLKALIGN_KIND_DM:
	case BLKALIGN_KIND_BCACHE:
	case BLKALIGN_KIND_CONTENT:
		break;
	}
	return report_text(c->report, "%s starts", name);
}

static const char *hint_words(struct check *c, const struct blame *b)
{
	if (!b->hinted)
		return "";
	if (hint_is_bogus(facts_of(c, b->hinted)->hint))
		return report_text(c->report, ", which is what the bogus optimal_io_size %" PRIu64 " of %s asks for", b->hint_bytes,
				   check_name(c, b->hinted));
	return report_text(c->report,
			   ", the fingerprint of a bogus optimal_io_size %" PRIu64 " that %s (or the bridge it was behind) once reported",
			   b->hint_bytes, check_name(c, b->hinted));
}

static const char *inherited(struct check *c, const struct blame *b)
{
	uint32_t others = b->victims - (b->victim == b->guilty || blkalign_node_kind(b->guilty) == BLKALIGN_KIND_PV ? 1 : 0);

	if (!others)
		return "";
	return report_text(c->report, "; %" PRIu32 " %s above inherit%s it", others, others == 1 ? "layer" : "layers",
			   others == 1 ? "s" : "");
}

static const char *message_of(struct check *c, const struct blame *b)
{
	if (on_stripe_of_pv(b))
		return report_text(c->report,
				   "extents of %s do not begin on the %s: %" PRIu32 " %s inside one (the first by %" PRIu64 " bytes)",
				   check_name(c, b->below), unit_name(c, b), b->victims,
				   b->victims == 1 ? "volume starts" : "volumes start", b->residue_bytes);
	if (b->guilty == b->on)
		return report_text(c->report,
				   "alignment_offset of %s is %" PRIu64 ": its data lies %" PRIu64 " bytes past a %" PRIu64
				   "-byte physical block (%s); where it starts is not known",
				   check_name(c, b->on), b->own_bytes, b->residue_bytes, b->grain.bytes,
				   facts_of(c, b->on)->physical_source);
	return report_text(c->report, "%s at byte %" PRIu64 " of %s, and data lies %" PRIu64 " bytes past a %s%s%s", what_starts(c, b),
			   b->own_bytes, check_name(c, b->below), b->residue_bytes, unit_name(c, b), hint_words(c, b),
			   report_text(c->report, "%s%s", inherited(c, b), hidden_of_partition(c, b->guilty)));
}

/* The array between the victim and the drives, if there is one. */
static struct price_array array_below(const struct blkalign_node *n)
{
	struct price_array array = { 0 };

	for (unsigned depth = 0; depth < 64 && blkalign_node_edges(n); depth++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, 0);
		const char *level = blkalign_node_str(n, BLKALIGN_ATTR_MD_LEVEL);

		if (level && e->chunk_bytes) {
			array.chunk_bytes = e->chunk_bytes;
			array.data_members = e->stripes;
			array.parity_members = !strcmp(level, "raid6") ? 2 : !strcmp(level, "raid5") || !strcmp(level, "raid4");
			break;
		}
		n = e->lower;
	}
	return array;
}

static const char *price_of(struct check *c, const struct blame *b)
{
	struct price_array array = array_below(b->victim);
	char size[32];

	if (b->boundary == BOUNDARY_PHYSICAL)
		return price_text(c->report, &array, blkalign_node_u64(b->victim, BLKALIGN_ATTR_FS_BLOCK), b->residue_bytes,
				  b->grain.bytes);
	if (b->boundary != BOUNDARY_CHUNK || !facts_of(c, b->on)->crossing_costs)
		return NULL;
	blkalign_format_bytes(size, sizeof(size), b->grain.bytes, 0);
	return report_text(c->report, "model: a request of %s that could be served by one member needs two; 4 KiB writes cost nothing more",
			   size);
}

static void report_blame(struct check *c, const struct blame *b)
{
	enum finding finding = finding_of(b);
	const struct blkalign_node *node = finding == FINDING_EXTENT_VS_STRIPE ? b->below : b->guilty;
	struct draft draft = {
		.finding = finding,
		.impact = impact_of(c, b),
		.node = node,
		.cause = b->hinted			       ? b->hinted
			 : finding == FINDING_ALIGNMENT_OFFSET ? b->on
							       : node,
		.found_bytes = b->own_bytes,
		.expected_bytes = expected_offset(b),
		.message = message_of(c, b),
		.price = price_of(c, b),
	};

	if (b->hinted)
		hint_betrayed(c, b->hinted, b->hint_bytes);
	draft.remedy = remedy_for_start(c, b, finding, draft.expected_bytes);
	report_add(c->report, &draft);
}

void judge_report(struct check *c)
{
	for (size_t i = 0; i < c->blames.count; i++)
		report_blame(c, &c->blames.data[i]);
}
