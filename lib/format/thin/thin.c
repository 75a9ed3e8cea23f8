/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/thin/thin.h"

#define DETAILS_BYTES 24U
#define TIME_BITS     24U

enum { FLAG_NEEDS_CHECK = 1 };

/* struct thin_disk_superblock, packed */
enum {
	AT_FLAGS = 4,
	AT_TIME = 44,
	AT_TRANSACTION = 48,
	AT_HELD_ROOT = 56,
	AT_DATA_MAP = 64,
	AT_METADATA_MAP = 192,
	AT_MAPPING_ROOT = 320,
	AT_DETAILS_ROOT = 328,
};
/* DATA_DEV_BLOCK_SIZE_MIN_SECTORS of dm-thin.c */
static const struct pdata_super_form form = { .what = "thin pool superblock",
					      .magic = 27022010,
					      .salt = 160774,
					      .incompatible_offset = 360,
					      .data_block_offset = 336,
					      .data_block_min_bytes = 64 * KIB };

int thin_superblock_decode(const uint8_t block[PDATA_BLOCK_BYTES], struct thin_superblock *ret, struct blkalign_error *reterr)
{
	int r = pdata_check_super(block, &form, reterr);

	if (r)
		return r;
	*ret = (struct thin_superblock){
		.needs_check = load_le32(block + AT_FLAGS) & FLAG_NEEDS_CHECK,
		.version = pdata_super_version(block),
		.time = load_le32(block + AT_TIME),
		.transaction_id = load_le64(block + AT_TRANSACTION),
		.held_root = load_le64(block + AT_HELD_ROOT),
		.mapping_root = load_le64(block + AT_MAPPING_ROOT),
		.details_root = load_le64(block + AT_DETAILS_ROOT),
		.data_block_bytes = pdata_super_data_block(block, &form),
	};
	pdata_map_decode(block + AT_DATA_MAP, &ret->data);
	pdata_map_decode(block + AT_METADATA_MAP, &ret->metadata);
	return 0;
}

int thin_pool_read(struct dev *dev, struct thin_pool *ret_pool, struct blkalign_error *reterr)
{
	uint8_t block[PDATA_BLOCK_BYTES];
	int r;

	*ret_pool = (struct thin_pool){ 0 };
	if (dev->size_bytes < PDATA_BLOCK_BYTES)
		return BLKALIGN_NOT_THIS;
	r = dev_read(dev, 0, block, sizeof(block), reterr);
	if (r == 0)
		r = thin_superblock_decode(block, &ret_pool->super, reterr);
	return r == 0 ? pdata_open(dev, &ret_pool->pdata) : r;
}

void thin_pool_done(struct thin_pool *pool)
{
	pdata_close(pool->pdata);
	pool->pdata = NULL;
}

/* The value of just that key. */
static int find_value(const struct thin_pool *pool, uint64_t root, uint32_t value_bytes, uint64_t key, struct pdata_leaf *leaf,
		      const uint8_t **ret, struct blkalign_error *reterr)
{
	int r = pdata_find_leaf(pool->pdata, root, value_bytes, key, leaf, reterr);
	uint32_t i;

	if (r < 0)
		return r;
	i = pdata_node_find(&leaf->node, key);
	if (i == leaf->node.count || pdata_key(&leaf->node, i) != key)
		return BLKALIGN_ABSENT;
	*ret = pdata_value(&leaf->node, i);
	return 0;
}

int thin_find_device(const struct thin_pool *pool, uint32_t device_id, struct thin_device *ret, struct blkalign_error *reterr)
{
	const uint8_t *value;
	struct pdata_leaf leaf;
	int r = find_value(pool, pool->super.details_root, DETAILS_BYTES, device_id, &leaf, &value, reterr);

	if (r)
		return r;
	*ret = (struct thin_device){ .mapped_blocks = load_le64(value),
				     .transaction_id = load_le64(value + 8),
				     .created_time = load_le32(value + 16),
				     .snapshotted_time = load_le32(value + 20) };
	r = find_value(pool, pool->super.mapping_root, 8, device_id, &leaf, &value, reterr);
	if (r == BLKALIGN_ABSENT)
		return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN,
					  "thin pool metadata: device %" PRIu32 " is described but has no mappings", device_id);
	if (r == 0)
		ret->mapping_root = load_le64(value);
	return r;
}

static uint64_t data_block(const struct pdata_node *node, uint32_t i) { return load_le64(pdata_value(node, i)) >> TIME_BITS; }

/* 1 also of the last of all keys. */
static uint64_t until(const struct pdata_leaf *leaf, uint64_t block) { return leaf->high > block ? leaf->high - block : 1; }

int thin_find(const struct thin_pool *pool, uint64_t mapping_root, uint64_t block, struct thin_run *ret, struct blkalign_error *reterr)
{
	struct pdata_leaf leaf;
	const struct pdata_node *n = &leaf.node;
	int r = pdata_find_leaf(pool->pdata, mapping_root, 8, block, &leaf, reterr);
	uint32_t i;

	if (r < 0) {
		*ret = (struct thin_run){ .blocks = until(&leaf, block) };
		return r;
	}
	i = pdata_node_find(n, block);
	if (i < n->count && pdata_key(n, i) == block) {
		*ret = (struct thin_run){ true, data_block(n, i), 1 };
		while (i + ret->blocks < n->count && pdata_key(n, i + (uint32_t)ret->blocks) == block + ret->blocks &&
		       data_block(n, i + (uint32_t)ret->blocks) == ret->data_block + ret->blocks)
			ret->blocks++;
		return 0;
	}
	i = i < n->count ? i + 1 : 0;
	*ret = (struct thin_run){ .blocks = i < n->count ? pdata_key(n, i) - block : until(&leaf, block) };
	return 0;
}
