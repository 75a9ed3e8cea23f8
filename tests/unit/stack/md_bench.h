/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Disks in memory with md superblocks made on the spot: right checksums, only the fields in question differ. */
#ifndef UNIT_STACK_MD_BENCH_H
#define UNIT_STACK_MD_BENCH_H

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
static bool disks_writable;

struct v1 {
	const char *name;
	uint64_t created, events, component_sectors512, recovery_sectors512, data_offset_sectors512;
	uint64_t consistent_sectors512; /* resync_offset, when dirty */
	bool dirty;
	uint32_t level, raid_disks, features, dev_number, chunk_sectors512, layout, logical_block;
	uint16_t roles[4];
	uint8_t uuid;	     /* each of its bytes */
	uint8_t device_uuid; /* likewise */
};

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static inline void put(uint8_t *at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static inline struct v1 mirror(uint32_t dev_number, uint64_t events)
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

static inline void write_v1(uint8_t *disk, const struct v1 *v)
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
	memset(sb + 168, v->device_uuid, 16);
	put(sb + 200, 8, v->events);
	put(sb + 208, 8, v->dirty ? v->consistent_sectors512 : UINT64_MAX);
	put(sb + 220, 4, 4);
	put(sb + 224, 4, v->logical_block);
	for (unsigned i = 0; i < 4; i++)
		put(sb + 256 + 2 * (size_t)i, 2, v->roles[i]);
	put(sb + 216, 4, md1_checksum(sb, 4));
}

static inline void write_v0(uint8_t *disk, uint32_t created, uint32_t number, uint64_t component_bytes)
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
static inline void write_mbr(uint8_t *disk, uint32_t start_lba, uint32_t count_lba)
{
	memset(disk, 0, 512);
	disk[446 + 4] = 0xfd;
	put(disk + 446 + 8, 4, start_lba);
	put(disk + 446 + 12, 4, count_lba);
	put(disk + 510, 2, 0xaa55);
}

static inline int setup(void **state)
{
	(void)state;
	memset(disks, 0, sizeof(disks));
	disks_writable = false;
	assert_int_equal(stack_new(graph_new("images"), NULL, &stack), 0);
	graph = stack_graph(stack);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	stack_free(stack);
	return 0;
}

static inline struct blkalign_node *add_disk(unsigned i)
{
	char name[8];
	struct dev *dev;
	struct blkalign_node *node;

	snprintf(name, sizeof(name), "d%u", i);
	assert_int_equal(dev_open_memory(name, disks[i], DISK, disks_writable, &dev), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, name, dev, &node), 0);
	assert_int_equal(graph_set_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK, 512, BLKALIGN_ORIGIN_ASSUMED), 0);
	return node;
}

/* In another order than their numbers. */
static inline void run_order(const unsigned *order, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		add_disk(order[i]);
	assert_int_equal(stack_run(stack, NULL), 0);
}

static inline void run_disks(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		add_disk(i);
	assert_int_equal(stack_run(stack, NULL), 0);
}

static inline const struct blkalign_node *the(const char *name)
{
	const struct blkalign_node *node = blkalign_graph_find(graph, name);

	if (!node)
		fail_msg("no node %s", name);
	return node;
}

static inline void edge_is(const char *upper, const char *lower, uint32_t slot, const char *state)
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

static inline bool remarked(const char *part)
{
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		if (strstr(blkalign_graph_remark(graph, i), part))
			return true;
	return false;
}

static inline void remark_is(const char *part)
{
	if (remarked(part))
		return;
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		print_message("remark: %s\n", blkalign_graph_remark(graph, i));
	fail_msg("no remark says: %s", part);
}

/* A raid5 of three members with chunks of 64 KiB and 1 MiB used of each; disk `number` holds slot `number`. */
#define RAID5_CHUNK	(64 * KIB)
#define RAID5_COMPONENT (1 * MIB)
static inline struct v1 raid5_member(uint32_t number, uint64_t events)
{
	struct v1 m = mirror(number, events);

	m.level = 5;
	m.layout = 2;
	m.chunk_sectors512 = RAID5_CHUNK / 512;
	m.raid_disks = 3;
	m.component_sectors512 = RAID5_COMPONENT / 512;
	memcpy(m.roles, (const uint16_t[]){ 0, 1, 2, 0xffff }, sizeof(m.roles));
	return m;
}

static inline void seal_v1(uint8_t *disk) { put(disk + 4096 + 216, 4, md1_checksum(disk + 4096, 4)); }

static inline void two_mirrors(uint64_t events0, uint64_t events1)
{
	struct v1 a = mirror(0, events0), b = mirror(1, events1);

	write_v1(disks[0], &a);
	write_v1(disks[1], &b);
}

#endif
