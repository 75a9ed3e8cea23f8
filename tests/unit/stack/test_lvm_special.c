/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thin volumes, snapshots, cached volumes and mirrors as a real kernel left them, with their records changed on the way: what is told, what is refused, and that the
 * rest reads as before.
 */
#include "golden.h"

#include <inttypes.h>

#include "format/thin/thin.h"
#include "lvm2_image.h"
#include "pdata_image.h"

/* Where the kernel's tables put them: case.txt. */
#define TMETA	    (UINT64_C(22528) * 512)
#define TMETA_BYTES (UINT64_C(4096) * 512)
#define SNAP_COW    (UINT64_C(10240) * 512)
#define SNAP32_COW  (UINT64_C(18432) * 512)
#define CMETA	    (UINT64_C(34816) * 512)
#define MLOG	    (UINT64_C(2048) * 512)
#define MD_LEG	    (UINT64_C(8192) * 512)
#define MC_LEG	    (UINT64_C(2048) * 512)
#define REGION	    65536U

static const struct blkalign_node *node(const struct golden *g, const char *name)
{
	const struct blkalign_node *n = blkalign_graph_find(stack_graph(g->stack), name);

	if (n)
		return n;
	fail_msg("%s: no node %s", g->path, name);
	abort();
}

/* As the kernel read `like` (or the volume itself). */
static void reads_like(const struct golden *g, const char *name, const char *like)
{
	char key[32], found[65], full[32];
	const char *line;
	struct dev *dev;

	snprintf(key, sizeof(key), "\nlv: %s ", like);
	line = strstr(g->text, key);
	assert_non_null(line);
	line = strchr(line + strlen(key), ' ') + 1;
	snprintf(full, sizeof(full), "vg/%s", name);
	dev = stack_dev(g->stack, node(g, full));
	if (!dev)
		fail_msg("%s: %s cannot be read", g->path, name);
	golden_sha256(dev, found);
	if (strncmp(found, line, 64) != 0)
		fail_msg("%s: %s does not read as %s", g->path, name, like);
}

static void reads(const struct golden *g, const char *name) { reads_like(g, name, name); }

static bool remarked(const struct golden *g, const char *text)
{
	for (size_t i = 0; i < blkalign_graph_remarks(stack_graph(g->stack)); i++)
		if (strstr(blkalign_graph_remark(stack_graph(g->stack), i), text))
			return true;
	return false;
}

static void cannot_be_read(const struct golden *g, const char *name, const char *why)
{
	assert_null(stack_dev(g->stack, node(g, name)));
	if (!remarked(g, why))
		fail_msg("%s is not said to be unreadable because: %s", name, why);
}

static uint64_t fact(const struct golden *g, const char *name, enum blkalign_attr attr) { return blkalign_node_u64(node(g, name), attr); }

static void get_block(const struct golden *g, unsigned image, uint64_t at, uint8_t *block, size_t length)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/m%u.img", g->path, image);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
	assert_int_equal(fread(block, 1, length, f), length);
	fclose(f);
}

/* A field of a metadata block, the checksum made right. */
static void patch_block(const struct golden *g, uint64_t block_at, size_t at, uint64_t value, unsigned bytes, uint32_t salt)
{
	uint8_t block[PDATA_BLOCK_BYTES];

	get_block(g, 0, block_at, block, sizeof(block));
	put_le(block + at, value, bytes);
	seal(block, salt);
	golden_patch(g, 0, block_at, block, sizeof(block));
}

/* --- thin --- */

