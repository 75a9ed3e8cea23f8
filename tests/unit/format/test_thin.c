/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of thin pools: pools that thin_restore made, compared block by block; trees by hand that lead astray. */
#include <inttypes.h>

#include "format/thin/thin.h"
#include "pdata_image.h"

#define META_BYTES  (4 * MIB)
#define DATA_BLOCKS 200000U
#define DEVICES	    3U
#define VIRTUAL	    30000U
#define NONE	    UINT64_MAX

static uint64_t model[DEVICES][VIRTUAL];
static uint64_t mapped[DEVICES];

static uint32_t next(uint32_t *state) { return *state = *state * 1664525U + 1013904223U; }

/* Runs and single blocks, gaps, shared blocks: the second device is a snapshot of the first that was written to. */
static char *make_pool(uint32_t seed)
{
	size_t room = 16 * MIB, length;
	char *xml = malloc(room);
	uint64_t data = 0;

	length = (size_t)snprintf(xml, room,
				  "<superblock uuid=\"\" time=\"2\" transaction=\"7\" flags=\"0\" version=\"2\" data_block_size=\"128\" "
				  "nr_data_blocks=\"%u\">\n",
				  DATA_BLOCKS);
	for (uint32_t d = 0; d < DEVICES; d++) {
		mapped[d] = 0;
		for (uint64_t b = 0, run; b < VIRTUAL; b += run) {
			bool gap = next(&seed) >> 31, keep = d == 1 && next(&seed) >> 30;

			run = (next(&seed) >> 16) % 7 + 1;
			for (uint64_t i = b; i < b + run && i < VIRTUAL; i++) {
				model[d][i] = keep ? model[0][i] : gap ? NONE : data++;
				mapped[d] += model[d][i] != NONE;
			}
			data += next(&seed) >> 31;
		}
		length += (size_t)snprintf(xml + length, room - length,
					   "<device dev_id=\"%u\" mapped_blocks=\"%" PRIu64
					   "\" transaction=\"%u\" creation_time=\"%u\" snap_time=\"2\">\n",
					   d * 5 + 1, mapped[d], d, d);
		for (uint64_t b = 0; b < VIRTUAL; b++)
			if (model[d][b] != NONE)
				length += (size_t)snprintf(xml + length, room - length,
							   "<single_mapping origin_block=\"%" PRIu64 "\" data_block=\"%" PRIu64
							   "\" time=\"%u\"/>\n",
							   b, model[d][b], d);
		length += (size_t)snprintf(xml + length, room - length, "</device>\n");
	}
	assert_true(data < DATA_BLOCKS && length < room - 100);
	snprintf(xml + length, room - length, "</superblock>\n");
	return xml;
}

static void same_device(const struct thin_pool *pool, uint32_t d)
{
	struct thin_device device;
	struct thin_run run;

	assert_int_equal(thin_find_device(pool, d * 5 + 1, &device, NULL), 0);
	assert_int_equal(device.mapped_blocks, mapped[d]);
	assert_int_equal(device.transaction_id, d);
	assert_int_equal(device.created_time, d);
	assert_int_equal(device.snapshotted_time, 2);
	for (uint64_t b = 0; b < VIRTUAL; b += run.blocks) {
		assert_int_equal(thin_find(pool, device.mapping_root, b, &run, NULL), 0);
		assert_true(run.blocks);
		for (uint64_t i = 0; i < run.blocks && b + i < VIRTUAL; i++)
			assert_int_equal(model[d][b + i], run.mapped ? run.data_block + i : NONE);
	}
	/* From any block on, not only at the beginning of a run. */
	for (uint64_t b = 0; b < VIRTUAL; b += 13) {
		assert_int_equal(thin_find(pool, device.mapping_root, b, &run, NULL), 0);
		assert_int_equal(model[d][b], run.mapped ? run.data_block : NONE);
	}
	assert_int_equal(thin_find(pool, device.mapping_root, UINT64_MAX, &run, NULL), 0);
	assert_false(run.mapped);
	assert_int_equal(run.blocks, 1);
}

static void test_restored(void **state)
{
	uint64_t used = 0, counted = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 3; seed++) {
		char *xml = make_pool(seed);
		uint8_t *data = restore("thin_restore", "", xml, META_BYTES);
		struct thin_pool pool;
		struct dev *dev;

		free(xml);
		assert_int_equal(dev_open_memory("meta", data, META_BYTES, false, &dev), 0);
		assert_int_equal(thin_pool_read(dev, &pool, NULL), 0);
		assert_int_equal(pool.super.data_block_bytes, 65536);
		assert_int_equal(pool.super.transaction_id, 7);
		assert_int_equal(pool.super.data.blocks, DATA_BLOCKS);
		assert_false(pool.super.needs_check);
		for (uint32_t d = 0; d < DEVICES; d++)
			same_device(&pool, d);
		assert_int_equal(thin_find_device(&pool, 2, &(struct thin_device){ 0 }, NULL), BLKALIGN_ABSENT);
		assert_int_equal(pdata_map_count(pool.pdata, &pool.super.data, &counted, NULL), 0);
		used = pool.super.data.allocated;
		assert_int_equal(counted, used);
		thin_pool_done(&pool);
		dev_close(dev);
		free(data);
	}
	print_message("%u devices, %" PRIu64 " blocks in use\n", 3 * DEVICES, used);
}

