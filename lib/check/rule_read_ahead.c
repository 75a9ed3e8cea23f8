/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Since Linux 5.10 read-ahead is max(2 x optimal_io_size, 128 KiB), kept in pages (of 4 to 64 KiB) and cut to 32 bits before 7.0 or so. */
#include <inttypes.h>

#include "check/read_ahead.h"
#include "check/remedy.h"
#include "check/rules.h"

#define LARGEST_PAGE (64 * KIB)
/* Nobody sets this by hand on purpose. */
#define ABSURD_BYTES (256 * MIB)
#define USUAL_BYTES  (128 * KIB)
/* Smaller ones do no harm worth a warning. */
#define HARMLESS_BYTES (4 * MIB)

static bool is_about(uint64_t value, uint64_t exact) { return value <= exact && exact - value < LARGEST_PAGE; }

bool read_ahead_inflated_by(const struct blkalign_node *n, uint64_t optimal_bytes)
{
	uint64_t value = blkalign_node_u64(n, BLKALIGN_ATTR_READ_AHEAD);

	if (value == BLKALIGN_UNKNOWN || value < HARMLESS_BYTES)
		return false;
	return is_about(value, 2 * optimal_bytes) || is_about(value, (uint32_t)(2 * optimal_bytes));
}

/* Twice 33553920 or 268431360, rounded to pages, on a device whose hint is not known. */
static bool bears_fingerprint(uint64_t value)
{
	return (is_about(value, UINT64_C(2) * 65535 * 512) || is_about(value, UINT64_C(2) * 65535 * 4096)) && !is_power_of_2(value);
}

static bool told_below(const struct check *c, const struct blkalign_node *n)
{
	for (size_t i = 0; i < blkalign_node_edges(n); i++)
		if (facts_of(c, blkalign_node_edge(n, i)->lower)->read_ahead_told)
			return true;
	return false;
}

void rule_read_ahead(struct check *c, const struct blkalign_node *n)
{
	struct facts *f = facts_of(c, n);
	uint64_t value = blkalign_node_u64(n, BLKALIGN_ATTR_READ_AHEAD);
	bool by_hint = hint_is_bogus(f->hint) && read_ahead_inflated_by(n, f->optimal_bytes);

	f->read_ahead_told = told_below(c, n);
	if (f->read_ahead_told || !is_set(value) || (!by_hint && !bears_fingerprint(value) && value < ABSURD_BYTES))
		return;
	f->read_ahead_told = true;
	report_add(c->report,
		   &(struct draft){
			   .finding = FINDING_READAHEAD_INFLATED,
			   .impact = IMPACT_MISLEADS,
			   .node = n,
			   .found_bytes = value,
			   .expected_bytes = USUAL_BYTES,
			   .message = report_text(c->report, "read-ahead of %s is %" PRIu64 " KiB%s", check_name(c, n), value / KIB,
						  by_hint		     ? ", twice the bogus optimal_io_size"
						  : bears_fingerprint(value) ? ", twice a saturated optimal_io_size"
									     : ", which no workload asks for"),
			   .price = report_text(
				   c->report,
				   "model: a random 4 KiB read that the kernel takes for the start of a sequence drags up to %" PRIu64
				   " MiB along: %" PRIu64 " ms at 150 MB/s",
				   value / MIB, value / 150000),
			   .remedy = remedy_for_read_ahead(c, n),
		   });
}
