/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is believed of each node. The physical block of a drive is the largest that a believable source names; where none names more than 512
 * and the medium cannot have that, 4096 is assumed and every sentence says so.
 */
#include <stdio.h>
#include <strings.h>

#include "check/check.h"
#include "check/models.h"
#include "graph/graph.h"

/* Larger "physical blocks" are preferred write sizes. */
#define PHYSICAL_MAX_BYTES   16384
#define PHYSICAL_FLOOR_BYTES 4096
/* Spinning drives of about 1 TB and more have 4096-byte sectors inside, with few exceptions. */
#define LARGE_DISK_BYTES (UINT64_C(900) * 1000 * 1000 * 1000)

static uint64_t blocks_to_bytes(const struct blkalign_node *n, enum blkalign_attr attr)
{
	uint64_t blocks = blkalign_node_u64(n, attr), logical = blkalign_node_u64(n, BLKALIGN_ATTR_LOGICAL_BLOCK), bytes;

	if (!is_set(blocks))
		return BLKALIGN_UNKNOWN;
	return u64_mul(blocks, is_set(logical) ? logical : 512, &bytes) ? bytes : BLKALIGN_UNKNOWN;
}

static bool believable(uint64_t bytes) { return is_set(bytes) && is_power_of_2(bytes) && bytes >= 512 && bytes <= PHYSICAL_MAX_BYTES; }

static void believe(struct facts *f, uint64_t bytes, const char *source)
{
	if (!believable(bytes) || bytes <= f->grains[BOUNDARY_PHYSICAL].bytes)
		return;
	f->grains[BOUNDARY_PHYSICAL].bytes = bytes;
	f->physical_source = source;
}

static bool is_rotational(const struct blkalign_node *n)
{
	uint64_t rpm = blkalign_node_u64(n, BLKALIGN_ATTR_VPD_B1_ROTATION);

	return blkalign_node_u64(n, BLKALIGN_ATTR_ROTATIONAL) == 1 && rpm != 1 && !attr_is(n, BLKALIGN_ATTR_TRANSPORT, "usb");
}

/* A small spinning drive that says 512 is believed; nothing else is. */
static bool may_be_512(const struct blkalign_node *n)
{
	uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_SIZE);

	return is_rotational(n) && is_set(size) && size < LARGE_DISK_BYTES && !model_hides_4096(n);
}

static void collect_physical(const struct blkalign_node *n, struct facts *f)
{
	const struct blkalign_value *reported = blkalign_node_value(n, BLKALIGN_ATTR_PHYSICAL_BLOCK);
	struct grain *grain = &f->grains[BOUNDARY_PHYSICAL];

	f->physical_reported = reported ? reported->u64 : BLKALIGN_UNKNOWN;
	if (reported)
		believe(f, reported->u64, blkalign_origin_name(reported->origin));
	believe(f, blkalign_node_u64(n, BLKALIGN_ATTR_RC16_PHYSICAL), "READ CAPACITY(16)");
	believe(f, blkalign_node_u64(n, BLKALIGN_ATTR_ATA_PHYSICAL), "IDENTIFY");
	believe(f, blocks_to_bytes(n, BLKALIGN_ATTR_VPD_B0_GRANULARITY), "block limits page");
	believe(f, blocks_to_bytes(n, BLKALIGN_ATTR_NVME_NPWG), "NVMe write granularity");
	believe(f, blkalign_node_u64(n, BLKALIGN_ATTR_LOGICAL_BLOCK), "logical block");
	if (model_hides_4096(n))
		believe(f, PHYSICAL_FLOOR_BYTES, "known of this model");
	if (blkalign_node_u64(n, BLKALIGN_ATTR_MINIMUM_IO) == 4096)
		believe(f, 4096, "minimum I/O size");
	if (reported && reported->origin == BLKALIGN_ORIGIN_ASSUMED) {
		f->physical_assumed = true;
		return;
	}
	if (grain->bytes >= PHYSICAL_FLOOR_BYTES || (grain->bytes && may_be_512(n)))
		return;
	grain->bytes = PHYSICAL_FLOOR_BYTES;
	f->physical_assumed = true;
	f->physical_source = "assumed";
}

