/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write journals: a meta block that a kernel wrote, rings made on the spot, and what nobody should have written. */
#include "unit.h"

#include "r5l_ring.h"

static struct r5l_block block;
static struct r5l_cursor cursor;
static struct blkalign_error err;

static void item_is(uint32_t i, enum r5l_kind kind, uint64_t at_sector, uint64_t log_sector)
{
	assert_int_equal(block.items[i].kind, kind);
	assert_int_equal(block.items[i].at_bytes, at_sector * 512);
	assert_int_equal(block.items[i].log_bytes, log_sector * 512);
}

/* The tail of raid5-journal-wb-crash. Its payloads were listed by an independent reader. */
static void test_kernels_block(void **state)
{
	const uint8_t uuid[16] = { 0x11, 0x49, 0xc9, 0x39, 0x12, 0xc6, 0xd7, 0xe3, 0xb1, 0xd5, 0x1c, 0xd1, 0x09, 0xcc, 0x14, 0xb0 };
	uint64_t at = 28880 * 512, whole_bytes = 30720 * 512;
	uint8_t data[R5L_BLOCK_BYTES];
	char path[512];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/fuzz/corpus/r5l/data", getenv("BLKALIGN_TESTS"));
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(data, 1, sizeof(data), f), sizeof(data));
	fclose(f);
	assert_int_equal(r5l_decode(data, sizeof(data), r5l_seed(uuid), at, whole_bytes, &block, &err), 0);
	assert_int_equal(block.seq, 101322794);
	assert_int_equal(block.count, 9);
	item_is(0, R5L_DATA, 40064, 28888);
	item_is(1, R5L_DATA, 40192, 28896);
	item_is(2, R5L_P, 13312, 28904);
	item_is(5, R5L_P, 13320, 28928);
	assert_int_equal(block.next_bytes, 28960 * 512);
	assert_int_equal(r5l_decode(data, sizeof(data), r5l_seed(uuid) + 1, at, whole_bytes, &block, &err), BLKALIGN_NOT_THIS);
	assert_int_equal(r5l_decode(data, sizeof(data), r5l_seed(uuid), at + 4096, whole_bytes, &block, &err), BLKALIGN_NOT_THIS);
	assert_int_equal(r5l_decode(data, sizeof(data) - 1, r5l_seed(uuid), at, whole_bytes, &block, &err), BLKALIGN_NOT_THIS);
	data[100] ^= 1;
	assert_int_equal(r5l_decode(data, sizeof(data), r5l_seed(uuid), at, whole_bytes, &block, &err), BLKALIGN_NOT_THIS);
}

static int next(const struct r5l_log *log) { return r5l_next(log, &cursor, &block, &err); }

static int setup(void **state)
{
	(void)state;
	ring_open(16, 0);
	memset(&cursor, 0, sizeof(cursor));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ring_close();
	return 0;
}

/* Three blocks that go over the end of the ring. */
static void test_walk_wraps(void **state)
{
	const uint64_t flushed[] = { 8, 16 };

	(void)state;
	ring_open(16, 13);
	ring_page(R5L_DATA, 40, 'a');
	ring_page(R5L_P, 8, 'p');
	ring_seal(7);
	ring_page(R5L_DATA, 48, 'b');
	ring_seal(8);
	ring_flush(flushed, 2);
	ring_seal(9);
	assert_int_equal(next(&ring_log), 0);
	assert_int_equal(block.count, 2);
	item_is(0, R5L_DATA, 40, 14 * 8);
	item_is(1, R5L_P, 8, 15 * 8);
	assert_int_equal(next(&ring_log), 0);
	item_is(0, R5L_DATA, 48, 1 * 8);
	assert_int_equal(next(&ring_log), 0);
	assert_int_equal(block.count, 2);
	item_is(0, R5L_FLUSH, 8, 0);
	item_is(1, R5L_FLUSH, 16, 0);
	assert_int_equal(next(&ring_log), BLKALIGN_NOT_THIS);
	assert_int_equal(next(&ring_log), BLKALIGN_NOT_THIS);
}

