/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <time.h>
#include <unistd.h>

#include "unit.h"

#include <blkalign/check.h>

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

/* --- hostile sizes: each would take minutes if some step looked through a list --- */

#define SECONDS_MAX 2.0

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static struct blkalign_node *add(struct blkalign_graph *g, enum blkalign_kind kind, const char *name)
{
	struct blkalign_node *n = NULL;

	assert_int_equal(graph_add(g, kind, name, &n), 0);
	return n;
}

static void test_numbers_that_are_taken(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");

	(void)state;
	add(g, BLKALIGN_KIND_DISK, "a");
	add(g, BLKALIGN_KIND_DISK, "a#2");
	assert_string_equal(blkalign_node_name(add(g, BLKALIGN_KIND_DISK, "a")), "a#3");
	assert_string_equal(blkalign_node_name(add(g, BLKALIGN_KIND_DISK, "a")), "a#4");
	assert_string_equal(blkalign_node_name(add(g, BLKALIGN_KIND_DISK, "a#2")), "a#2#2");
}

/* A thousand volumes, each of a thousand segments on the same thousand devices. */
static void test_edges_cap(void **state)
{
	enum { SIDE = 1000 };
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	static struct blkalign_node *lower[SIDE], *upper[SIDE];
	double begin = cpu_seconds();

	(void)state;
	for (unsigned i = 0; i < SIDE; i++)
		lower[i] = add(g, BLKALIGN_KIND_DISK, "disk");
	for (unsigned i = 0; i < SIDE; i++)
		upper[i] = add(g, BLKALIGN_KIND_LV, "lv");
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		assert_int_equal(graph_connect(g, &(struct blkalign_edge){ .upper = upper[i / SIDE],
									   .lower = lower[i % SIDE],
									   .length_bytes = MIB,
									   .stripes = 1,
									   .segment = i % SIDE }),
				 0);
	assert_int_equal(blkalign_node_uppers(lower[5]), SIDE);
	assert_int_equal(graph_connect_linear(g, add(g, BLKALIGN_KIND_LV, "last"), lower[0], 0, 1), -E2BIG);
	assert_true(cpu_seconds() - begin < SECONDS_MAX);
}

static void test_twins_cap(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *md = add(g, BLKALIGN_KIND_MD, "md0");
	struct blkalign_edge edge = { .upper = md, .stripes = 1, .slot = BLKALIGN_SLOT_NONE };

	(void)state;
	for (unsigned i = 0; i < GRAPH_TWINS_MAX; i++) {
		edge.lower = add(g, BLKALIGN_KIND_DISK, "disk");
		assert_int_equal(graph_connect(g, &edge), 0);
	}
	edge.state = "spare"; /* the last is replaced, not added */
	assert_int_equal(graph_connect(g, &edge), 0);
	assert_string_equal(blkalign_node_edge(md, GRAPH_TWINS_MAX - 1)->state, "spare");
	edge.lower = add(g, BLKALIGN_KIND_DISK, "disk");
	assert_int_equal(graph_connect(g, &edge), -E2BIG);
}

/* Two devices on two devices on two...: 2^32 ways down. */
static void test_exponential_paths(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *below[2] = { add(g, BLKALIGN_KIND_DISK, "a"), add(g, BLKALIGN_KIND_DISK, "b") };
	struct blkalign_place *places = NULL;
	struct blkalign_report *report = NULL;
	double begin = cpu_seconds();
	size_t count;

	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		struct blkalign_node *pair[2] = { add(g, BLKALIGN_KIND_DM, "a"), add(g, BLKALIGN_KIND_DM, "b") };

		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(graph_connect(g, &(struct blkalign_edge){ .upper = pair[k / 2],
										   .lower = below[k % 2],
										   .length_bytes = MIB,
										   .stripes = 1,
										   .slot = k % 2 }),
					 0);
		memcpy(below, pair, sizeof(below));
	}
	assert_int_equal(blkalign_node_places(below[0], 0, &places, &count), -E2BIG);
	assert_int_equal(blkalign_check(g, &report, NULL), 0);
	blkalign_report_free(report);
	assert_true(cpu_seconds() - begin < SECONDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_attributes),
		cmocka_unit_test(test_equal_names),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_cycles_and_depth),
		cmocka_unit_test(test_numbers_that_are_taken),
		cmocka_unit_test(test_edges_cap),
		cmocka_unit_test(test_twins_cap),
		cmocka_unit_test(test_exponential_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
