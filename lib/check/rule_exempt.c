/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Before anything is judged: partitions whose place was read in the wrong unit or is seen through the wrong device. */
#include <inttypes.h>

#include "check/hidden.h"
#include "check/rules.h"
#include "check/shell.h"

/* Room that tables leave at the end of a disk: the backup GPT, and a rounded last cylinder or MiB. */
#define END_SLACK_BYTES (2 * MIB)

/* --- tables in the wrong unit --- */

struct table {
	uint64_t first_bytes; /* lowest start */
	uint64_t end_bytes;   /* highest end */
	const struct blkalign_node *example;
};

static bool read_table(const struct blkalign_node *disk, struct table *ret)
{
	struct table t = { .first_bytes = UINT64_MAX };

	for (size_t i = 0; i < blkalign_node_uppers(disk); i++) {
		const struct blkalign_node *n = blkalign_node_upper(disk, i);
		uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_SIZE), start, end;

		if (blkalign_node_kind(n) != BLKALIGN_KIND_PARTITION)
			continue;
		start = blkalign_node_edge(n, 0)->lower_offset_bytes;
		if (start == BLKALIGN_UNKNOWN || !is_set(size) || !u64_add(start, size, &end))
			return false;
		if (end > t.end_bytes)
			t.end_bytes = end;
		if (start < t.first_bytes)
			t.first_bytes = start;
		t.example = n;
	}
	*ret = t;
	return t.example;
}

static bool ends_at(uint64_t end, uint64_t size) { return end <= size && size - end <= END_SLACK_BYTES; }

/* The factor between the table's unit and the one it was read with: above 0 to multiply by, below 0 to divide by, 0 when it fits as it is. */
static int wrong_factor(const struct table *t, uint64_t size)
{
	static const int factors[] = { 8, 4 };

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
		uint64_t factor = (uint64_t)factors[i], end;

		/* A first partition below 1 MiB is what a table counted in larger blocks looks like. */
		if (t->first_bytes < MIB && u64_mul(t->end_bytes, factor, &end) && ends_at(end, size))
			return factors[i];
		if (t->end_bytes > size && t->end_bytes % factor == 0 && ends_at(t->end_bytes / factor, size))
			return -factors[i];
	}
	return 0;
}

/* Files have no block size: the table's own is the better guess, and nothing is wrong with the file. */
static bool is_unit_assumed(const struct blkalign_node *disk)
{
	const struct blkalign_value *logical = blkalign_node_value(disk, BLKALIGN_ATTR_LOGICAL_BLOCK);

	return logical && logical->origin == BLKALIGN_ORIGIN_ASSUMED;
}

static void report_assumed_unit(struct check *c, const struct blkalign_node *disk, uint64_t unit, uint64_t read_as)
{
	struct script s = { .c = c };

	script_run(&s, "blkalign check --assume-logical %" PRIu64 " %s", unit, shell_device(c, disk));
	report_add(c->report, &(struct draft){
				      .finding = FINDING_TABLE_WRONG_UNIT,
				      .impact = IMPACT_NONE,
				      .node = disk,
				      .found_bytes = read_as,
				      .expected_bytes = unit,
				      .message = report_text(c->report,
							     "the partition table of %s was written for %" PRIu64
							     "-byte blocks: pass --assume-logical %" PRIu64 " (%" PRIu64 " was assumed)%s",
							     check_name(c, disk), unit, unit, read_as, hidden_in_table(c, disk, unit)),
				      .remedy = script_finish(&s),
			      });
}

static const char *unit_remedy(struct check *c, const struct blkalign_node *disk, uint64_t unit)
{
	struct script s = { .c = c };

	script_note(&s, "do not make a new table; to read the data, without writing anything:");
	script_run(&s, "losetup --read-only --sector-size %" PRIu64 " --partscan --find --show %s", unit, shell_device(c, disk));
	return script_finish(&s);
}