static void test_two_parities(void **state)
{
	(void)state;
	ring_parities(16, 'p', 'q');
	ring_seal(1);
	assert_int_equal(next(&ring_log), 0);
	assert_int_equal(block.count, 2);
	item_is(0, R5L_P, 16, 8);
	item_is(1, R5L_Q, 16, 16);
}

static void test_old_block_ends_the_log(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 40, 'a');
	ring_seal(7);
	ring_page(R5L_DATA, 48, 'b');
	ring_seal(9);
	assert_int_equal(next(&ring_log), 0);
	assert_int_equal(next(&ring_log), BLKALIGN_NOT_THIS);
}

static void test_torn_page_ends_the_log(void **state)
{
	(void)state;
	ring_page(R5L_DATA, 40, 'a');
	ring_seal(7);
	ring_page(R5L_DATA, 48, 'b');
	ring_seal(8);
	ring_bytes[3 * R5L_BLOCK_BYTES + 4095] ^= 1;
	assert_int_equal(next(&ring_log), 0);
	assert_int_equal(next(&ring_log), BLKALIGN_NOT_THIS);
}

/* Pages that would lie over the block that names them. */
static void test_longer_than_its_ring(void **state)
{
	(void)state;
	ring_open(2, 0);
	ring_page(R5L_DATA, 40, 'a');
	ring_head(0, 8, 48);
	ring_put(12, 4, ring_used + 4);
	ring_seal(7);
	assert_int_equal(next(&ring_log), BLKALIGN_NOT_THIS);
}

static void test_read_error(void **state)
{
	struct r5l_log log;
	_cleanup_dev_ struct dev *fault = NULL;

	(void)state;
	ring_page(R5L_DATA, 40, 'a');
	ring_seal(7);
	log = ring_log;
	assert_int_equal(dev_open_fault(log.dev, R5L_BLOCK_BYTES, 512, -EIO, &fault), 0);
	log.dev = fault;
	assert_int_equal(next(&log), -EIO);
}

static void test_impossible_places(void **state)
{
	struct r5l_log log = ring_log;

	(void)state;
	log.ring_bytes = R5L_BLOCK_BYTES;
	assert_int_equal(next(&log), -EINVAL);
	log.ring_bytes = 16 * R5L_BLOCK_BYTES - 512;
	assert_int_equal(next(&log), -EINVAL);
	log = ring_log;
	log.tail_bytes = 512;
	assert_int_equal(next(&log), -EINVAL);
	log.tail_bytes = 16 * R5L_BLOCK_BYTES;
	assert_int_equal(next(&log), -EINVAL);
	log = ring_log;
	log.offset_bytes = UINT64_MAX - 4096;
	assert_int_equal(next(&log), -EINVAL);
	log.offset_bytes = 4096;
	log.tail_bytes = 15 * R5L_BLOCK_BYTES;
	assert_int_equal(next(&log), -ERANGE);
}

/* One payload, with a field set to what it never is. */
static void bad(size_t at, unsigned width, uint64_t value)
{
	setup(NULL);
	ring_page(R5L_DATA, 40, 'a');
	ring_put(at, width, value);
	ring_seal(7);
	assert_int_equal(next(&ring_log), -EBADMSG);
	ring_close();
}

static void test_hostile(void **state)
{
	(void)state;
	bad(12, 4, 31);
	bad(12, 4, 4097);
	bad(12, 4, UINT32_MAX);
	bad(12, 4, 33);
	bad(12, 4, 40);
	bad(12, 4, 48);
	bad(32, 2, 3);
	bad(36, 4, 0);
	bad(36, 4, 4);
	bad(36, 4, 16);
	bad(36, 4, UINT32_MAX);
	bad(40, 8, 41);
	bad(40, 8, UINT64_MAX - 7);
	bad(32, 2, 2); /* a list of 8 bytes, and then half a payload */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels_block),
		cmocka_unit_test_setup_teardown(test_walk_wraps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_parities, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_block_ends_the_log, setup, teardown),
		cmocka_unit_test_setup_teardown(test_torn_page_ends_the_log, setup, teardown),
		cmocka_unit_test_setup_teardown(test_longer_than_its_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_error, setup, teardown),
		cmocka_unit_test_setup_teardown(test_impossible_places, setup, teardown),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
