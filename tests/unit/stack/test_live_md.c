/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that the kernel runs, as sysfs shows them. */
#include "live_bench.h"

static void member_states(void **state)
{
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/md127/md/dev-sda1/state", "faulty,want_replacement\n");
	tree_write(folder, "sys/class/block/md127/md/dev-sdb1/state", "in_sync,write_mostly,want_replacement\n");
	tree_write(folder, "sys/class/block/md127/md/dev-sdc1/state", "spare\n"); /* in a slot: being rebuilt */
	tree_write(folder, "sys/class/block/md127/md/degraded", "2\n");
	tree_write(folder, "sys/class/block/md127/md/sync_action", "recover\n");
	tree_write(folder, "sys/class/block/md127/md/sync_speed", "1234\n");
	tree_write(folder, "sys/class/block/md127/md/sync_completed", "31232 / 124928\n");
	tree_write(folder, "sys/class/block/md127/md/resync_start", "none\n");
	tree_write(folder, "sys/class/block/md127/md/dev-sdb1/bad_blocks", "4000 16\n9000 3\n");
	tree_write(folder, "sys/class/block/md127/md/dev-sdc1/bad_blocks", "4000 1\n");
	tree_write(folder, "sys/class/block/md127/md/dev-sdd1/bad_blocks", "nonsense 4000 x\n");
	tree_write(folder, "sys/class/block/md127/md/bitmap/location", "+8\n");
	tree_write(folder, "sys/class/block/md127/md/bitmap/chunksize", "67108864\n");
	graph = read_tree();
	assert_string_equal(edge_to(graph, "md127", "sda1")->state, "faulty");
	assert_int_equal(edge_to(graph, "md127", "sda1")->slot, BLKALIGN_SLOT_NONE);
	assert_string_equal(edge_to(graph, "md127", "sdb1")->state, "in_sync");
	assert_string_equal(edge_to(graph, "md127", "sdc1")->state, "rebuilding");
	assert_int_equal(edge_to(graph, "md127", "sdc1")->slot, 2);
	expect(graph, "md127", "md_state", "clean,degraded,recovering");
	expect(graph, "md127", "md_sync_speed_kib", "1234");
	expect(graph, "md127", "md_bitmap", "internal");
	expect(graph, "md127", "md_bitmap_chunk_bytes", "67108864");
	expect(graph, "md127", "members_present", "2");
	expect(graph, "md127", "md_degraded", "2");
	expect(graph, "md127", "md_missing_members", "1");
	expect(graph, "md127", "md_dirty", "0");
	expect(graph, "md127", "md_sync_done_bytes", "15990784");
	expect(graph, "md127", "md_sync_total_bytes", "63963136");
	expect(graph, "md127", "md_sync_percent", "25");
	expect(graph, "sdb1", "md_bad_ranges", "2");
	expect(graph, "sdb1", "md_bad_bytes", "9728");
	expect(graph, "md127", "md_bad_ranges", "3");
	expect(graph, "md127", "md_bad_bytes", "10240");
	assert_null(blkalign_node_value(need(graph, "sdd1"), BLKALIGN_ATTR_MD_BAD_RANGES));
	blkalign_graph_free(graph);
}

/* Written to at the moment: that is no dirt. A resync that waits is. What the kernel does not run has no state in sysfs. */
static void array_states(void **state)
{
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/md127/md/array_state", "active\n");
	tree_write(folder, "sys/class/block/md127/md/resync_start", "none\n");
	tree_write(folder, "sys/class/block/md127/md/sync_completed", "none\n");
	graph = read_tree();
	expect(graph, "md127", "md_state", "active");
	expect(graph, "md127", "md_dirty", "0");
	assert_null(blkalign_node_value(need(graph, "md127"), BLKALIGN_ATTR_MD_SYNC_TOTAL));
	blkalign_graph_free(graph);
	tree_write(folder, "sys/class/block/md127/md/array_state", "read-auto\n");
	tree_write(folder, "sys/class/block/md127/md/resync_start", "0\n");
	tree_write(folder, "sys/class/block/md127/md/sync_action", "resync\n");
	tree_write(folder, "sys/class/block/md127/md/sync_completed", "delayed\n");
	graph = read_tree();
	expect(graph, "md127", "md_state", "read-auto,resyncing");
	expect(graph, "md127", "md_dirty", "1");
	blkalign_graph_free(graph);
	tree_write(folder, "sys/class/block/md127/md/array_state", "inactive\n");
	graph = read_tree();
	expect(graph, "md127", "md_state", "inactive,resyncing");
	assert_null(blkalign_node_value(need(graph, "md127"), BLKALIGN_ATTR_MD_DIRTY));
	assert_null(blkalign_node_value(need(graph, "md127"), BLKALIGN_ATTR_MD_DEGRADED));
	blkalign_graph_free(graph);
}

/* Five members, two near and two offset copies: made through sysfs, since mdadm makes none. */
static void overlapping_layout(void **state)
{
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/md127/md/level", "raid10\n");
	tree_write(folder, "sys/class/block/md127/md/layout", "258\n"); /* near 2 */
	graph = read_tree();
	expect(graph, "md127", "md_layout_overlaps", "0");
	blkalign_graph_free(graph);
	tree_write(folder, "sys/class/block/md127/md/layout", "66050\n");
	tree_write(folder, "sys/class/block/md127/md/raid_disks", "5\n");
	graph = read_tree();
	expect(graph, "md127", "md_layout_overlaps", "1");
	blkalign_graph_free(graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(member_states, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(array_states, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(overlapping_layout, setup_founding, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
