/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From whole images to graphs: which table is believed, in which unit, and what is said about it. */
#include <zlib.h>

#include "table_bench.h"

static void test_mbr(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "mbr-logical");
	graph = graph_of_image(&image, 512);
	expect_str(graph, "mbr-logical.img", BLKALIGN_ATTR_TABLE_TYPE, "dos");
	expect_str(graph, "mbr-logical.img", BLKALIGN_ATTR_TABLE_STATE, "ok");
	expect_str(graph, "mbr-logical.img", BLKALIGN_ATTR_TABLE_ID, "1badf00d");
	assert_null(blkalign_node_str(node_of(graph, "mbr-logical.img"), BLKALIGN_ATTR_TABLE_NOTE));
	expect_part(graph, "mbr-logical.img1", 2048 * 512, 16384 * 512, "data");
	expect_part(graph, "mbr-logical.img3", 26624 * 512, 102400 * 512, "extended");
	expect_part(graph, "mbr-logical.img6", 51200 * 512, 20480 * 512, "data");
	expect_str(graph, "mbr-logical.img6", BLKALIGN_ATTR_PART_TYPE, "0x8e");
	expect_str(graph, "mbr-logical.img6", BLKALIGN_ATTR_PART_ID, "1badf00d-06");
	assert_ptr_equal(blkalign_node_edge(node_of(graph, "mbr-logical.img6"), 0)->lower, node_of(graph, "mbr-logical.img"));
	assert_int_equal(blkalign_graph_remarks(graph), 0);
}

static void test_gpt(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "gpt-512");
	graph = graph_of_image(&image, 512);
	expect_str(graph, "gpt-512.img", BLKALIGN_ATTR_TABLE_TYPE, "gpt");
	expect_str(graph, "gpt-512.img", BLKALIGN_ATTR_TABLE_STATE, "ok");
	assert_int_equal(blkalign_node_u64(node_of(graph, "gpt-512.img"), BLKALIGN_ATTR_TABLE_FIRST_USABLE), 34 * 512);
	assert_int_equal(blkalign_node_u64(node_of(graph, "gpt-512.img"), BLKALIGN_ATTR_TABLE_UNIT), 512);
	expect_part(graph, "gpt-512.img1", 34 * 512, 2014 * 512, "bios-boot");
	expect_part(graph, "gpt-512.img2", 2048 * 512, 16384 * 512, "esp");
	expect_part(graph, "gpt-512.img3", 18432 * 512, 16384 * 512, "msr");
	expect_part(graph, "gpt-512.img5", 34816 * 512, 65185 * 512, "data");
	expect_str(graph, "gpt-512.img5", BLKALIGN_ATTR_PART_NAME, "Dätä 🖴");
}

