/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays: chunk, members, superblock. Where the data starts is the judge's business. */
#include <inttypes.h>
#include <stdio.h>

#include "check/rules.h"
#include "check/shell.h"

static void rule_chunk(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	uint64_t chunk = f->grains[BOUNDARY_CHUNK].bytes, stripe = f->grains[BOUNDARY_STRIPE].bytes;
	uint64_t block = facts_of(c, drive_below(n))->grains[BOUNDARY_PHYSICAL].bytes,
		 limit = blkalign_node_u64(n, BLKALIGN_ATTR_MAX_TRANSFER);

	if (!chunk)
		return;
	if (chunk % block)
		check_report(c, FINDING_MD_CHUNK, IMPACT_ACROSS_PHYSICAL, n, chunk, round_up_u64(chunk, block),
			     report_text(c->report,
					 "chunk of %s is %" PRIu64 " bytes, no multiple of the members' physical block of %" PRIu64
					 ": neighbouring chunks share blocks",
					 check_name(c, n), chunk, block));
	else if (stripe && is_set(limit) && stripe > limit)
		check_report(c, FINDING_MD_CHUNK, IMPACT_NONE, n, stripe, limit,
			     report_text(c->report,
					 "full stripe of %s is %" PRIu64 " KiB, the largest request %" PRIu64
					 " KiB: the kernel splits full-stripe writes (Linux 7.0 lifts the limit)",
					 check_name(c, n), stripe / KIB, limit / KIB));
}

struct spread {
	uint64_t low, high;
};

static void spread_note(struct spread *s, uint64_t value)
{
	if (value == BLKALIGN_UNKNOWN)
		return;
	if (s->low > value)
		s->low = value;
	if (s->high < value)
		s->high = value;
}

static void rule_members(struct check *c, const struct blkalign_node *n)
{
	struct spread offsets = { UINT64_MAX, 0 }, blocks = { UINT64_MAX, 0 };
	const char *also = "";

	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);

		/* Further segments are the zones of unequal members: they start further on by nature. */
		if (edge_is_idle(e) || e->segment)
			continue;
		spread_note(&offsets, e->lower_offset_bytes);
		spread_note(&blocks, facts_of(c, drive_below(e->lower))->grains[BOUNDARY_PHYSICAL].bytes);
	}
	if (blocks.low < blocks.high)
		also = report_text(c->report, "physical blocks from %" PRIu64 " to %" PRIu64 " bytes", blocks.low, blocks.high);
	if (offsets.low >= offsets.high && !*also)
		return;
	if (offsets.low < offsets.high)
		also = report_text(c->report, "data offsets from %" PRIu64 " to %" PRIu64 " bytes%s%s", offsets.low, offsets.high,
				   *also ? ", " : "", also);
	check_report(c, FINDING_MD_MEMBERS_DIFFER, IMPACT_NONE, n, offsets.high, offsets.low,
		     report_text(c->report, "members of %s differ: %s; each is judged by itself", check_name(c, n), also));
}

/* -1 kernel is older than a.b, 0 not known, 1 at least a.b. */
static int kernel_at_least(const struct check *c, uint32_t a, uint32_t b)
{
	const char *release = c->host ? blkalign_node_str(c->host, BLKALIGN_ATTR_KERNEL) : NULL;
	struct topo_version version;

	if (!release || topo_version_parse(release, &version) < 0)
		return 0;
	return topo_version_at_least(&version, a, b, 0) ? 1 : -1;
}

static void report_too_new(struct check *c, const struct blkalign_node *n, const char *what, uint32_t a, uint32_t b, uint64_t value)
{
	int known = kernel_at_least(c, a, b);

	if (known > 0)
		return;
	check_report(c, FINDING_MD_FEATURE_TOO_NEW, known < 0 ? IMPACT_BREAKS : IMPACT_NONE, n, value, 0,
		     report_text(c->report,
				 "superblock of %s %s: kernels before %" PRIu32 ".%" PRIu32
				 " refuse it as 'no valid v1.x superblock' although it is sound%s",
				 check_name(c, n), what, a, b, known < 0 ? "; this host's kernel is older" : ""));
}

