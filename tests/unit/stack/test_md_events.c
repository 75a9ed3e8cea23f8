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
	remark_is("1 of 2 members is missing (slot 1): all of it can be read");
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

/* --- halves that were in use apart from each other --- */

static void two_halves(uint64_t events0, uint64_t events1)
{
	struct v1 a = mirror(0, events0), b = mirror(1, events1);

	a.roles[1] = 0xfffe;
	b.roles[0] = 0xffff;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
}

static void test_split_brain(void **state)
{
	(void)state;
	two_halves(10, 10);
	run_disks(2);
	edge_is("md/data", "d1", MISSING, "stale");
	remark_is("d0 (10) and d1 (10). Neither is read or written; give the members of one half alone");
	assert_null(stack_dev(stack, the("md/data")));
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_STATE), "split,degraded");
}

static void test_split_by_one_event(void **state)
{
	(void)state;
	two_halves(10, 11);
	run_disks(2);
	remark_is("d1 (11) and d0 (10). Neither is read");
	assert_null(stack_dev(stack, the("md/data")));
}

static void test_half_alone(void **state)
{
	(void)state;
	two_halves(10, 10);
	run_order((const unsigned[]){ 1 }, 1);
	edge_is("md/data", "d1", 1, "in_sync");
	assert_non_null(stack_dev(stack, the("md/data")));
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_STATE), "clean,degraded");
}

/* Far apart the newer one is meant; that the other has something of its own is told. */
static void test_split_long_ago(void **state)
{
	(void)state;
	two_halves(10, 30);
	run_disks(2);
	edge_is("md/data", "d0", MISSING, "stale");
	edge_is("md/data", "d1", 1, "in_sync");
	remark_is("is 20 behind that of d1; it reports that one as failed, so what was written to it since is on it alone");
	assert_non_null(stack_dev(stack, the("md/data")));
}

static void write_raid5(unsigned number, uint64_t events, uint16_t role0, uint16_t role1, uint16_t role2)
{
	struct v1 a = mirror(number, events);

	a.level = 5;
	a.layout = 2;
	a.chunk_sectors512 = 128;
	a.raid_disks = 3;
	a.component_sectors512 = 2048;
	memcpy(a.roles, (const uint16_t[]){ role0, role1, role2, 0xffff }, sizeof(a.roles));
	write_v1(disks[number], &a);
}

/* A member that was forced to run alone is no half of a raid5: the others are the array, whoever was given first. */
static void test_half_that_is_no_array(void **state)
{
	(void)state;
	write_raid5(0, 10, 0, 1, 0xfffe);
	write_raid5(1, 10, 0, 1, 0xfffe);
	write_raid5(2, 11, 0xfffe, 0xfffe, 2);
	run_order((const unsigned[]){ 2, 0, 1 }, 3);
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md/data", "d1", 1, "in_sync");
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("d2: member of md/data is not used: it reports d0 as failed");
	assert_non_null(stack_dev(stack, the("md/data")));
}

/* --- who knows the latest --- */

/* Equal counts, but one has seen the other fail. */
static void test_accuser_is_believed(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);

	(void)state;
	b.roles[0] = 0xfffe;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_disks(2);
	edge_is("md/data", "d0", MISSING, "faulty");
	edge_is("md/data", "d1", 1, "in_sync");
	assert_non_null(stack_dev(stack, the("md/data")));
}

/* It was taken back in, and the power went before the last one knew. */
static void test_taken_back(void **state)
{
	struct v1 a = mirror(0, 11), b = mirror(1, 10);

	(void)state;
	b.roles[0] = 0xffff;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_disks(2);
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md/data", "d1", 1, "in_sync");
}

static void test_removed(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 9);

	(void)state;
	a.roles[1] = 0xffff;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_disks(2);
	edge_is("md/data", "d1", MISSING, "stale");
	remark_is("d1: member of md/data was removed from it by the records of d0");
}

static void test_other_layout(void **state)
{
	(void)state;
	write_raid5(0, 10, 0, 1, 2);
	write_raid5(1, 10, 0, 1, 2);
	write_raid5(2, 10, 0, 1, 2);
	put(disks[2] + 4096 + 76, 4, 0);
	put(disks[2] + 4096 + 216, 4, md1_checksum(disks[2] + 4096, 4));
	run_disks(3);
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("d2: member of md/data is not used: with the event count of d0 it describes another level, layout, chunk or slot");
}

