/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that cannot be put together, several superblocks in one place, and what is told. Events: test_md_events.c; real arrays: test_md_golden.c. */
#include "md_bench.h"

/* --- what cannot be put together --- */

static void test_raid0_with_a_member_missing(void **state)
{
	struct v1 a = mirror(0, 10);

	(void)state;
	a.level = 0;
	a.chunk_sectors512 = 128;
	write_v1(disks[0], &a);
	run_disks(1);
	edge_is("md/data", "d0", 0, "in_sync");
	assert_null(stack_dev(stack, the("md/data")));
	assert_null(blkalign_node_value(the("md/data"), BLKALIGN_ATTR_SIZE));
	remark_is("(slot 1): no part of it can be read");
	remark_is("size of the missing member of slot 1 is not recorded");
}

static void test_unknown_level(void **state)
{
	struct v1 a = mirror(0, 10);

	(void)state;
	a.level = (uint32_t)-4;
	write_v1(disks[0], &a);
	run_disks(1);
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_LEVEL), "level -4");
	assert_null(stack_dev(stack, the("md/data")));
	remark_is("cannot be read: level -4 is not known");
}

static void test_damaged(void **state)
{
	(void)state;
	two_mirrors(10, 10);
	disks[1][4096 + 90] ^= 1;
	run_disks(2);
	edge_is("md/data", "d0", 0, "in_sync");
	remark_is("d1: md superblock 1.x: the checksum is wrong");
	remark_is("1 of 2 members is missing");
}

/* --- several superblocks, several places --- */

static void test_two_formats_on_one_disk(void **state)
{
	(void)state;
	two_mirrors(10, 10);
	write_v0(disks[0], 500, 0, DATA);
	write_v0(disks[1], 2000, 1, DATA);
	run_disks(2);
	edge_is("md/data", "d0", 0, "in_sync");
	edge_is("md7", "d1", 1, "in_sync");
	remark_is("d0: holds md superblocks 1.2 and 0.90; 1.2 belongs to the younger array");
	remark_is("d1: holds md superblocks 0.90 and 1.2; 0.90 belongs to the younger array");
}

/* The same in the other byte order: every word of the superblock is swapped. */
static void swap_words(unsigned disk)
{
	uint8_t *sb = disks[disk] + DISK - 64 * KIB;

	for (size_t at = 0; at < 4096; at += 4) {
		uint8_t word[4] = { sb[at + 3], sb[at + 2], sb[at + 1], sb[at] };

		memcpy(sb + at, word, 4);
	}
}

static void test_other_byte_order(void **state)
{
	uint8_t byte = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		write_v0(disks[i], 500, i, DATA);
		/* Counts of events are stored high word first there. */
		put(disks[i] + DISK - 64 * KIB + 156, 4, 0);
		put(disks[i] + DISK - 64 * KIB + 160, 4, 5);
		swap_words(i);
		put(disks[i] + DISK - 64 * KIB + 152, 4, 0);
		put(disks[i] + DISK - 64 * KIB + 152, 4, __builtin_bswap32(md0_checksum(disks[i] + DISK - 64 * KIB, true)));
	}
	disks[0][0] = 'a';
	run_disks(2);
	edge_is("md7", "d0", 0, "in_sync");
	edge_is("md7", "d1", 1, "in_sync");
	assert_int_equal(blkalign_node_u64(the("md7"), BLKALIGN_ATTR_MD_EVENTS), 5);
	assert_string_equal(blkalign_node_str(the("md7"), BLKALIGN_ATTR_MD_EXTRAS), "big-endian");
	assert_int_equal(dev_read(stack_dev(stack, the("md7")), 0, &byte, 1, NULL), 0);
	assert_int_equal(byte, 'a');
}

/* The partition ends where the disk ends, and its superblock fits it. */
static void test_superblock_of_the_last_partition(void **state)
{
	(void)state;
	write_mbr(disks[0], 128, DISK / 512 - 128);
	write_v0(disks[0], 500, 0, DISK - 128 * KIB);
	run_disks(1);
	edge_is("md7", "d0p1", 0, "in_sync");
	remark_is("is also that of its partition d0p1");
	assert_int_equal(blkalign_node_edges(the("md7")), 1);
}

/* The same table, but the component is larger than the partition: an array of whole disks that holds a table. */
static void test_superblock_of_the_whole_disk(void **state)
{
	(void)state;
	write_mbr(disks[0], 128, DISK / 512 - 128);
	write_v0(disks[0], 500, 0, DISK - 64 * KIB);
	run_disks(1);
	edge_is("md7", "d0", 0, "in_sync");
	remark_is("component size goes beyond the superblock");
	remark_is("d0: is taken whole as a member");
}

/* A partition elsewhere does not raise the question: the disk is a member, its table is the array's. */
static void test_table_inside_the_array(void **state)
{
	(void)state;
	write_mbr(disks[0], 128, 512);
	write_v0(disks[0], 500, 0, DISK - 64 * KIB);
	run_disks(1);
	edge_is("md7", "d0", 0, "in_sync");
	assert_null(blkalign_graph_find(graph, "d0p1"));
	assert_non_null(blkalign_graph_find(graph, "md7p1"));
}

