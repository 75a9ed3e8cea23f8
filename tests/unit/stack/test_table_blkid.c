/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same tables as libblkid's own partition parser reads them: every partition has the same number, place, type and identifier. */
#include <blkid/blkid.h>

#include "image.h"

#include "stack/stack.h"

static void expect_text(const struct blkalign_node *node, enum blkalign_attr attr, const char *text)
{
	const char *ours = blkalign_node_str(node, attr);

	if (!text || !*text)
		assert_null(ours);
	else
		assert_string_equal(ours, text);
}

static void compare_partition(const struct blkalign_graph *graph, const char *disk, blkid_partition par, bool gpt)
{
	const struct blkalign_node *node;
	char name[128], type[16];

	stack_partition_name(name, sizeof(name), disk, (unsigned)blkid_partition_get_partno(par));
	node = blkalign_graph_find(graph, name);
	if (!node)
		fail_msg("libblkid has %s", name);
	/* libblkid counts 512-byte sectors whatever the unit; of a container it shows two sectors at most. */
	assert_int_equal(blkalign_node_edge(node, 0)->lower_offset_bytes, (uint64_t)blkid_partition_get_start(par) * 512);
	if (!blkid_partition_is_extended(par))
		assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_SIZE), (uint64_t)blkid_partition_get_size(par) * 512);
	snprintf(type, sizeof(type), "0x%02x", (unsigned)blkid_partition_get_type(par));
	expect_text(node, BLKALIGN_ATTR_PART_TYPE, gpt ? blkid_partition_get_type_string(par) : type);
	expect_text(node, BLKALIGN_ATTR_PART_ID, blkid_partition_get_uuid(par));
	expect_text(node, BLKALIGN_ATTR_PART_NAME, gpt ? blkid_partition_get_name(par) : NULL);
}

static size_t count_partitions(const struct blkalign_graph *graph)
{
	size_t count = 0;

	for (size_t i = 0; i < blkalign_graph_size(graph); i++)
		count += blkalign_node_kind(blkalign_graph_node(graph, i)) == BLKALIGN_KIND_PARTITION;
	return count;
}

static void compare(const char *name, unsigned unit)
{
	struct blkalign_source_options options = { .assume_logical_bytes = unit };
	struct blkalign_graph *graph;
	struct image image;
	const char *path = image.path, *type;
	char disk[64];
	blkid_probe pr = blkid_new_probe();
	blkid_partlist list;
	blkid_parttable table;

	image_golden(&image, name);
	snprintf(disk, sizeof(disk), "%s.img", name);
	assert_int_equal(blkalign_read_images(&options, &path, 1, &graph, NULL), 0);
	assert_int_equal(blkid_probe_set_device(pr, image.fd, 0, 0), 0);
	assert_int_equal(blkid_probe_set_sectorsize(pr, unit), 0);
	list = blkid_probe_get_partitions(pr);
	assert_non_null(list);
	table = blkid_partlist_get_table(list);
	type = blkid_parttable_get_type(table);
	expect_text(blkalign_graph_find(graph, disk), BLKALIGN_ATTR_TABLE_TYPE, type);
	expect_text(blkalign_graph_find(graph, disk), BLKALIGN_ATTR_TABLE_ID, blkid_parttable_get_id(table));
	assert_int_equal(count_partitions(graph), blkid_partlist_numof_partitions(list));
	for (int i = 0; i < blkid_partlist_numof_partitions(list); i++)
		compare_partition(graph, disk, blkid_partlist_get_partition(list, i), !strcmp(type, "gpt"));
	blkid_free_probe(pr);
	blkalign_graph_free(graph);
	image_done(&image);
}

static void test_512(void **state)
{
	static const char *const names[] = { "mbr-logical", "mbr-backward", "mbr-512-on-4096", "gpt-512", "gpt-hybrid", "gpt-4tb" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		compare(names[i], 512);
}

/* Not mbr-4096: libblkid 2.38 multiplies in 32 bits and loses what lies beyond 2 TiB. */
static void test_other_units(void **state)
{
	(void)state;
	compare("gpt-4096", 4096);
	compare("mbr-2048", 2048);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_512), cmocka_unit_test(test_other_units) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
