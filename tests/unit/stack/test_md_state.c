/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What state an array is in, by its superblocks. */
#include "md_bench.h"

static void str_is(const char *node, enum blkalign_attr attr, const char *want)
{
	const char *got = blkalign_node_str(the(node), attr);

	assert_string_equal(got ? got : "(unknown)", want);
}

static void u64_is(const char *node, enum blkalign_attr attr, uint64_t want) { assert_int_equal(blkalign_node_u64(the(node), attr), want); }

static void unknown(const char *node, enum blkalign_attr attr) { assert_null(blkalign_node_value(the(node), attr)); }

/* A bad block log of entries at 4096 + 16 sectors. */
static void write_bad(unsigned disk, struct v1 v, const uint64_t *entries, size_t count)
{
	uint8_t *sb = disks[disk] + 4096;

	v.features |= MD1_BAD_BLOCKS;
	write_v1(disks[disk], &v);
	put(sb + 186, 2, 8);
	put(sb + 188, 4, 16);
	put(sb + 216, 4, md1_checksum(sb, 4));
	memset(sb + 16 * 512, 0xff, 4096);
	for (size_t i = 0; i < count; i++)
		put(sb + 16 * 512 + 8 * i, 8, entries[i]);
}

static void test_clean(void **state)
{
	(void)state;
	two_mirrors(10, 10);
	run_disks(2);
	str_is("md/data", BLKALIGN_ATTR_MD_STATE, "clean");
	u64_is("md/data", BLKALIGN_ATTR_MD_DIRTY, false);
	u64_is("md/data", BLKALIGN_ATTR_MD_DEGRADED, 0);
	u64_is("md/data", BLKALIGN_ATTR_MD_MISSING, 0);
	u64_is("md/data", BLKALIGN_ATTR_MD_STALE, 0);
	unknown("md/data", BLKALIGN_ATTR_MD_STALE_GAP);
	unknown("md/data", BLKALIGN_ATTR_MD_SYNC_TOTAL);
	unknown("md/data", BLKALIGN_ATTR_MD_BAD_RANGES);
}

static void test_stale(void **state)
{
	(void)state;
	two_mirrors(10, 3);
	run_disks(2);
	str_is("md/data", BLKALIGN_ATTR_MD_STATE, "clean,degraded");
	u64_is("md/data", BLKALIGN_ATTR_MD_DEGRADED, 1);
	u64_is("md/data", BLKALIGN_ATTR_MD_MISSING, 1);
	u64_is("md/data", BLKALIGN_ATTR_MD_STALE, 1);
	u64_is("md/data", BLKALIGN_ATTR_MD_STALE_GAP, 7);
}

/* Dirty when any current member says so, as far as the one that says least. */
static void test_resync(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);

	(void)state;
	b.dirty = true;
	b.consistent_sectors512 = DATA / 512 / 4;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_disks(2);
	str_is("md/data", BLKALIGN_ATTR_MD_STATE, "dirty,resyncing");
	u64_is("md/data", BLKALIGN_ATTR_MD_DIRTY, true);
	u64_is("md/data", BLKALIGN_ATTR_MD_SYNC_DONE, DATA / 4);
	u64_is("md/data", BLKALIGN_ATTR_MD_SYNC_TOTAL, DATA);
	u64_is("md/data", BLKALIGN_ATTR_MD_SYNC_PERCENT, 25);
}

static void test_dirty_raid0(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct v1 a = mirror(i, 10);

		a.level = 0;
		a.chunk_sectors512 = 128;
		a.dirty = true;
		write_v1(disks[i], &a);
	}
	run_disks(2);
	str_is("md/data", BLKALIGN_ATTR_MD_STATE, "clean");
	u64_is("md/data", BLKALIGN_ATTR_MD_DIRTY, false);
}

static void test_recovery(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);

	(void)state;
	b.features = MD1_RECOVERY_OFFSET;
	b.recovery_sectors512 = DATA / 512 / 2;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_disks(2);
	str_is("md/data", BLKALIGN_ATTR_MD_STATE, "clean,degraded,recovering");
	u64_is("md/data", BLKALIGN_ATTR_MD_DEGRADED, 1);
	u64_is("md/data", BLKALIGN_ATTR_MD_MISSING, 0);
	u64_is("md/data", BLKALIGN_ATTR_MD_SYNC_PERCENT, 50);
	u64_is("md/data", BLKALIGN_ATTR_MD_FEATURES, MD1_RECOVERY_OFFSET);
}

