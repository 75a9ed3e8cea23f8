/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "unit.h"

#include "graph/graph.h"

static void test_names_and_attributes(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *n, *again;

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		char name[32];

		snprintf(name, sizeof(name), "sd%u", i);
		assert_int_equal(graph_add(g, BLKALIGN_KIND_DISK, name, &n), 0);
	}
	assert_int_equal(graph_add(g, BLKALIGN_KIND_DISK, "sd7", &again), 0);
	assert_string_equal(blkalign_node_name(again), "sd7#2");
	assert_int_equal(blkalign_node_index(blkalign_graph_find(g, "sd499")), 499);
	assert_null(blkalign_graph_find(g, "sd500"));
	assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_SIZE), BLKALIGN_UNKNOWN);
	assert_int_equal(graph_set_str(n, BLKALIGN_ATTR_MODEL, "M", BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_set_u64(n, BLKALIGN_ATTR_SIZE, 5, BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_set_u64(n, BLKALIGN_ATTR_SIZE, 6, BLKALIGN_ORIGIN_IOCTL), 0);
	assert_int_equal(graph_set_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, -1, BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(blkalign_node_u64(n, BLKALIGN_ATTR_SIZE), 6);
	assert_int_equal(blkalign_node_value(n, BLKALIGN_ATTR_SIZE)->origin, BLKALIGN_ORIGIN_IOCTL);
	assert_string_equal(blkalign_node_str(n, BLKALIGN_ATTR_MODEL), "M");
	assert_int_equal(blkalign_node_i64(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET, 0), -1);
	assert_int_equal(blkalign_attr_find("size_bytes"), BLKALIGN_ATTR_SIZE);
	assert_int_equal(blkalign_attr_find("log-sec"), BLKALIGN_ATTR_LOGICAL_BLOCK);
	assert_int_equal(blkalign_attr_find("nothing"), BLKALIGN_ATTR_COUNT);
}

/* As many nodes as a graph holds, all of one name: each search for a free number from the start would take hours. */
static void test_equal_names(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *n;

	(void)state;
	assert_int_equal(graph_add(g, BLKALIGN_KIND_DISK, "sda#3", &n), 0);
	alarm(20);
	for (unsigned i = 1; i < GRAPH_NODES_MAX; i++)
		assert_int_equal(graph_add(g, BLKALIGN_KIND_DISK, "sda", &n), 0);
	alarm(0);
	assert_non_null(blkalign_graph_find(g, "sda#2"));
	assert_string_equal(blkalign_node_name(n), "sda#100000");
	assert_int_equal(graph_add(g, BLKALIGN_KIND_DISK, "sda", &n), -E2BIG);
}

/* RAID6 of nine, 512 KiB chunks, data offset 129 MiB, an LV at 3.5 MiB + 4 MiB of it. */
static void test_places(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *md, *lv, *disk[9];
	struct blkalign_place *places = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(graph_add(g, BLKALIGN_KIND_MD, "md0", &md), 0);
	for (unsigned i = 0; i < 9; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		assert_int_equal(graph_add(g, BLKALIGN_KIND_DISK, name, &disk[i]), 0);
		assert_int_equal(graph_connect(g, &(struct blkalign_edge){ .upper = md,
									   .lower = disk[i],
									   .lower_offset_bytes = 129 * MIB,
									   .length_bytes = 100 * GIB,
									   .chunk_bytes = 512 * KIB,
									   .stripes = 7,
									   .slot = 8 - i }),
				 0);
	}
	assert_int_equal(blkalign_node_edge(md, 0)->slot, 0);
	assert_ptr_equal(blkalign_node_edge(md, 0)->lower, disk[8]);
	assert_int_equal(graph_add(g, BLKALIGN_KIND_LV, "vg/lv", &lv), 0);
	assert_int_equal(graph_connect_linear(g, lv, md, 7864320, GIB), 0);
	assert_int_equal(blkalign_node_uppers(disk[3]), 1);
	assert_int_equal(blkalign_node_places(lv, 4096, &places, &count), 0);
	assert_int_equal(count, 10);
	assert_ptr_equal(places[0].node, md);
	assert_int_equal(places[0].offset_bytes, 7864320 + 4096);
	/* 7868416 = 2 stripes of 3670016 + 528384 = chunk 1 of the row + 4096: member byte 129 MiB + 2 x 512 KiB + 4096. */
	assert_int_equal(places[1].offset_bytes, 129 * MIB + 2 * 512 * KIB + 4096);
	assert_int_equal(places[1].depth, 2);
	free(places);
}

static void test_cycles_and_depth(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *n[80];

	(void)state;
	for (unsigned i = 0; i < 80; i++)
		assert_int_equal(graph_add(g, BLKALIGN_KIND_LV, "x", &n[i]), 0);
	assert_int_equal(graph_connect_linear(g, n[0], n[0], 0, 1), -ELOOP);
	for (unsigned i = 1; i <= 64; i++)
		assert_int_equal(graph_connect_linear(g, n[i], n[i - 1], 0, 1), 0);
	assert_int_equal(graph_connect_linear(g, n[0], n[64], 0, 1), -ELOOP);
	assert_int_equal(graph_connect_linear(g, n[65], n[64], 0, 1), -ELOOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_attributes),
		cmocka_unit_test(test_equal_names),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_cycles_and_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