/* Where the first physical block starts. The kernel keeps it as alignment_offset of the whole device. */
static void collect_offset(const struct blkalign_node *n, struct facts *f)
{
	struct grain *grain = &f->grains[BOUNDARY_PHYSICAL];
	int64_t offset = blkalign_node_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0);
	uint64_t lowest = blocks_to_bytes(n, BLKALIGN_ATTR_RC16_LOWEST_ALIGNED);

	if (!is_set(lowest))
		lowest = blocks_to_bytes(n, BLKALIGN_ATTR_ATA_OFFSET);
	if (offset > 0 && offset < INT32_MAX)
		grain->offset_bytes = (uint64_t)offset % grain->bytes;
	else if (is_set(lowest))
		grain->offset_bytes = lowest % grain->bytes;
}

static void collect_hint(const struct blkalign_node *n, struct facts *f)
{
	struct hint_facts h = {
		.optimal_bytes = blkalign_node_u64(n, BLKALIGN_ATTR_OPTIMAL_IO),
		.minimum_bytes = blkalign_node_u64(n, BLKALIGN_ATTR_MINIMUM_IO),
		.logical_bytes = blkalign_node_u64(n, BLKALIGN_ATTR_LOGICAL_BLOCK),
		.physical_bytes = f->grains[BOUNDARY_PHYSICAL].bytes,
		.max_hw_bytes = blkalign_node_u64(n, BLKALIGN_ATTR_MAX_HW_TRANSFER),
		.vpd_optimal_blocks = blkalign_node_u64(n, BLKALIGN_ATTR_VPD_B0_OPTIMAL),
		.vpd_max_blocks = blkalign_node_u64(n, BLKALIGN_ATTR_VPD_B0_MAX_TRANSFER),
		.vpd_prefetch_blocks = blkalign_node_u64(n, BLKALIGN_ATTR_VPD_B0_MAX_PREFETCH),
		.nows_blocks = blkalign_node_u64(n, BLKALIGN_ATTR_NVME_NOWS),
	};
	uint64_t offered = blocks_to_bytes(n, BLKALIGN_ATTR_VPD_B0_OPTIMAL);

	if (!is_set(offered))
		offered = blocks_to_bytes(n, BLKALIGN_ATTR_NVME_NOWS);

	if (!is_set(h.optimal_bytes) && is_set(offered)) {
		f->hint_dropped = h.optimal_bytes == 0;
		h.optimal_bytes = offered;
	}
	f->optimal_bytes = is_set(h.optimal_bytes) ? h.optimal_bytes : 0;
	f->hint = hint_classify(&h);
}

/*
 * Geometry that a plain device reports: hardware RAID, storage arrays, Ceph. A minimum without a larger optimum is a mirror's strip, a snapshot's or an
 * object store's unit: crossing it does not cost, unless its odd length betrays that it is a stripe. Objects of 1 MiB and more are crossed so seldom that
 * it does not matter.
 */
static void collect_reported_geometry(const struct blkalign_node *n, struct facts *f)
{
	uint64_t minimum = blkalign_node_u64(n, BLKALIGN_ATTR_MINIMUM_IO);
	uint64_t optimal = f->hint == HINT_STRIPE || f->hint == HINT_DIVIDES_MIB ? f->optimal_bytes : 0;
	uint64_t *chunk = &f->grains[BOUNDARY_CHUNK].bytes;

	if (is_set(minimum) && minimum > PHYSICAL_MAX_BYTES && minimum % f->grains[BOUNDARY_PHYSICAL].bytes == 0 &&
	    !hint_is_bogus(f->hint) && !hint_fingerprint(minimum))
		*chunk = minimum;
	if (optimal > PHYSICAL_MAX_BYTES && optimal > *chunk)
		f->grains[BOUNDARY_STRIPE].bytes = optimal;
	f->crossing_costs = *chunk && *chunk < MIB && optimal && (optimal > *chunk || !is_power_of_2(*chunk));
}

