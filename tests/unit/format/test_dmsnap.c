/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exception stores and mirror logs by hand; real ones are read in stack/test_lvm_golden. */
#include "unit.h"

#include "format/dmlog/dmlog.h"
#include "format/dmsnap/dmsnap.h"

#define CHUNK  512U
#define E      (CHUNK / 16)
#define CHUNKS 200U
#define ORIGIN (300 * CHUNK)

static uint8_t store[CHUNKS * CHUNK];

static void put(size_t at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		store[at + i] = (uint8_t)(value >> 8 * i);
}

static void exception(unsigned number, uint64_t origin_chunk, uint64_t store_chunk)
{
	size_t area = 1 + number / E * (E + 1), at = area * CHUNK + number % E * 16;

	put(at, origin_chunk, 8);
	put(at + 8, store_chunk, 8);
}

/* As the kernel fills it: chunk 2 first, areas left out, origin chunks in no order. */
static uint64_t fill(unsigned count)
{
	uint64_t at = 2;

	memset(store, 0, sizeof(store));
	put(0, 0x70416e53, 4);
	put(4, 1, 4);
	put(8, 1, 4);
	put(12, CHUNK / 512, 4);
	for (unsigned i = 0; i < count; i++, at++) {
		if ((at - 1) % (E + 1) == 0)
			at++;
		exception(i, (i * 7U + 3) % 300, at);
	}
	return at;
}

static int read_store(size_t bytes, struct dmsnap *snap, struct blkalign_error *err)
{
	struct dev *dev;
	int r;

	assert_int_equal(dev_open_memory("store", store, bytes, false, &dev), 0);
	r = dmsnap_read(dev, ORIGIN, snap, err);
	dev_close(dev);
	return r;
}

static void test_areas(void **state)
{
	(void)state;
	for (unsigned count = 0; count <= 150; count++) {
		uint64_t end = fill(count);
		struct dmsnap snap;

		assert_int_equal(read_store(sizeof(store), &snap, NULL), 0);
		assert_true(snap.valid && !snap.fresh);
		assert_int_equal(snap.chunk_bytes, CHUNK);
		assert_int_equal(snap.exceptions, count);
		/* A full area has the next one behind it. */
		assert_int_equal(snap.used_chunks, count && count % E == 0 ? 1 + count / E * (E + 1) + 1 : end);
		assert_int_equal(snap.count, count);
		for (size_t i = 0; i < snap.count; i++) {
			unsigned number = 0;

			while ((number * 7U + 3) % 300 != snap.runs[i].block)
				number++;
			assert_int_equal(snap.runs[i].over_block, 2 + number + (number + E) / E - 1);
			assert_true(!i || snap.runs[i].block > snap.runs[i - 1].block);
		}
		dmsnap_done(&snap);
	}
}

static void test_states(void **state)
{
	struct dmsnap snap;

	(void)state;
	fill(5);
	put(4, 0, 4);
	assert_int_equal(read_store(sizeof(store), &snap, NULL), 0);
	assert_false(snap.valid);
	assert_int_equal(snap.count, 0);
	memset(store, 0, sizeof(store));
	assert_int_equal(read_store(sizeof(store), &snap, NULL), 0);
	assert_true(snap.fresh && snap.valid);
	put(0, 1, 4);
	assert_int_equal(read_store(sizeof(store), &snap, NULL), BLKALIGN_NOT_THIS);
	assert_int_equal(read_store(100, &snap, NULL), BLKALIGN_NOT_THIS);
}

static void refused(const char *why)
{
	struct blkalign_error err = { 0 };
	struct dmsnap snap;

	assert_int_equal(read_store(sizeof(store), &snap, &err), -EPROTO);
	if (!strstr(err.message, why))
		fail_msg("refused because: %s, not: %s", err.message, why);
	assert_null(snap.runs);
}

static void test_hostile(void **state)
{
	struct dmsnap snap;

	(void)state;
	fill(40);
	put(8, 2, 4);
	refused("a version that is not known");
	fill(40);
	put(12, 3, 4);
	refused("chunks of an impossible number of sectors");
	put(12, 0, 4);
	refused("chunks of an impossible number of sectors");
	put(12, 1U << 31, 4);
	refused("chunks of an impossible number of sectors");
	fill(40);
	exception(3, 300, 5);
	refused("a chunk that the origin does not have");
	fill(40);
	exception(3, UINT64_MAX, 5);
	refused("a chunk that the origin does not have");
	fill(40);
	exception(35, 0, CHUNKS);
	refused("none for data");
	fill(40);
	exception(35, 0, UINT64_MAX);
	refused("none for data");
	fill(40);
	exception(35, 0, 1 + E + 1);
	refused("none for data");
	fill(40);
	exception(3, 10, 200 - 5);
	refused("two copies of one chunk of the origin");
	fill(40);
	exception(3, 299, 2);
	refused("two chunks are said to be copied to chunk");
	/* Full to the end: what there is is read. */
	fill(0);
	for (unsigned i = 0; i < E; i++)
		exception(i, i, 2 + i);
	assert_int_equal(read_store((1 + E + 1) * CHUNK, &snap, NULL), 0);
	assert_int_equal(snap.exceptions, E);
	/* Neighbours in both places: one run. */
	assert_int_equal(snap.count, 1);
	assert_int_equal(snap.runs[0].block, 0);
	assert_int_equal(snap.runs[0].over_block, 2);
	assert_int_equal(snap.runs[0].more, E - 1);
	dmsnap_done(&snap);
	/* A chunk that is larger than the store. */
	put(12, 1U << 20, 4);
	assert_int_equal(read_store(sizeof(store), &snap, NULL), 0);
	assert_int_equal(snap.count, 0);
	dmsnap_done(&snap);
}

/* A read error in the second area fails all of it: an exception that is not known gives wrong data. */
static void test_read_error(void **state)
{
	struct dev *dev, *fault;
	struct dmsnap snap;

	(void)state;
	fill(40);
	assert_int_equal(dev_open_memory("store", store, sizeof(store), false, &dev), 0);
	assert_int_equal(dev_open_fault(dev, (1 + E + 1) * CHUNK, 1, -EIO, &fault), 0);
	assert_int_equal(dmsnap_read(fault, ORIGIN, &snap, NULL), -EIO);
	assert_null(snap.runs);
	dev_close(fault);
	dev_close(dev);
}

static void test_log(void **state)
{
	struct dmlog log;
	struct dev *dev;

	(void)state;
	memset(store, 0, sizeof(store));
	put(0, 0x4d695272, 4);
	put(4, 2, 4);
	put(8, 20, 8);
	put(1024, 0xfff7f, 3);
	assert_int_equal(dev_open_memory("log", store, 2048, false, &dev), 0);
	assert_int_equal(dmlog_read(dev, 30, &log, NULL), 0);
	for (uint64_t i = 0; i < 40; i++)
		assert_int_equal(dmlog_in_sync(&log, i), i < 20 && i != 7);
	dmlog_done(&log);
	assert_int_equal(dmlog_read(dev, 1024 * 8 + 1, &log, NULL), -EPROTO);
	assert_int_equal(dmlog_read(dev, UINT64_MAX, &log, NULL), -E2BIG);
	put(4, 1, 4);
	assert_int_equal(dmlog_read(dev, 30, &log, NULL), -EPROTO);
	put(0, 0, 4);
	assert_int_equal(dmlog_read(dev, 30, &log, NULL), BLKALIGN_NOT_THIS);
	dev_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_areas),	   cmocka_unit_test(test_states), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_read_error), cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
