/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules of limits, tables and sizes, on both sides of their boundaries. */
#include "make.h"

static void set_offset(struct blkalign_node *n, int64_t offset)
{
	assert_int_equal(graph_set_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, offset, BLKALIGN_ORIGIN_SYSFS), 0);
}

/* --- limits --- */

/* Only the kernel's alignment_offset is known of a partition: 512 means 3584 past, 61440 is a multiple of 4096. */
static void test_alignment_offset_alone(void **state)
{
	static const struct {
		int64_t offset;
		const char *severity;
	} rows[] = { { 512, "error" }, { 3072, "error" }, { 61440, "note" }, { 0, "silent" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;

		set_offset(node(g, BLKALIGN_KIND_PARTITION, "sdb1"), rows[i].offset);
		r = check(g);
		assert_string_equal(severity_of(r, "ALIGNMENT-OFFSET", "sdb1"), rows[i].severity);
	}
}

/* The disk is known, but not where on it the partition starts. */
static void test_alignment_offset_of_unplaced(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sdb1 = node(g, BLKALIGN_KIND_PARTITION, "sdb1");

	(void)state;
	assert_int_equal(graph_connect_linear(g, sdb1, plain_disk(g, "sdb"), BLKALIGN_UNKNOWN, BLKALIGN_UNKNOWN), 0);
	set_offset(sdb1, 512);
	fs(g, "ext4:sdb1", "ext4", sdb1);
	r = check(g);
	assert_string_equal(severity_of(r, "ALIGNMENT-OFFSET", "sdb1"), "error");
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_MISALIGNED);
}

/* The same with a file system on it: one error, on the partition. */
static void test_alignment_offset_below_content(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sdb1 = node(g, BLKALIGN_KIND_PARTITION, "sdb1");

	(void)state;
	set_offset(sdb1, 512);
	fs(g, "ext4:sdb1", "ext4", sdb1);
	r = check(g);
	assert_int_equal(count_of(r, "ALIGNMENT-OFFSET"), 1);
	assert_int_equal(must(r, "ALIGNMENT-OFFSET", "sdb1")->severity, BLKALIGN_ERROR);
	assert_non_null(strstr(must(r, "ALIGNMENT-OFFSET", "sdb1")->message, "3584 bytes past"));
}

/* A drive shifted by a jumper: a file system on the whole drive is off, one behind sector 7 mod 8 is not. */
static void test_shifted_drive(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *whole = plain_disk(g, "sda"), *split = plain_disk(g, "sdb");

	(void)state;
	set_offset(whole, 3584);
	set(split, BLKALIGN_ATTR_RC16_LOWEST_ALIGNED, 7);
	fs(g, "ext4:sda", "ext4", whole);
	fs(g, "ext4:sdb1", "ext4", part(g, "sdb1", split, S512(63), GIB));
	r = check(g);
	assert_int_equal(must(r, "ALIGNMENT-OFFSET", "ext4:sda")->severity, BLKALIGN_ERROR);
	assert_string_not_equal(severity_of(r, "PARTITION-START", "sdb1"), "error");
}

static void test_inconsistent_mark(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = plain_disk(g, "sda"), *good, *bad;

	(void)state;
	good = on(g, BLKALIGN_KIND_DM, "dm-0", sda, MIB, GIB);
	bad = on(g, BLKALIGN_KIND_DM, "dm-1", sda, MIB + 512, GIB);
	set_offset(good, -1);
	set_offset(bad, -1);
	set_offset(node(g, BLKALIGN_KIND_PARTITION, "md0p1"), 4294967295);
	r = check(g);
	assert_string_equal(severity_of(r, "LIMITS-INCONSISTENT", "dm-0"), "note");
	assert_string_equal(severity_of(r, "LIMITS-INCONSISTENT", "dm-1"), "warning");
	assert_string_equal(severity_of(r, "LV-START", "dm-1"), "error");
	assert_string_equal(severity_of(r, "LIMITS-INCONSISTENT", "md0p1"), "warning");
	assert_non_null(strstr(must(r, "LIMITS-INCONSISTENT", "md0p1")->remedy, "--dataalignmentoffset 0"));
}