/* The log counts from the beginning of the device: OFFSET is 128 sectors. */
static void test_bad_blocks(void **state)
{
	const uint64_t first[] = { UINT64_C(100) << 10 | 40, UINT64_C(200) << 10 | 8, 0 };
	const uint64_t second[] = { UINT64_C(204) << 10 | 8, UINT64_C(400) << 10 | 1 };
	uint8_t sector[512];

	(void)state;
	write_bad(0, mirror(0, 10), first, 3);
	write_bad(1, mirror(1, 10), second, 2);
	run_disks(2);
	u64_is("d0", BLKALIGN_ATTR_MD_BAD_RANGES, 2);
	u64_is("d0", BLKALIGN_ATTR_MD_BAD_BYTES, (12 + 8) * 512);
	u64_is("d1", BLKALIGN_ATTR_MD_BAD_RANGES, 2);
	u64_is("md/data", BLKALIGN_ATTR_MD_BAD_RANGES, 4);
	u64_is("md/data", BLKALIGN_ATTR_MD_BAD_BYTES, (12 + 8 + 8 + 1) * 512);
	u64_is("md/data", BLKALIGN_ATTR_MD_BAD_SHARED, 4 * 512);
	/* Sectors 72 to 80 of the data are bad on d0, 76 to 84 on d1. */
	disks[0][OFFSET + 71 * 512] = 'a';
	disks[1][OFFSET + 75 * 512] = 'b';
	disks[0][OFFSET + 80 * 512] = 'c';
	assert_int_equal(dev_read(stack_dev(stack, the("md/data")), 71 * 512, sector, 512, NULL), 0);
	assert_int_equal(sector[0], 'a');
	assert_int_equal(dev_read(stack_dev(stack, the("md/data")), 75 * 512, sector, 512, NULL), 0);
	assert_int_equal(sector[0], 'b');
	assert_int_equal(dev_read(stack_dev(stack, the("md/data")), 76 * 512, sector, 512, NULL), -EIO);
	assert_int_equal(dev_read(stack_dev(stack, the("md/data")), 80 * 512, sector, 512, NULL), 0);
	assert_int_equal(sector[0], 'c');
}

/* Its list is told of it, and is not the array's: nothing is shared with it. */
static void test_bad_blocks_of_a_stale_member(void **state)
{
	const uint64_t first[] = { UINT64_C(200) << 10 | 8 }, second[] = { UINT64_C(204) << 10 | 8 };

	(void)state;
	write_bad(0, mirror(0, 10), first, 1);
	write_bad(1, mirror(1, 5), second, 1);
	run_disks(2);
	edge_is("md/data", "d1", MISSING, "stale");
	u64_is("d1", BLKALIGN_ATTR_MD_BAD_RANGES, 1);
	u64_is("md/data", BLKALIGN_ATTR_MD_BAD_RANGES, 1);
	u64_is("md/data", BLKALIGN_ATTR_MD_BAD_BYTES, 8 * 512);
	u64_is("md/data", BLKALIGN_ATTR_MD_BAD_SHARED, 0);
}

/* While the kernel runs it, superblocks that say "active" are no sign of anything. */
static void test_running(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 5);
	struct blkalign_node *d0, *md;

	(void)state;
	a.dirty = true;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	d0 = add_disk(0);
	add_disk(1);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_MD, "md127", NULL, &md), 0);
	assert_int_equal(graph_set_str(md, BLKALIGN_ATTR_MD_STATE, "active", BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_connect_linear(graph, md, d0, OFFSET, DATA), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	str_is("md127", BLKALIGN_ATTR_MD_STATE, "active");
	unknown("md127", BLKALIGN_ATTR_MD_DIRTY);
	unknown("md127", BLKALIGN_ATTR_MD_SYNC_TOTAL);
	u64_is("md127", BLKALIGN_ATTR_MD_STALE, 1);
	u64_is("md127", BLKALIGN_ATTR_MD_STALE_GAP, 5);
}

/* The kernel holds the members and does not run the array. */
static void test_inactive(void **state)
{
	struct v1 a = mirror(0, 10);
	struct blkalign_node *d0, *md;

	(void)state;
	a.dirty = true;
	write_v1(disks[0], &a);
	d0 = add_disk(0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_MD, "md127", NULL, &md), 0);
	assert_int_equal(graph_set_str(md, BLKALIGN_ATTR_MD_STATE, "inactive", BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_connect_linear(graph, md, d0, OFFSET, DATA), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	str_is("md127", BLKALIGN_ATTR_MD_STATE, "inactive");
	u64_is("md127", BLKALIGN_ATTR_MD_DIRTY, true);
	u64_is("md127", BLKALIGN_ATTR_MD_DEGRADED, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_clean),
		T(test_stale),
		T(test_resync),
		T(test_dirty_raid0),
		T(test_recovery),
		T(test_bad_blocks),
		T(test_bad_blocks_of_a_stale_member),
		T(test_running),
		T(test_inactive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