static void test_gpt_wrong_unit(void **state)
{
	static const struct {
		const char *image;
		uint64_t logical, unit, start;
	} cases[] = { { "gpt-4096", 512, 4096, 256 * 4096 }, { "gpt-512", 4096, 512, 34 * 512 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_image_ struct image image;
		_cleanup_graph_ struct blkalign_graph *graph = NULL;
		char disk[64], part[65];

		image_golden(&image, cases[i].image);
		graph = graph_of_image(&image, cases[i].logical);
		snprintf(disk, sizeof(disk), "%s.img", cases[i].image);
		snprintf(part, sizeof(part), "%s1", disk);
		expect_str(graph, disk, BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
		expect_note(graph, disk, "header and entry checksums agree");
		assert_int_equal(blkalign_node_u64(node_of(graph, disk), BLKALIGN_ATTR_TABLE_UNIT), cases[i].unit);
		assert_int_equal(blkalign_node_edge(node_of(graph, part), 0)->lower_offset_bytes, cases[i].start);
		assert_int_equal(blkalign_graph_remarks(graph), 1);
	}
}

static void test_gpt_in_its_unit_is_right(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "gpt-4096");
	graph = graph_of_image(&image, 4096);
	expect_str(graph, "gpt-4096.img", BLKALIGN_ATTR_TABLE_STATE, "ok");
}

static void test_camera_card(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "mbr-2048");
	graph = graph_of_image(&image, 512);
	expect_str(graph, "mbr-2048.img", BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
	assert_int_equal(blkalign_node_u64(node_of(graph, "mbr-2048.img"), BLKALIGN_ATTR_TABLE_UNIT), 2048);
	expect_note(graph, "mbr-2048.img", "that vfat counts in sectors of 2048 bytes");
	expect_note(graph, "mbr-2048.img", "ends exactly at the end of the device");
	expect_part(graph, "mbr-2048.img1", 16 * 2048, UINT64_C(15646704) * 2048, "data");
}

static void test_disk_out_of_its_enclosure(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "mbr-4096");
	graph = graph_of_image(&image, 512);
	expect_str(graph, "mbr-4096.img", BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
	expect_note(graph, "mbr-4096.img", "partition 3 starts with ext4 at byte 1000449507328");
	expect_part(graph, "mbr-4096.img3", UINT64_C(1000449507328), UINT64_C(366210816) * 4096, "data");
	expect_part(graph, "mbr-4096.img4", UINT64_C(2500449009664), UINT64_C(366293248) * 4096, "data");
}

/* Without a superblock anywhere: only the fit tells. */
static void test_proof_by_the_end(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *native = NULL;

	(void)state;
	image_golden(&image, "mbr-512-on-4096");
	graph = graph_of_image(&image, 4096);
	expect_str(graph, "mbr-512-on-4096.img", BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
	expect_note(graph, "mbr-512-on-4096.img", "beyond the end of the device");
	expect_part(graph, "mbr-512-on-4096.img1", 2048 * 512, UINT64_C(20969472) * 512, "data");
	native = graph_of_image(&image, 512);
	expect_str(native, "mbr-512-on-4096.img", BLKALIGN_ATTR_TABLE_STATE, "ok");
}

/* Logical partitions are found in one unit only. */
static void test_proof_by_the_chain(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "mbr-logical");
	graph = graph_of_image(&image, 4096);
	expect_str(graph, "mbr-logical.img", BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
	expect_note(graph, "mbr-logical.img", "extended boot records are found in blocks of 512 bytes");
	expect_part(graph, "mbr-logical.img7", 73728 * 512, 20480 * 512, "data");
}

/* A partition of exactly a quarter of the disk is no proof of 2048-byte blocks, and neither is one that fits nowhere. */
static void test_no_proof_no_unit(void **state)
{
	static const uint32_t quarter[][3] = { { 2048, 30720, 0x83 } }, far[][3] = { { 2048, 0xf0000000, 0x83 } };
	_cleanup_image_ struct image image, image2;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *graph2 = NULL;

	(void)state;
	image_new(&image, "quarter", SIZE_64M);
	put_mbr(&image, 0, quarter, 1);
	graph = graph_of_image(&image, 512);
	expect_str(graph, "quarter.img", BLKALIGN_ATTR_TABLE_STATE, "ok");
	expect_part(graph, "quarter.img1", 2048 * 512, 30720 * 512, "data");
	image_new(&image2, "far", SIZE_64M);
	put_mbr(&image2, 0, far, 1);
	graph2 = graph_of_image(&image2, 512);
	expect_str(graph2, "far.img", BLKALIGN_ATTR_TABLE_STATE, "beyond-device");
	expect_part(graph2, "far.img1", 2048 * 512, SIZE_64M - 2048 * 512, "data");
	expect_note(graph2, "far.img", "but the device ends at byte 67108864");
}

/* The golden FAT's boot sector with sectors of 512 bytes and a size of `sectors`, at `offset`. */
static void put_fat(struct image *image, uint64_t offset, uint32_t sectors)
{
	_cleanup_image_ struct image fat;
	uint8_t sector[512];

	image_golden(&fat, "boot-fat");
	image_get(&fat, 0, sector, sizeof(sector));
	for (unsigned i = 0; i < 4; i++)
		sector[32 + i] = (uint8_t)(sectors >> 8 * i);
	image_put(image, offset, sector, sizeof(sector));
}

/* What an earlier partition at 2 MiB left behind does not make the new one at 1 MiB a table in 1024-byte blocks; a file system of just its size does. */
static void test_leftover_superblock_is_no_proof(void **state)
{
	static const uint32_t rows[][3] = { { 2048, 40960, 0x0c } };
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *graph2 = NULL;

	(void)state;
	image_new(&image, "leftover", SIZE_64M);
	put_mbr(&image, 0, rows, 1);
	put_fat(&image, 2048 * 1024, 126976);
	graph = graph_of_image(&image, 512);
	expect_str(graph, "leftover.img", BLKALIGN_ATTR_TABLE_STATE, "ok");
	put_fat(&image, 2048 * 1024, 40960 * 2);
	graph2 = graph_of_image(&image, 512);
	expect_str(graph2, "leftover.img", BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
	expect_note(graph2, "leftover.img", "fits the partition only in blocks of 1024 bytes");
}

static void test_overlap_and_empty(void **state)
{
	static const uint32_t rows[][3] = { { 2048, 4096, 0x83 }, { 4096, 4096, 0x83 }, { 9000, 0, 0x83 }, { 200000, 10, 0x83 } };
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_new(&image, "odd", SIZE_64M);
	put_mbr(&image, 0, rows, ARRAY_SIZE(rows));
	graph = graph_of_image(&image, 512);
	expect_note(graph, "odd.img", "partitions 1 and 2 overlap");
	expect_note(graph, "odd.img", "entry 4 covers");
	assert_null(blkalign_graph_find(graph, "odd.img3"));
	assert_null(blkalign_graph_find(graph, "odd.img4"));
}

static void test_boot_sector_is_no_table(void **state)
{
	static const char *const names[] = { "boot-fat", "boot-ntfs" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_image_ struct image image;
		_cleanup_graph_ struct blkalign_graph *graph = NULL;
		char disk[32];

		image_golden(&image, names[i]);
		graph = graph_of_image(&image, 512);
		snprintf(disk, sizeof(disk), "%s.img", names[i]);
		assert_null(blkalign_node_str(node_of(graph, disk), BLKALIGN_ATTR_TABLE_TYPE));
	}
}

static void test_lost_last_sector(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "gpt-4tb");
	image_resize(&image, UINT64_C(7814037167) * 512);
	graph = graph_of_image(&image, 512);
	expect_str(graph, "gpt-4tb.img", BLKALIGN_ATTR_TABLE_STATE, "backup-missing");
	expect_note(graph, "gpt-4tb.img", "its last 512 bytes (1 sectors of 512 bytes) are not there");
	expect_part(graph, "gpt-4tb.img1", 34 * 512, 262144 * 512, "msr");
	expect_part(graph, "gpt-4tb.img2", 264192 * 512, UINT64_C(7813771264) * 512, "data");
}

static void test_damaged_copies(void **state)
{
	_cleanup_image_ struct image image, image2;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *graph2 = NULL;

	(void)state;
	image_golden(&image, "gpt-512");
	image_put(&image, 512 + 40, "x", 1);
	graph = graph_of_image(&image, 512);
	expect_str(graph, "gpt-512.img", BLKALIGN_ATTR_TABLE_STATE, "primary-damaged");
	expect_note(graph, "gpt-512.img", "the backup at byte 67108352 is used");
	expect_part(graph, "gpt-512.img2", 2048 * 512, 16384 * 512, "esp");
	image_put(&image, SIZE_64M - 512, "x", 1);
	graph2 = graph_of_image(&image, 512);
	expect_note(graph2, "gpt-512.img", "neither copy is valid");
	assert_null(blkalign_graph_find(graph2, "gpt-512.img1"));
	image_golden(&image2, "gpt-512");
	image_put(&image2, SIZE_64M - 512 + 40, "x", 1);
	blkalign_graph_free(graph);
	graph = graph_of_image(&image2, 512);
	expect_str(graph, "gpt-512.img", BLKALIGN_ATTR_TABLE_STATE, "backup-damaged");
}

static void test_hybrid(void **state)
{
	static const uint32_t contradicting[][3] = { { 1, 2047, 0xee }, { 50000, 1000, 0x83 } };
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *graph2 = NULL;

	(void)state;
	image_golden(&image, "gpt-hybrid");
	graph = graph_of_image(&image, 512);
	expect_str(graph, "gpt-hybrid.img", BLKALIGN_ATTR_TABLE_TYPE, "gpt");
	expect_note(graph, "gpt-hybrid.img", "repeats a GPT partition");
	expect_part(graph, "gpt-hybrid.img2", 34816 * 512, 65185 * 512, "data");
	put_mbr(&image, 0, contradicting, 2);
	graph2 = graph_of_image(&image, 512);
	expect_note(graph2, "gpt-hybrid.img", "is no partition of the GPT");
}

/* No protective entry: the GPT is a leftover for the kernel, and for us. */
static void test_leftover_gpt(void **state)
{
	static const uint32_t rows[][3] = { { 2048, 4096, 0x83 } };
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "gpt-512");
	put_mbr(&image, 0, rows, 1);
	graph = graph_of_image(&image, 512);
	expect_str(graph, "gpt-512.img", BLKALIGN_ATTR_TABLE_TYPE, "dos");
	assert_null(blkalign_graph_find(graph, "gpt-512.img2"));
	assert_non_null(strstr(blkalign_graph_remark(graph, 0), "no protective MBR announces"));
}

/* The first MiB is zeros: the backup still tells what was there, unless something new is. */
static void test_start_overwritten(void **state)
{
	static const uint8_t zeros[20480];
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *graph2 = NULL;
	uint8_t swap[4096] = { 0 };

	(void)state;
	image_golden(&image, "gpt-512");
	image_put(&image, 0, zeros, sizeof(zeros));
	graph = graph_of_image(&image, 512);
	assert_int_equal(blkalign_graph_remarks(graph), 1);
	assert_non_null(strstr(blkalign_graph_remark(graph, 0), "a valid backup GPT with 4 partitions lies at byte 67108352"));
	swap[1024] = 1;
	swap[1028] = 100;
	memcpy(swap + 4086, "SWAPSPACE2", 10);
	image_put(&image, 0, swap, sizeof(swap));
	graph2 = graph_of_image(&image, 512);
	assert_non_null(blkalign_graph_find(graph2, "swap:gpt-512.img"));
	assert_int_equal(blkalign_graph_remarks(graph2), 0);
}

/* Cut off in the middle of the last partition: that its backup is gone as well is the lesser news. */
static void test_cut_off(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "gpt-512");
	image_resize(&image, 100000 * 512 - 1048576);
	graph = graph_of_image(&image, 512);
	expect_str(graph, "gpt-512.img", BLKALIGN_ATTR_TABLE_STATE, "beyond-device");
	assert_non_null(strstr(blkalign_node_str(blkalign_graph_find(graph, "gpt-512.img"), BLKALIGN_ATTR_TABLE_NOTE),
			       "the backup header belongs at"));
}