/* True geometry of arrays and striped volumes, from their own map. */
static void collect_geometry(const struct blkalign_node *n, struct facts *f)
{
	const struct blkalign_edge *e = blkalign_node_edge(n, 0);
	uint64_t chunk = blkalign_node_u64(n, BLKALIGN_ATTR_MD_CHUNK), stripe = blkalign_node_u64(n, BLKALIGN_ATTR_MD_STRIPE);

	if (is_set(e->chunk_bytes))
		chunk = e->chunk_bytes;
	if (!is_set(chunk) || attr_is(n, BLKALIGN_ATTR_MD_LEVEL, "raid1") || attr_is(n, BLKALIGN_ATTR_MD_LEVEL, "linear"))
		return;
	f->grains[BOUNDARY_CHUNK].bytes = chunk;
	f->crossing_costs = true;
	if (!is_set(stripe) && (e->stripes <= 1 || !u64_mul(chunk, e->stripes, &stripe)))
		return;
	f->grains[BOUNDARY_STRIPE].bytes = stripe;
}

/* An entry shorter than a block has no room for a file system: placeholders, and extended partitions as the kernel shows them (1 KiB). */
static bool is_placeholder(const struct check *c, const struct blkalign_node *n)
{
	uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_SIZE);

	return is_set(size) && size < facts_of(c, drive_below(n))->grains[BOUNDARY_PHYSICAL].bytes && !blkalign_node_uppers(n);
}

static enum exempt exempt_partition(const struct check *c, const struct blkalign_node *n)
{
	static const char *const containers[] = { "extended", "bios-boot", "msr", "protective", "reserved" };
	const char *role = blkalign_node_str(n, BLKALIGN_ATTR_PART_ROLE);

	for (size_t i = 0; role && i < ARRAY_SIZE(containers); i++)
		if (!strcmp(role, containers[i]))
			return EXEMPT_CONTAINER;
	return is_placeholder(c, n) ? EXEMPT_CONTAINER : EXEMPT_NO;
}

static bool is_stacked(const struct blkalign_node *n) { return blkalign_node_edges(n) > 0; }

/* The largest below, or what the layer itself asks for: so the kernel stacks it at the next assembly. */
static void collect_logical(const struct check *c, const struct blkalign_node *n, struct facts *f)
{
	uint64_t own = blkalign_node_u64(n, BLKALIGN_ATTR_LOGICAL_BLOCK), sector = blkalign_node_u64(n, BLKALIGN_ATTR_LUKS_SECTOR);

	f->logical_bytes = is_set(own) ? own : 0;
	if (is_set(sector) && sector > f->logical_bytes)
		f->logical_bytes = sector;
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);
		uint64_t lower = facts_of(c, e->lower)->logical_bytes;

		if (lower > f->logical_bytes && !edge_is_idle(e))
			f->logical_bytes = lower;
	}
}

static void collect_paths(const struct check *c, const struct blkalign_node *n, struct facts *f)
{
	uint64_t paths = 0;

	for (size_t i = 0; i < blkalign_node_edges(n) && paths < PATHS_MAX; i++)
		paths += 1 + facts_of(c, blkalign_node_edge(n, i)->lower)->paths;
	f->paths = paths < PATHS_MAX ? (uint32_t)paths : PATHS_MAX;
}

/* --- hints of stacked devices --- */

static bool bogus_below(const struct check *c, const struct blkalign_node *n)
{
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct facts *f = facts_of(c, blkalign_node_edge(n, i)->lower);

		if (f->bogus_below || (hint_is_bogus(f->hint) && !f->hint_dropped))
			return true;
	}
	return false;
}

/* Does the hint say what the array's own geometry says? RAID10 counts its copies in different ways; legitimate hints below multiply. */
static bool fits_geometry(const struct blkalign_node *n, const struct facts *f, uint64_t optimal)
{
	uint64_t chunk = f->grains[BOUNDARY_CHUNK].bytes, stripe = f->grains[BOUNDARY_STRIPE].bytes;
	const char *level = blkalign_node_str(n, BLKALIGN_ATTR_MD_LEVEL);

	if (optimal % stripe == 0 && optimal < 64 * MIB)
		return true;
	return level && !strncmp(level, "raid10", 6) && optimal % chunk == 0 && optimal / chunk <= blkalign_node_edges(n);
}

