/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From bytes to content nodes: file systems by our own codecs, the rest by libblkid. */
#include "../format/fs_image.h"

#include "stack/stack.h"

/* A stack of one disk called "disk". */
static struct blkalign_graph *graph_of_dev(struct dev *dev)
{
	struct stack *stack = NULL;
	struct blkalign_node *node;
	struct blkalign_graph *graph;

	assert_int_equal(stack_new(graph_new("test"), NULL, &stack), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, "disk", dev, &node), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	graph = stack_take_graph(stack);
	stack_free(stack);
	return graph;
}

static struct blkalign_graph *graph_of_fd(int fd) { return graph_of_dev(fs_image_dev(fd)); }

static bool remarked(const struct blkalign_graph *graph, const char *part)
{
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		if (strstr(blkalign_graph_remark(graph, i), part))
			return true;
	return false;
}

static void assert_u64(const struct blkalign_node *node, enum blkalign_attr attr, const char *expected)
{
	assert_int_equal(blkalign_node_u64(node, attr), strcmp(expected, "-") ? strtoull(expected, NULL, 10) : BLKALIGN_UNKNOWN);
}

static void assert_str(const struct blkalign_node *node, enum blkalign_attr attr, const char *expected)
{
	const char *value = blkalign_node_str(node, attr);

	if (!strcmp(expected, "-"))
		assert_null(value);
	else
		assert_string_equal(value, expected);
}

static void check_row(char *const row[FS_COLUMNS])
{
	int fd = fs_image_new(row[FS_NAME]);
	_cleanup_graph_ struct blkalign_graph *graph = graph_of_fd(fd);
	const struct blkalign_node *node;
	char name[64];

	snprintf(name, sizeof(name), "%s:disk", row[FS_TYPE]);
	node = blkalign_graph_find(graph, name);
	assert_non_null(node);
	assert_int_equal(blkalign_graph_size(graph), 2);
	assert_int_equal(blkalign_node_kind(node), BLKALIGN_KIND_CONTENT);
	assert_str(node, BLKALIGN_ATTR_CONTENT, row[FS_TYPE]);
	assert_u64(node, BLKALIGN_ATTR_FS_SIZE, row[FS_SIZE]);
	assert_u64(node, BLKALIGN_ATTR_FS_BLOCK, row[FS_BLOCK]);
	assert_u64(node, BLKALIGN_ATTR_FS_SECTOR, row[FS_SECTOR]);
	assert_u64(node, BLKALIGN_ATTR_FS_STRIDE, row[FS_STRIDE]);
	assert_u64(node, BLKALIGN_ATTR_FS_STRIPE, row[FS_STRIPE]);
	assert_u64(node, BLKALIGN_ATTR_FS_LOG_STRIDE, row[FS_LOG_STRIDE]);
	assert_u64(node, BLKALIGN_ATTR_FS_HIDDEN_SECTORS, row[FS_HIDDEN]);
	/* Small clusters: where they begin is nobody's fault. */
	assert_u64(node, BLKALIGN_ATTR_DATA_OFFSET, strtoul(row[FS_BLOCK], NULL, 10) - 1 < 4095 ? "-" : row[FS_DATA_OFFSET]);
	assert_str(node, BLKALIGN_ATTR_FS_UUID, row[FS_UUID]);
	assert_str(node, BLKALIGN_ATTR_FS_LABEL, row[FS_LABEL]);
	close(fd);
}

static void test_rows(void **state)
{
	(void)state;
	assert_true(fs_image_rows(check_row) >= 28);
}