static void test_thin_facts(void **state)
{
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-thin");
	golden_assemble(&g);
	assert_int_equal(fact(&g, "vg/pool", BLKALIGN_ATTR_POOL_NEEDS_CHECK), 0);
	assert_int_equal(fact(&g, "vg/pool", BLKALIGN_ATTR_POOL_TRANSACTION), 3);
	assert_int_equal(fact(&g, "vg/pool", BLKALIGN_ATTR_POOL_TRANSACTION_TEXT), 3);
	assert_int_equal(fact(&g, "vg/pool", BLKALIGN_ATTR_POOL_BLOCK), 65536);
	/* thin_dump.xml: blocks 0 to 92 of 128 */
	assert_int_equal(fact(&g, "vg/pool", BLKALIGN_ATTR_POOL_USED), 93 * 65536);
	assert_int_equal(fact(&g, "vg/pool", BLKALIGN_ATTR_POOL_USED_PERCENT), 72);
	assert_int_equal(fact(&g, "vg/t1", BLKALIGN_ATTR_THIN_MAPPED), 23 * 65536);
	assert_int_equal(fact(&g, "vg/ts", BLKALIGN_ATTR_THIN_MAPPED), 24 * 65536);
	assert_int_equal(fact(&g, "vg/t2", BLKALIGN_ATTR_THIN_MAPPED), 64 * 65536);
	assert_int_equal(blkalign_graph_remarks(stack_graph(g.stack)), 0);
	assert_null(stack_dev(g.stack, node(&g, "vg/pool")));
	golden_disassemble(&g);
	patch_block(&g, TMETA, 4, 1, 4, SALT_THIN);
	golden_assemble(&g);
	assert_int_equal(fact(&g, "vg/pool", BLKALIGN_ATTR_POOL_NEEDS_CHECK), 1);
	reads(&g, "t1");
	reads(&g, "ts");
	golden_disassemble(&g);
	/* One more block in use than the map of used blocks has. */
	patch_block(&g, TMETA, 72, 94, 8, SALT_THIN);
	golden_assemble(&g);
	assert_true(remarked(&g, "94 blocks are in use by the pool's superblock, 93 by its map"));
	reads(&g, "t1");
	golden_close(&g);
}

static void test_thin_out_of_step(void **state)
{
	static const struct stack_running force = { .force = true };
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-thin");
	patch_block(&g, TMETA, 48, 9, 8, SALT_THIN);
	golden_assemble(&g);
	cannot_be_read(&g, "vg/t1", "vg/t1: cannot be read: its pool cannot be read");
	assert_true(remarked(&g, "its metadata is at transaction 9, but the volume group's text at 3"));
	golden_disassemble(&g);
	golden_assemble_as(&g, 0, &force);
	reads(&g, "t1");
	golden_disassemble(&g);
	/* The text is written before the pool is told. */
	patch_block(&g, TMETA, 48, 2, 8, SALT_THIN);
	golden_assemble(&g);
	reads(&g, "t1");
	reads(&g, "t2");
	golden_close(&g);
}

static uint64_t root_of(const struct golden *g, uint32_t device_id)
{
	static uint8_t meta[TMETA_BYTES];
	struct thin_device device;
	struct thin_pool pool;
	struct dev *dev;

	get_block(g, 0, TMETA, meta, sizeof(meta));
	assert_int_equal(dev_open_memory("meta", meta, sizeof(meta), false, &dev), 0);
	assert_int_equal(thin_pool_read(dev, &pool, NULL), 0);
	assert_int_equal(thin_find_device(&pool, device_id, &device, NULL), 0);
	thin_pool_done(&pool);
	dev_close(dev);
	return device.mapping_root;
}

