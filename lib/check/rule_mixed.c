/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices of different logical block sizes that are joined, or wait to be. */
#include <inttypes.h>

#include "check/rules.h"
#include "check/shell.h"

/* Contents above a device are looked at up to here: the sentence needs a number, not all names. */
#define CONTENTS_MAX 1000
#define DEPTH_MAX    16

/* `once`: the walk begins at several devices, and what lies on more than one of them is counted at its first. */
static void count_fragile(const struct blkalign_node *n, uint64_t logical, bool once, unsigned depth, uint32_t *budget, uint32_t *count)
{
	uint64_t sector = blkalign_node_u64(n, BLKALIGN_ATTR_FS_SECTOR), block = blkalign_node_u64(n, BLKALIGN_ATTR_FS_BLOCK);

	if (!*budget || depth > DEPTH_MAX)
		return;
	--*budget;
	*count += (is_set(sector) && sector < logical) || (is_set(block) && block < logical);
	for (size_t i = 0; i < blkalign_node_uppers(n); i++)
		if (!once || below(blkalign_node_upper(n, i)) == n)
			count_fragile(blkalign_node_upper(n, i), logical, once, depth + 1, budget, count);
}

/* What on or above the nodes cannot live on blocks of `logical` bytes. */
static const char *what_breaks(struct check *c, const struct blkalign_node *const *nodes, size_t node_count, uint64_t logical)
{
	uint32_t budget = CONTENTS_MAX, count = 0;

	for (size_t i = 0; i < node_count; i++)
		count_fragile(nodes[i], logical, node_count > 1, 0, &budget, &count);
	if (!count)
		return "; no file system above is known to have smaller sectors";
	return report_text(c->report, "; %" PRIu32 " file system%s above with smaller sectors or blocks will not mount then", count,
			   count == 1 ? "" : "s");
}

static void report_mixed(struct check *c, const struct blkalign_node *node, const struct blkalign_node *odd, uint64_t low, uint64_t high,
			 const char *message, enum impact impact)
{
	report_add(c->report, &(struct draft){ .finding = FINDING_MIXED_LOGICAL_SIZES,
					       .impact = impact,
					       .node = node,
					       .cause = odd,
					       .found_bytes = high,
					       .expected_bytes = low,
					       .message = message,
					       .remedy = script_general(c, FINDING_MIXED_LOGICAL_SIZES) });
}

void rule_mixed_md(struct check *c, const struct blkalign_node *n)
{
	const struct blkalign_node *odd = NULL;
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_node *member = blkalign_node_edge(n, i)->lower;
		uint64_t logical = facts_of(c, member)->logical_bytes;

		if (!logical)
			continue;
		low = logical < low ? logical : low;
		if (logical > high) {
			high = logical;
			odd = member;
		}
	}
	if (low >= high)
		return;
	report_mixed(c, n, odd, low, high,
		     report_text(c->report,
				 "members of %s have logical blocks of %" PRIu64 " and %" PRIu64 " bytes (%s): the array has %" PRIu64
				 "-byte blocks from the next assembly on%s",
				 check_name(c, n), low, high, check_name(c, odd), high, what_breaks(c, &n, 1, high)),
		     IMPACT_BREAKS);
}

/* Encryption that raises the block size of what lies above. */
void rule_mixed_crypt(struct check *c, const struct blkalign_node *n)
{
	uint64_t lower = below(n) ? facts_of(c, below(n))->logical_bytes : 0, sector = blkalign_node_u64(n, BLKALIGN_ATTR_LUKS_SECTOR);

	if (!lower || !is_set(sector) || sector <= lower)
		return;
	report_mixed(c, n, NULL, lower, sector,
		     report_text(c->report,
				 "%s has blocks of %" PRIu64 " bytes where the drive has %" PRIu64
				 ": faster, but it cannot join a volume group of %" PRIu64
				 "-byte devices, and guests see the larger blocks",
				 check_name(c, n), sector, lower, lower),
		     IMPACT_NONE);
}