/* The node ends where the file system or the device ends, whichever comes first. */
static void test_sizes(void **state)
{
	int fd = fs_image_new("ext4-raid6");

	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		uint64_t device = cut ? 48U << 20 : 80U << 20, expected = cut ? 48U << 20 : 64U << 20;
		_cleanup_graph_ struct blkalign_graph *graph = NULL;
		const struct blkalign_node *node;

		assert_int_equal(ftruncate(fd, (off_t)device), 0);
		graph = graph_of_fd(fd);
		node = blkalign_graph_find(graph, "ext4:disk");
		assert_non_null(node);
		assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_FS_SIZE), 64 << 20);
		assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_SIZE), expected);
		assert_int_equal(blkalign_node_edges(node), 1);
		assert_int_equal(blkalign_node_edge(node, 0)->length_bytes, expected);
		assert_int_equal(remarked(graph, "its ext4 is 67108864 bytes long, and the device ends at byte 50331648"), cut);
	}
	close(fd);
}

/* ZFS labels survive mkfs.ext4. */
static void test_leftover(void **state)
{
	int fd = fs_image_new("zfs-single");
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	fs_image_lay(fd, "ext4-raid6");
	graph = graph_of_fd(fd);
	assert_non_null(blkalign_graph_find(graph, "ext4:disk"));
	assert_null(blkalign_graph_find(graph, "zfs_member:disk"));
	assert_true(remarked(graph, "zfs_member"));
	close(fd);
}

/* Its numbers cannot be trusted, but what it is can still be said. */
static void test_damaged(void **state)
{
	int fd = fs_image_new("ext4-raid6");
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	const struct blkalign_node *node;

	(void)state;
	fs_image_damage(fd, 1024 + 0x170);
	graph = graph_of_fd(fd);
	node = blkalign_graph_find(graph, "ext4:disk");
	assert_non_null(node);
	assert_u64(node, BLKALIGN_ATTR_FS_STRIPE, "-");
	assert_str(node, BLKALIGN_ATTR_FS_UUID, "01234567-89ab-cdef-0123-456789abcdef");
	assert_true(remarked(graph, "checksum"));
	close(fd);
}

static void test_unreadable(void **state)
{
	int fd = fs_image_new("ext4-raid6");
	struct dev *file = fs_image_dev(fd), *bad = NULL;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	assert_int_equal(dev_open_fault(file, 0, 131072, -EIO, &bad), 0);
	graph = graph_of_dev(bad);
	assert_int_equal(blkalign_graph_size(graph), 1);
	assert_int_equal(blkalign_graph_remarks(graph), 1);
	assert_true(remarked(graph, "disk: whether a file system lies on it is not known: read of 32768 bytes at byte 0 failed"));
	dev_close(file);
	close(fd);
}

static void test_copy_used(void **state)
{
	int fd = fs_image_new("btrfs-single");
	struct dev *file = fs_image_dev(fd), *bad = NULL;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	assert_int_equal(dev_open_fault(file, 65536, 512, -EIO, &bad), 0);
	graph = graph_of_dev(bad);
	assert_non_null(blkalign_graph_find(graph, "btrfs:disk"));
	assert_true(remarked(graph, "a copy was used instead"));
	dev_close(file);
	close(fd);
}

static void check_minix(struct blkalign_graph *graph)
{
	const struct blkalign_node *node = blkalign_graph_find(graph, "minix:disk");

	assert_non_null(node);
	assert_int_equal(blkalign_node_kind(node), BLKALIGN_KIND_CONTENT);
	assert_u64(node, BLKALIGN_ATTR_FS_BLOCK, "-");
	assert_int_equal(blkalign_node_edge(node, 0)->lower_offset_bytes, 0);
}