static void test_thin_damaged(void **state)
{
	struct golden g;
	struct blkalign_error err = { 0 };
	uint8_t buffer[512], byte = 0xff;
	struct dev *dev;

	(void)state;
	golden_open(&g, "lvm-thin");
	golden_patch(&g, 0, TMETA + root_of(&g, 3) * PDATA_BLOCK_BYTES + 2000, &byte, 1);
	golden_assemble(&g);
	reads(&g, "t1");
	reads(&g, "ts");
	dev = stack_dev(g.stack, node(&g, "vg/t2"));
	assert_non_null(dev);
	assert_int_equal(dev_read(dev, 0, buffer, sizeof(buffer), &err), -EIO);
	assert_non_null(strstr(err.message, "where it lies cannot be read: tree node at metadata block"));
	assert_non_null(strstr(err.message, "checksum"));
	golden_close(&g);
	golden_open(&g, "lvm-thin");
	patch_block(&g, TMETA + root_of(&g, 3) * PDATA_BLOCK_BYTES, 32 + 252 * 8, UINT64_C(128) << 24, 8, PDATA_SALT_NODE);
	golden_assemble(&g);
	dev = stack_dev(g.stack, node(&g, "vg/t2"));
	assert_int_equal(dev_read(dev, 0, buffer, sizeof(buffer), &err), -EIO);
	assert_non_null(strstr(err.message, "behind the end of the pool's data"));
	assert_int_equal(dev_read(dev, 65536, buffer, sizeof(buffer), &err), 0);
	reads(&g, "t1");
	golden_disassemble(&g);
	golden_patch(&g, 0, TMETA + 32, &byte, 1);
	golden_assemble(&g);
	cannot_be_read(&g, "vg/t1", "vg/pool: cannot be read: its metadata volume holds no thin pool metadata");
	golden_close(&g);
}

/* --- snapshots --- */

static void test_snapshot_lost(void **state)
{
	static const uint8_t zero[4];
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-snapshot");
	golden_assemble(&g);
	assert_int_equal(fact(&g, "vg/snap", BLKALIGN_ATTR_SNAPSHOT_INVALID), 0);
	assert_int_equal(fact(&g, "vg/snap", BLKALIGN_ATTR_SNAPSHOT_CHUNK), 4096);
	assert_int_equal(fact(&g, "vg/snap32", BLKALIGN_ATTR_SNAPSHOT_CHUNK), 32768);
	golden_disassemble(&g);
	golden_patch(&g, 0, SNAP_COW + 4, zero, 4);
	golden_assemble(&g);
	cannot_be_read(&g, "vg/snap", "vg/snap: cannot be read: the snapshot ran full or failed, and its content is lost");
	assert_int_equal(fact(&g, "vg/snap", BLKALIGN_ATTR_SNAPSHOT_INVALID), 1);
	reads(&g, "org");
	reads(&g, "snap32");
	golden_disassemble(&g);
	golden_patch(&g, 0, SNAP32_COW + 8, zero, 4);
	golden_assemble(&g);
	cannot_be_read(&g, "vg/snap32", "vg/snap32: cannot be read: snapshot store: a version that is not known (0)");
	reads(&g, "org");
	golden_close(&g);
}

/* The text with "cow_store" of snap made "merging_store", at the cost of another key. */
static void start_merging(struct golden *g)
{
	static uint8_t header[512], raw[64 * KIB];
	size_t length;
	uint64_t offset;
	char *text = (char *)raw, *merging;

	golden_open(g, "lvm-snapshot");
	get_block(g, 0, 4096, header, sizeof(header));
	offset = load_le64(header + 40);
	length = load_le64(header + 48);
	assert_true(length < sizeof(raw));
	get_block(g, 0, 4096 + offset, raw, length);
	merging = image_edit(text, NULL, "cow_store = \"snap\"", "merging_store = \"snap\"");
	text = image_edit(merging, NULL, "creation_host", "host     ");
	free(merging);
	assert_int_equal(strlen(text) + 1, length);
	golden_patch(g, 0, 4096 + offset, text, length);
	put_le(header + 56, crc32_raw(IMAGE_CRC_SEED, text, length), 4);
	put_le(header, crc32_raw(IMAGE_CRC_SEED, header + 4, 508), 4);
	golden_patch(g, 0, 4096, header, sizeof(header));
	free(text);
}

