/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of caches: made by cache_restore in both formats, compared mapping by mapping; then spoilt. */
#include <inttypes.h>

#include "format/dmcache/dmcache.h"
#include "pdata_image.h"

#define META_BYTES    (4 * MIB)
#define CACHE_BLOCKS  5000U
#define BLOCK	      (64 * KIB)
#define ORIGIN_BLOCKS 100000U

static uint64_t origin_of[CACHE_BLOCKS];
static bool dirty[CACHE_BLOCKS];
static uint32_t mapped, dirty_count;

static char *make_cache(uint32_t seed)
{
	size_t room = 4 * MIB, length;
	char *xml = malloc(room);

	mapped = dirty_count = 0;
	length = (size_t)snprintf(
		xml, room, "<superblock uuid=\"\" block_size=\"128\" nr_cache_blocks=\"%u\" policy=\"smq\" hint_width=\"4\">\n<mappings>\n",
		CACHE_BLOCKS);
	for (uint32_t i = 0; i < CACHE_BLOCKS; i++) {
		seed = seed * 1664525U + 1013904223U;
		origin_of[i] = UINT64_MAX;
		dirty[i] = false;
		if (seed >> 30 == 0)
			continue;
		/* 7919 is prime and no factor of the number of blocks: all differ. */
		origin_of[i] = (uint64_t)i * 7919 % ORIGIN_BLOCKS;
		dirty[i] = seed >> 29 & 1;
		mapped++;
		dirty_count += dirty[i];
		length += (size_t)snprintf(xml + length, room - length,
					   "<mapping cache_block=\"%u\" origin_block=\"%" PRIu64 "\" dirty=\"%s\"/>\n", i, origin_of[i],
					   dirty[i] ? "true" : "false");
	}
	snprintf(xml + length, room - length, "</mappings>\n<hints>\n</hints>\n</superblock>\n");
	return xml;
}

static int read_cache(uint8_t *data, struct dmcache *cache, struct blkalign_error *err)
{
	struct dev *dev;
	int r;

	assert_int_equal(dev_open_memory("meta", data, META_BYTES, false, &dev), 0);
	r = dmcache_read(dev, ORIGIN_BLOCKS * BLOCK, CACHE_BLOCKS * BLOCK, cache, err);
	dev_close(dev);
	return r;
}

static void same(const struct dmcache *cache, bool all_dirty)
{
	assert_int_equal(cache->count, mapped);
	assert_int_equal(cache->dirty, all_dirty ? mapped : dirty_count);
	for (size_t i = 0; i < cache->count; i++) {
		const struct dmcache_mapping *m = &cache->mappings[i];

		assert_true(m->cache_block < CACHE_BLOCKS);
		assert_int_equal(origin_of[m->cache_block], m->origin_block);
		assert_int_equal(m->dirty, all_dirty || dirty[m->cache_block]);
		assert_true(!i || m->origin_block > m[-1].origin_block);
	}
}

static void set_flags(uint8_t *data, uint32_t flags)
{
	put_le(data + 4, flags, 4);
	seal(data, SALT_CACHE);
}

static void test_restored(void **state)
{
	static const char *const versions[] = { "--metadata-version 1", "--metadata-version 2" };

	(void)state;
	for (uint32_t v = 0; v < ARRAY_SIZE(versions); v++) {
		char *xml = make_cache(v + 5);
		uint8_t *data = restore("cache_restore", versions[v], xml, META_BYTES);
		struct dmcache cache;

		free(xml);
		set_flags(data, 1);
		assert_int_equal(read_cache(data, &cache, NULL), 0);
		assert_true(cache.super.clean && !cache.super.needs_check);
		assert_int_equal(cache.super.version, v + 1);
		assert_int_equal(cache.super.block_bytes, BLOCK);
		assert_string_equal(cache.super.policy, "smq");
		same(&cache, false);
		dmcache_done(&cache);
		/* Not shut down: everything may be dirty, and nobody asks the bits. */
		set_flags(data, 2);
		assert_int_equal(read_cache(data, &cache, NULL), 0);
		assert_true(!cache.super.clean && cache.super.needs_check);
		same(&cache, true);
		dmcache_done(&cache);
		free(data);
	}
	print_message("%u mappings, %u dirty\n", mapped, dirty_count);
}

/* --- by hand: one array block --- */

