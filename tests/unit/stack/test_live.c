/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The live host, examined as a dumped tree. What founding.tree must give was read off what lsblk, dmsetup table, lvs and /proc/mdstat printed on the
 * running machine.
 */
#include "live_bench.h"

#include "stack/live_resolve.h"
#include "stack/live_root.h"

/* --- the whole machine --- */

static void founding_facts(void **state)
{
	static const char *const facts[][3] = {
		{ "host", "kernel_release", "6.1.0-57-amd64" },
		{ "host", "host_name", "founding-host" },
		{ "host", "hypervisor", "kvm" },
		{ "host", "tool_lvm2", "2.03.16" },
		{ "host", "tool_cryptsetup", "2.6.1" },
		{ "host", "tool_parted", "3.5" },
		{ "host", "tool_mdadm", "(unknown)" }, /* removed, its configuration is left */
		{ "host", "tool_util_linux", "(unknown)" },
		{ "host", "page_bytes", "(unknown)" },
		{ "sda", "size_bytes", "67108864" },
		{ "sda", "logical_block_bytes", "512" },
		{ "sda", "physical_block_bytes", "4096" },
		{ "sda", "transport", "virtio" },
		{ "sda", "driver", "virtio_scsi" },
		{ "sda", "vendor", "ACME" },
		{ "sda", "model", "ROTOR3000" },
		{ "sda", "wwn", "naa.5000c500a1b2c3d3" },
		{ "sda", "rotational", "1" },
		{ "sda", "devno", "8:0" },
		{ "sdf", "transport", "usb" },
		{ "sdf", "driver", "uas" },
		{ "sdf", "usb_id", "46f4:0003" },
		{ "sdf", "optimal_io_bytes", "33553920" },
		{ "sdf", "read_ahead_bytes", "67104768" },
		/* sg_vpd on the bytes that sysfs showed */
		{ "sdf", "vpd_b0_granularity_blocks", "1" },
		{ "sdf", "vpd_b0_max_transfer_blocks", "4194303" },
		{ "sdf", "vpd_b0_optimal_transfer_blocks", "65535" },
		{ "sdf", "vpd_b1_rotation_rpm", "(unknown)" },
		{ "sda", "vpd_b1_rotation_rpm", "7200" },
		{ "sda", "serial", "SER-c-0042" },
		{ "sdg", "vpd_b0_granularity_blocks", "8" },
		{ "sdg", "serial", "AHSER" },
		{ "sdg", "ata_logical_bytes", "512" },
		{ "sdg", "ata_physical_bytes", "4096" },
		{ "sdh", "driver", "usb-storage" },
		{ "sdh", "usb_id", "46f4:0001" },
		{ "sdg", "transport", "sata" },
		{ "sdg", "driver", "ahci" },
		{ "sdg1", "alignment_offset_bytes", "512" },
		{ "sdg1", "partition_number", "1" },
		{ "sdg1", "physical_block_bytes", "(unknown)" },
		{ "nvme0n1", "transport", "nvme" },
		{ "nvme0n1", "driver", "nvme" },
		{ "nvme0n1", "serial", "NVSER77" },
		{ "nvme0n1", "model", "QEMU NVMe Ctrl" },
		{ "nvme0n1p1", "mount_point", "[SWAP]" },
		{ "vda", "transport", "virtio" },
		{ "vda", "driver", "virtio_blk" },
		{ "vda", "serial", "VDSER" },
		{ "vda", "vendor", "(unknown)" },
		{ "loop3", "transport", "loop" },
		{ "loop3", "backing_file", "/tmp/back.img" },
		{ "md127", "md_level", "raid6" },
		{ "md127", "chunk_bytes", "65536" },
		{ "md127", "stripe_bytes", "131072" },
		{ "md127", "optimal_io_bytes", "131072" },
		{ "md127", "md_layout_name", "left-symmetric" },
		{ "md127", "members", "4" },
		{ "md127", "members_present", "4" },
		{ "md127", "md_metadata", "1.2" },
		{ "md127", "md_state", "clean" },
		{ "md127", "md_uuid", "30bfab51:e3e305c6:0357f723:6361f437" },
		{ "md127", "md_bitmap", "none" },
		{ "md127", "md_bitmap_chunk_bytes", "(unknown)" },
		{ "md127", "md_sync_speed_min_kib", "1000" },
		{ "md127", "md_sync_speed_kib", "(unknown)" },
		{ "md127", "md_stripe_cache_pages", "256" },
		{ "md127", "md_component_bytes", "63963136" },
		{ "vg-data/home-fs", "vg_name", "vg-data" },
		{ "vg-data/home-fs", "lv_name", "home-fs" },
		{ "vg-data/home-fs", "mount_point", "/srv/secret" },
		{ "vg-data/home-fs", "path", "/dev/mapper/vg--data-home--fs" },
		{ "fast/scratch", "alignment_offset_bytes", "-1" },
		{ "fast/scratch", "minimum_io_bytes", "65536" },
		{ "luks:cold-safe", "dm_name", "cold-safe" },
	};
	struct blkalign_graph *graph = read_tree();

	(void)state;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		expect(graph, facts[i][0], facts[i][1], facts[i][2]);
	assert_null(blkalign_graph_find(graph, "loop0"));
	assert_int_equal(blkalign_graph_size(graph), 25);
	assert_int_equal(blkalign_graph_remarks(graph), 0);
	assert_string_equal(blkalign_graph_source(graph), "live");
	blkalign_graph_free(graph);
}

