/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encryption sectors must fit the length behind the payload offset; where the container starts is the judge's business. */
#include <inttypes.h>

#include "check/rules.h"
#include "check/shell.h"

#define LARGE_SECTOR 4096

static const char *end_remedy(struct check *c, const struct blkalign_node *n, uint64_t excess)
{
	struct script s = { .c = c };

	script_note(&s, "after a backup, shorten %s by %" PRIu64 " bytes (%" PRIu64 " sectors); or", check_name(c, below(n)), excess,
		    excess / 512);
	script_note(&s, "destroys the content: format it with small encryption sectors:");
	script_run_not(&s, "cryptsetup luksFormat --sector-size 512 %s", shell_device(c, n));
	return script_finish(&s);
}

static void report_end(struct check *c, const struct blkalign_node *n, uint64_t area, uint64_t sector)
{
	const char *name = check_name(c, n);
	bool large = sector != 512;

	report_add(c->report,
		   &(struct draft){
			   .finding = FINDING_LUKS_SECTOR_VS_END,
			   .impact = large ? IMPACT_BREAKS : IMPACT_NONE,
			   .node = n,
			   .cause = below(n),
			   .found_bytes = area,
			   .expected_bytes = area - area % LARGE_SECTOR,
			   .message = report_text(c->report,
						  "the encrypted area of %s is %" PRIu64 " bytes = %" PRIu64 " x 4096 + %" PRIu64 ": %s",
						  name, area, area / LARGE_SECTOR, area % LARGE_SECTOR,
						  large ? "4096-byte encryption sectors do not fit, opening or re-encrypting fails"
							: "it can only be used with 512-byte encryption sectors"),
			   .remedy = end_remedy(c, n, area % LARGE_SECTOR),
		   });
}

void rule_luks(struct check *c, const struct blkalign_node *n)
{
	uint64_t size = below(n) ? blkalign_node_u64(below(n), BLKALIGN_ATTR_SIZE) : BLKALIGN_UNKNOWN;
	uint64_t offset = below(n) ? blkalign_node_edge(n, 0)->lower_offset_bytes : BLKALIGN_UNKNOWN;
	uint64_t sector = blkalign_node_u64(n, BLKALIGN_ATTR_LUKS_SECTOR), area;

	if (!is_set(size) || offset == BLKALIGN_UNKNOWN || offset >= size || blkalign_node_u64(n, BLKALIGN_ATTR_LUKS_VERSION) == 1)
		return;
	area = size - offset;
	if (area % LARGE_SECTOR && facts_of(c, drive_below(n))->grains[BOUNDARY_PHYSICAL].bytes >= LARGE_SECTOR)
		report_end(c, n, area, sector);
}