static uint8_t *make_by_hand(void)
{
	uint8_t *data = calloc(1, META_BYTES), *array = data + 2 * PDATA_BLOCK_BYTES;

	assert_non_null(data);
	put_le(data + 4, 1, 4);
	put_le(data + 32, 06142003, 8);
	put_le(data + 40, 1, 4);
	put_le(data + 192, 1, 8);
	put_le(data + 232, 128, 4);
	put_le(data + 236, 8, 4);
	put_le(data + 240, 4, 4);
	seal(data, SALT_CACHE);
	put_node(data, 1, true, (const uint64_t[][2]){ { 0, 2 } }, 1);
	put_le(array + 4, 509, 4);
	put_le(array + 8, 4, 4);
	put_le(array + 12, 8, 4);
	put_le(array + 16, 2, 8);
	put_le(array + 24, 7 << 16 | 1, 8);
	put_le(array + 32, 3 << 16 | 3, 8);
	put_le(array + 40, 9 << 16, 8);
	seal(array, PDATA_SALT_ARRAY);
	return data;
}

static void refused(size_t block, size_t at, uint64_t value, unsigned bytes, const char *why)
{
	static const uint32_t salts[] = { SALT_CACHE, PDATA_SALT_NODE, PDATA_SALT_ARRAY };
	uint8_t *data = make_by_hand();
	struct blkalign_error err = { 0 };
	struct dmcache cache;

	put_le(data + block * PDATA_BLOCK_BYTES + at, value, bytes);
	seal(data + block * PDATA_BLOCK_BYTES, salts[block]);
	if (read_cache(data, &cache, &err) != -EPROTO)
		fail_msg("not refused: %s", why);
	if (!strstr(err.message, why))
		fail_msg("refused because: %s, not: %s", err.message, why);
	assert_null(cache.mappings);
	free(data);
}

static void test_by_hand(void **state)
{
	uint8_t *data = make_by_hand();
	struct dmcache cache;

	(void)state;
	assert_int_equal(read_cache(data, &cache, NULL), 0);
	assert_int_equal(cache.count, 2);
	assert_int_equal(cache.dirty, 1);
	assert_int_equal(cache.mappings[0].origin_block, 3);
	assert_true(cache.mappings[0].dirty);
	assert_int_equal(cache.mappings[1].cache_block, 0);
	dmcache_done(&cache);
	data[2 * PDATA_BLOCK_BYTES + 100] ^= 1;
	assert_int_equal(read_cache(data, &cache, NULL), -EBADMSG);
	data[32] ^= 1;
	assert_int_equal(read_cache(data, &cache, NULL), BLKALIGN_NOT_THIS);
	free(data);
	refused(0, 40, 3, 4, "a version that is not known");
	refused(0, 252, 1, 4, "features that are not known");
	refused(0, 232, 1, 4, "data blocks of an impossible size");
	refused(0, 236, 1, 4, "metadata blocks that are not of 8 sectors");
	refused(0, 240, CACHE_BLOCKS + 1, 4, "more blocks than the cache has room for");
	refused(0, 240, 5, 4, "has 4 items");
	refused(0, 240, 600, 4, "has 4 items");
	refused(2, 12, 4, 4, "items of 4 bytes");
	refused(2, 8, 510, 4, "has 510 items");
	refused(2, 16, 1, 8, "says that it is block 1");
	refused(2, 24, (uint64_t)ORIGIN_BLOCKS << 16 | 1, 8, "a block that the origin does not have");
	refused(2, 24, 3 << 16 | 1, 8, "two copies of one block of the origin");
	refused(1, 32, 1, 8, "has no item 0");
}

/* One block under all numbers of a long array. */
static void test_repeated(void **state)
{
	uint8_t *data = make_by_hand(), *array = data + 2 * PDATA_BLOCK_BYTES;
	struct blkalign_error err = { 0 };
	struct dmcache cache;

	(void)state;
	put_le(data + 240, 1018, 4);
	seal(data, SALT_CACHE);
	put_node(data, 1, true, (const uint64_t[][2]){ { 0, 2 }, { 1, 2 } }, 2);
	put_le(array + 8, 509, 4);
	seal(array, PDATA_SALT_ARRAY);
	assert_int_equal(read_cache(data, &cache, &err), -EPROTO);
	assert_non_null(strstr(err.message, "two parts of the array"));
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restored),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
