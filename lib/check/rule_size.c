/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "check/rules.h"

/* Sectors of spinning drives are no larger. */
#define SECTOR_MAX_BYTES 4096

void rule_size(struct check *c, const struct blkalign_node *n)
{
	const struct blkalign_value *size = blkalign_node_value(n, BLKALIGN_ATTR_SIZE);
	uint64_t block = facts_of(c, n)->grains[BOUNDARY_PHYSICAL].bytes;

	/* Flash with larger pages, and volumes of storage systems, offer any multiple of 4096. */
	if (block > SECTOR_MAX_BYTES)
		block = SECTOR_MAX_BYTES;

	/* A file may have any size. */
	if (!size || !size->u64 || size->origin == BLKALIGN_ORIGIN_FILE || size->u64 % block == 0)
		return;
	check_report(c, FINDING_SIZE_NOT_MULTIPLE, IMPACT_NONE, n, size->u64, round_up_u64(size->u64, block),
		     report_text(c->report,
				 "size of %s is %" PRIu64 " bytes = %" PRIu64 " x %" PRIu64 " + %" PRIu64
				 ": something hides the rest (a bridge, a hidden area), and a backup GPT or metadata at the end will not "
				 "be where it is looked for",
				 check_name(c, n), size->u64, size->u64 / block, block, size->u64 % block));
}