/* A disk image written to a partition is a table; the boot sector of a file system in a partition is none. */
static void test_nested(void **state)
{
	static const uint32_t outer[][3] = { { 2048, 100000, 0x83 } };
	_cleanup_image_ struct image image, inner;
	_cleanup_graph_ struct blkalign_graph *graph = NULL, *graph2 = NULL;
	_cleanup_free_ uint8_t *bytes = malloc(20 << 10);

	(void)state;
	image_new(&image, "outer", SIZE_64M);
	put_mbr(&image, 0, outer, 1);
	image_golden(&inner, "gpt-512");
	image_get(&inner, 0, bytes, 20 << 10);
	image_put(&image, 2048 * 512, bytes, 20 << 10);
	graph = graph_of_image(&image, 512);
	expect_part(graph, "outer.img1p2", 2048 * 512, 16384 * 512, "esp");
	assert_ptr_equal(blkalign_node_edge(node_of(graph, "outer.img1p2"), 0)->lower, node_of(graph, "outer.img1"));
	memset(bytes, 0, 20 << 10);
	image_put(&image, 2048 * 512, bytes, 20 << 10);
	put_mbr(&image, 2048 * 512, (const uint32_t[][3]){ { 2048, 4096, 0x83 } }, 1); /* nothing known where it says */
	graph2 = graph_of_image(&image, 512);
	assert_null(blkalign_node_str(node_of(graph2, "outer.img1"), BLKALIGN_ATTR_TABLE_TYPE));
}

