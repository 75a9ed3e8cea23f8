/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Volumes that the machine shows already, and metadata that does not fit the machine. */
#include "lvm_bench.h"

static struct blkalign_node *add_dm(struct bench *b, const char *text, const char *lv, const char *suffix, const char *name)
{
	char vg_id[40], lv_id[40], uuid[100];
	struct blkalign_node *n;
	const char *group = strstr(text, "vg {");
	_cleanup_free_ char *led = NULL;

	assert_true(asprintf(&led, "\n%s", group) > 0);
	id_of(led, "vg", vg_id);
	id_of(led, lv, lv_id);
	snprintf(uuid, sizeof(uuid), "LVM-%s%s%s", vg_id, lv_id, suffix);
	assert_int_equal(graph_add(b->graph, BLKALIGN_KIND_DM, name, &n), 0);
	assert_int_equal(graph_set_str(n, BLKALIGN_ATTR_DM_UUID, uuid, BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_set_u64(n, BLKALIGN_ATTR_SIZE, 12345, BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_set_u64(n, BLKALIGN_ATTR_PHYSICAL_BLOCK, 8192, BLKALIGN_ORIGIN_SYSFS), 0);
	return n;
}

/* A device of a running machine is described, not doubled; what sysfs said of it stays. */
static void test_running(void **state)
{
	char *text = image_all_types();
	struct bench b;
	const struct blkalign_node *lin, *org, *snap;
	size_t nodes;

	(void)state;
	three(&b, text);
	nodes = blkalign_graph_size(b.graph);
	done(&b);

	start(&b);
	lin = add_dm(&b, text, "lin", "", "dm-0");
	org = add_dm(&b, text, "org", "", "vg/org");
	add_dm(&b, text, "org", "-real", "vg/org-real");
	snap = add_dm(&b, text, "snap", "", "vg/snap");
	add_dm(&b, text, "snap", "-cow", "vg/snap-cow");
	add_pv(&b, "sda", text, "pv0", 512);
	add_pv(&b, "sdb", text, "pv1", 512);
	add_pv(&b, "sdc", text, "pv2", 512);
	run(&b);
	/* Only the layer below the origin is more. */
	assert_int_equal(blkalign_graph_size(b.graph), nodes + 1);
	assert_null(blkalign_graph_find(b.graph, "vg/lin"));
	assert_int_equal(blkalign_node_kind(lin), BLKALIGN_KIND_LV);
	assert_string_equal(blkalign_node_str(lin, BLKALIGN_ATTR_LV_NAME), "lin");
	assert_int_equal(blkalign_node_u64(lin, BLKALIGN_ATTR_SIZE), 12345);
	assert_int_equal(blkalign_node_u64(lin, BLKALIGN_ATTR_PHYSICAL_BLOCK), 8192);
	assert_int_equal(edge_to(lin, "pv:sdb")->lower_offset_bytes, 1 << 20);
	assert_int_equal(edge_to(org, "vg/org-real")->lower_offset_bytes, 0);
	edge_to(get(&b, "vg/org-real"), "pv:sdc");
	edge_to(snap, "vg/org");
	edge_to(snap, "vg/snap-cow");
	edge_to(get(&b, "vg/snap-cow"), "pv:sdc");
	done(&b);
	free(text);
}

/* The text says that a volume lies on a PV which the machine says lies on that volume. */
static void test_circle(void **state)
{
	char *text = image_all_types();
	struct bench b;
	struct blkalign_node *lin;

	(void)state;
	start(&b);
	lin = add_dm(&b, text, "lin", "", "vg/lin");
	add_pv(&b, "sda", text, "pv0", 512);
	assert_int_equal(graph_connect_linear(b.graph, graph_find(b.graph, "sda"), lin, 0, PV_BYTES), 0);
	run(&b);
	assert_true(remarked(&b, "vg/lin: its metadata puts it on pv:sda, which lies on it"));
	get(&b, "vg/str");
	done(&b);
	free(text);
}

/* What does not fit, and areas that cannot be read: told, and the rest goes on. */
static void test_damage(void **state)
{
	char *text = image_all_types(), *early = image_edit(text, NULL, "pe_start = 2048", "pe_start = 1000");
	char *garbled = image_edit(text, NULL, "seqno = 7", "seqno = seven");
	struct bench b;
	struct dev *mem, *bad;

	(void)state;
	start(&b);
	add_pv(&b, "sda", early, "pv0", 512);
	run(&b);
	assert_true(remarked(&b, "sda: the first extent at byte 512000 lies in the metadata area, which ends at byte 1048576"));
	done(&b);

	start(&b);
	add_pv(&b, "sda", text, "pv0", 512);
	stack_dev(b.stack, get(&b, "sda"))->size_bytes -= EXTENT;
	run(&b);
	assert_true(remarked(&b, "sda: the extents of volume group vg end at byte 27262976, behind the device's end at byte 27000832"));
	done(&b);

	start(&b);
	add_pv(&b, "sda", garbled, "pv0", 512);
	add_pv(&b, "sdb", text, "pv1", 512);
	run(&b);
	assert_true(remarked(&b, "sda: LVM2 metadata text, line 3, column 9: expected a number or a string"));
	get(&b, "vg/lin");
	done(&b);

	start(&b);
	b.images[b.count++] = image_new(PV_BYTES, "abcdefghijklmnopqrstuvwxyzABCD!#", text);
	assert_int_equal(dev_open_memory("mem", b.images[0].data, PV_BYTES, false, &mem), 0);
	assert_int_equal(dev_open_fault(mem, 5000, 512, -EIO, &bad), 0);
	add_dev(&b, "sda", bad, 512, 512);
	run(&b);
	assert_true(remarked(&b, "sda: LVM2 metadata area at byte 4096: read of"));
	get(&b, "pv:sda");
	done(&b);
	dev_close(mem);
	free(garbled);
	free(early);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_circle),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
