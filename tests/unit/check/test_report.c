/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table, the report's order, and the cost model. */
#include "make.h"

#include "check/price.h"

/* Ids are an interface: scripts match them. */
static void test_ids(void **state)
{
	static const char *const ids[] = {
		"BOGUS-OPTIMAL-IO",
		"BOGUS-MINIMUM-IO",
		"PHYSICAL-UNDERREPORTED",
		"PHYSICAL-OVERREPORTED",
		"ALIGNMENT-OFFSET",
		"LIMITS-INCONSISTENT",
		"READAHEAD-INFLATED",
		"PARTITION-START",
		"PARTITION-END",
		"TABLE-WRONG-UNIT",
		"PHANTOM-PARTITION",
		"MD-DATA-OFFSET",
		"MD-CHUNK",
		"MD-MEMBERS-DIFFER",
		"MD-FEATURE-TOO-NEW",
		"MD-LAYOUT-OVERLAP",
		"MD-RAID0-CHUNK",
		"MD-BITMAP-MISSING",
		"MD-DIRTY-DEGRADED",
		"MD-STALE-MEMBER",
		"MD-BAD-BLOCK-LOG",
		"PE-START",
		"PE-START-VS-STRIPE",
		"LV-START",
		"EXTENT-VS-STRIPE",
		"LVM-OUT-OF-STEP",
		"POOL-NEEDS-CHECK",
		"SNAPSHOT-OVERFLOWED",
		"CACHE-DIRTY",
		"MIXED-LOGICAL-SIZES",
		"LUKS-OFFSET",
		"LUKS-SECTOR-VS-END",
		"FS-STRIPE",
		"FS-SECTOR-SIZE",
		"FS-BLOCK-BELOW-PHYSICAL",
		"SIZE-NOT-MULTIPLE",
		"HARMLESS-WARNING",
		"LEGITIMATE-STRIPE",
	};

	(void)state;
	assert_int_equal(blkalign_finding_infos(), ARRAY_SIZE(ids));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct blkalign_finding_info *info = blkalign_finding_find(ids[i]);

		assert_non_null(info);
		assert_true(strlen(info->title) > 20 && strlen(info->title) < 80);
		assert_true(strlen(info->text) > 150 && strlen(info->remedy) >= 8 && strlen(info->refutation) > 20);
		assert_null(strstr(info->text, "\n\n\n"));
	}
	assert_ptr_equal(blkalign_finding_find("pe-start"), blkalign_finding_find("PE-START"));
	assert_null(blkalign_finding_find("PE"));
	assert_null(blkalign_finding_info(ARRAY_SIZE(ids)));
}

static void test_order(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *a = disk(g, "sda", S512(7814037167), 512, 4096, 4096, 0),
			     *b = disk(g, "sdb", S512(7814037168), 512, 4096, 4096, 0);

	(void)state;
	part(g, "sda1", a, S512(63), GIB);
	part(g, "sdb1", b, S512(34), GIB);
	r = check(g);
	assert_int_equal(blkalign_report_findings(r), 3);
	assert_string_equal(blkalign_node_name(blkalign_report_finding(r, 0)->node), "sda1");
	assert_string_equal(blkalign_node_name(blkalign_report_finding(r, 1)->node), "sdb1");
	assert_string_equal(blkalign_report_finding(r, 2)->info->id, "SIZE-NOT-MULTIPLE");
	assert_null(blkalign_report_finding(r, 3));
	assert_int_equal(blkalign_report_layers(r), 4);
	assert_string_equal(blkalign_node_name(blkalign_report_layer(r, 0)->node), "sda");
	assert_string_equal(blkalign_node_name(blkalign_report_layer(r, 3)->node), "sdb1");
	assert_null(blkalign_report_layer(r, 4));
}

static void test_nothing_known(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;

	(void)state;
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_UNKNOWN);
	assert_string_equal(blkalign_verdict_name(BLKALIGN_VERDICT_UNKNOWN), "unknown");
}

static void expect_io(struct price_io io, uint64_t reads, uint64_t writes)
{
	assert_int_equal(io.reads, reads);
	assert_int_equal(io.writes, writes);
}

/* By hand: which 4096-byte blocks a write touches, and which of them it covers only in part. */
static void test_price_of_writes(void **state)
{
	(void)state;
	expect_io(price_write(4096, 0, 4096), 0, 1);
	expect_io(price_write(4096, 3584, 4096), 2, 2);
	expect_io(price_write(512, 0, 4096), 1, 1);
	expect_io(price_write(512, 3584, 4096), 1, 1);
	expect_io(price_write(1024, 3584, 4096), 2, 2);
	expect_io(price_write(16384, 0, 4096), 0, 4);
	expect_io(price_write(16384, 512, 4096), 2, 5);
	expect_io(price_write(4608, 3584, 4096), 1, 2);
	expect_io(price_write(4096, 512, 512), 0, 8);
	expect_io(price_write(4096, 0, 16384), 1, 1);
}

static void test_price_of_arrays(void **state)
{
	struct price_array none = { 0 }, five = { 512 * KIB, 3, 1 }, six = { 64 * KIB, 7, 2 };

	(void)state;
	expect_io(price_array_write(&none, 4096, 512, 4096), 2, 2);
	/* old data and parity are read, both written */
	expect_io(price_array_write(&five, 4096, 0, 4096), 2, 2);
	expect_io(price_array_write(&five, 4096, 512, 4096), 4, 4);
	expect_io(price_array_write(&six, 4096, 0, 4096), 3, 3);
	expect_io(price_array_write(&six, 4096, 512, 4096), 6, 6);
	/* nine members of 16 blocks; one more block and two partial ones each when off */
	expect_io(price_full_stripe(&six, 0, 4096), 0, 9 * 16);
	expect_io(price_full_stripe(&six, 512, 4096), 9 * 2, 9 * 17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_price_of_writes),
		cmocka_unit_test(test_price_of_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
