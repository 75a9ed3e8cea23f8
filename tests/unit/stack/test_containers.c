/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LUKS and bcache as nodes of a graph, and images that hold something else or too much. */
#include "image.h"

#include "graph/graph.h"
#include "stack/stack.h"

static struct blkalign_graph *graph_of_image(struct image *image)
{
	const char *path = image->path;
	struct blkalign_graph *graph;

	assert_int_equal(blkalign_read_images(NULL, &path, 1, &graph, NULL), 0);
	return graph;
}

static const struct blkalign_node *node_of(const struct blkalign_graph *graph, const char *name)
{
	const struct blkalign_node *node = blkalign_graph_find(graph, name);

	assert_non_null(node);
	return node;
}

static void test_luks(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	const struct blkalign_node *node;

	(void)state;
	image_golden(&image, "luks2");
	graph = graph_of_image(&image);
	node = node_of(graph, "luks:luks2.img");
	assert_int_equal(blkalign_node_kind(node), BLKALIGN_KIND_CRYPT);
	assert_int_equal(blkalign_node_edge(node, 0)->lower_offset_bytes, 16777216);
	assert_int_equal(blkalign_node_edge(node, 0)->length_bytes, (32 << 20) - 16777216);
	assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_SIZE), (32 << 20) - 16777216);
	assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_LUKS_OFFSET), 16777216);
	assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_LUKS_SECTOR), 4096);
	assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_LUKS_VERSION), 2);
	assert_string_equal(blkalign_node_str(node, BLKALIGN_ATTR_LUKS_UUID), "00000000-0000-4000-8000-000000000002");
	assert_string_equal(blkalign_node_str(node, BLKALIGN_ATTR_FS_LABEL), "My data");
	assert_string_equal(blkalign_node_str(node, BLKALIGN_ATTR_CONTENT), "crypto_LUKS");
	assert_int_equal(blkalign_graph_remarks(graph), 0);
}

static void test_detached(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	const struct blkalign_node *node;

	(void)state;
	image_golden(&image, "luks2-detached");
	graph = graph_of_image(&image);
	node = node_of(graph, "luks:luks2-detached.img");
	assert_int_equal(blkalign_node_edge(node, 0)->lower_offset_bytes, BLKALIGN_UNKNOWN);
	assert_null(blkalign_node_value(node, BLKALIGN_ATTR_LUKS_OFFSET));
	assert_null(blkalign_node_value(node, BLKALIGN_ATTR_SIZE));
	assert_int_equal(blkalign_graph_remarks(graph), 1);
}

/* What luksHeaderBackup writes, and a device that was cut off: the payload's offset is there, the payload is not. */
static void test_payload_beyond_the_end(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "luks2");
	image_resize(&image, 16777216);
	graph = graph_of_image(&image);
	assert_int_equal(blkalign_node_edge(node_of(graph, "luks:luks2.img"), 0)->lower_offset_bytes, BLKALIGN_UNKNOWN);
	assert_non_null(
		strstr(blkalign_graph_remark(graph, 0), "the LUKS payload begins at byte 16777216, and the device ends at byte 16777216"));
}

