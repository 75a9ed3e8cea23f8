/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alignment_offset as the kernel shows it: a shift, a mark of inconsistency, or a stray value; and hints of stacked devices. */
#include <inttypes.h>

#include "check/recompute.h"
#include "check/rules.h"
#include "check/shell.h"

/* What sysfs prints for a partition of a misaligned disk. */
#define MINUS_ONE_UNSIGNED INT64_C(4294967295)

static void report_mark(struct check *c, const struct blkalign_node *n, bool unsigned_mark)
{
	const struct facts *f = facts_of(c, n);
	bool placed = blkalign_node_edges(n) > 0, is_drive = blkalign_node_kind(n) == BLKALIGN_KIND_DISK;
	enum impact impact = !placed || f->misplaced ? IMPACT_MISLEADS : IMPACT_NONE;
	const char *verdict =
		!placed && is_drive ? "it does not say where its own blocks begin, so the mark stands"
		: !placed	    ? "where it lies is not known, so the mark stands"
		: f->misplaced	    ? "a layer below or above is misplaced, see there"
		: !is_placed(n)	    ? "where it lies on the drives is not known, so whether anything is off cannot be told"
				: "by our own arithmetic all its data is on physical blocks: the kernel's test of sums struck without need";

	/* pvcreate takes the unsigned form for an offset and fails. */
	if (unsigned_mark && !blkalign_node_uppers(n))
		impact = IMPACT_BREAKS;
	report_add(c->report,
		   &(struct draft){
			   .finding = FINDING_LIMITS_INCONSISTENT,
			   .impact = impact,
			   .node = n,
			   .found_bytes = BLKALIGN_UNKNOWN,
			   .expected_bytes = 0,
			   .message = report_text(
				   c->report, "alignment_offset of %s is %s: %s%s", check_name(c, n),
				   unsigned_mark ? "4294967295 (-1 printed unsigned)" : "-1", verdict,
				   unsigned_mark ? "; pvcreate fails on it with 'pe_align must not be less than pe_align_offset'" : ""),
			   .remedy = unsigned_mark ? report_text(c->report, "pvcreate --dataalignment 1m --dataalignmentoffset 0 %s",
								 shell_device(c, n))
						   : NULL,
		   });
}

static void report_shifted_drive(struct check *c, const struct blkalign_node *n, int64_t offset)
{
	check_report(c, FINDING_ALIGNMENT_OFFSET, IMPACT_NONE, n, (uint64_t)offset, 0,
		     report_text(c->report,
				 "%s is shifted: its first physical block starts at byte %" PRId64 ", so starts must be %" PRId64
				 " bytes past a multiple of 1 MiB",
				 check_name(c, n), offset, offset));
}

static void report_harmless_offset(struct check *c, const struct blkalign_node *n, int64_t offset)
{
	const struct facts *f = facts_of(c, drive_below(n));
	uint64_t block = f->grains[BOUNDARY_PHYSICAL].bytes;

	if ((uint64_t)offset % block == 0)
		check_report(c, FINDING_ALIGNMENT_OFFSET, IMPACT_NONE, n, (uint64_t)offset, (uint64_t)offset,
			     report_text(c->report,
					 "alignment_offset of %s is %" PRId64 " = %" PRIu64 " x %" PRIu64
					 ": on the physical block, inside something larger; harmless",
					 check_name(c, n), offset, (uint64_t)offset / block, block));
	else
		check_report(c, FINDING_ALIGNMENT_OFFSET, IMPACT_NONE, n, (uint64_t)offset, 0,
			     report_text(c->report,
					 "alignment_offset of %s is %" PRId64
					 ", but every layer below is in its place: a stray value of the kernel",
					 check_name(c, n), offset));
}

/* The place is not known, only its distance to the next boundary is, and nothing lies on it that the judge could have looked at. */
static void report_unplaced(struct check *c, const struct blkalign_node *n, int64_t offset)
{
	const struct facts *f = facts_of(c, drive_below(n));
	uint64_t block = f->grains[BOUNDARY_PHYSICAL].bytes, past = block - (uint64_t)offset % block;

	if ((uint64_t)offset % block == 0) {
		report_harmless_offset(c, n, offset);
		return;
	}
	report_add(c->report, &(struct draft){
				      .finding = FINDING_ALIGNMENT_OFFSET,
				      .impact = IMPACT_ACROSS_PHYSICAL,
				      .node = n,
				      .found_bytes = (uint64_t)offset,
				      .expected_bytes = 0,
				      .message = report_text(c->report,
							     "alignment_offset of %s is %" PRId64
							     ": that is the way to the next block, so it starts %" PRIu64
							     " bytes past a %" PRIu64 "-byte physical block (%s)",
							     check_name(c, n), offset, past, block, f->physical_source),
				      .remedy = script_general(c, FINDING_ALIGNMENT_OFFSET),
			      });
}

/*
 * Since 6.9 the kernel forgets the mark when the offset is not 0. The same offset, worked out from below as that of limits that do not fit, is the mark.
 */
static bool has_lost_mark(const struct check *c, const struct blkalign_node *n, int64_t offset)
{
	const struct recomputed *r = &c->limits[blkalign_node_index(n)];

	return offset > 0 && r->is_worked && r->begins_here && recomputed_alignment(r) == offset;
}

static void report_lost_mark(struct check *c, const struct blkalign_node *n, int64_t offset)
{
	bool misplaced = facts_of(c, n)->misplaced;

	check_report(
		c, FINDING_LIMITS_INCONSISTENT, misplaced ? IMPACT_MISLEADS : IMPACT_NONE, n, (uint64_t)offset, 0,
		report_text(
			c->report,
			"alignment_offset of %s is %" PRId64
			", worked out from the devices below it stands for -1: their limits do not fit, and Linux 6.9 and later forgets "
			"the mark; %s",
			check_name(c, n), offset,
			misplaced ? "a layer below or above is misplaced, see there"
				  : "by our own arithmetic all its data is on physical blocks"));
}

void rule_alignment_offset(struct check *c, const struct blkalign_node *n)
{
	int64_t offset = blkalign_node_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0);

	if (offset == -1 || offset == MINUS_ONE_UNSIGNED)
		report_mark(c, n, offset != -1);
	else if (has_lost_mark(c, n, offset))
		report_lost_mark(c, n, offset);
	else if (offset <= 0 || offset > INT32_MAX || facts_of(c, n)->misplaced)
		return;
	else if (blkalign_node_kind(n) == BLKALIGN_KIND_DISK)
		report_shifted_drive(c, n, offset);
	else if (blkalign_node_edges(n) && is_placed(n))
		report_harmless_offset(c, n, offset);
	else if (blkalign_node_edges(n) || !blkalign_node_uppers(n))
		report_unplaced(c, n, offset);
}