static void founding_edges(void **state)
{
	static const char *const members[] = { "sda1", "sdb1", "sdc1", "sdd1" };
	struct blkalign_graph *graph = read_tree();
	const struct blkalign_edge *e = edge_to(graph, "sdg1", "sdg");

	(void)state;
	assert_int_equal(e->lower_offset_bytes, 63 * 512);
	assert_int_equal(e->length_bytes, 20000 * 512);
	for (uint32_t i = 0; i < 4; i++) {
		e = edge_to(graph, "md127", members[i]);
		assert_int_equal(e->slot, i);
		assert_int_equal(e->lower_offset_bytes, 2048 * 512);
		assert_int_equal(e->chunk_bytes, 65536);
		assert_int_equal(e->stripes, 2);
		assert_int_equal(e->length_bytes, 124928 * 1024);
		assert_string_equal(e->state, "in_sync");
	}
	e = edge_to(graph, "md127", "sde1");
	assert_int_equal(e->slot, BLKALIGN_SLOT_NONE);
	assert_string_equal(e->state, "spare");
	e = edge_to(graph, "vg-data/home-fs", "md127");
	assert_true(e->lower_offset_bytes == BLKALIGN_UNKNOWN && e->upper_offset_bytes == BLKALIGN_UNKNOWN);
	assert_int_equal(blkalign_node_edges(need(graph, "fast/scratch")), 2);
	edge_to(graph, "luks:cold-safe", "sdf");
	blkalign_graph_free(graph);
}

static void lower_devices_come_first(void **state)
{
	struct blkalign_graph *graph = read_tree();

	(void)state;
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);

		assert_int_equal(blkalign_node_index(node), i);
		assert_ptr_equal(blkalign_graph_find(graph, blkalign_node_name(node)), node);
		for (size_t k = 0; k < blkalign_node_edges(node); k++)
			assert_true(blkalign_node_index(blkalign_node_edge(node, k)->lower) < i);
	}
	blkalign_graph_free(graph);
}

/* --- a part of the machine --- */

static size_t size_of_part(const char *name)
{
	struct blkalign_source_options options = { .sysroot = folder };
	struct blkalign_graph *graph;
	size_t size;

	assert_int_equal(blkalign_read_host_devices(&options, &name, 1, &graph, NULL), 0);
	size = blkalign_graph_size(graph);
	assert_non_null(blkalign_graph_host(graph));
	blkalign_graph_free(graph);
	return size;
}

static void named_devices_bring_their_stack(void **state)
{
	struct blkalign_source_options options = { .sysroot = folder };
	struct blkalign_error error = { 0 };
	struct blkalign_graph *graph = NULL;
	const char *const wrong = "sdz";

	(void)state;
	assert_int_equal(size_of_part("sdg1"), 3);     /* host, sdg, sdg1 */
	assert_int_equal(size_of_part("/dev/sdg"), 3); /* what lies on it comes along */
	assert_int_equal(size_of_part("sda"), 13);     /* host, md127, 5 drives, 5 partitions, volume */
	assert_int_equal(size_of_part("/dev/mapper/vg--data-home--fs"), 13);
	assert_int_equal(size_of_part("vg-data/home-fs"), 13);
	assert_int_equal(size_of_part("/dev/vg-data/home-fs"), 13);
	assert_int_equal(size_of_part("dm-2"), 3);
	assert_int_equal(blkalign_read_host_devices(&options, &wrong, 1, &graph, &error), -ENODEV);
	assert_string_equal(error.where, "sdz");
	assert_null(graph);
}

/* --- things that are not as they should be --- */

static bool has_remark(const struct blkalign_graph *graph, const char *part)
{
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		if (strstr(blkalign_graph_remark(graph, i), part))
			return true;
	return false;
}