/* One member of the outer array lies inside the inner one: the outer waits for it. */
static void test_array_on_array(void **state)
{
	struct v1 inner = mirror(0, 10), outer = mirror(0, 10);

	(void)state;
	inner.raid_disks = 1;
	write_v1(disks[0], &inner);
	outer.uuid = 0xcd;
	outer.name = "host:outer";
	outer.component_sectors512 = 1024;
	write_v1(disks[0] + OFFSET, &outer);
	outer.dev_number = 1;
	write_v1(disks[1], &outer);
	run_disks(2);
	edge_is("md/outer", "md/data", 0, "in_sync");
	edge_is("md/outer", "d1", 1, "in_sync");
	assert_int_equal(blkalign_graph_remarks(graph), 0);
}

/* The data area begins at byte 0 and covers the superblock: the array would be a member of itself, without end. */
static void test_array_that_shows_its_superblock(void **state)
{
	struct v1 a = mirror(0, 10);

	(void)state;
	a.raid_disks = 1;
	a.data_offset_sectors512 = 0;
	write_v1(disks[0], &a);
	run_disks(1);
	assert_int_equal(blkalign_graph_size(graph), 2);
	remark_is("md/data: shows the md superblock of its own members");
	remark_is("its data area goes beyond the end of the device or over the superblock");
}

/* As deep as the graph goes, then told and left alone: 100 arrays, each in the data area of the one before. */
static void test_nested_too_deep(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct v1 a = mirror(0, 10);

		a.raid_disks = 1;
		a.uuid = (uint8_t)i;
		a.data_offset_sectors512 = 16;
		a.component_sectors512 = (DISK - 8192 * (i + 1)) / 512;
		write_v1(disks[0] + 8192 * (size_t)i, &a);
	}
	run_disks(1);
	assert_true(blkalign_graph_size(graph) >= 64 && blkalign_graph_size(graph) <= 66);
	remark_is("in a circle or too deep");
}

/* The deepest array that has a place holds a table whose partition has none: the other disk is judged all the same. */
static void test_content_too_deep(void **state)
{
	struct v1 other = mirror(0, 10);

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		struct v1 a = mirror(0, 10);

		a.raid_disks = 1;
		a.uuid = (uint8_t)i;
		a.data_offset_sectors512 = 16;
		a.component_sectors512 = (DISK - 8192 * (i + 1)) / 512;
		write_v1(disks[0] + 8192 * (size_t)i, &a);
	}
	write_mbr(disks[0] + 8192 * (size_t)64, 16, 512);
	other.uuid = 0xcd;
	other.name = "host:other";
	other.raid_disks = 1;
	write_v1(disks[1], &other);
	run_disks(2);
	remark_is("what lies on it is left out: devices lie on each other in a circle or deeper than 64 layers");
	edge_is("md/other", "d1", 0, "in_sync");
}

/* A raid5 that grows from 3 to 4 members with its data moved 16 KiB forward: the new shape begins where data_offset + new_offset says. */
static void test_reshape_moves_the_data(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DISKS; i++) {
		struct v1 a = mirror(i, 10);
		uint8_t *sb = disks[i] + 4096;

		a.level = 5;
		a.layout = 2;
		a.chunk_sectors512 = 128;
		a.raid_disks = 4;
		a.features = MD1_RESHAPE | MD1_NEW_OFFSET;
		a.component_sectors512 = 2048;
		memcpy(a.roles, (const uint16_t[]){ 0, 1, 2, 3 }, sizeof(a.roles));
		write_v1(disks[i], &a);
		put(sb + 100, 4, 5);
		put(sb + 104, 8, 1024);
		put(sb + 112, 4, 1);
		put(sb + 116, 4, 2);
		put(sb + 120, 4, 128);
		put(sb + 124, 4, (uint32_t)-32);
		put(sb + 216, 4, md1_checksum(sb, 4));
	}
	run_disks(DISKS);
	remark_is("a reshape (3 to 4 members) was interrupted");
	assert_int_equal(blkalign_node_edges(the("md/data")), 4);
	for (unsigned i = 0; i < DISKS; i++)
		assert_int_equal(blkalign_node_edge(the("md/data"), i)->lower_offset_bytes, OFFSET - 16 * KIB);
}

/* --- facts --- */

static void test_stored_logical_block(void **state)
{
	struct v1 a = mirror(0, 10);

	(void)state;
	a.logical_block = 4096;
	a.raid_disks = 1;
	write_v1(disks[0], &a);
	run_disks(1);
	assert_int_equal(blkalign_node_u64(the("md/data"), BLKALIGN_ATTR_MD_STORED_LOGICAL_BLOCK), 4096);
	assert_int_equal(blkalign_node_u64(the("md/data"), BLKALIGN_ATTR_LOGICAL_BLOCK), 4096);
	assert_int_equal(blkalign_node_value(the("md/data"), BLKALIGN_ATTR_LOGICAL_BLOCK)->origin, BLKALIGN_ORIGIN_COMPUTED);
}

