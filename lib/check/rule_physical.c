/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drives that hide their physical block, and drives that call something larger by that name. */
#include <inttypes.h>

#include "check/rules.h"

static void report_under(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	uint64_t believed = f->grains[BOUNDARY_PHYSICAL].bytes;
	/* Tools ask the kernel when they lay out an empty drive; what lies there already is judged by the true block. */
	bool empty = !blkalign_node_uppers(n);

	check_report(c, FINDING_PHYSICAL_UNDERREPORTED, empty ? IMPACT_MISLEADS : IMPACT_NONE, n, f->physical_reported, believed,
		     report_text(c->report,
				 "%s reports physical blocks of %" PRIu64 " bytes, but they are %" PRIu64 " (%s); judged by the larger",
				 check_name(c, n), f->physical_reported, believed, f->physical_source));
}

void rule_physical(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	uint64_t believed = f->grains[BOUNDARY_PHYSICAL].bytes;

	if (!is_set(f->physical_reported))
		return;
	if (f->physical_reported < believed && !f->physical_assumed)
		report_under(c, n);
	if (f->physical_reported > believed)
		check_report(c, FINDING_PHYSICAL_OVERREPORTED, IMPACT_NONE, n, f->physical_reported, believed,
			     report_text(c->report,
					 "%s reports physical blocks of %" PRIu64
					 " bytes: a preferred write size, not a block that must not be crossed; judged by %" PRIu64 " (%s)",
					 check_name(c, n), f->physical_reported, believed, f->physical_source));
}