/* --- by hand --- */

#define HAND_BLOCKS 16U

static uint8_t hand[HAND_BLOCKS * PDATA_BLOCK_BYTES];

/* A pool with device 1, whose tree has the root 3: an inner node, and leaves 4 and 5. */
static void make_by_hand(void)
{
	memset(hand, 0, sizeof(hand));
	put_le(hand + 32, 27022010, 8);
	put_le(hand + 40, 2, 4);
	put_le(hand + 48, 9, 8);
	put_le(hand + 64, 100, 8);
	put_le(hand + 72, 4, 8);
	put_le(hand + 80, 6, 8);
	put_le(hand + 320, 1, 8);
	put_le(hand + 328, 2, 8);
	put_le(hand + 336, 128, 4);
	put_le(hand + 340, 8, 4);
	put_le(hand + 344, HAND_BLOCKS, 8);
	seal(hand, SALT_THIN);
	put_node(hand, 1, true, (const uint64_t[][2]){ { 1, 3 } }, 1);
	put_node(hand, 2, true, (const uint64_t[][2]){ { 1, 4 } }, 1);
	/* Details are of 24 bytes. */
	put_le(hand + 2 * PDATA_BLOCK_BYTES + 20, 126, 4);
	put_le(hand + 2 * PDATA_BLOCK_BYTES + 24, 24, 4);
	put_le(hand + 2 * PDATA_BLOCK_BYTES + 32 + 8 * 126, 4, 8);
	seal(hand + 2 * PDATA_BLOCK_BYTES, PDATA_SALT_NODE);
	put_node(hand, 3, false, (const uint64_t[][2]){ { 10, 4 }, { 100, 5 } }, 2);
	put_node(hand, 4, true, (const uint64_t[][2]){ { 10, 7 << 24 }, { 11, 8 << 24 }, { 20, 9 << 24 } }, 3);
	put_node(hand, 5, true, (const uint64_t[][2]){ { 100, 1 << 24 } }, 1);
}

/* What block `block` of device 1 is, all over again. */
static int look(uint64_t block, struct thin_run *run, struct blkalign_error *err)
{
	struct thin_device device;
	struct thin_pool pool;
	struct dev *dev;
	int r;

	assert_int_equal(dev_open_memory("meta", hand, sizeof(hand), false, &dev), 0);
	r = thin_pool_read(dev, &pool, err);
	if (r == 0)
		r = thin_find_device(&pool, 1, &device, err);
	if (r == 0)
		r = thin_find(&pool, device.mapping_root, block, run, err);
	thin_pool_done(&pool);
	dev_close(dev);
	return r;
}

static void is_run(uint64_t block, bool is_mapped, uint64_t data_block, uint64_t blocks)
{
	struct thin_run run;

	assert_int_equal(look(block, &run, NULL), 0);
	assert_int_equal(run.mapped, is_mapped);
	if (is_mapped)
		assert_int_equal(run.data_block, data_block);
	assert_int_equal(run.blocks, blocks);
}

static void test_by_hand(void **state)
{
	(void)state;
	make_by_hand();
	is_run(0, false, 0, 10);
	is_run(10, true, 7, 2);
	is_run(11, true, 8, 1);
	is_run(12, false, 0, 8);
	is_run(20, true, 9, 1);
	is_run(21, false, 0, 79);
	is_run(100, true, 1, 1);
	is_run(101, false, 0, UINT64_MAX - 101);
	is_run(UINT64_MAX, false, 0, 1);
}

static void refused(uint64_t block, const char *why)
{
	struct blkalign_error err = { 0 };
	struct thin_run run;
	int r = look(block, &run, &err);

	if (r != -EPROTO && r != -EBADMSG)
		fail_msg("%d instead of a refusal: %s", r, why);
	if (!strstr(err.message, why))
		fail_msg("refused because: %s, not: %s", err.message, why);
}

static void spoil(uint64_t number, size_t at, uint64_t value, unsigned bytes)
{
	make_by_hand();
	put_le(hand + number * PDATA_BLOCK_BYTES + at, value, bytes);
	seal(hand + number * PDATA_BLOCK_BYTES, number ? PDATA_SALT_NODE : SALT_THIN);
}