static void test_merging(void **state)
{
	static const uint8_t zero[4];
	static const struct stack_running force = { .force = true };
	struct golden g;

	(void)state;
	start_merging(&g);
	golden_assemble(&g);
	reads_like(&g, "org", "snap");
	assert_null(stack_dev(g.stack, node(&g, "vg/snap")));
	reads(&g, "snap32");
	golden_disassemble(&g);
	golden_patch(&g, 0, SNAP_COW + 4, zero, 4);
	golden_assemble(&g);
	cannot_be_read(&g, "vg/org", "vg/org: cannot be read: the snapshot that is being merged into it ran full or failed");
	assert_int_equal(fact(&g, "vg/org", BLKALIGN_ATTR_SNAPSHOT_INVALID), 1);
	reads(&g, "snap32");
	golden_disassemble(&g);
	golden_assemble_as(&g, 0, &force);
	reads(&g, "org");
	golden_close(&g);
}

/* --- cache --- */

static void test_cache(void **state)
{
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-cache");
	golden_assemble(&g);
	/* dmsetup status: 3 dirty blocks of 64 sectors */
	assert_int_equal(fact(&g, "vg/org", BLKALIGN_ATTR_CACHE_DIRTY), 3 * 32768);
	assert_int_equal(fact(&g, "vg/org", BLKALIGN_ATTR_CACHE_UNCLEAN), 0);
	golden_disassemble(&g);
	patch_block(&g, CMETA, 4, 0, 4, SALT_CACHE);
	golden_assemble(&g);
	assert_int_equal(fact(&g, "vg/org", BLKALIGN_ATTR_CACHE_UNCLEAN), 1);
	reads(&g, "org");
	golden_disassemble(&g);
	patch_block(&g, CMETA, 192, 1, 8, SALT_CACHE);
	golden_assemble(&g);
	cannot_be_read(&g, "vg/org", "vg/org: cannot be read: ");
	assert_non_null(stack_dev(g.stack, node(&g, "m0.img")));
	golden_close(&g);
}

/* --- mirrors --- */

static void test_mirror_legs(void **state)
{
	static const uint8_t bits = 0xfb; /* region 2 is not in sync */
	struct blkalign_error err = { 0 };
	struct golden g;
	uint8_t buffer[512];
	struct dev *dev;

	(void)state;
	golden_open(&g, "lvm-mirror");
	for (unsigned without = 0; without < 3; without++) {
		golden_assemble_as(&g, without, NULL);
		reads(&g, "mc");
		reads(&g, "md");
		golden_disassemble(&g);
	}
	golden_patch(&g, 2, MLOG + 1024, &bits, 1);
	golden_assemble_as(&g, 2, NULL);
	reads(&g, "md");
	golden_disassemble(&g);
	golden_assemble_as(&g, 1, NULL);
	dev = stack_dev(g.stack, node(&g, "vg/md"));
	assert_int_equal(dev_read(dev, 2 * REGION - 512, buffer, 512, NULL), 0);
	assert_int_equal(dev_read(dev, 2 * REGION, buffer, 512, &err), -EIO);
	assert_int_equal(dev_read(dev, 3 * REGION - 512, buffer, 512, NULL), -EIO);
	assert_int_equal(dev_read(dev, 3 * REGION, buffer, 512, NULL), 0);
	assert_true(remarked(&g, "vg/mc: its first leg is missing"));
	golden_disassemble(&g);
	/* Without its log only the first leg counts. */
	golden_assemble_as(&g, 4 + 1, NULL);
	dev = stack_dev(g.stack, node(&g, "vg/md"));
	assert_int_equal(dev_read(dev, 0, buffer, 512, NULL), -EIO);
	golden_disassemble(&g);
	golden_assemble_as(&g, 4, NULL);
	reads(&g, "md");
	golden_close(&g);
}