static void test_other_slot(void **state)
{
	(void)state;
	write_raid5(0, 10, 0, 1, 2);
	write_raid5(1, 10, 0, 1, 2);
	write_raid5(2, 10, 0, 2, 1);
	run_disks(3);
	edge_is("md/data", "d1", 1, "in_sync");
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("another level, layout, chunk or slot");
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

/* --- two devices that are one member --- */

/* A copy may have holes or be older than its count tells: the mirror has the data. */
static void test_copy_of_a_member(void **state)
{
	struct v1 again = mirror(1, 10);
	uint8_t byte = 0;

	(void)state;
	two_mirrors(10, 10);
	write_v1(disks[2], &again);
	disks[0][OFFSET] = 'a';
	run_order((const unsigned[]){ 1, 2, 0 }, 3);
	edge_is("md/data", "d1", MISSING, "stale");
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("slot 1 is claimed by d1 (10), d2 (10) (event counts): one is a copy of another. None of them is used");
	assert_int_equal(dev_read(stack_dev(stack, the("md/data")), 0, &byte, 1, NULL), 0);
	assert_int_equal(byte, 'a');
}

/* Idle arrays count back: one more is no proof. */
static void test_newer_copy(void **state)
{
	struct v1 again = mirror(1, 10);

	(void)state;
	two_mirrors(10, 9);
	write_v1(disks[2], &again);
	run_disks(3);
	edge_is("md/data", "d1", MISSING, "stale");
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("slot 1 is claimed by d1 (9), d2 (10)");
}

static void test_older_copy(void **state)
{
	struct v1 again = mirror(1, 7);

	(void)state;
	two_mirrors(10, 10);
	write_v1(disks[2], &again);
	run_disks(3);
	edge_is("md/data", "d1", 1, "in_sync");
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("its event count 7 is 3 behind");
}

static void test_copy_that_is_needed(void **state)
{
	struct v1 a = mirror(0, 10);
	uint8_t byte = 0;

	(void)state;
	write_v1(disks[0], &a);
	write_v1(disks[1], &a);
	disks[0][OFFSET] = 'a';
	run_disks(2);
	edge_is("md/data", "d0", 0, "in_sync");
	remark_is("slot 0 is claimed by d0 (10), d1 (10) (event counts): one is a copy of another. d0 is read");
	assert_int_equal(dev_read(stack_dev(stack, the("md/data")), 0, &byte, 1, NULL), 0);
	assert_int_equal(byte, 'a');
}

/* The redundancy of a dirty array does not stand in for a member. */
static void test_copy_in_a_dirty_array(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);

	(void)state;
	a.dirty = true;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	write_v1(disks[2], &b);
	run_disks(3);
	edge_is("md/data", "d1", 1, "in_sync");
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("d1 is read");
}

static void test_one_device_in_two_slots(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10), c = mirror(2, 10);

	(void)state;
	a.raid_disks = b.raid_disks = c.raid_disks = 3;
	memcpy(a.roles, (const uint16_t[]){ 0, 1, 2, 0xffff }, sizeof(a.roles));
	memcpy(b.roles, a.roles, sizeof(a.roles));
	memcpy(c.roles, a.roles, sizeof(a.roles));
	a.device_uuid = 1;
	b.device_uuid = c.device_uuid = 2;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	write_v1(disks[2], &c);
	run_disks(3);
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md/data", "d1", MISSING, "stale");
	edge_is("md/data", "d2", MISSING, "stale");
	remark_is("d1: has the device UUID of another member");
	remark_is("d2: has the device UUID of another member");
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
		T(test_equal_events),
		T(test_one_behind_is_current),
		T(test_two_behind_is_stale),
		T(test_freshest_knows_better),
		T(test_split_brain),
		T(test_split_by_one_event),
		T(test_half_alone),
		T(test_split_long_ago),
		T(test_half_that_is_no_array),
		T(test_accuser_is_believed),
		T(test_taken_back),
		T(test_removed),
		T(test_other_layout),
		T(test_other_slot),
		T(test_extreme_events),
		T(test_spare_ahead),
		T(test_copy_of_a_member),
		T(test_newer_copy),
		T(test_older_copy),
		T(test_copy_that_is_needed),
		T(test_copy_in_a_dirty_array),
		T(test_one_device_in_two_slots),
		T(test_rebuilding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