/* A stray alignment_offset on a stack that is in its place: told, not alarmed about. */
static void test_harmless_offset(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", UINT64_C(4096) * 7732224, 4096, 4096, 65536, 0);
	struct blkalign_node *n = on(g, BLKALIGN_KIND_DM, "dm-0", sda, 4096, GIB);

	(void)state;
	set_offset(n, 61440);
	set_text(n, BLKALIGN_ATTR_KERNEL_MESSAGES,
		 "device-mapper: table: 252:0: adding target device sda caused an alignment inconsistency: physical_block_size=4096, "
		 "logical_block_size=4096, alignment_offset=61440, start=0");
	r = check(g);
	assert_string_equal(severity_of(r, "ALIGNMENT-OFFSET", "dm-0"), "note");
	must(r, "HARMLESS-WARNING", "dm-0");
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
}

/* --- tables --- */

/* The first partition ends one sector late: the second is off, and the first one's end says why. */
static void test_off_by_one(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(1953525168), 512, 4096, 4096, 4096);

	(void)state;
	part(g, "sda1", sda, S512(2048), S512(1917388049));
	part(g, "sda2", sda, S512(1917390097), S512(20971520));
	r = check(g);
	assert_int_equal(must(r, "PARTITION-START", "sda2")->severity, BLKALIGN_ERROR);
	assert_int_equal(must(r, "PARTITION-START", "sda2")->expected_bytes, S512(1917390848));
	assert_int_equal(must(r, "PARTITION-END", "sda1")->severity, BLKALIGN_NOTE);
	assert_non_null(strstr(must(r, "PARTITION-END", "sda1")->message, "sda2 starts there"));
}

static void test_beyond_end_and_fingerprint(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = plain_disk(g, "sda");

	(void)state;
	part(g, "sda1", sda, MIB, S512(32 * 65535));
	part(g, "sda2", sda, S512(7814000000), S512(40960));
	part(g, "sda3", sda, GIB + MIB, GIB);
	r = check(g);
	assert_non_null(strstr(must(r, "PARTITION-END", "sda1")->message, "32 x 33553920"));
	assert_int_equal(must(r, "PARTITION-END", "sda2")->severity, BLKALIGN_WARNING);
	assert_null(found(r, "PARTITION-END", "sda3"));
}