/* --- volume groups --- */

static const char *group_of(const struct blkalign_node *pv)
{
	const char *uuid = blkalign_node_str(pv, BLKALIGN_ATTR_VG_UUID);

	return uuid ? uuid : blkalign_node_str(pv, BLKALIGN_ATTR_VG_NAME);
}

static int by_group(const void *left, const void *right)
{
	const struct blkalign_node *a = *(const struct blkalign_node *const *)left, *b = *(const struct blkalign_node *const *)right;
	int order = strcmp(group_of(a), group_of(b));

	if (order)
		return order;
	return blkalign_node_index(a) < blkalign_node_index(b) ? -1 : 1;
}

static void look_at_group(struct check *c, const struct blkalign_node *const *pvs, size_t count)
{
	const struct blkalign_node *odd = NULL;
	uint64_t low = UINT64_MAX, high = 0;
	const char *name = blkalign_node_str(pvs[0], BLKALIGN_ATTR_VG_NAME);

	for (size_t i = 0; i < count; i++) {
		uint64_t logical = facts_of(c, pvs[i])->logical_bytes;

		if (!logical)
			continue;
		low = logical < low ? logical : low;
		if (logical > high) {
			high = logical;
			odd = pvs[i];
		}
	}
	if (low < high)
		report_mixed(c, odd, below(odd), low, high,
			     report_text(c->report,
					 "volume group %s lies on devices with logical blocks of %" PRIu64 " and %" PRIu64
					 " bytes (%s): a volume with smaller sectors breaks when it is moved or extended onto the larger%s",
					 name ? report_escaped(c->report, name) : "?", low, high, check_name(c, odd),
					 what_breaks(c, pvs, count, high)),
			     IMPACT_BREAKS);
}

void rule_mixed_groups(struct check *c)
{
	VEC(const struct blkalign_node *) pvs = { 0 };

	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(c->graph, i);

		if (blkalign_node_kind(n) == BLKALIGN_KIND_PV && group_of(n) && vec_push(&pvs, n) < 0)
			c->failed = true;
	}
	if (pvs.count)
		qsort(pvs.data, pvs.count, sizeof(*pvs.data), by_group);
	for (size_t i = 0, end; i < pvs.count; i = end) {
		for (end = i + 1; end < pvs.count && !strcmp(group_of(pvs.data[i]), group_of(pvs.data[end])); end++)
			;
		look_at_group(c, &pvs.data[i], end - i);
	}
	vec_done(&pvs);
}

/* --- devices that wait to be joined --- */

/* Free arrays of one host are made to be put into one group; free drives may go anywhere. */
static void look_at_free(struct check *c, enum blkalign_kind kind, enum impact impact)
{
	const struct blkalign_node *small = NULL, *large = NULL;

	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(c->graph, i);
		uint64_t logical = facts_of(c, n)->logical_bytes;

		if (blkalign_node_kind(n) != kind || blkalign_node_uppers(n) || !logical)
			continue;
		if (!small || logical < facts_of(c, small)->logical_bytes)
			small = n;
		if (!large || logical > facts_of(c, large)->logical_bytes)
			large = n;
	}
	if (!small || facts_of(c, small)->logical_bytes == facts_of(c, large)->logical_bytes)
		return;
	report_mixed(c, large, NULL, facts_of(c, small)->logical_bytes, facts_of(c, large)->logical_bytes,
		     report_text(c->report,
				 "%s has logical blocks of %" PRIu64 " bytes and %s of %" PRIu64
				 ": LVM refuses to put them into one group, and an array of both takes the larger",
				 check_name(c, large), facts_of(c, large)->logical_bytes, check_name(c, small),
				 facts_of(c, small)->logical_bytes),
		     impact);
}

void rule_mixed_free(struct check *c)
{
	look_at_free(c, BLKALIGN_KIND_MD, IMPACT_BREAKS);
	look_at_free(c, BLKALIGN_KIND_DISK, IMPACT_NONE);
}
