/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each rule on both sides of its boundary. */
#include "make.h"

static const char *severity_of(const struct blkalign_report *r, const char *id, const char *name)
{
	const struct blkalign_finding *f = found(r, id, name);

	return f ? blkalign_severity_name(f->severity) : "silent";
}

static void set_offset(struct blkalign_node *n, int64_t offset)
{
	assert_int_equal(graph_set_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, offset, BLKALIGN_ORIGIN_SYSFS), 0);
}

static struct blkalign_node *plain_disk(struct blkalign_graph *g, const char *name)
{
	return disk(g, name, S512(7814037168), 512, 4096, 4096, 0);
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

/* --- md --- */

static void test_md_rules(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[3], *array;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		d[i] = plain_disk(g, name);
	}
	array = md(g, "md0", "raid5", d, 2, 2, 512 * KIB, S512(132736));
	assert_int_equal(graph_connect(g, &(struct blkalign_edge){ .upper = array,
								   .lower = d[2],
								   .lower_offset_bytes = S512(264192),
								   .length_bytes = 100 * GIB,
								   .chunk_bytes = 512 * KIB,
								   .stripes = 2,
								   .slot = 2 }),
			 0);
	set(array, BLKALIGN_ATTR_MAX_TRANSFER, 512 * KIB);
	set(array, BLKALIGN_ATTR_MD_STORED_LOGICAL_BLOCK, 512);
	r = check(g);
	assert_int_equal(must(r, "MD-MEMBERS-DIFFER", "md0")->severity, BLKALIGN_NOTE);
	assert_int_equal(must(r, "MD-CHUNK", "md0")->severity, BLKALIGN_NOTE);
	assert_int_equal(must(r, "MD-SUPERBLOCK-TOO-NEW", "md0")->severity, BLKALIGN_NOTE);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
}

static const char *too_new_on(const char *kernel)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[2] = { plain_disk(g, "sda"), plain_disk(g, "sdb") }, *host;

	assert_int_equal(graph_host(g, &host), 0);
	set_text(host, BLKALIGN_ATTR_KERNEL, kernel);
	set(md(g, "md0", "raid1", d, 2, 1, 0, S512(2048)), BLKALIGN_ATTR_MD_STORED_LOGICAL_BLOCK, 512);
	r = check(g);
	return severity_of(r, "MD-SUPERBLOCK-TOO-NEW", "md0");
}

static void test_superblock_and_kernel(void **state)
{
	(void)state;
	assert_string_equal(too_new_on("6.1.0-18-amd64"), "warning");
	assert_string_equal(too_new_on("6.18.15"), "warning");
	assert_string_equal(too_new_on("6.19.6"), "silent");
	assert_string_equal(too_new_on("7.2.13"), "silent");
}

static void test_chunk_below_block(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[2] = { disk(g, "sda", S512(7814037168), 512, 16384, 16384, 0),
				       disk(g, "sdb", S512(7814037168), 512, 16384, 16384, 0) };

	(void)state;
	md(g, "md0", "raid0", d, 2, 2, 4 * KIB, S512(264192));
	r = check(g);
	assert_int_equal(must(r, "MD-CHUNK", "md0")->severity, BLKALIGN_ERROR);
	assert_string_equal(line_of(r, "md0"),
			    "data at byte 135266304 of sda = 8256 x 16384 (physical block, sysfs); the same on 2 places; "
			    "MD-CHUNK: misaligned");
}

static void test_spare_is_not_judged(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[2] = { plain_disk(g, "sda"), plain_disk(g, "sdb") }, *array = md(g, "md0", "raid1", d, 2, 1, 0, S512(2048));
	struct blkalign_edge spare = { .upper = array,
				       .lower = plain_disk(g, "sdc"),
				       .lower_offset_bytes = S512(2049),
				       .stripes = 1,
				       .slot = BLKALIGN_SLOT_NONE,
				       .state = "spare" };

	(void)state;
	assert_int_equal(graph_connect(g, &spare), 0);
	r = check(g);
	assert_null(found(r, "MD-DATA-OFFSET", NULL));
	assert_null(found(r, "MD-MEMBERS-DIFFER", NULL));
}

/* Members of unequal size: the zones further on are no different data offsets. */
static void test_zones_are_no_difference(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[2] = { plain_disk(g, "sda"), plain_disk(g, "sdb") }, *array = md(g, "md0", "raid0", d, 2, 2, 64 * KIB, MIB);

	(void)state;
	assert_int_equal(graph_connect(g, &(struct blkalign_edge){ .upper = array,
								   .lower = d[0],
								   .upper_offset_bytes = 100 * GIB,
								   .lower_offset_bytes = 50 * GIB,
								   .length_bytes = GIB,
								   .stripes = 1,
								   .segment = 1 }),
			 0);
	r = check(g);
	assert_int_equal(blkalign_report_findings(r), 0);
}

/* --- mixed logical block sizes --- */