static void test_vendor_bit(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);

	(void)state;
	a.roles[1] = b.roles[1] = 0x8001;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	run_disks(2);
	edge_is("md/data", "d1", 1, "in_sync");
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_EXTRAS), "vendor-error");
	remark_is("vendor's error bit (Synology)");
}

static void test_names(void **state)
{
	static const struct {
		const char *stored, *expected;
	} names[] = {
		{ "host:data", "md/data" }, { "data", "md/data" },	   { "host:0", "md0" },	  { "127", "md127" },
		{ "host:md5", "md5" },	    { "host:", "md/abababab" },	   { "", "md/abababab" }, { "host:a:b", "md/a:b" },
		{ "host:mdx", "md/mdx" },   { "h:\033[2J", "md/\033[2J" },
	};
	struct md_member m = { .preferred_minor = BLKALIGN_UNKNOWN };
	char name[64];

	(void)state;
	memset(m.array_uuid, 0xab, 16);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(m.name, sizeof(m.name), "%s", names[i].stored);
		md_array_name(&m, name);
		assert_string_equal(name, names[i].expected);
	}
	m.preferred_minor = UINT32_MAX;
	md_array_name(&m, name);
	assert_string_equal(name, "md4294967295");
}

/* The kernel runs the array: its node is annotated, its word stays, no second node or device comes up, a left-out member is shown. */
static void test_running_array(void **state)
{
	struct blkalign_node *d0, *d1, *md;
	size_t nodes;

	(void)state;
	two_mirrors(10, 5);
	d0 = add_disk(0);
	d1 = add_disk(1);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_MD, "md127", NULL, &md), 0);
	assert_int_equal(graph_set_u64(md, BLKALIGN_ATTR_MD_MEMBERS, 3, BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_connect(graph, &(struct blkalign_edge){ .upper = md,
								       .lower = d0,
								       .lower_offset_bytes = 12345,
								       .length_bytes = DATA,
								       .stripes = 1,
								       .slot = 0,
								       .state = "in_sync" }),
			 0);
	nodes = blkalign_graph_size(graph);
	assert_int_equal(stack_run(stack, NULL), 0);
	(void)d1;
	assert_int_equal(blkalign_graph_size(graph), nodes);
	assert_null(stack_dev(stack, md));
	assert_int_equal(blkalign_node_u64(md, BLKALIGN_ATTR_MD_MEMBERS), 3);
	assert_int_equal(blkalign_node_u64(md, BLKALIGN_ATTR_MD_EVENTS), 10);
	assert_string_equal(blkalign_node_str(md, BLKALIGN_ATTR_MD_NAME), "host:data");
	assert_int_equal(blkalign_node_edge(md, 0)->lower_offset_bytes, 12345);
	edge_is("md127", "d1", MISSING, "stale");
}

/* It runs one of two halves: the other is named, and nothing is said of both. */
static void test_running_half(void **state)
{
	struct v1 a = mirror(0, 10), b = mirror(1, 10);
	struct blkalign_node *d1, *md;

	(void)state;
	a.roles[1] = b.roles[0] = 0xfffe;
	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
	add_disk(0);
	d1 = add_disk(1);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_MD, "md127", NULL, &md), 0);
	assert_int_equal(graph_set_str(md, BLKALIGN_ATTR_MD_STATE, "clean,degraded", BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_connect_linear(graph, md, d1, OFFSET, DATA), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	remark_is("d0: member of md127 is not used: it reports d1 as failed");
	assert_false(remarked("Neither is read"));
	assert_int_equal(blkalign_node_u64(md, BLKALIGN_ATTR_MD_STALE), 1);
}

/* A disk under two names: the kernel runs the array on one of them. */
static void test_running_with_a_copy(void **state)
{
	struct blkalign_node *d0, *d1, *md;

	(void)state;
	two_mirrors(10, 10);
	memcpy(disks[2], disks[1], DISK);
	d0 = add_disk(0);
	d1 = add_disk(1);
	add_disk(2);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_MD, "md127", NULL, &md), 0);
	assert_int_equal(graph_set_str(md, BLKALIGN_ATTR_MD_STATE, "clean", BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_connect_linear(graph, md, d0, OFFSET, DATA), 0);
	assert_int_equal(graph_connect_linear(graph, md, d1, OFFSET, DATA), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	assert_int_equal(blkalign_node_u64(md, BLKALIGN_ATTR_MD_STALE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_raid0_with_a_member_missing),
		T(test_unknown_level),
		T(test_damaged),
		T(test_two_formats_on_one_disk),
		T(test_other_byte_order),
		T(test_superblock_of_the_last_partition),
		T(test_superblock_of_the_whole_disk),
		T(test_table_inside_the_array),
		T(test_array_on_array),
		T(test_array_that_shows_its_superblock),
		T(test_nested_too_deep),
		T(test_content_too_deep),
		T(test_reshape_moves_the_data),
		T(test_stored_logical_block),
		T(test_vendor_bit),
		T(test_names),
		T(test_running_array),
		T(test_running_half),
		T(test_running_with_a_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