/* Four entries over one another, each holding the same table again: the depth is bounded. */
static void test_tables_all_the_way_down(void **state)
{
	static const uint32_t self[][3] = { { 0, 131072, 0x83 }, { 0, 131071, 0x83 }, { 0, 131070, 0x83 }, { 0, 131069, 0x83 } };
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_new(&image, "deep", SIZE_64M);
	put_mbr(&image, 0, self, ARRAY_SIZE(self));
	graph = graph_of_image(&image, 512);
	assert_int_equal(blkalign_graph_size(graph), 5);
}

static void mend_gpt(uint8_t *header, const uint8_t *entries, size_t bytes)
{
	uint32_t crc = (uint32_t)crc32(0, entries, (uInt)bytes);

	for (unsigned i = 0; i < 4; i++)
		header[88 + i] = (uint8_t)(crc >> 8 * i);
	memset(header + 16, 0, 4);
	crc = (uint32_t)crc32(0, header, 92);
	for (unsigned i = 0; i < 4; i++)
		header[16 + i] = (uint8_t)(crc >> 8 * i);
}

/* A table with 2,000 used entries: 256 become nodes, the note stays short. */
static void test_many_entries(void **state)
{
	size_t bytes = 2000 * 128;
	_cleanup_image_ struct image image;
	_cleanup_free_ uint8_t *entries = calloc(1, bytes);
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	uint8_t header[512];

	(void)state;
	image_golden(&image, "gpt-512");
	image_get(&image, 512, header, sizeof(header));
	for (size_t i = 0; i < 2000; i++) {
		uint64_t lba = 2048 + i * 8;

		entries[i * 128] = 1;
		for (unsigned b = 0; b < 8; b++) {
			entries[i * 128 + 32 + b] = (uint8_t)(lba >> 8 * b);
			entries[i * 128 + 40 + b] = (uint8_t)((lba + 7) >> 8 * b);
		}
	}
	header[80] = 2000 & 0xff;
	header[81] = 2000 >> 8;
	mend_gpt(header, entries, bytes);
	image_put(&image, 512, header, sizeof(header));
	image_put(&image, 1024, entries, bytes);
	graph = graph_of_image(&image, 512);
	assert_int_equal(blkalign_graph_size(graph), 257);
	expect_note(graph, "gpt-512.img", "1736 more entries are odd");
	assert_true(strlen(blkalign_node_str(node_of(graph, "gpt-512.img"), BLKALIGN_ATTR_TABLE_NOTE)) < 1000);
}