static void report_unit(struct check *c, const struct blkalign_node *disk, uint64_t unit, uint64_t read_as, const char *proof)
{
	if (is_unit_assumed(disk)) {
		report_assumed_unit(c, disk, unit, read_as);
		return;
	}
	report_add(
		c->report,
		&(struct draft){
			.finding = FINDING_TABLE_WRONG_UNIT,
			.impact = IMPACT_BREAKS,
			.node = disk,
			.found_bytes = read_as,
			.expected_bytes = unit,
			.message = report_text(
				c->report, "the partition table of %s was written in blocks of %" PRIu64 " bytes%s; the data is intact: %s",
				check_name(c, disk), unit,
				is_set(read_as) ? report_text(c->report, " and is read in blocks of %" PRIu64, read_as) : "",
				report_text(c->report, "%s%s", proof, hidden_in_table(c, disk, unit))),
			.remedy = unit_remedy(c, disk, unit),
		});
}

static void exempt_table(struct check *c, const struct blkalign_node *disk)
{
	for (size_t i = 0; i < blkalign_node_uppers(disk); i++)
		if (blkalign_node_kind(blkalign_node_upper(disk, i)) == BLKALIGN_KIND_PARTITION)
			facts_of(c, blkalign_node_upper(disk, i))->exempt = EXEMPT_WRONG_UNIT;
}

static void look_at_table(struct check *c, const struct blkalign_node *disk)
{
	uint64_t size = blkalign_node_u64(disk, BLKALIGN_ATTR_SIZE), logical = blkalign_node_u64(disk, BLKALIGN_ATTR_LOGICAL_BLOCK);
	uint64_t unit = blkalign_node_u64(disk, BLKALIGN_ATTR_TABLE_UNIT);
	const char *note = blkalign_node_str(disk, BLKALIGN_ATTR_TABLE_NOTE);
	struct table t;
	int factor;

	if (attr_is(disk, BLKALIGN_ATTR_TABLE_STATE, "wrong-unit")) {
		report_unit(c, disk, unit, logical,
			    note ? report_escaped(c->report, note) : "the entries fit the device only in that unit");
		/* A reader that knew the unit has placed the partitions by it: they are judged. */
		return;
	}
	if (!is_set(size) || !read_table(disk, &t))
		return;
	factor = wrong_factor(&t, size);
	if (!factor)
		return;
	logical = is_set(logical) ? logical : 512;
	unit = factor > 0 ? logical * (uint64_t)factor : logical / (uint64_t)-factor;
	report_unit(c, disk, unit, logical,
		    report_text(c->report,
				"the last partition ends at byte %" PRIu64 ", and %s by %d that is where the device of %" PRIu64
				" bytes ends",
				t.end_bytes, factor > 0 ? "multiplied" : "divided", factor > 0 ? factor : -factor, size));
	exempt_table(c, disk);
}

/* --- partitions seen through the wrong device --- */

static const struct blkalign_node *array_on(const struct blkalign_node *disk)
{
	for (size_t i = 0; i < blkalign_node_uppers(disk); i++)
		if (blkalign_node_kind(blkalign_node_upper(disk, i)) == BLKALIGN_KIND_MD)
			return blkalign_node_upper(disk, i);
	return NULL;
}

static void report_phantom(struct check *c, const struct blkalign_node *n, const struct blkalign_node *cause, enum impact impact,
			   const char *message)
{
	report_add(c->report, &(struct draft){ .finding = FINDING_PHANTOM_PARTITION,
					       .impact = impact,
					       .node = n,
					       .cause = cause,
					       .found_bytes = BLKALIGN_UNKNOWN,
					       .expected_bytes = BLKALIGN_UNKNOWN,
					       .message = message,
					       .remedy = script_general(c, FINDING_PHANTOM_PARTITION) });
}

/* Which of the two a mirror and its member show is the true one. A table that was made for the member's size speaks against the superblock. */
static const char *phantom_advice(const struct blkalign_node *array)
{
	if (!attr_is(array, BLKALIGN_ATTR_MD_LEVEL, "raid1"))
		return "either the table is stale or the array was put together from the wrong devices";
	if (attr_is(array, BLKALIGN_ATTR_TABLE_STATE, "member-table"))
		return "the table was made for the disk and not for the mirror: the md superblock may be left over from an earlier use of "
		       "the disk";
	return "it is the shadow of a partition of the mirror; use that one";
}