static void test_mirror_written(void **state)
{
	static const struct stack_running rw = { .writable = true };
	struct blkalign_error err = { 0 };
	uint8_t ones[4096], got[4096], bits[6];
	struct golden g;

	(void)state;
	memset(ones, 0xa5, sizeof(ones));
	golden_open(&g, "lvm-mirror");
	golden_assemble_as(&g, 0, &rw);
	assert_null(stack_read_only_because(g.stack, node(&g, "vg/md")));
	/* Across the border of regions 4 and 5. */
	assert_int_equal(dev_write(stack_dev(g.stack, node(&g, "vg/md")), 5 * REGION - 2048, ones, sizeof(ones), &err), 0);
	get_block(&g, 2, MLOG + 1024, bits, sizeof(bits));
	assert_int_equal(bits[0], 0xff & ~(1 << 4 | 1 << 5));
	assert_int_equal(bits[1], 0xff);
	assert_int_equal(dev_write(stack_dev(g.stack, node(&g, "vg/mc")), 512, ones, sizeof(ones), &err), 0);
	assert_int_equal(stack_close(g.stack, &err), 0);
	g.stack = NULL;
	for (unsigned leg = 0; leg < 2; leg++) {
		get_block(&g, leg, MD_LEG + 5 * REGION - 2048, got, sizeof(got));
		assert_memory_equal(got, ones, sizeof(ones));
		get_block(&g, leg, MC_LEG + 512, got, sizeof(got));
		assert_memory_equal(got, ones, sizeof(ones));
	}
	for (unsigned without = 1; without < 7; without++) {
		golden_assemble_as(&g, without, &rw);
		if (stack_dev(g.stack, node(&g, "vg/md")))
			assert_non_null(strstr(stack_read_only_because(g.stack, node(&g, "vg/md")), "a leg of the mirror or its log"));
		golden_disassemble(&g);
	}
	golden_close(&g);
}

/* --- written over --- */

static void over(const struct golden *g, const char *name)
{
	struct dev *dev = stack_dev(g->stack, node(g, name));
	uint8_t ones[4096], got[4096];

	memset(ones, 0x5a, sizeof(ones));
	assert_null(stack_read_only_because(g->stack, node(g, name)));
	assert_int_equal(dev_write(dev, 8192, ones, sizeof(ones), NULL), 0);
	assert_int_equal(dev_read(dev, 8192, got, sizeof(got), NULL), 0);
	assert_memory_equal(got, ones, sizeof(ones));
}

static void test_written_over(void **state)
{
	static const struct stack_running cow = { .cow = true }, rw = { .writable = true };
	struct golden g;

	(void)state;
	golden_open(&g, "lvm-thin");
	golden_assemble_as(&g, 0, &cow);
	over(&g, "vg/t1");
	reads(&g, "ts"); /* which shares that block */
	golden_disassemble(&g);
	golden_assemble_as(&g, 0, &rw);
	assert_non_null(strstr(stack_read_only_because(g.stack, node(&g, "vg/t1")), "thin volumes are only read"));
	reads(&g, "t1");
	golden_close(&g);
	golden_open(&g, "lvm-snapshot");
	golden_assemble_as(&g, 0, &cow);
	over(&g, "vg/org");
	over(&g, "vg/snap");
	reads(&g, "snap32"); /* whose origin that is */
	golden_disassemble(&g);
	golden_assemble_as(&g, 0, &rw);
	assert_non_null(strstr(stack_read_only_because(g.stack, node(&g, "vg/snap")), "snapshots are only read"));
	assert_non_null(strstr(stack_read_only_because(g.stack, node(&g, "vg/org")), "other volumes, such as snapshots"));
	golden_close(&g);
	golden_open(&g, "lvm-cache");
	golden_assemble_as(&g, 0, &cow);
	over(&g, "vg/org");
	golden_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thin_facts),    cmocka_unit_test(test_thin_out_of_step), cmocka_unit_test(test_thin_damaged),
		cmocka_unit_test(test_snapshot_lost), cmocka_unit_test(test_merging),	       cmocka_unit_test(test_cache),
		cmocka_unit_test(test_mirror_legs),   cmocka_unit_test(test_mirror_written),   cmocka_unit_test(test_written_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