static void test_mixed_members(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[3] = { plain_disk(g, "sda"), plain_disk(g, "sdb"),
				       disk(g, "sdc", UINT64_C(4096) * 976754646, 4096, 4096, 4096, 0) },
			     *x;

	(void)state;
	x = fs(g, "xfs:md0", "xfs", md(g, "md0", "raid5", d, 3, 2, 512 * KIB, S512(264192)));
	set(x, BLKALIGN_ATTR_FS_SECTOR, 512);
	r = check(g);
	assert_int_equal(must(r, "MIXED-LOGICAL-SIZES", "md0")->severity, BLKALIGN_WARNING);
	assert_string_equal(blkalign_node_name(must(r, "MIXED-LOGICAL-SIZES", "md0")->cause), "sdc");
	assert_non_null(strstr(must(r, "MIXED-LOGICAL-SIZES", "md0")->message, "1 file system above"));
	assert_int_equal(must(r, "FS-SECTOR-SIZE", "xfs:md0")->severity, BLKALIGN_WARNING);
}

static void test_mixed_group(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *a = pv(g, "pv:sda", plain_disk(g, "sda"), MIB, 4 * MIB);
	struct blkalign_node *b = pv(g, "pv:sdb", disk(g, "sdb", UINT64_C(4096) * 976754646, 4096, 4096, 4096, 0), MIB, 4 * MIB);
	struct blkalign_node *other = pv(g, "pv:sdc", disk(g, "sdc", UINT64_C(4096) * 976754646, 4096, 4096, 4096, 0), MIB, 4 * MIB);

	(void)state;
	set_text(a, BLKALIGN_ATTR_VG_NAME, "vg");
	set_text(b, BLKALIGN_ATTR_VG_NAME, "vg");
	set_text(other, BLKALIGN_ATTR_VG_NAME, "alone");
	r = check(g);
	assert_int_equal(count_of(r, "MIXED-LOGICAL-SIZES"), 1);
	assert_int_equal(must(r, "MIXED-LOGICAL-SIZES", "pv:sdb")->severity, BLKALIGN_WARNING);
}

static void test_mixed_free(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;

	(void)state;
	set(node(g, BLKALIGN_KIND_MD, "md1"), BLKALIGN_ATTR_LOGICAL_BLOCK, 4096);
	set(node(g, BLKALIGN_KIND_MD, "md2"), BLKALIGN_ATTR_LOGICAL_BLOCK, 512);
	plain_disk(g, "sda");
	disk(g, "nvme0n1", UINT64_C(4096) * 976754646, 4096, 4096, 4096, 0);
	r = check(g);
	assert_int_equal(must(r, "MIXED-LOGICAL-SIZES", "md1")->severity, BLKALIGN_WARNING);
	assert_int_equal(must(r, "MIXED-LOGICAL-SIZES", "nvme0n1")->severity, BLKALIGN_NOTE);
}

static void test_encryption_raises_block(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *luks = on(g, BLKALIGN_KIND_CRYPT, "luks:sda", plain_disk(g, "sda"), 16 * MIB, GIB);

	(void)state;
	set(luks, BLKALIGN_ATTR_LUKS_SECTOR, 4096);
	r = check(g);
	assert_int_equal(must(r, "MIXED-LOGICAL-SIZES", "luks:sda")->severity, BLKALIGN_NOTE);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
}

/* --- encryption --- */

static const char *luks_end(uint64_t sectors, uint64_t sector, uint64_t version)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *p = part(g, "sda4", plain_disk(g, "sda"), S512(1050624), S512(sectors));
	struct blkalign_node *luks = on(g, BLKALIGN_KIND_CRYPT, "luks:sda4", p, 16 * MIB, S512(sectors) - 16 * MIB);

	if (sector)
		set(luks, BLKALIGN_ATTR_LUKS_SECTOR, sector);
	set(luks, BLKALIGN_ATTR_LUKS_VERSION, version);
	r = check(g);
	assert_null(found(r, "LUKS-OFFSET", NULL));
	return severity_of(r, "LUKS-SECTOR-VS-END", "luks:sda4");
}

static void test_luks_end(void **state)
{
	(void)state;
	assert_string_equal(luks_end(254801887, 4096, 2), "warning");
	assert_string_equal(luks_end(254801880, 4096, 2), "silent");
	assert_string_equal(luks_end(254801887, 512, 2), "note");
	assert_string_equal(luks_end(254801887, 0, 2), "warning");
	assert_string_equal(luks_end(254801887, 512, 1), "silent");
}

/* --- file systems --- */

static struct blkalign_node *raid5(struct blkalign_graph *g)
{
	struct blkalign_node *d[4];

	for (unsigned i = 0; i < 4; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		d[i] = plain_disk(g, name);
	}
	return md(g, "md0", "raid5", d, 4, 3, 512 * KIB, S512(264192));
}