/* An array whose geometry is not known: what is not handed through from a member with a bad hint was multiplied with it. */
static bool is_product(const struct check *c, const struct blkalign_node *n, uint64_t optimal)
{
	if (blkalign_node_kind(n) != BLKALIGN_KIND_MD || !bogus_below(c, n))
		return false;
	for (size_t i = 0; i < blkalign_node_edges(n); i++)
		if (facts_of(c, blkalign_node_edge(n, i)->lower)->optimal_bytes == optimal)
			return false;
	return true;
}

static void collect_stacked_hint(const struct check *c, const struct blkalign_node *n, struct facts *f)
{
	uint64_t optimal = blkalign_node_u64(n, BLKALIGN_ATTR_OPTIMAL_IO);
	struct hint_facts h = { .optimal_bytes = optimal, .minimum_bytes = blkalign_node_u64(n, BLKALIGN_ATTR_MINIMUM_IO) };

	f->bogus_below = bogus_below(c, n);
	if (!is_set(optimal))
		return;
	f->optimal_bytes = optimal;
	if (f->grains[BOUNDARY_STRIPE].bytes)
		f->hint = fits_geometry(n, f, optimal) ? HINT_NONE : HINT_POISONED;
	else if (hint_is_bogus(hint_classify(&h)))
		f->hint = is_product(c, n, optimal) ? HINT_POISONED : hint_classify(&h);
	f->hint_inherited = f->hint != HINT_POISONED && hint_is_bogus(f->hint) && f->bogus_below;
}

/*
 * Nobody told where the device lies on the one below, and the kernel reports no shift: it is taken to start on a block, so that what lies on it can be judged.
 * Where data turns out to be in place all the same, the verdict stays unknown.
 */
static void collect_unplaced(const struct check *c, const struct blkalign_node *n, struct facts *f)
{
	const struct facts *drive = facts_of(c, drive_below(n));

	if (blkalign_node_edge(n, 0)->lower_offset_bytes != BLKALIGN_UNKNOWN || blkalign_node_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0))
		return;
	f->grains[BOUNDARY_PHYSICAL].bytes = drive->grains[BOUNDARY_PHYSICAL].bytes;
	f->physical_source = "its start is not known and taken to be on one";
}

static void collect_node(const struct check *c, const struct blkalign_node *n, struct facts *f)
{
	enum blkalign_kind kind = blkalign_node_kind(n);

	if (kind == BLKALIGN_KIND_HOST)
		return;
	if (is_stacked(n)) {
		collect_geometry(n, f);
		collect_stacked_hint(c, n, f);
	} else {
		collect_physical(n, f);
		collect_offset(n, f);
		collect_hint(n, f);
		collect_reported_geometry(n, f);
	}
	collect_logical(c, n, f);
	collect_paths(c, n, f);
	if (kind == BLKALIGN_KIND_PARTITION)
		f->exempt = exempt_partition(c, n);
	if (is_stacked(n))
		collect_unplaced(c, n, f);
}

void facts_collect(struct check *c)
{
	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(c->graph, i);
		enum blkalign_kind kind = blkalign_node_kind(n);

		collect_node(c, n, &c->facts[i]);
		if (kind == BLKALIGN_KIND_CONTENT || kind == BLKALIGN_KIND_PV || kind == BLKALIGN_KIND_CRYPT)
			c->contents_known = true;
	}
}

bool edge_is_idle(const struct blkalign_edge *edge)
{
	static const char *const idle[] = { "spare", "faulty", "stale", "journal", "metadata" };

	for (size_t i = 0; edge->state && i < ARRAY_SIZE(idle); i++)
		if (!strcmp(edge->state, idle[i]))
			return true;
	return false;
}

const struct blkalign_node *drive_below(const struct blkalign_node *node)
{
	while (blkalign_node_edges(node))
		node = below(node);
	return node;
}

bool is_placed(const struct blkalign_node *n)
{
	for (; blkalign_node_edges(n); n = blkalign_node_edge(n, 0)->lower)
		if (blkalign_node_edge(n, 0)->lower_offset_bytes == BLKALIGN_UNKNOWN)
			return false;
	return true;
}

const struct blkalign_node *geometry_below(const struct check *c, const struct blkalign_node *node)
{
	while (blkalign_node_edges(node) == 1) {
		node = below(node);
		if (facts_of(c, node)->grains[BOUNDARY_CHUNK].bytes)
			return node;
	}
	return NULL;
}