/* A 4096-unit table read in 512: the last entry ends at one eighth of the disk. A 512-unit one read in 4096: eight times the disk. */
static void test_wrong_unit(void **state)
{
	static const struct {
		uint64_t size, logical, start, length, unit;
	} rows[] = {
		{ S512(7814037168), 512, S512(256), S512(976754432 - 256), 4096 },
		{ UINT64_C(32044482560), 512, S512(16), S512(15646704), 2048 },
		{ UINT64_C(10737418240), 4096, UINT64_C(4096) * 2048, UINT64_C(4096) * (20971520 - 2048), 512 },
		{ S512(7814037168), 512, S512(2048), S512(7814033408), 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *sda = disk(g, "sda", rows[i].size, rows[i].logical, 4096, 4096, 0);

		part(g, "sda1", sda, rows[i].start, rows[i].length);
		r = check(g);
		assert_null(found(r, "PARTITION-START", NULL));
		if (rows[i].unit)
			assert_int_equal(must(r, "TABLE-WRONG-UNIT", "sda")->expected_bytes, rows[i].unit);
		else
			assert_null(found(r, "TABLE-WRONG-UNIT", NULL));
	}
}

static void test_wrong_unit_from_reader(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = plain_disk(g, "sda");

	(void)state;
	set_text(sda, BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
	set_text(sda, BLKALIGN_ATTR_TABLE_NOTE, "header at byte 4096, NTFS at the first start");
	set(sda, BLKALIGN_ATTR_TABLE_UNIT, 4096);
	r = check(g);
	assert_int_equal(must(r, "TABLE-WRONG-UNIT", "sda")->severity, BLKALIGN_WARNING);
	assert_non_null(strstr(must(r, "TABLE-WRONG-UNIT", "sda")->message, "header at byte 4096"));
	assert_non_null(strstr(must(r, "TABLE-WRONG-UNIT", "sda")->remedy, "--sector-size 4096"));
}

/* A 0.90 RAID6 put together from whole disks shows the first member's partition. */
static void test_phantom(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[6], *array;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		d[i] = disk(g, name, S512(3907029168), 512, 512, 512, 0);
	}
	array = md(g, "md0", "raid6", d, 6, 4, 128 * KIB, 0);
	set_text(array, BLKALIGN_ATTR_MD_METADATA, "0.90");
	part(g, "md0p1", array, S512(128), S512(3907029040));
	r = check(g);
	assert_int_equal(must(r, "PHANTOM-PARTITION", "md0p1")->severity, BLKALIGN_WARNING);
	assert_null(found(r, "PARTITION-START", NULL));
}

/* A mirror of whole disks: the legs show the mirror's partitions. */
static void test_shadow(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[2] = { plain_disk(g, "sda"), plain_disk(g, "sdb") }, *array = md(g, "md127", "raid1", d, 2, 1, 0, 0);

	(void)state;
	part(g, "sda1", d[0], MIB, GIB);
	part(g, "md127p1", array, MIB, GIB);
	r = check(g);
	assert_int_equal(must(r, "PHANTOM-PARTITION", "sda1")->severity, BLKALIGN_NOTE);
	assert_null(found(r, "PHANTOM-PARTITION", "md127p1"));
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
}

static void test_containers(void **state)
{
	static const char *const roles[] = { "extended", "bios-boot", "msr", "protective" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *sda = plain_disk(g, "sda"), *p = part(g, "sda1", sda, S512(1660159998), S512(1000));

		set_text(p, BLKALIGN_ATTR_PART_ROLE, roles[i]);
		part(g, "sda5", sda, S512(1660160000), S512(277149696));
		r = check(g);
		assert_int_equal(must(r, "HARMLESS-WARNING", "sda1")->severity, BLKALIGN_NOTE);
		assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
	}
}

static void test_parted_text(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(3907029168), 512, 512, 512, 33553920), *good, *bad;

	(void)state;
	good = part(g, "sda1", sda, S512(2048), GIB);
	bad = part(g, "sda2", sda, S512(65535 * 64), GIB);
	bad = part(g, "sda3", sda, S512(65535 * 65), GIB);
	set_text(good, BLKALIGN_ATTR_TOOL_MESSAGES,
		 "The resulting partition is not properly aligned for best performance: 2048s % 65535s != 0s");
	set_text(bad, BLKALIGN_ATTR_TOOL_MESSAGES, "Partition 3 does not start on physical sector boundary.");
	r = check(g);
	must(r, "HARMLESS-WARNING", "sda1");
	assert_null(found(r, "HARMLESS-WARNING", "sda3"));
	assert_string_equal(blkalign_node_name(must(r, "PARTITION-START", "sda3")->cause), "sda");
	/* 64 x 65535 sectors happen to be on 4096. */
	assert_string_equal(severity_of(r, "PARTITION-START", "sda2"), "note");
}

static void test_size(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *image = disk(g, "odd.img", 0, 512, 4096, 0, 0);

	(void)state;
	disk(g, "sda", S512(7814037167), 512, 4096, 4096, 0);
	disk(g, "sdb", S512(7814037168), 512, 4096, 4096, 0);
	graph_set_u64(image, BLKALIGN_ATTR_SIZE, 1000001, BLKALIGN_ORIGIN_FILE);
	r = check(g);
	assert_int_equal(count_of(r, "SIZE-NOT-MULTIPLE"), 1);
	assert_int_equal(must(r, "SIZE-NOT-MULTIPLE", "sda")->severity, BLKALIGN_NOTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment_offset_alone),
		cmocka_unit_test(test_alignment_offset_of_unplaced),
		cmocka_unit_test(test_alignment_offset_below_content),
		cmocka_unit_test(test_shifted_drive),
		cmocka_unit_test(test_inconsistent_mark),
		cmocka_unit_test(test_harmless_offset),
		cmocka_unit_test(test_off_by_one),
		cmocka_unit_test(test_beyond_end_and_fingerprint),
		cmocka_unit_test(test_wrong_unit),
		cmocka_unit_test(test_wrong_unit_from_reader),
		cmocka_unit_test(test_phantom),
		cmocka_unit_test(test_shadow),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_parted_text),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