/* A whole disk that is a member shows the array's (or its own stale) table as partitions of its own. */
static void look_at_member(struct check *c, const struct blkalign_node *disk)
{
	const struct blkalign_node *array = array_on(disk);
	bool mirror = array && attr_is(array, BLKALIGN_ATTR_MD_LEVEL, "raid1"), told = false;

	for (size_t i = 0; array && i < blkalign_node_uppers(disk); i++) {
		const struct blkalign_node *n = blkalign_node_upper(disk, i);

		if (blkalign_node_kind(n) != BLKALIGN_KIND_PARTITION)
			continue;
		facts_of(c, n)->exempt = EXEMPT_PHANTOM;
		if (!told)
			report_phantom(c, n, array, mirror ? IMPACT_NONE : IMPACT_BREAKS,
				       report_text(c->report, "%s is seen on %s, which is as a whole a member of %s: %s", check_name(c, n),
						   check_name(c, disk), check_name(c, array), phantom_advice(array)));
		told = true;
	}
}

/*
 * The reader of tables has found that the entries were made for a device of another size. On an array they are a member's; on a
 * mirror the bytes are the same on both and the partitions real, only the table's ends do not fit.
 */
static bool look_at_state(struct check *c, const struct blkalign_node *array)
{
	const char *note = blkalign_node_str(array, BLKALIGN_ATTR_TABLE_NOTE);
	bool mirror = attr_is(array, BLKALIGN_ATTR_MD_LEVEL, "raid1");

	if (!attr_is(array, BLKALIGN_ATTR_TABLE_STATE, "member-table") && !attr_is(array, BLKALIGN_ATTR_TABLE_STATE, "beyond-device"))
		return false;
	for (size_t i = 0; !mirror && i < blkalign_node_uppers(array); i++)
		if (blkalign_node_kind(blkalign_node_upper(array, i)) == BLKALIGN_KIND_PARTITION)
			facts_of(c, blkalign_node_upper(array, i))->exempt = EXEMPT_PHANTOM;
	report_phantom(c, array, array, mirror ? IMPACT_NONE : IMPACT_BREAKS,
		       report_text(c->report, "the partition table seen on %s does not belong to it%s%s%s", check_name(c, array),
				   mirror ? " as it is" : "", note ? ": " : "", note ? report_escaped(c->report, note) : ""));
	return true;
}

/* On a 0.90 array over whole disks: a partition as long as one member belongs to the member. */
static void look_at_array(struct check *c, const struct blkalign_node *array)
{
	uint64_t component = blkalign_node_u64(array, BLKALIGN_ATTR_MD_COMPONENT);

	if (look_at_state(c, array))
		return;
	if (!attr_is(array, BLKALIGN_ATTR_MD_METADATA, "0.90") || attr_is(array, BLKALIGN_ATTR_MD_LEVEL, "raid1") || !below(array))
		return;
	if (!is_set(component))
		component = blkalign_node_u64(below(array), BLKALIGN_ATTR_SIZE);
	for (size_t i = 0; is_set(component) && i < blkalign_node_uppers(array); i++) {
		const struct blkalign_node *n = blkalign_node_upper(array, i);
		uint64_t size = blkalign_node_u64(n, BLKALIGN_ATTR_SIZE);

		if (blkalign_node_kind(n) != BLKALIGN_KIND_PARTITION || !is_set(size) || size > component + component / 100 ||
		    size < component - component / 100)
			continue;
		facts_of(c, n)->exempt = EXEMPT_PHANTOM;
		report_phantom(c, n, array, IMPACT_BREAKS,
			       report_text(c->report,
					   "%s is as long as one member of %s: it is a member's own partition seen through the array, "
					   "whose 0.90 superblocks cannot tell a "
					   "disk from its last partition",
					   check_name(c, n), check_name(c, array)));
	}
}

void rules_exempt(struct check *c)
{
	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(c->graph, i);

		if (blkalign_node_kind(n) == BLKALIGN_KIND_DISK)
			look_at_member(c, n);
		if (blkalign_node_kind(n) == BLKALIGN_KIND_MD)
			look_at_array(c, n);
		if (blkalign_node_kind(n) == BLKALIGN_KIND_DISK || blkalign_node_kind(n) == BLKALIGN_KIND_MD ||
		    blkalign_node_kind(n) == BLKALIGN_KIND_LV)
			look_at_table(c, n);
	}
}
