/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/dmcache/dmcache.h"

enum { FLAG_CLEAN = 1, FLAG_NEEDS_CHECK = 2 };
enum { MAPPING_VALID = 1, MAPPING_DIRTY = 2 };
#define MAPPING_FLAG_BITS 16U
#define WORD_BITS	  64U

/* struct cache_disk_superblock, packed */
enum {
	AT_FLAGS = 4,
	AT_POLICY = 44,
	AT_MAPPING_ROOT = 192,
	AT_CACHE_BLOCKS = 240,
	AT_DIRTY_ROOT = 284,
};
#define POLICY_BYTES 16U
/* DATA_DEV_BLOCK_SIZE_MIN_SECTORS of dm-cache-target.c */
static const struct pdata_super_form form = { .what = "cache superblock",
					      .magic = 06142003,
					      .salt = 9031977,
					      .incompatible_offset = 252,
					      .data_block_offset = 232,
					      .data_block_min_bytes = 32 * KIB };

static int refuse(struct blkalign_error *reterr, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN, "cache metadata: %s (%" PRIu64 ")", what, found);
}

int dmcache_superblock_decode(const uint8_t block[PDATA_BLOCK_BYTES], struct dmcache_superblock *ret, struct blkalign_error *reterr)
{
	uint32_t flags = load_le32(block + AT_FLAGS);
	int r = pdata_check_super(block, &form, reterr);

	if (r)
		return r;
	*ret = (struct dmcache_superblock){
		.clean = flags & FLAG_CLEAN,
		.needs_check = flags & FLAG_NEEDS_CHECK,
		.version = pdata_super_version(block),
		.cache_blocks = load_le32(block + AT_CACHE_BLOCKS),
		.block_bytes = pdata_super_data_block(block, &form),
		.mapping_root = load_le64(block + AT_MAPPING_ROOT),
		.dirty_root = load_le64(block + AT_DIRTY_ROOT),
	};
	memcpy(ret->policy, block + AT_POLICY, POLICY_BYTES);
	return 0;
}

struct reading {
	struct pdata *pdata;
	struct dmcache *cache;
	uint64_t origin_blocks;
	uint8_t *seen; /* blocks of the array of mappings */
	VEC(struct dmcache_mapping) found;
	struct blkalign_error *reterr;
};

/* Both are looked at in step: one word of the bitset tells of 64 blocks. */
static int read_dirty_word(struct reading *s, uint32_t block, uint64_t *ret_word)
{
	const struct dmcache_superblock *sb = &s->cache->super;
	uint32_t read = 0;

	*ret_word = UINT64_MAX;
	if (!sb->clean || sb->version < 2)
		return 0;
	return pdata_read_array(s->pdata, sb->dirty_root, block / WORD_BITS, ret_word, 1, NULL, &read, s->reterr);
}

static int add(struct reading *s, uint32_t block, uint64_t mapping, uint64_t dirty_word)
{
	const struct dmcache_superblock *sb = &s->cache->super;
	struct dmcache_mapping m = { .origin_block = mapping >> MAPPING_FLAG_BITS, .cache_block = block };

	if (!(mapping & MAPPING_VALID))
		return 0;
	if (m.origin_block >= s->origin_blocks)
		return refuse(s->reterr, "a copy of a block that the origin does not have", m.origin_block);
	if (sb->version < 2)
		m.dirty = !sb->clean || (mapping & MAPPING_DIRTY);
	else
		m.dirty = dirty_word >> block % WORD_BITS & 1;
	s->cache->dirty += m.dirty;
	return vec_push(&s->found, m);
}

static int read_mappings(struct reading *s)
{
	const struct dmcache_superblock *sb = &s->cache->super;
	uint64_t items[PDATA_ARRAY_ITEMS], dirty_word = 0;
	uint32_t count = 0;
	int r = 0;

	for (uint32_t block = 0; r == 0 && block < sb->cache_blocks; block += count) {
		uint32_t most = sb->cache_blocks - block < PDATA_ARRAY_ITEMS ? sb->cache_blocks - block : PDATA_ARRAY_ITEMS;

		r = pdata_read_array(s->pdata, sb->mapping_root, block, items, most, s->seen, &count, s->reterr);
		for (uint32_t i = 0; r == 0 && i < count; i++) {
			if ((block + i) % WORD_BITS == 0 || !i)
				r = read_dirty_word(s, block + i, &dirty_word);
			if (r == 0)
				r = add(s, block + i, items[i], dirty_word);
		}
	}
	return r;
}

static int by_origin(const void *a, const void *b)
{
	const struct dmcache_mapping *x = a, *y = b;

	return (x->origin_block > y->origin_block) - (x->origin_block < y->origin_block);
}

static int order(struct reading *s)
{
	if (s->found.count)
		qsort(s->found.data, s->found.count, sizeof(*s->found.data), by_origin);
	for (size_t i = 1; i < s->found.count; i++)
		if (s->found.data[i].origin_block == s->found.data[i - 1].origin_block)
			return refuse(s->reterr, "two copies of one block of the origin", s->found.data[i].origin_block);
	return 0;
}

/* Each item of the array has a place of its own. */
static int check_size(const struct reading *s, uint64_t cache_bytes)
{
	const struct dmcache_superblock *sb = &s->cache->super;

	if (sb->cache_blocks > cache_bytes / sb->block_bytes)
		return refuse(s->reterr, "more blocks than the cache has room for", sb->cache_blocks);
	if (sb->cache_blocks / PDATA_ARRAY_ITEMS > pdata_blocks(s->pdata))
		return refuse(s->reterr, "more blocks than the metadata has room for", sb->cache_blocks);
	return 0;
}

int dmcache_read(struct dev *dev, uint64_t origin_bytes, uint64_t cache_bytes, struct dmcache *ret, struct blkalign_error *reterr)
{
	struct reading s = { .cache = ret, .reterr = reterr };
	uint8_t block[PDATA_BLOCK_BYTES];
	int r;

	*ret = (struct dmcache){ 0 };
	if (dev->size_bytes < PDATA_BLOCK_BYTES)
		return BLKALIGN_NOT_THIS;
	r = dev_read(dev, 0, block, sizeof(block), reterr);
	if (r == 0)
		r = dmcache_superblock_decode(block, &ret->super, reterr);
	if (r == 0)
		r = pdata_open(dev, &s.pdata);
	if (r)
		return r;
	s.origin_blocks = origin_bytes / ret->super.block_bytes + (origin_bytes % ret->super.block_bytes != 0);
	s.seen = calloc(1, pdata_blocks(s.pdata) / 8 + 1);
	r = s.seen ? check_size(&s, cache_bytes) : -ENOMEM;
	if (r == 0)
		r = read_mappings(&s);
	if (r == 0)
		r = order(&s);
	free(s.seen);
	pdata_close(s.pdata);
	if (r < 0) {
		vec_done(&s.found);
		return r;
	}
	ret->mappings = s.found.data;
	ret->count = s.found.count;
	return 0;
}

void dmcache_done(struct dmcache *cache)
{
	free(cache->mappings);
	*cache = (struct dmcache){ 0 };
}