static void weird_contents_are_unknown(void **state)
{
	static const char *const contents[] = { "abc\n", "18446744073709551616\n", "-1\n", "18446744073709551615\n", "1x\n", "\033[31m\n" };
	static const char file[] = "sys/class/block/sda/queue/optimal_io_size";

	(void)state;
	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		struct blkalign_graph *graph;

		tree_write(folder, file, contents[i]);
		graph = read_tree();
		expect(graph, "sda", "optimal_io_bytes", "(unknown)");
		assert_true(has_remark(graph, "sda: queue/optimal_io_size"));
		blkalign_graph_free(graph);
	}
}

static void empty_and_missing_attributes_are_unknown(void **state)
{
	char path[2 * PATH_MAX];
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/sda/queue/optimal_io_size", "");
	tree_write(folder, "sys/class/block/sda/queue/minimum_io_size", " \n");
	snprintf(path, sizeof(path), "%s/sys/class/block/sda/queue/physical_block_size", folder);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/sys/class/block/sda/queue/logical_block_size", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* must not hang */
	graph = read_tree();
	expect(graph, "sda", "optimal_io_bytes", "(unknown)");
	expect(graph, "sda", "minimum_io_bytes", "(unknown)");
	expect(graph, "sda", "physical_block_bytes", "(unknown)");
	expect(graph, "sda", "logical_block_bytes", "(unknown)");
	assert_int_equal(blkalign_graph_remarks(graph), 0);
	blkalign_graph_free(graph);
}

static void refuse_optimal_io(char disk)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/block/sd%c/queue/optimal_io_size", folder, disk);
	assert_int_equal(chmod(path, 0), 0);
}

static void refused_files_make_one_remark(void **state)
{
	struct blkalign_graph *graph;
	bool root = geteuid() == 0;

	(void)state;
	assert_int_equal(chmod(folder, 0755), 0);
	for (char disk = 'a'; disk <= 'h'; disk++)
		refuse_optimal_io(disk);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	graph = read_tree();
	if (root)
		assert_int_equal(seteuid(0), 0);
	expect(graph, "sda", "optimal_io_bytes", "(unknown)");
	expect(graph, "sda", "minimum_io_bytes", "4096");
	assert_int_equal(blkalign_graph_remarks(graph), 1);
	assert_true(
		has_remark(graph, "8 file(s) of the system could not be read for lack of permission, the first being sys/class/block/sda"));
	blkalign_graph_free(graph);
}

/* Reading address 0 of a process gives EIO, as a broken attribute does. */
static void read_errors_are_counted(void **state)
{
	struct live_root root;
	char *text = NULL;

	(void)state;
	assert_int_equal(live_root_open("/proc/self", &root, NULL), 0);
	assert_int_equal(live_text(&root, "mem", &text), -EIO);
	assert_null(text);
	assert_int_equal(root.failed, 1);
	assert_int_equal(root.refused, 0);
	assert_string_equal(root.first_failed, "mem");
	live_root_close(&root);
}

static void damaged_pages_are_remarks(void **state)
{
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/sdf/device/vpd_pgb0", "x");
	graph = read_tree();
	expect(graph, "sdf", "vpd_b0_optimal_transfer_blocks", "(unknown)");
	expect(graph, "sdf", "optimal_io_bytes", "33553920");
	assert_true(has_remark(graph, "sdf: VPD page B0 is damaged"));
	blkalign_graph_free(graph);
}

static void sizes_that_wrap_are_unknown(void **state)
{
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/sda/size", "36028797018963968\n"); /* 2^55 sectors */
	tree_write(folder, "sys/class/block/sda1/start", "99999999999999999999999\n");
	graph = read_tree();
	expect(graph, "sda", "size_bytes", "(unknown)");
	assert_true(edge_to(graph, "sda1", "sda")->lower_offset_bytes == BLKALIGN_UNKNOWN);
	blkalign_graph_free(graph);
}

static void inconsistent_partition_is_minus_one(void **state)
{
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/sdg1/alignment_offset", "4294967295\n");
	graph = read_tree();
	expect(graph, "sdg1", "alignment_offset_bytes", "-1");
	assert_true(has_remark(graph, "sdg1: alignment_offset of 4294967295"));
	blkalign_graph_free(graph);
}

static void circle_of_slaves_ends(void **state)
{
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/md127/slaves/dm-0/x", ""); /* the volume lies on md127 */
	tree_write(folder, "sys/class/block/dm-2/slaves/dm-2/x", "");
	graph = read_tree();
	assert_true(has_remark(graph, "circle"));
	edge_to(graph, "md127", "sda1");
	blkalign_graph_free(graph);
}