/* A format without a codec here: by the file descriptor, as a part of one, and where only read() reaches it. */
static void test_blkid(void **state)
{
	int fd = fs_image_new("minix");
	struct dev *file = fs_image_dev(fd), *slice = NULL, *mapped = NULL;
	_cleanup_graph_ struct blkalign_graph *whole = graph_of_fd(fd), *part = NULL, *map = NULL;

	(void)state;
	check_minix(whole);
	assert_int_equal(dev_open_fault(file, UINT64_MAX, 0, -EIO, &mapped), 0);
	map = graph_of_dev(mapped);
	check_minix(map);
	dev_close(file);
	close(fd);

	fd = memfd_create("moved", MFD_CLOEXEC);
	fs_image_lay(fd, "minix");
	assert_int_equal(ftruncate(fd, 16 << 20), 0);
	{
		uint8_t sb[1024];
		static const uint8_t zero[1024];

		assert_int_equal(pread(fd, sb, sizeof(sb), 1024), sizeof(sb));
		assert_int_equal(pwrite(fd, sb, sizeof(sb), 1048576 + 1024), sizeof(sb));
		assert_int_equal(pwrite(fd, zero, sizeof(zero), 1024), sizeof(zero));
	}
	file = fs_image_dev(fd);
	assert_int_equal(dev_open_slice("disk", file, 1048576, 8 << 20, &slice), 0);
	part = graph_of_dev(slice);
	check_minix(part);
	dev_close(file);
	close(fd);
}

/* Signatures at the end of a device that only read() reaches. */
static void test_blkid_tail(void **state)
{
	static const char intel[] = "Intel Raid ISM Cfg Sig. 1.1.00";
	int fd = memfd_create("raid", MFD_CLOEXEC);
	struct dev *file, *mapped = NULL;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *map = NULL;

	(void)state;
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	assert_int_equal(pwrite(fd, intel, sizeof(intel), (64 << 20) - 1024), sizeof(intel));
	graph = graph_of_fd(fd);
	assert_non_null(blkalign_graph_find(graph, "isw_raid_member:disk"));
	assert_int_equal(blkalign_graph_size(graph), 2);
	assert_true(remarked(graph, "firmware RAID"));
	file = fs_image_dev(fd);
	assert_int_equal(dev_open_fault(file, UINT64_MAX, 0, -EIO, &mapped), 0);
	map = graph_of_dev(mapped);
	assert_non_null(blkalign_graph_find(map, "isw_raid_member:disk"));
	dev_close(file);
	close(fd);
}

static void test_contradiction(void **state)
{
	static const uint8_t squashfs[32] = { 'h', 's', 'q', 's', [28] = 4 };
	int fd = fs_image_new("minix");
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	assert_int_equal(pwrite(fd, squashfs, sizeof(squashfs), 0), sizeof(squashfs));
	graph = graph_of_fd(fd);
	assert_int_equal(blkalign_graph_size(graph), 1);
	assert_true(remarked(graph, "contradict"));
	close(fd);
}

/* The largest sparse file there can be. */
static void test_huge(void **state)
{
	int fd = fs_image_new("minix");
	struct dev *file, *mapped = NULL;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *map = NULL;

	(void)state;
	assert_int_equal(ftruncate(fd, INT64_MAX), 0);
	graph = graph_of_fd(fd);
	assert_non_null(blkalign_graph_find(graph, "minix:disk"));
	file = fs_image_dev(fd);
	assert_int_equal(dev_open_fault(file, UINT64_MAX, 0, -EIO, &mapped), 0);
	map = graph_of_dev(mapped);
	assert_non_null(blkalign_graph_find(map, "minix:disk"));
	dev_close(file);
	close(fd);
}

static void test_empty(void **state)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);

	(void)state;
	for (off_t size = 0; size < 1 << 20; size = size * 3 + 511) {
		_cleanup_graph_ struct blkalign_graph *graph = NULL;

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(ftruncate(fd, size), 0);
		if (size)
			assert_int_equal(pwrite(fd, "x", 1, size - 1), 1);
		graph = graph_of_fd(fd);
		assert_int_equal(blkalign_graph_size(graph), 1);
		assert_int_equal(blkalign_graph_remarks(graph), 0);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	cmocka_unit_test(test_sizes),	   cmocka_unit_test(test_leftover),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_unreadable), cmocka_unit_test(test_copy_used),
		cmocka_unit_test(test_blkid),	cmocka_unit_test(test_blkid_tail), cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_huge),	cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