/* Files that qemu-img and gzip wrote: what they begin with. */
static void test_files_that_are_no_disk(void **state)
{
	static const struct {
		const char *head, *remark;
		size_t length, at;
	} rows[] = {
		{ "QFI\xfb\0\0\0\x03", "a file of format qcow2", 8, 0 },
		{ "KDMV\x01\0\0\0", "a file of format VMDK", 8, 0 },
		{ "vhdxfileQ\0E\0", "a file of format VHDX", 12, 0 },
		{ "conectix\0\0\0\x02", "a file of format dynamic VHD", 12, 0 },
		{ "\x7f\x10\xda\xbe\x01\0\x01\0", "a file of format VDI", 8, 64 },
		{ "\x1f\x8b\x08\x08", "gzip -dk", 4, 0 },
		{ "\xfd"
		  "7zXZ\0\0\x04",
		  "xz -dk", 8, 0 },
		{ "x", NULL, 1, 0 },
		{ "", "holds nothing: it is one hole", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_image_ struct image image;
		_cleanup_graph_ struct blkalign_graph *graph = NULL;

		image_new(&image, "file", 196608);
		image_put(&image, rows[i].at, rows[i].head, rows[i].length);
		graph = graph_of_image(&image);
		assert_int_equal(blkalign_graph_remarks(graph), rows[i].remark != NULL);
		if (rows[i].remark)
			assert_non_null(strstr(blkalign_graph_remark(graph, 0), rows[i].remark));
	}
}

static void test_empty_file(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_new(&image, "file", 0);
	graph = graph_of_image(&image);
	assert_string_equal(blkalign_graph_remark(graph, 0), "file.img: is empty: 0 bytes");
}

static void test_damaged_header_is_remarked(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *graph2 = NULL;

	(void)state;
	image_golden(&image, "luks2");
	image_put(&image, 5000, "x", 1);
	graph = graph_of_image(&image);
	assert_non_null(strstr(blkalign_graph_remark(graph, 0), "primary damaged, secondary ok"));
	node_of(graph, "luks:luks2.img");
	image_put(&image, 16384 + 5000, "x", 1);
	graph2 = graph_of_image(&image);
	assert_null(blkalign_graph_find(graph2, "luks:luks2.img"));
	assert_non_null(strstr(blkalign_graph_remark(graph2, 0), "wrong checksum"));
}

static void test_running_mapping_is_annotated(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_stack_ struct stack *stack = NULL;
	struct blkalign_graph *graph = graph_new("live");
	struct blkalign_node *disk, *mapping;

	(void)state;
	image_golden(&image, "luks1");
	assert_int_equal(stack_new(graph, NULL, &stack), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, "sda", image_open(&image), &disk), 0);
	assert_int_equal(graph_add(graph, BLKALIGN_KIND_CRYPT, "dm-0", &mapping), 0);
	assert_int_equal(
		graph_set_str(mapping, BLKALIGN_ATTR_DM_UUID, "CRYPT-LUKS1-00000000000040008000000000000001-x", BLKALIGN_ORIGIN_SYSFS), 0);
	assert_int_equal(graph_connect_linear(graph, mapping, disk, BLKALIGN_UNKNOWN, BLKALIGN_UNKNOWN), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	assert_null(graph_find(graph, "luks:sda"));
	assert_int_equal(blkalign_node_u64(mapping, BLKALIGN_ATTR_LUKS_OFFSET), 4096 * 512);
	assert_int_equal(blkalign_node_edges(mapping), 1);
	assert_int_equal(blkalign_node_edge(mapping, 0)->lower_offset_bytes, 4096 * 512);
}

static void test_bcache(void **state)
{
	_cleanup_image_ struct image image, inner;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	const struct blkalign_node *node;
	uint8_t sector[512];

	(void)state;
	image_golden(&image, "bcache-backing-offset");
	image_golden(&inner, "mbr-logical");
	image_get(&inner, 0, sector, sizeof(sector));
	image_put(&image, 2048 * 512, sector, sizeof(sector)); /* what the bcache device holds is looked at */
	graph = graph_of_image(&image);
	node = node_of(graph, "bcache:bcache-backing-offset.img");
	assert_int_equal(blkalign_node_kind(node), BLKALIGN_KIND_BCACHE);
	assert_int_equal(blkalign_node_edge(node, 0)->lower_offset_bytes, 2048 * 512);
	assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_SIZE), (64 << 20) - 2048 * 512);
	assert_int_equal(blkalign_node_u64(node, BLKALIGN_ATTR_DATA_OFFSET), 2048 * 512);
	assert_string_equal(blkalign_node_str(node, BLKALIGN_ATTR_TABLE_TYPE), "dos");
}

static void test_bcache_cache(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	const struct blkalign_node *node;

	(void)state;
	image_golden(&image, "bcache-cache");
	graph = graph_of_image(&image);
	node = node_of(graph, "bcache:bcache-cache.img");
	assert_int_equal(blkalign_node_edge(node, 0)->lower_offset_bytes, 512 * 512);
	assert_int_equal(blkalign_node_edge(node, 0)->length_bytes, 255 * 512 * 512);
}