static void old_dumps_know_sys_block_only(void **state)
{
	char path[2 * PATH_MAX];
	struct blkalign_graph *graph;

	(void)state;
	snprintf(path, sizeof(path), "%s/sys/class", folder);
	tree_remove(path);
	graph = read_tree();
	assert_int_equal(edge_to(graph, "sdg1", "sdg")->lower_offset_bytes, 63 * 512);
	expect(graph, "sdf", "transport", "usb");
	edge_to(graph, "md127", "sda1");
	blkalign_graph_free(graph);
}

static void dumps_without_links(void **state)
{
	struct blkalign_graph *graph;

	(void)state;
	tree_write(folder, "sys/class/block/nvme1n1/size", "4096\n");
	tree_write(folder, "sys/class/block/nvme1n1p2/size", "1024\n");
	tree_write(folder, "sys/class/block/nvme1n1p2/start", "8\n");
	tree_write(folder, "sys/class/block/nvme1n1p2/partition", "2\n");
	tree_write(folder, "sys/class/block/cciss!c0d0/size", "4096\n");
	graph = read_tree();
	assert_int_equal(edge_to(graph, "nvme1n1p2", "nvme1n1")->lower_offset_bytes, 4096);
	need(graph, "cciss/c0d0");
	blkalign_graph_free(graph);
}

static void a_folder_without_sys_is_an_error(void **state)
{
	struct blkalign_source_options options = { .sysroot = folder };
	struct blkalign_error error = { 0 };
	struct blkalign_graph *graph = NULL;

	(void)state;
	assert_int_equal(blkalign_read_host(&options, &graph, &error), -ENOENT);
	assert_non_null(strstr(error.message, "sysfs"));
	options.sysroot = "/nonexistent";
	assert_int_equal(blkalign_read_host(&options, &graph, &error), -ENOENT);
	assert_null(graph);
}

/* --- nothing outside the root --- */

static char *text_below(bool no_openat2, const char *path)
{
	struct live_root root;
	char *text = NULL;

	assert_int_equal(live_root_open(folder, &root, NULL), 0);
	root.no_openat2 = no_openat2;
	if (live_text(&root, path, &text) != 0)
		text = NULL;
	live_root_close(&root);
	return text;
}

static void expect_text(const char *path, const char *expected)
{
	for (int no_openat2 = 0; no_openat2 < 2; no_openat2++) {
		char *text = text_below(no_openat2, path);

		if (expected)
			assert_string_equal(text, expected);
		else
			assert_null(text);
		free(text);
	}
}

static void link_below(const char *name, const char *target)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(symlink(target, path), 0);
}

static void links_stay_below_the_root(void **state)
{
	(void)state;
	tree_write(folder, "etc/inside", "inside\n");
	tree_write(folder, "a/b/c/file", "deep\n");
	link_below("absolute", "/etc/inside");
	link_below("escape", "../../../../../../../../../../etc/passwd");
	link_below("passwd", "/etc/passwd");
	link_below("folder", "a/b");
	link_below("a/up", "../a/./b//c");
	link_below("circle", "circle");
	link_below("etc/up", "..");
	expect_text("absolute", "inside");
	expect_text("escape", NULL);
	expect_text("passwd", NULL);
	expect_text("folder/c/file", "deep");
	expect_text("a/up/file", "deep");
	expect_text("folder/../up/file", "deep");
	expect_text("circle", NULL);
	expect_text("circle/x", NULL);
	expect_text("etc/up/etc/up/etc/inside", "inside");
	expect_text("../../../etc/inside", "inside");
	expect_text("etc", NULL);
}

/* --- this machine --- */

static void this_machine_can_be_read(void **state)
{
	struct blkalign_graph *graph;
	struct blkalign_error error = { 0 };

	(void)state;
	if (access("/sys/class/block", F_OK) < 0)
		skip();
	assert_int_equal(blkalign_read_host(NULL, &graph, &error), 0);
	assert_non_null(blkalign_graph_host(graph));
	assert_non_null(blkalign_node_str(blkalign_graph_host(graph), BLKALIGN_ATTR_KERNEL));
	blkalign_graph_free(graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(founding_facts, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(founding_edges, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(lower_devices_come_first, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(named_devices_bring_their_stack, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(weird_contents_are_unknown, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(empty_and_missing_attributes_are_unknown, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(refused_files_make_one_remark, setup_founding, teardown),
		cmocka_unit_test(read_errors_are_counted),
		cmocka_unit_test_setup_teardown(damaged_pages_are_remarks, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(sizes_that_wrap_are_unknown, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(inconsistent_partition_is_minus_one, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(circle_of_slaves_ends, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(old_dumps_know_sys_block_only, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(dumps_without_links, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(a_folder_without_sys_is_an_error, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(links_stay_below_the_root, setup_empty, teardown),
		cmocka_unit_test(this_machine_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
