/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layouts from the field on which nothing has to be mended: no error, no warning. And their neighbours that are wrong, so that silence is
 * not bought by looking away.
 */
#include "make.h"

/* A disk with hints and a table of starts, in sectors of the logical block. */
struct layout {
	const char *what;
	uint64_t blocks, logical, physical, minimum, optimal;
	uint64_t starts[5];
	enum blkalign_verdict verdict;
};

static const struct layout layouts[] = {
	{ "USB disk, 1 MiB start, saturated hint", 3907029168, 512, 512, 512, 33553920, { 2048 }, BLKALIGN_VERDICT_ALIGNED },
	{ "the same on 4096", 5860533168, 512, 4096, 4096, 33553920, { 2048, 1050624, 3147776, 5858435072 }, BLKALIGN_VERDICT_ALIGNED },
	{ "minimum gives the block away",
	  468877312,
	  512,
	  512,
	  4096,
	  33553920,
	  { 2048, 616448, 4810752, 214525952 },
	  BLKALIGN_VERDICT_ALIGNED },
	{ "factory layout", 976773168, 512, 512, 512, 33553920, { 2048 }, BLKALIGN_VERDICT_ALIGNED },
	{ "4Kn, start 8 MiB", 976754645, 4096, 4096, 4096, 268431360, { 2048 }, BLKALIGN_VERDICT_ALIGNED },
	{ "4Kn, start 1 MiB", 976754645, 4096, 4096, 4096, 4096, { 256 }, BLKALIGN_VERDICT_ALIGNED },
	{ "host adapter's limit", 7814037168, 512, 4096, 4096, 16773120, { 2048 }, BLKALIGN_VERDICT_ALIGNED },
	{ "hardware RAID, 3 x 256 KiB", 14065092272, 512, 4096, 262144, 786432, { 2048, 2203648, 6397952 }, BLKALIGN_VERDICT_ALIGNED },
	{ "Ceph, 4 MiB objects", 41943040, 512, 512, 4194304, 4194304, { 2048 }, BLKALIGN_VERDICT_ALIGNED },
	{ "router image, 256 KiB", 234441648, 512, 512, 512, 0, { 512, 33792 }, BLKALIGN_VERDICT_ALIGNED },
	{ "half a MiB on a card", 62333952, 512, 512, 512, 0, { 8192, 30929920 }, BLKALIGN_VERDICT_ALIGNED },
	{ "NAS, sector 64", 5860533168, 512, 4096, 4096, 0, { 64, 8388672, 9437248 }, BLKALIGN_VERDICT_ALIGNED },
	{ "write granularity as block", 3750748848, 512, 262144, 262144, 0, { 2048 }, BLKALIGN_VERDICT_ALIGNED },
	{ "target with 16 KiB blocks", 214748364800, 512, 16384, 16384, 0, { 2048 }, BLKALIGN_VERDICT_ALIGNED },
	/* neighbours */
	{ "partition made by the hint", 1953525168, 512, 512, 4096, 33553920, { 65535 }, BLKALIGN_VERDICT_MISALIGNED },
	{ "sector 63 on Ceph", 41943040, 512, 512, 4194304, 4194304, { 63 }, BLKALIGN_VERDICT_MISALIGNED },
	{ "sector 34 on flash", 500118192, 512, 512, 512, 0, { 34, 292969, 792969 }, BLKALIGN_VERDICT_MISALIGNED },
	{ "sector 1 on a virtual disk", 209715200, 512, 4096, 4096, 4096, { 1, 7020405 }, BLKALIGN_VERDICT_MISALIGNED },
	{ "16 KiB blocks, 8 KiB start", 214748364800, 512, 16384, 16384, 0, { 16 }, BLKALIGN_VERDICT_MISALIGNED },
	{ "three data disks of 64 KiB as one chunk", 41943040, 512, 512, 196608, 196608, { 2048 }, BLKALIGN_VERDICT_WARNING },
	{ "inside a strip of hardware RAID", 14065092272, 512, 4096, 262144, 786432, { 256 }, BLKALIGN_VERDICT_WARNING },
};

static void test_layouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *l = &layouts[i];
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *d = disk(g, "sda", l->blocks * l->logical, l->logical, l->physical, l->minimum, l->optimal);

		for (size_t k = 0; k < ARRAY_SIZE(l->starts) && l->starts[k]; k++) {
			char name[16];

			snprintf(name, sizeof(name), "sda%zu", k + 1);
			part(g, name, d, l->starts[k] * l->logical, 64 * MIB);
		}
		r = check(g);
		if (blkalign_report_verdict(r) != l->verdict) {
			print_error("%s:\n", l->what);
			dump(r);
		}
		assert_int_equal(blkalign_report_verdict(r), l->verdict);
	}
}

/* Reserved partition at 34, data at 264192, one sector missing at the end: a note about the size, nothing else. */
static void test_bridge_hides_a_sector(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d = disk(g, "sdb", S512(7814037167), 512, 4096, 4096, 33553920);

	(void)state;
	set_text(part(g, "sdb1", d, S512(34), S512(262144)), BLKALIGN_ATTR_PART_ROLE, "msr");
	part(g, "sdb2", d, S512(264192), S512(7813771264));
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
	must(r, "SIZE-NOT-MULTIPLE", "sdb");
	must(r, "HARMLESS-WARNING", "sdb1");
}

/* Four disks behind a host adapter, RAID10 far 2: garbage on the array while volumes lie well. */
static void test_raid10_over_limit_hint(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[4], *array;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "sd%c", 'a' + i);
		d[i] = disk(g, name, S512(7814037168), 512, 4096, 4096, 16773120);
		snprintf(name, sizeof(name), "sd%c1", 'a' + i);
		d[i] = part(g, name, d[i], MIB, S512(7814035087));
	}
	array = md(g, "md2", "raid10", d, 4, 4, 512 * KIB, S512(264192));
	set(array, BLKALIGN_ATTR_OPTIMAL_IO, 2146959360);
	pv(g, "pv:md2", array, MIB, 4 * MIB);
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
	assert_int_equal(must(r, "BOGUS-OPTIMAL-IO", "md2")->severity, BLKALIGN_NOTE);
	assert_string_equal(blkalign_node_name(must(r, "BOGUS-OPTIMAL-IO", "md2")->cause), "sda");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_bridge_hides_a_sector),
		cmocka_unit_test(test_raid10_over_limit_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