static void test_bcache_beyond_the_device(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "bcache-backing-offset");
	image_resize(&image, 2048 * 512);
	graph = graph_of_image(&image);
	/* libblkid still names the signature: content, not a device. */
	assert_int_equal(blkalign_node_kind(node_of(graph, "bcache:bcache-backing-offset.img")), BLKALIGN_KIND_CONTENT);
	assert_non_null(strstr(blkalign_graph_remark(graph, 0), "beyond the end"));
}

/* A superblock every 8 KiB, each in the data of the one before. */
static void test_bcache_all_the_way_down(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	uint8_t super[4096];

	(void)state;
	image_golden(&image, "bcache-backing");
	image_get(&image, 4096, super, sizeof(super));
	for (uint64_t at = 4096; at < 1 << 20; at += 8192)
		image_put(&image, at, super, sizeof(super));
	graph = graph_of_image(&image);
	node_of(graph, "bcache:bcache-backing.img");
	assert_true(blkalign_graph_size(graph) < 5);
}

static void put(uint8_t *at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* A PV with one text of zeros that sixteen areas claim. */
static void claim_often(struct image *image, const char *name, char id, uint64_t text)
{
	static const uint8_t magic[] = "\x20LVM2 x[5A%r0N*>";
	const uint64_t area = 48 * MIB;
	_cleanup_free_ uint8_t *zeros = calloc(1, text);
	uint8_t label[512] = "LABELONE", header[512] = { 0 };

	assert_non_null(zeros);
	image_new(image, name, 64 * MIB);
	put(label + 8, 8, 1);
	put(label + 20, 4, 32);
	memcpy(label + 24, "LVM2 001", 8);
	memset(label + 32, id, 32);
	put(label + 64, 8, 64 * MIB);
	put(label + 72, 8, 60 * MIB);
	for (unsigned i = 0; i < 16; i++) {
		put(label + 104 + 16 * (size_t)i, 8, 4096);
		put(label + 112 + 16 * (size_t)i, 8, area);
	}
	put(label + 16, 4, crc32_raw(0xf597a6cf, label + 20, 492));
	image_put(image, 512, label, sizeof(label));
	memcpy(header + 4, magic, 16);
	put(header + 20, 4, 1);
	put(header + 24, 8, 4096);
	put(header + 32, 8, area);
	put(header + 40, 8, 512);
	put(header + 48, 8, text);
	put(header + 56, 4, crc32_raw(0xf597a6cf, zeros, text));
	put(header, 4, crc32_raw(0xf597a6cf, header + 4, 508));
	image_put(image, 4096, header, sizeof(header));
}

/* Texts of 30 MiB that thirty-two areas claim: read seventeen times, then the rest is refused, once and aloud. */
static void test_texts_claimed_often(void **state)
{
	_cleanup_image_ struct image first, second;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	const char *paths[] = { first.path, second.path };
	unsigned refused = 0;

	(void)state;
	claim_often(&first, "claims", 'A', 30 * MIB);
	claim_often(&second, "claims-too", 'B', 30 * MIB);
	assert_int_equal(blkalign_read_images(NULL, paths, 2, &graph, NULL), 0);
	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		refused += strstr(blkalign_graph_remark(graph, i), "more than 512 MiB of texts in all") != NULL;
	assert_int_equal(refused, 1);
	assert_int_equal(blkalign_graph_remarks(graph), 17 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_claimed_often),
		cmocka_unit_test(test_luks),
		cmocka_unit_test(test_detached),
		cmocka_unit_test(test_payload_beyond_the_end),
		cmocka_unit_test(test_files_that_are_no_disk),
		cmocka_unit_test(test_empty_file),
		cmocka_unit_test(test_damaged_header_is_remarked),
		cmocka_unit_test(test_running_mapping_is_annotated),
		cmocka_unit_test(test_bcache),
		cmocka_unit_test(test_bcache_cache),
		cmocka_unit_test(test_bcache_beyond_the_device),
		cmocka_unit_test(test_bcache_all_the_way_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
