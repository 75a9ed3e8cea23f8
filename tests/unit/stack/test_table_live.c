/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables in graphs that hold nodes already: what the kernel says of partitions, and arrays through which a member's table shows. */
#include "table_bench.h"

static struct stack *live_stack(struct image *image, struct blkalign_node **ret_disk, struct blkalign_node **ret_part, uint64_t start)
{
	struct blkalign_graph *graph = graph_new("live");
	struct stack *stack;

	assert_int_equal(stack_new(graph, NULL, &stack), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, "sda", image_open(image), ret_disk), 0);
	assert_int_equal(graph_add(graph, BLKALIGN_KIND_PARTITION, "sda1", ret_part), 0);
	assert_int_equal(graph_connect_linear(graph, *ret_part, *ret_disk, start, 16384 * 512), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	return stack;
}

static void test_known_partition_is_annotated(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_stack_ struct stack *stack = NULL;
	struct blkalign_node *disk, *part;

	(void)state;
	image_golden(&image, "mbr-logical");
	stack = live_stack(&image, &disk, &part, 2048 * 512);
	assert_null(graph_find(stack_graph(stack), "sda1#2"));
	expect_str(stack_graph(stack), "sda1", BLKALIGN_ATTR_PART_TYPE, "0x83");
	assert_non_null(stack_dev(stack, part));
	assert_non_null(graph_find(stack_graph(stack), "sda5"));
	assert_int_equal(blkalign_graph_remarks(stack_graph(stack)), 0);
}

static void test_kernel_and_table_disagree(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_stack_ struct stack *stack = NULL;
	struct blkalign_node *disk, *part;

	(void)state;
	image_golden(&image, "mbr-logical");
	stack = live_stack(&image, &disk, &part, 63 * 512);
	assert_int_equal(blkalign_node_edge(part, 0)->lower_offset_bytes, 63 * 512);
	assert_null(blkalign_node_value(part, BLKALIGN_ATTR_PART_TYPE));
	assert_int_equal(blkalign_graph_remarks(stack_graph(stack)), 1);
}

/* An array md0 of what `image` holds, on a disk sda of 64 MiB. */
static struct stack *array_stack(struct image *image, const char *metadata)
{
	struct blkalign_graph *graph = graph_new("live");
	struct blkalign_node *disk, *array;
	struct stack *stack;
	struct dev *dev = image_open(image);
	uint64_t size_bytes = dev->size_bytes;

	assert_int_equal(stack_new(graph, NULL, &stack), 0);
	assert_int_equal(graph_add(graph, BLKALIGN_KIND_DISK, "sda", &disk), 0);
	assert_int_equal(graph_set_u64(disk, BLKALIGN_ATTR_SIZE, SIZE_64M, BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_MD, "md0", dev, &array), 0);
	assert_int_equal(graph_set_str(array, BLKALIGN_ATTR_MD_METADATA, metadata, BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_connect_linear(graph, array, disk, 0, size_bytes), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	return stack;
}

/* Whole disks taken for md 0.90 members: the first member's table shows through, and its partition ends where the member does. */
static void test_member_table_on_array(void **state)
{
	static const uint32_t rows[][3] = { { 128, 131072 - 128, 0xfd } };
	_cleanup_image_ struct image image;
	_cleanup_stack_ struct stack *stack = NULL;

	(void)state;
	image_new(&image, "array", SIZE_64M * 4);
	put_mbr(&image, 0, rows, 1);
	stack = array_stack(&image, "0.90");
	expect_str(stack_graph(stack), "md0", BLKALIGN_ATTR_TABLE_STATE, "member-table");
	expect_note(stack_graph(stack), "md0", "the size of the member sda and not of the array");
}

/* A partitioned mirror: its own table reaches to its own end, which is the member's but for the superblock. */
static void test_own_table_of_mirror(void **state)
{
	static const uint32_t rows[][3] = { { 2048, 131072 - 128 - 2048, 0x83 } };
	_cleanup_image_ struct image image;
	_cleanup_stack_ struct stack *stack = NULL;

	(void)state;
	image_new(&image, "array", SIZE_64M - 65536);
	put_mbr(&image, 0, rows, 1);
	stack = array_stack(&image, "1.0");
	expect_str(stack_graph(stack), "md0", BLKALIGN_ATTR_TABLE_STATE, "ok");
}

/* The same with a GPT: the place of its backup says for which size it was made. */
static void test_member_gpt_on_array(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_stack_ struct stack *stack = NULL;

	(void)state;
	image_golden(&image, "gpt-512");
	image_resize(&image, SIZE_64M - 131072);
	stack = array_stack(&image, "0.90");
	expect_str(stack_graph(stack), "md0", BLKALIGN_ATTR_TABLE_STATE, "member-table");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_partition_is_annotated), cmocka_unit_test(test_kernel_and_table_disagree),
		cmocka_unit_test(test_member_table_on_array),	     cmocka_unit_test(test_own_table_of_mirror),
		cmocka_unit_test(test_member_gpt_on_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