/* Only the backup of a table in the other unit is left. */
static void test_backup_in_the_other_unit(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;

	(void)state;
	image_golden(&image, "gpt-4096");
	image_put(&image, 4096, "x", 1);
	graph = graph_of_image(&image, 512);
	expect_str(graph, "gpt-4096.img", BLKALIGN_ATTR_TABLE_STATE, "wrong-unit");
	expect_note(graph, "gpt-4096.img", "the backup at byte 67104768 is used");
	expect_part(graph, "gpt-4096.img1", 256 * 4096, 7936 * 4096, "data");
}

/* A partition over the table itself. */
static void test_partition_before_the_first_usable(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_graph_ struct blkalign_graph *graph = NULL;
	uint8_t header[512], entries[16384];

	(void)state;
	image_golden(&image, "gpt-512");
	image_get(&image, 512, header, sizeof(header));
	image_get(&image, 1024, entries, sizeof(entries));
	entries[32] = 1; /* first LBA of entry 1 */
	mend_gpt(header, entries, sizeof(entries));
	image_put(&image, 512, header, sizeof(header));
	image_put(&image, 1024, entries, sizeof(entries));
	graph = graph_of_image(&image, 512);
	expect_note(graph, "gpt-512.img", "partition 1 starts at byte 512, before the first usable byte 17408");
	expect_note(graph, "gpt-512.img", "describe different tables");
}

static void test_unreadable_first_sector(void **state)
{
	_cleanup_image_ struct image image;
	_cleanup_stack_ struct stack *stack = NULL;
	_cleanup_dev_ struct dev *below = NULL;
	struct blkalign_graph *graph = graph_new("images");
	struct blkalign_node *disk;
	struct dev *bad;

	(void)state;
	image_golden(&image, "gpt-512");
	below = image_open(&image);
	assert_int_equal(dev_open_fault(below, 0, 512, -EIO, &bad), 0);
	assert_int_equal(stack_new(graph, NULL, &stack), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, "sda", bad, &disk), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	expect_part(graph, "sda2", 2048 * 512, 16384 * 512, "esp");
	assert_true(blkalign_graph_remarks(graph) > 0);
	stack_free(stack);
	stack = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mbr),
		cmocka_unit_test(test_gpt),
		cmocka_unit_test(test_gpt_wrong_unit),
		cmocka_unit_test(test_gpt_in_its_unit_is_right),
		cmocka_unit_test(test_camera_card),
		cmocka_unit_test(test_disk_out_of_its_enclosure),
		cmocka_unit_test(test_proof_by_the_end),
		cmocka_unit_test(test_proof_by_the_chain),
		cmocka_unit_test(test_no_proof_no_unit),
		cmocka_unit_test(test_leftover_superblock_is_no_proof),
		cmocka_unit_test(test_overlap_and_empty),
		cmocka_unit_test(test_boot_sector_is_no_table),
		cmocka_unit_test(test_lost_last_sector),
		cmocka_unit_test(test_damaged_copies),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_leftover_gpt),
		cmocka_unit_test(test_start_overwritten),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_tables_all_the_way_down),
		cmocka_unit_test(test_many_entries),
		cmocka_unit_test(test_backup_in_the_other_unit),
		cmocka_unit_test(test_partition_before_the_first_usable),
		cmocka_unit_test(test_unreadable_first_sector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