/*
 * Feature bits of 1.x superblocks (include/uapi/linux/raid/md_p.h) and the kernels that brought them. Nearly every kernel in use knows these: they are told
 * only where the kernel is known not to.
 */
static void rule_features(struct check *c, const struct blkalign_node *n)
{
	static const struct {
		uint64_t bit;
		const char *what;
		uint32_t a, b;
	} features[] = {
		{ 4096, "records the RAID0 layout", 5, 4 },
		{ 2048, "has room for several parity logs", 4, 14 },
		{ 1024, "has a parity log", 4, 12 },
		{ 512, "has a write journal", 4, 4 },
	};
	uint64_t bits = blkalign_node_u64(n, BLKALIGN_ATTR_MD_FEATURES);

	for (size_t i = 0; is_set(bits) && i < ARRAY_SIZE(features); i++)
		if (bits & features[i].bit && kernel_at_least(c, features[i].a, features[i].b) < 0)
			report_too_new(c, n, features[i].what, features[i].a, features[i].b, BLKALIGN_UNKNOWN);
}

/* What the kernel runs it can read, whatever its number: distributions put newer features into older kernels. */
static void rule_too_new(struct check *c, const struct blkalign_node *n)
{
	uint64_t stored = blkalign_node_u64(n, BLKALIGN_ATTR_MD_STORED_LOGICAL_BLOCK);

	if (md_is_running(n))
		return;
	if (is_set(stored))
		report_too_new(c, n, "stores a logical block size", 6, 19, stored);
	if (attr_is(n, BLKALIGN_ATTR_MD_BITMAP, "lockless"))
		report_too_new(c, n, "has a lockless bitmap", 6, 18, BLKALIGN_UNKNOWN);
	rule_features(c, n);
}

/* drivers/md/raid0.c, raid0_size(): rdev_sectors & ~(chunk_sectors - 1) */
static void rule_raid0_chunk(struct check *c, const struct blkalign_node *n)
{
	uint64_t chunk = blkalign_node_u64(n, BLKALIGN_ATTR_MD_CHUNK);

	if (!attr_is(n, BLKALIGN_ATTR_MD_LEVEL, "raid0") || !is_set(chunk) || is_power_of_2(chunk))
		return;
	check_report(c, FINDING_MD_RAID0_CHUNK, IMPACT_NONE, n, chunk, BLKALIGN_UNKNOWN,
		     report_text(c->report,
				 "chunk of %s is %" PRIu64
				 " bytes, no power of two: the kernel masks the members' sizes with it, and the array "
				 "is smaller than they are together",
				 check_name(c, n), chunk));
}

static void rule_overlap(struct check *c, const struct blkalign_node *n)
{
	const char *layout = blkalign_node_str(n, BLKALIGN_ATTR_MD_LAYOUT_NAME);

	if (blkalign_node_u64(n, BLKALIGN_ATTR_MD_OVERLAPS) != 1)
		return;
	report_add(c->report,
		   &(struct draft){ .finding = FINDING_MD_LAYOUT_OVERLAP,
				    .impact = IMPACT_AT_RISK,
				    .node = n,
				    .found_bytes = BLKALIGN_UNKNOWN,
				    .expected_bytes = BLKALIGN_UNKNOWN,
				    .message = report_text(c->report,
							   "layout of %s (%s on %" PRIu64 " members) puts copies of different chunks "
							   "into one place: writing a chunk destroys a copy of another",
							   check_name(c, n), report_escaped(c->report, layout ? layout : "unknown"),
							   blkalign_node_u64(n, BLKALIGN_ATTR_MD_MEMBERS)),
				    .remedy = script_general(c, FINDING_MD_LAYOUT_OVERLAP) });
}

void rule_md(struct check *c, const struct blkalign_node *n)
{
	rule_chunk(c, n);
	rule_members(c, n);
	rule_raid0_chunk(c, n);
	rule_overlap(c, n);
	rule_too_new(c, n);
	rule_md_state(c, n);
}
