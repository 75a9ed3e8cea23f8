/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which members are believed, made on the spot: superblocks with right checksums, only the fields in question differ. Real arrays: test_md_golden.c. */
#include "unit.h"

#include "format/md0/md0.h"
#include "format/md1/md1.h"
#include "stack/md.h"

#define DISKS	4
#define DISK	(2 * MIB)
#define OFFSET	(64 * KIB)
#define DATA	(DISK - OFFSET - 64 * KIB)
#define MISSING BLKALIGN_SLOT_NONE

static uint8_t disks[DISKS][DISK];
static struct stack *stack;
static struct blkalign_graph *graph;

static void put(uint8_t *at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* --- superblocks --- */

struct v1 {
	const char *name;
	uint64_t created, events, component_sectors512, recovery_sectors512, data_offset_sectors512;
	uint32_t level, raid_disks, features, dev_number, chunk_sectors512, layout, logical_block;
	uint16_t roles[4];
	uint8_t uuid; /* each of its bytes */
};

static struct v1 mirror(uint32_t dev_number, uint64_t events)
{
	return (struct v1){
		.name = "host:data",
		.created = 1000,
		.events = events,
		.component_sectors512 = DATA / 512,
		.data_offset_sectors512 = OFFSET / 512,
		.level = 1,
		.raid_disks = 2,
		.dev_number = dev_number,
		.roles = { 0, 1, 0xffff, 0xffff },
		.uuid = 0xab,
	};
}

static void write_v1(uint8_t *disk, const struct v1 *v)
{
	uint8_t *sb = disk + 4096;

	memset(sb, 0, 512);
	put(sb, 4, 0xa92b4efc);
	put(sb + 4, 4, 1);
	put(sb + 8, 4, v->features);
	memset(sb + 16, v->uuid, 16);
	memcpy(sb + 32, v->name, strlen(v->name));
	put(sb + 64, 8, v->created);
	put(sb + 72, 4, v->level);
	put(sb + 76, 4, v->layout);
	put(sb + 80, 8, v->component_sectors512);
	put(sb + 88, 4, v->chunk_sectors512);
	put(sb + 92, 4, v->raid_disks);
	put(sb + 128, 8, v->data_offset_sectors512);
	put(sb + 136, 8, v->component_sectors512);
	put(sb + 144, 8, 8);
	put(sb + 152, 8, v->recovery_sectors512);
	put(sb + 160, 4, v->dev_number);
	put(sb + 200, 8, v->events);
	put(sb + 208, 8, UINT64_MAX);
	put(sb + 220, 4, 4);
	put(sb + 224, 4, v->logical_block);
	for (unsigned i = 0; i < 4; i++)
		put(sb + 256 + 2 * (size_t)i, 2, v->roles[i]);
	put(sb + 216, 4, md1_checksum(sb, 4));
}

static void write_v0(uint8_t *disk, uint32_t created, uint32_t number, uint64_t component_bytes)
{
	uint8_t *sb = disk + DISK - 64 * KIB;

	memset(sb, 0, 4096);
	put(sb, 4, 0xa92b4efc);
	put(sb + 8, 4, 90);
	put(sb + 24, 4, created);
	put(sb + 28, 4, 1); /* level */
	put(sb + 32, 4, component_bytes / 1024);
	put(sb + 40, 4, 2); /* members */
	put(sb + 44, 4, 7); /* md7 */
	put(sb + 132, 4, 1);
	put(sb + 156, 4, 5); /* events */
	for (uint32_t i = 0; i < 2; i++) {
		put(sb + 512 + 128 * (size_t)i, 4, i);
		put(sb + 512 + 128 * (size_t)i + 12, 4, i);
		put(sb + 512 + 128 * (size_t)i + 16, 4, 6);
	}
	memcpy(sb + 3968, sb + 512 + 128 * (size_t)number, 20);
	put(sb + 152, 4, md0_checksum(sb, false));
}

/* One primary partition of a DOS table. */
static void write_mbr(uint8_t *disk, uint32_t start_lba, uint32_t count_lba)
{
	memset(disk, 0, 512);
	disk[446 + 4] = 0xfd;
	put(disk + 446 + 8, 4, start_lba);
	put(disk + 446 + 12, 4, count_lba);
	put(disk + 510, 2, 0xaa55);
}

/* --- stacks --- */

static int setup(void **state)
{
	(void)state;
	memset(disks, 0, sizeof(disks));
	assert_int_equal(stack_new(graph_new("images"), NULL, &stack), 0);
	graph = stack_graph(stack);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stack_free(stack);
	return 0;
}

static struct blkalign_node *add_disk(unsigned i)
{
	char name[8];
	struct dev *dev;
	struct blkalign_node *node;

	snprintf(name, sizeof(name), "d%u", i);
	assert_int_equal(dev_open_memory(name, disks[i], DISK, false, &dev), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, name, dev, &node), 0);
	assert_int_equal(graph_set_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK, 512, BLKALIGN_ORIGIN_ASSUMED), 0);
	return node;
}

static void run_disks(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		add_disk(i);
	assert_int_equal(stack_run(stack, NULL), 0);
}

static const struct blkalign_node *the(const char *name)
{
	const struct blkalign_node *node = blkalign_graph_find(graph, name);

	if (!node)
		fail_msg("no node %s", name);
	return node;
}

static void edge_is(const char *upper, const char *lower, uint32_t slot, const char *state)
{
	const struct blkalign_node *node = the(upper);

	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(node, i);

		if (strcmp(blkalign_node_name(e->lower), lower) != 0)
			continue;
		assert_string_equal(e->state, state);
		assert_int_equal(e->slot, slot);
		return;
	}
	fail_msg("no edge from %s to %s", upper, lower);
}

static bool remarked(const char *part)
{
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		if (strstr(blkalign_graph_remark(graph, i), part))
			return true;
	return false;
}

static void remark_is(const char *part)
{
	if (remarked(part))
		return;
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		print_message("remark: %s\n", blkalign_graph_remark(graph, i));
	fail_msg("no remark says: %s", part);
}

static void two_mirrors(uint64_t events0, uint64_t events1)
{
	struct v1 a = mirror(0, events0), b = mirror(1, events1);

	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
}

/* --- events --- */

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
	remark_is("(slot 1): it cannot be read");
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
	remark_is("1 of 2 members are missing");
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

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_equal_events),
		T(test_one_behind_is_current),
		T(test_two_behind_is_stale),
		T(test_freshest_knows_better),
		T(test_split_brain),
		T(test_extreme_events),
		T(test_spare_ahead),
		T(test_copy_of_a_member),
		T(test_newer_copy_wins),
		T(test_rebuilding),
		T(test_raid0_with_a_member_missing),
		T(test_unknown_level),
		T(test_damaged),
		T(test_two_formats_on_one_disk),
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
