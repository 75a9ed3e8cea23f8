/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which ranges of an unclean array are doubtful, by checkpoint and bitmap. Bitmaps of the kernel's own: test_md_golden.c. */
#include "md_bench.h"

#define CHUNK	  (64 * KIB)
#define BITMAP_AT (4096 + 8 * 512)

static void write_bitmap(unsigned disk, uint64_t events, const uint8_t *bits, size_t bytes)
{
	uint8_t *b = disks[disk] + BITMAP_AT;

	memset(b, 0, 256);
	put(b, 4, 0x6d746962);
	put(b + 4, 4, 4);
	memset(b + 8, 0xab, 16);
	put(b + 24, 8, events);
	put(b + 40, 8, DATA / 512);
	put(b + 52, 4, CHUNK);
	memcpy(b + 256, bits, bytes);
}

/* A mirror of DATA bytes: 30 chunks. */
static void dirty_pair(uint64_t consistent_sectors512)
{
	for (unsigned i = 0; i < 2; i++) {
		struct v1 m = mirror(i, 10);
		uint8_t *sb = disks[i] + 4096;

		m.dirty = true;
		m.consistent_sectors512 = consistent_sectors512;
		m.features = MD1_BITMAP;
		write_v1(disks[i], &m);
		put(sb + 96, 4, 8);
		put(sb + 216, 4, md1_checksum(sb, 4));
	}
}

static void bitmaps(uint64_t events0, uint64_t events1)
{
	write_bitmap(0, events0, (const uint8_t[]){ 0x03, 0x00, 0x80, 0x00 }, 4); /* 0, 1, 23 */
	write_bitmap(1, events1, (const uint8_t[]){ 0x02, 0x10, 0x00, 0xe0 }, 4); /* 1, 12, and 29 with two beyond the end */
}

static void doubtful_is(uint64_t bytes, uint64_t dirty_bytes)
{
	run_disks(2);
	assert_int_equal(blkalign_node_u64(the("md/data"), BLKALIGN_ATTR_MD_DOUBTFUL), bytes);
	assert_int_equal(blkalign_node_u64(the("md/data"), BLKALIGN_ATTR_MD_BITMAP_DIRTY), dirty_bytes);
}

static void test_bits_of_both(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(10, 11);
	doubtful_is(5 * CHUNK, 5 * CHUNK);
	remark_is("was not stopped cleanly: 327680 bytes of each member wait for a resync");
}

static void test_checkpoint_within_a_chunk(void **state)
{
	(void)state;
	dirty_pair(12 * CHUNK / 512 + 8);
	bitmaps(10, 10);
	doubtful_is(3 * CHUNK, 5 * CHUNK);
}

static void test_one_is_behind(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(10, 9);
	doubtful_is(3 * CHUNK, 3 * CHUNK);
}

static void test_both_are_behind(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(9, 9);
	doubtful_is(DATA, BLKALIGN_UNKNOWN);
}

static void test_says_that_it_is_stale(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(10, 10);
	put(disks[0] + BITMAP_AT + 48, 4, 2);
	put(disks[1] + BITMAP_AT + 48, 4, 4);
	doubtful_is(DATA, BLKALIGN_UNKNOWN);
}

static void test_of_another_array(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(10, 10);
	disks[0][BITMAP_AT + 8] ^= 1;
	disks[1][BITMAP_AT + 23] ^= 1;
	doubtful_is(DATA, BLKALIGN_UNKNOWN);
}

/* Made before the members grew. */
static void test_covers_a_part(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(10, 10);
	put(disks[0] + BITMAP_AT + 40, 8, 24 * CHUNK / 512);
	put(disks[1] + BITMAP_AT + 40, 8, 24 * CHUNK / 512);
	doubtful_is((4 + 6) * CHUNK, 4 * CHUNK);
}

static void test_unequal_copies(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(10, 10);
	put(disks[1] + BITMAP_AT + 52, 4, 2 * CHUNK);
	doubtful_is(3 * CHUNK, 3 * CHUNK);
}

/* A byte per chunk: 2, 3 and 4 are not in sync, 0 was never written. */
static void test_lockless(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(10, 10);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *b = disks[i] + BITMAP_AT;

		put(b + 4, 4, 6);
		memset(b + 256, 0, 1024);
		memcpy(b + 1024, (const uint8_t[]){ 0, 1, 2, 3, 4 }, 5);
	}
	doubtful_is(3 * CHUNK, 3 * CHUNK);
	assert_string_equal(blkalign_node_str(the("md/data"), BLKALIGN_ATTR_MD_BITMAP), "lockless");
}

/* Set bits of a clean array are debts, not doubts. */
static void test_clean(void **state)
{
	(void)state;
	dirty_pair(0);
	bitmaps(10, 10);
	for (unsigned i = 0; i < 2; i++) {
		put(disks[i] + 4096 + 208, 8, UINT64_MAX);
		put(disks[i] + 4096 + 216, 4, md1_checksum(disks[i] + 4096, 4));
	}
	doubtful_is(0, 5 * CHUNK);
	assert_int_equal(blkalign_graph_remarks(graph), 0);
}

/* What cannot be read might be set. */
static void test_unreadable_bits(void **state)
{
	struct dev *below, *dev;
	struct blkalign_node *node;

	(void)state;
	dirty_pair(0);
	bitmaps(9, 10);
	add_disk(0);
	assert_int_equal(dev_open_memory("m", disks[1], DISK, false, &below), 0);
	assert_int_equal(dev_open_fault(below, BITMAP_AT + 256, 512, -EIO, &dev), 0);
	assert_int_equal(stack_add(stack, BLKALIGN_KIND_DISK, "d1", dev, &node), 0);
	assert_int_equal(stack_run(stack, NULL), 0);
	assert_int_equal(blkalign_node_u64(the("md/data"), BLKALIGN_ATTR_MD_DOUBTFUL), DATA);
	dev_close(below);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_bits_of_both),
		T(test_checkpoint_within_a_chunk),
		T(test_one_is_behind),
		T(test_both_are_behind),
		T(test_says_that_it_is_stale),
		T(test_of_another_array),
		T(test_covers_a_part),
		T(test_unequal_copies),
		T(test_lockless),
		T(test_clean),
		T(test_unreadable_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
