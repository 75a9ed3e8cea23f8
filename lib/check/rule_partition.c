/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ends of partitions. Starts are the judge's business; tables in the wrong unit and phantoms are told before it. */
#include <inttypes.h>

#include "check/rules.h"

/* A real table holds 128 partitions; more are not searched, so that a hostile one costs no quadratic time. */
#define HEIRS_MAX 256

static const char *size_fingerprint(struct check *c, const struct blkalign_node *disk, uint64_t size)
{
	uint64_t print = hint_fingerprint(size);

	if (!print)
		return "";
	hint_betrayed(c, disk, print);
	return report_text(c->report,
			   "; its size is %" PRIu64 " x %" PRIu64 ", the fingerprint of sizes rounded to a bogus optimal_io_size",
			   size / print, print);
}

/* The partition that starts where this one ends, if its start is off. */
static const char *heir(struct check *c, const struct blkalign_node *disk, uint64_t end)
{
	if (blkalign_node_uppers(disk) > HEIRS_MAX)
		return "";
	for (size_t i = 0; i < blkalign_node_uppers(disk); i++) {
		const struct blkalign_node *n = blkalign_node_upper(disk, i);

		if (blkalign_node_kind(n) == BLKALIGN_KIND_PARTITION && facts_of(c, n)->misplaced &&
		    blkalign_node_edge(n, 0)->lower_offset_bytes == end)
			return report_text(c->report, "; %s starts there and is off because of it", check_name(c, n));
	}
	return "";
}

static void report_beyond(struct check *c, const struct blkalign_node *n, const struct blkalign_node *disk, uint64_t end, uint64_t size)
{
	check_report(c, FINDING_PARTITION_END, IMPACT_BREAKS, n, end, size,
		     report_text(c->report, "%s ends at byte %" PRIu64 ", %" PRIu64 " bytes beyond the end of %s", check_name(c, n), end,
				 end - size, check_name(c, disk)));
}

static void report_end(struct check *c, const struct blkalign_node *n, const struct blkalign_node *disk, const struct grain *block,
		       uint64_t end, uint64_t size)
{
	uint64_t residue = grain_residue(block, end);
	const char *print = size_fingerprint(c, disk, size);

	if (!residue && !*print)
		return;
	check_report(c, FINDING_PARTITION_END, IMPACT_NONE, n, end, end - residue,
		     report_text(c->report,
				 "%s ends at byte %" PRIu64 ", %" PRIu64 " bytes past a %" PRIu64
				 "-byte block; that costs nothing by itself%s%s",
				 check_name(c, n), end, residue, block->bytes, heir(c, disk, end), print));
}

/* Entries that reach beyond a plain device: it was larger, or the table was copied from a larger one. */
void rule_table_end(struct check *c, const struct blkalign_node *disk)
{
	const char *note = blkalign_node_str(disk, BLKALIGN_ATTR_TABLE_NOTE);

	if (!attr_is(disk, BLKALIGN_ATTR_TABLE_STATE, "beyond-device"))
		return;
	for (size_t i = 0; i < blkalign_node_uppers(disk); i++)
		if (facts_of(c, blkalign_node_upper(disk, i))->exempt == EXEMPT_PHANTOM ||
		    blkalign_node_kind(blkalign_node_upper(disk, i)) == BLKALIGN_KIND_MD)
			return;
	check_report(c, FINDING_PARTITION_END, IMPACT_BREAKS, disk, BLKALIGN_UNKNOWN, blkalign_node_u64(disk, BLKALIGN_ATTR_SIZE),
		     report_text(c->report, "the partition table of %s reaches beyond its end%s%s", check_name(c, disk), note ? ": " : "",
				 note ? report_escaped(c->report, note) : ""));
}

void rule_partition_end(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	const struct blkalign_edge *e = blkalign_node_edges(n) ? blkalign_node_edge(n, 0) : NULL;
	uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_SIZE), room, end;

	if (!e || f->exempt != EXEMPT_NO || !is_set(size) || e->lower_offset_bytes == BLKALIGN_UNKNOWN ||
	    !u64_add(e->lower_offset_bytes, size, &end))
		return;
	room = blkalign_node_u64(e->lower, BLKALIGN_ATTR_SIZE);
	if (is_set(room) && end > room)
		report_beyond(c, n, e->lower, end, room);
	else if (!f->blames[BOUNDARY_PHYSICAL])
		report_end(c, n, e->lower, &facts_of(c, drive_below(e->lower))->grains[BOUNDARY_PHYSICAL], end, size);
}