static void test_fs_stripe(void **state)
{
	static const struct {
		const char *type;
		bool array;
		uint64_t stride, stripe;
		const char *severity;
	} rows[] = {
		{ "ext4", true, 512 * KIB, 1536 * KIB, "silent" },
		{ "xfs", true, 512 * KIB, 1536 * KIB, "silent" },
		{ "xfs", true, 512 * KIB, 3072 * KIB, "silent" },
		{ "ext4", true, 0, 0, "note" },
		{ "ext4", true, 512 * KIB, 1024 * KIB, "warning" },
		{ "ext4", true, 64 * KIB, 1536 * KIB, "warning" },
		/* 8191 and 4095 blocks; 1048448 blocks are more than ext4 uses */
		{ "ext4", false, 0, UINT64_C(8191) * 4096, "warning" },
		{ "ext4", false, 0, UINT64_C(4095) * 4096, "warning" },
		{ "ext4", false, 512 * KIB, UINT64_C(1048448) * 4096, "note" },
		{ "xfs", false, 64 * KIB, S512(86016), "warning" },
		{ "xfs", false, 32 * KIB, 0, "warning" },
		{ "ext4", false, 512 * KIB, 0, "silent" },
		{ "xfs", false, MIB, 32 * MIB, "silent" },
		{ "xfs", false, 4 * MIB, 4 * MIB, "silent" },
		{ "xfs", false, 0, 0, "silent" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *n = fs(g, "fs", rows[i].type, rows[i].array ? raid5(g) : plain_disk(g, "sda"));

		set(n, BLKALIGN_ATTR_FS_STRIDE, rows[i].stride);
		set(n, BLKALIGN_ATTR_FS_STRIPE, rows[i].stripe);
		r = check(g);
		if (strcmp(severity_of(r, "FS-STRIPE", "fs"), rows[i].severity) != 0)
			print_error("row %zu\n", i);
		assert_string_equal(severity_of(r, "FS-STRIPE", "fs"), rows[i].severity);
	}
}

static void test_fs_stripe_remedy(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *n = fs(g, "ext4:md0", "ext4", raid5(g));

	(void)state;
	set(n, BLKALIGN_ATTR_FS_STRIPE, 0);
	r = check(g);
	assert_string_equal(must(r, "FS-STRIPE", "ext4:md0")->remedy, "tune2fs -E stride=128,stripe_width=384 /dev/md0");
}

static void test_fs_sector_and_block(void **state)
{
	static const struct {
		const char *type;
		uint64_t logical, physical, sector, block, size;
		const char *sector_severity, *block_severity;
	} rows[] = {
		{ "xfs", 512, 4096, 512, 4096, 10 * GIB, "note", "silent" },
		{ "xfs", 512, 4096, 4096, 4096, 10 * GIB, "silent", "silent" },
		{ "xfs", 4096, 4096, 512, 4096, 10 * GIB, "warning", "silent" },
		{ "zfs_member", 512, 4096, 512, 0, 10 * GIB, "warning", "silent" },
		{ "zfs_member", 512, 4096, 4096, 0, 10 * GIB, "silent", "silent" },
		/* 512 is what the drive says, 4096 only assumed */
		{ "zfs_member", 512, 512, 512, 0, 10 * GIB, "note", "silent" },
		{ "ext4", 512, 4096, 0, 1024, 10 * GIB, "silent", "warning" },
		{ "ext4", 512, 4096, 0, 1024, 200 * MIB, "silent", "note" },
		{ "ext4", 512, 4096, 0, 4096, 10 * GIB, "silent", "silent" },
		{ "ext4", 512, 512, 0, 1024, 10 * GIB, "silent", "note" },
		{ "vfat", 512, 4096, 512, 2048, 10 * GIB, "silent", "note" },
		{ "iso9660", 512, 4096, 0, 2048, 10 * GIB, "silent", "silent" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *n =
			fs(g, "fs", rows[i].type, disk(g, "sda", S512(7814037168), rows[i].logical, rows[i].physical, 0, 0));

		if (rows[i].sector)
			set(n, BLKALIGN_ATTR_FS_SECTOR, rows[i].sector);
		if (rows[i].block)
			set(n, BLKALIGN_ATTR_FS_BLOCK, rows[i].block);
		set(n, BLKALIGN_ATTR_FS_SIZE, rows[i].size);
		r = check(g);
		if (strcmp(severity_of(r, "FS-SECTOR-SIZE", "fs"), rows[i].sector_severity) != 0)
			print_error("row %zu\n", i);
		assert_string_equal(severity_of(r, "FS-SECTOR-SIZE", "fs"), rows[i].sector_severity);
		assert_string_equal(severity_of(r, "FS-BLOCK-BELOW-PHYSICAL", "fs"), rows[i].block_severity);
	}
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
		cmocka_unit_test(test_md_rules),
		cmocka_unit_test(test_superblock_and_kernel),
		cmocka_unit_test(test_chunk_below_block),
		cmocka_unit_test(test_spare_is_not_judged),
		cmocka_unit_test(test_zones_are_no_difference),
		cmocka_unit_test(test_mixed_members),
		cmocka_unit_test(test_mixed_group),
		cmocka_unit_test(test_mixed_free),
		cmocka_unit_test(test_encryption_raises_block),
		cmocka_unit_test(test_luks_end),
		cmocka_unit_test(test_fs_stripe),
		cmocka_unit_test(test_fs_stripe_remedy),
		cmocka_unit_test(test_fs_sector_and_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