static void test_spoilt(void **state)
{
	struct thin_run run;

	(void)state;
	make_by_hand();
	hand[4 * PDATA_BLOCK_BYTES + 3000] ^= 1;
	refused(10, "tree node at metadata block 4: checksum");
	is_run(100, true, 1, 1); /* the other leaf is as good as before */
	/* Up to where that one begins nothing can be told. */
	assert_int_equal(look(30, &run, NULL), -EBADMSG);
	assert_int_equal(run.blocks, 70);
	spoil(3, 20, 255, 4);
	assert_int_equal(look(30, &run, NULL), -EPROTO);
	assert_int_equal(run.blocks, UINT64_MAX - 30);
	make_by_hand();
	hand[100] ^= 1;
	refused(10, "superblock at metadata block 0: checksum");
	spoil(4, 8, 5, 8);
	refused(10, "says that it is block 5");
	spoil(4, 4, 3, 4);
	refused(10, "neither an inner node nor a leaf");
	spoil(4, 16, 253, 4);
	refused(10, "an impossible number of entries");
	spoil(4, 20, 255, 4);
	refused(10, "room for more entries");
	spoil(4, 24, 0, 4);
	refused(10, "values of an impossible size");
	spoil(4, 24, 4, 4);
	refused(10, "values of another size");
	spoil(4, 32 + 8, 10, 8);
	refused(10, "do not ascend");
	spoil(4, 32 + 16, 100, 8);
	refused(10, "belong elsewhere");
	spoil(4, 32, 9, 8);
	refused(10, "belong elsewhere");
	spoil(4, 16, 0, 4);
	refused(10, "is empty");
	spoil(3, 16, 0, 4);
	refused(10, "an impossible number of entries");
	spoil(3, 32 + 8 * 252, HAND_BLOCKS, 8);
	refused(10, "there are 16 blocks");
	spoil(1, 32 + 8 * 252, UINT64_MAX, 8);
	refused(10, "there are 16 blocks");
	spoil(1, 32, 2, 8);
	refused(10, "described but has no mappings");
	spoil(0, 40, 3, 4);
	refused(10, "a version that is not known");
	spoil(0, 360, 1, 4);
	refused(10, "features that are not known");
	spoil(0, 336, 1, 4);
	refused(10, "data blocks of an impossible size");
	spoil(0, 340, 16, 4);
	refused(10, "metadata blocks that are not of 8 sectors");
	spoil(0, 32, 1, 8);
	assert_int_equal(look(10, &(struct thin_run){ 0 }, NULL), BLKALIGN_NOT_THIS);
}

/* Nodes that lead to themselves, to each other, and very deep down. */
static void test_circles(void **state)
{
	(void)state;
	make_by_hand();
	put_node(hand, 3, false, (const uint64_t[][2]){ { 0, 3 } }, 1);
	refused(10, "deeper than any tree");
	put_node(hand, 3, false, (const uint64_t[][2]){ { 0, 4 } }, 1);
	put_node(hand, 4, false, (const uint64_t[][2]){ { 0, 3 } }, 1);
	refused(10, "deeper than any tree");
	/* One leaf under every key: found at the first, refused at all others. */
	put_node(hand, 3, false, (const uint64_t[][2]){ { 0, 5 }, { 50, 5 }, { 100, 5 }, { 200, 5 } }, 4);
	is_run(100, true, 1, 1);
	refused(0, "belong elsewhere");
	refused(60, "belong elsewhere");
	refused(200, "belong elsewhere");
}

static void test_short(void **state)
{
	struct thin_pool pool;
	struct dev *dev, *fault;

	(void)state;
	make_by_hand();
	assert_int_equal(dev_open_memory("meta", hand, PDATA_BLOCK_BYTES - 1, false, &dev), 0);
	assert_int_equal(thin_pool_read(dev, &pool, NULL), BLKALIGN_NOT_THIS);
	thin_pool_done(&pool);
	dev_close(dev);
	assert_int_equal(dev_open_memory("meta", hand, sizeof(hand), false, &dev), 0);
	assert_int_equal(dev_open_fault(dev, 4 * PDATA_BLOCK_BYTES, 1, -EIO, &fault), 0);
	assert_int_equal(thin_pool_read(fault, &pool, NULL), 0);
	assert_int_equal(thin_find(&pool, 3, 10, &(struct thin_run){ 0 }, NULL), -EIO);
	assert_int_equal(thin_find(&pool, 3, 100, &(struct thin_run){ 0 }, NULL), 0);
	thin_pool_done(&pool);
	dev_close(fault);
	dev_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restored), cmocka_unit_test(test_by_hand), cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_circles),	 cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
