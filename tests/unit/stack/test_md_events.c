/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which members are believed, and which are stale. */
#include "md_bench.h"

static void test_equal_events(void **state)
{
	const struct blkalign_node *md;

	(void)state;
	two_mirrors(10, 10);
	run_disks(2);
	md = the("md/data");
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md/data", "d1", 1, "in_sync");
	assert_int_equal(blkalign_node_u64(md, BLKALIGN_ATTR_SIZE), DATA);
	assert_int_equal(blkalign_node_edge(md, 0)->lower_offset_bytes, OFFSET);
	assert_int_equal(blkalign_node_edge(md, 0)->length_bytes, DATA);
	assert_string_equal(blkalign_node_str(md, BLKALIGN_ATTR_MD_STATE), "clean");
	assert_string_equal(blkalign_node_str(md, BLKALIGN_ATTR_MD_UUID), "abababab:abababab:abababab:abababab");
	assert_int_equal(blkalign_graph_remarks(graph), 0);
}

static void test_one_behind_is_current(void **state)
{
	(void)state;
	two_mirrors(10, 9);
	run_disks(2);
	edge_is("md/data", "d1", 1, "in_sync");
	assert_int_equal(blkalign_graph_remarks(graph), 0);
}

static void test_two_behind_is_stale(void **state)
{
	(void)state;
	two_mirrors(10, 8);
	run_disks(2);
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md/data", "d1", MISSING, "stale");
	remark_is("its event count 8 is 2 behind that of d0");
	remark_is("1 of 2 members are missing (slot 1): all of it can be read");
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_STATE), "clean,degraded");
}

/* A crash hit between the writes that recorded the failure: the failed member is only one behind. */
static void test_freshest_knows_better(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 9);

	(void)state;
	a.roles[1] = 0xfffe;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_disks(2);
	edge_is("md/data", "d1", MISSING, "faulty");
	remark_is("d1: member of md/data is recorded as faulty by d0");
}

static void test_split_brain(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);

	(void)state;
	a.roles[1] = 0xfffe;
	b.roles[0] = 0xfffe;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_disks(2);
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md/data", "d1", MISSING, "stale");
	remark_is("it reports d0 as failed");
}

static void test_extreme_events(void **state)
{
	(void)state;
	two_mirrors(UINT64_MAX, 0);
	run_disks(2);
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md/data", "d1", MISSING, "stale");
	remark_is("18446744073709551615 behind");
}

static void test_spare_ahead(void **state)
{
	struct v1 spare = mirror(2, 50);

	(void)state;
	two_mirrors(10, 10);
	write_v1(disks[2], &spare);
	run_disks(3);
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md/data", "d2", MISSING, "spare");
	assert_int_equal(blkalign_node_u64(the("md/data"), BLKALIGN_ATTR_MD_EVENTS), 10);
}

static void test_copy_of_a_member(void **state)
{
	struct v1 again = mirror(1, 10);

	(void)state;
	two_mirrors(10, 10);
	write_v1(disks[2], &again);
	run_disks(3);
	edge_is("md/data", "d1", 1, "in_sync");
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("d1 and d2 both claim slot 1");
}

/* Of two for a slot the newer one, also when it was found later. */
static void test_newer_copy_wins(void **state)
{
	struct v1 again = mirror(1, 10);

	(void)state;
	two_mirrors(10, 9);
	write_v1(disks[2], &again);
	run_disks(3);
	edge_is("md/data", "d2", 1, "in_sync");
	edge_is("md/data", "d1", MISSING, "stale");
	remark_is("d2 and d1 both claim slot 1 of md/data with event counts 10 and 9");
}

static void test_rebuilding(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);
	uint8_t byte = 0;

	(void)state;
	b.features = MD1_RECOVERY_OFFSET;
	b.recovery_sectors512 = 8;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	disks[0][OFFSET] = 'a';
	run_disks(2);
	edge_is("md/data", "d1", 1, "rebuilding");
	remark_is("in sync up to byte 4096");
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_STATE), "clean,degraded,recovering");
	assert_int_equal(dev_read(stack_dev(stack, the("md/data")), 0, &byte, 1, NULL), 0);
	assert_int_equal(byte, 'a');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_equal_events),	     T(test_one_behind_is_current),
		T(test_two_behind_is_stale), T(test_freshest_knows_better),
		T(test_split_brain),	     T(test_extreme_events),
		T(test_spare_ahead),	     T(test_copy_of_a_member),
		T(test_newer_copy_wins),     T(test_rebuilding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
