/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules of arrays, groups, encryption and file systems, on both sides of their boundaries. */
#include "make.h"

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
	assert_int_equal(must(r, "MD-FEATURE-TOO-NEW", "md0")->severity, BLKALIGN_NOTE);
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
	return severity_of(r, "MD-FEATURE-TOO-NEW", "md0");
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

/* A volume on both devices of a group is one volume; one that lies on the smaller blocks counts as well. */
static void test_mixed_group_counts_once(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *a = pv(g, "pv:sda", plain_disk(g, "sda"), MIB, 4 * MIB), *lv, *fs;
	struct blkalign_node *b = pv(g, "pv:sdb", disk(g, "sdb", UINT64_C(4096) * 976754646, 4096, 4096, 4096, 0), MIB, 4 * MIB);
	struct blkalign_edge second = {
		.lower = b, .lower_offset_bytes = MIB, .length_bytes = GIB, .upper_offset_bytes = GIB, .stripes = 1, .segment = 1
	};

	(void)state;
	set_text(a, BLKALIGN_ATTR_VG_NAME, "vg");
	set_text(b, BLKALIGN_ATTR_VG_NAME, "vg");
	lv = on(g, BLKALIGN_KIND_LV, "vg/both", a, MIB, GIB);
	second.upper = lv;
	assert_int_equal(graph_connect(g, &second), 0);
	fs = on(g, BLKALIGN_KIND_CONTENT, "xfs:vg/both", lv, 0, 0);
	set(fs, BLKALIGN_ATTR_FS_SECTOR, 512);
	fs = on(g, BLKALIGN_KIND_CONTENT, "xfs:vg/small", on(g, BLKALIGN_KIND_LV, "vg/small", a, MIB + GIB, GIB), 0, 0);
	set(fs, BLKALIGN_ATTR_FS_SECTOR, 512);
	r = check(g);
	assert_non_null(strstr(must(r, "MIXED-LOGICAL-SIZES", "pv:sdb")->message, "2 file systems above"));
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
		cmocka_unit_test(test_md_rules),
		cmocka_unit_test(test_superblock_and_kernel),
		cmocka_unit_test(test_chunk_below_block),
		cmocka_unit_test(test_spare_is_not_judged),
		cmocka_unit_test(test_zones_are_no_difference),
		cmocka_unit_test(test_mixed_members),
		cmocka_unit_test(test_mixed_group),
		cmocka_unit_test(test_mixed_group_counts_once),
		cmocka_unit_test(test_mixed_free),
		cmocka_unit_test(test_encryption_raises_block),
		cmocka_unit_test(test_luks_end),
		cmocka_unit_test(test_fs_stripe),
		cmocka_unit_test(test_fs_stripe_remedy),
		cmocka_unit_test(test_fs_sector_and_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
