/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is found in the records of thin pools, snapshots and caches. */
#include "make.h"

static struct blkalign_node *volume(struct blkalign_graph *g, const char *type)
{
	struct blkalign_node *n = on(g, BLKALIGN_KIND_LV, "vg/lv", disk(g, "sda", S512(1953525168), 512, 4096, 4096, 0), MIB, GIB);

	set_text(n, BLKALIGN_ATTR_LV_TYPE, type);
	return n;
}

static void set_true(struct blkalign_node *n, enum blkalign_attr attr, bool value)
{
	assert_int_equal(graph_set_bool(n, attr, value, BLKALIGN_ORIGIN_ONDISK), 0);
}

static void transactions(uint64_t pool, uint64_t text, bool expected)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *n = volume(g, "thin-pool");

	set(n, BLKALIGN_ATTR_POOL_TRANSACTION, pool);
	set(n, BLKALIGN_ATTR_POOL_TRANSACTION_TEXT, text);
	r = check(g);
	if (expected)
		assert_int_equal(must(r, "LVM-OUT-OF-STEP", "vg/lv")->severity, BLKALIGN_ERROR);
	else
		assert_null(found(r, "LVM-OUT-OF-STEP", NULL));
}

static void test_transactions(void **state)
{
	(void)state;
	transactions(5, 5, false);
	transactions(5, 6, false); /* a change under way */
	transactions(5, 7, true);
	transactions(6, 5, true);
	transactions(0, UINT64_MAX - 1, true);
}

static void test_needs_check(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;

		set_true(volume(g, "thin-pool"), BLKALIGN_ATTR_POOL_NEEDS_CHECK, i);
		r = check(g);
		assert_int_equal(!!found(r, "POOL-NEEDS-CHECK", "vg/lv"), i);
	}
}

static void snapshot(const char *type, bool invalid, enum blkalign_severity severity)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;

	set_true(volume(g, type), BLKALIGN_ATTR_SNAPSHOT_INVALID, invalid);
	r = check(g);
	if (invalid)
		assert_int_equal(must(r, "SNAPSHOT-OVERFLOWED", "vg/lv")->severity, severity);
	else
		assert_null(found(r, "SNAPSHOT-OVERFLOWED", NULL));
}

static void test_snapshots(void **state)
{
	(void)state;
	snapshot("snapshot", false, BLKALIGN_NOTE);
	snapshot("snapshot", true, BLKALIGN_WARNING);
	snapshot("linear", true, BLKALIGN_ERROR); /* an origin that it was being merged into */
}

static void cache(uint64_t dirty, bool unclean, const char *words)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *n = volume(g, "cache");

	set(n, BLKALIGN_ATTR_CACHE_DIRTY, dirty);
	set_true(n, BLKALIGN_ATTR_CACHE_UNCLEAN, unclean);
	r = check(g);
	if (!words) {
		assert_null(found(r, "CACHE-DIRTY", NULL));
		return;
	}
	assert_int_equal(must(r, "CACHE-DIRTY", "vg/lv")->severity, BLKALIGN_NOTE);
	assert_non_null(strstr(must(r, "CACHE-DIRTY", "vg/lv")->message, words));
}

static void test_caches(void **state)
{
	(void)state;
	cache(0, false, NULL);
	cache(0, true, NULL);
	cache(65536, false, "holds 65536 bytes that its origin lacks");
	cache(65536, true, "was not shut down cleanly");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transactions),
		cmocka_unit_test(test_needs_check),
		cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_caches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
