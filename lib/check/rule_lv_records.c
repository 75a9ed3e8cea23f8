/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of volumes that have records of their own: thin pools, snapshots, caches. */
#include <inttypes.h>

#include "check/rules.h"
#include "check/shell.h"

static bool is_true(const struct blkalign_node *n, enum blkalign_attr attr) { return blkalign_node_u64(n, attr) == 1; }

static void tell(struct check *c, enum finding finding, enum impact impact, const struct blkalign_node *n, uint64_t found,
		 uint64_t expected, const char *message)
{
	report_add(c->report, &(struct draft){ .finding = finding,
					       .impact = impact,
					       .node = n,
					       .found_bytes = found,
					       .expected_bytes = expected,
					       .message = message,
					       .remedy = script_general(c, finding) });
}

/* The text goes first: one ahead is a change that was under way. */
static void rule_transaction(struct check *c, const struct blkalign_node *n)
{
	uint64_t pool = blkalign_node_u64(n, BLKALIGN_ATTR_POOL_TRANSACTION),
		 text = blkalign_node_u64(n, BLKALIGN_ATTR_POOL_TRANSACTION_TEXT);

	if (pool == BLKALIGN_UNKNOWN || text == BLKALIGN_UNKNOWN || text == pool || text == pool + 1)
		return;
	tell(c, FINDING_LVM_OUT_OF_STEP, IMPACT_AT_RISK, n, pool, text,
	     report_text(c->report, "the metadata of %s is at transaction %" PRIu64 ", the volume group's text at %" PRIu64,
			 check_name(c, n), pool, text));
}

static void rule_needs_check(struct check *c, const struct blkalign_node *n)
{
	if (is_true(n, BLKALIGN_ATTR_POOL_NEEDS_CHECK))
		tell(c, FINDING_POOL_NEEDS_CHECK, IMPACT_BREAKS, n, BLKALIGN_UNKNOWN, BLKALIGN_UNKNOWN,
		     report_text(c->report, "the metadata of %s is marked to be checked: the kernel writes nothing more to it",
				 check_name(c, n)));
}

/* On an origin it is the snapshot that was being merged into it. */
static void rule_invalid(struct check *c, const struct blkalign_node *n)
{
	bool snapshot = attr_is(n, BLKALIGN_ATTR_LV_TYPE, "snapshot");

	if (is_true(n, BLKALIGN_ATTR_SNAPSHOT_INVALID))
		tell(c, FINDING_SNAPSHOT_OVERFLOWED, snapshot ? IMPACT_BREAKS : IMPACT_AT_RISK, n, BLKALIGN_UNKNOWN, BLKALIGN_UNKNOWN,
		     snapshot
			     ? report_text(c->report, "the store of snapshot %s ran full or failed: its content is lost", check_name(c, n))
			     : report_text(c->report,
					   "the snapshot that was being merged into %s ran full or failed: what was not merged yet is lost",
					   check_name(c, n)));
}

static void rule_cache(struct check *c, const struct blkalign_node *n)
{
	uint64_t dirty = blkalign_node_u64(n, BLKALIGN_ATTR_CACHE_DIRTY);
	bool unclean = is_true(n, BLKALIGN_ATTR_CACHE_UNCLEAN);

	if (!is_set(dirty))
		return;
	tell(c, FINDING_CACHE_DIRTY, IMPACT_NONE, n, dirty, BLKALIGN_UNKNOWN,
	     report_text(c->report, "the cache of %s %s %" PRIu64 " bytes that its origin %s: the origin alone is not the volume",
			 check_name(c, n), unclean ? "was not shut down cleanly and holds" : "holds", dirty,
			 unclean ? "may lack" : "lacks"));
}

void rule_lv_records(struct check *c, const struct blkalign_node *n)
{
	rule_transaction(c, n);
	rule_needs_check(c, n);
	rule_invalid(c, n);
	rule_cache(c, n);
}
