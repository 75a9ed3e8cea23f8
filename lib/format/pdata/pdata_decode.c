/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/pdata/pdata.h"

enum { NODE_INNER = 1, NODE_LEAF = 2 };

/* dm_bm_checksum(): seeded with ones, not inverted at the end. */
uint32_t pdata_checksum(const uint8_t block[PDATA_BLOCK_BYTES], uint32_t salt)
{
	return crc32c_raw(UINT32_MAX, block + 4, PDATA_BLOCK_BYTES - 4) ^ salt;
}

int pdata_check_block(const uint8_t block[PDATA_BLOCK_BYTES], uint32_t salt, uint64_t number, const char *what,
		      struct blkalign_error *reterr)
{
	uint32_t stored = load_le32(block), computed = pdata_checksum(block, salt);
	uint64_t own = load_le64(block + (salt == PDATA_SALT_ARRAY ? 16 : 8));

	if (stored != computed)
		return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN,
					  "%s at metadata block %" PRIu64 ": checksum is 0x%08" PRIx32 ", expected 0x%08" PRIx32, what,
					  number, stored, computed);
	if (own != number)
		return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN,
					  "%s at metadata block %" PRIu64 ": says that it is block %" PRIu64, what, number, own);
	return 0;
}

/* --- superblocks --- */

/* DATA_DEV_BLOCK_SIZE_MAX_SECTORS of dm-thin.c and dm-cache-target.c */
#define DATA_BLOCK_MAX_BYTES GIB
enum { AT_MAGIC = 32 };

int pdata_check_super(const uint8_t block[PDATA_BLOCK_BYTES], const struct pdata_super_form *form, struct blkalign_error *reterr)
{
	uint64_t data_block = pdata_super_data_block(block, form), least = form->data_block_min_bytes, found;
	const char *why = NULL;
	int r;

	if (load_le64(block + AT_MAGIC) != form->magic)
		return BLKALIGN_NOT_THIS;
	r = pdata_check_block(block, form->salt, 0, form->what, reterr);
	if (r < 0)
		return r;
	if ((found = pdata_super_version(block)) < 1 || found > 2)
		why = "a version that is not known";
	else if ((found = load_le32(block + form->incompatible_offset)) != 0)
		why = "features that are not known";
	else if ((found = load_le32(block + form->data_block_offset + 4)) != PDATA_BLOCK_BYTES / 512)
		why = "metadata blocks that are not of 8 sectors";
	else if ((found = data_block) < least || data_block > DATA_BLOCK_MAX_BYTES || data_block % least)
		why = "data blocks of an impossible size in bytes";
	if (!why)
		return 0;
	return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN, "%s: %s (%" PRIu64 ")", form->what, why, found);
}

/* --- nodes --- */

static int refuse(struct blkalign_error *reterr, uint64_t number, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN, "tree node at metadata block %" PRIu64 ": %s (%" PRIu64 ")",
				  number, what, found);
}

int pdata_node_decode(const uint8_t block[PDATA_BLOCK_BYTES], uint64_t number, struct pdata_node *ret_node, struct blkalign_error *reterr)
{
	uint32_t flags = load_le32(block + 4), count = load_le32(block + 16), most = load_le32(block + 20),
		 value_bytes = load_le32(block + 24);
	int r = pdata_check_block(block, PDATA_SALT_NODE, number, "tree node", reterr);

	if (r < 0)
		return r;
	if (flags != NODE_INNER && flags != NODE_LEAF)
		return refuse(reterr, number, "is neither an inner node nor a leaf", flags);
	if (!value_bytes || value_bytes > PDATA_VALUE_MAX || (flags == NODE_INNER && value_bytes != 8))
		return refuse(reterr, number, "values of an impossible size", value_bytes);
	if (most > (PDATA_BLOCK_BYTES - PDATA_KEYS_OFFSET) / (8 + value_bytes))
		return refuse(reterr, number, "room for more entries than a block holds", most);
	if (count > most || (!count && flags == NODE_INNER))
		return refuse(reterr, number, "an impossible number of entries", count);
	*ret_node = (struct pdata_node){ .leaf = flags == NODE_LEAF,
					 .count = count,
					 .value_bytes = value_bytes,
					 .keys = block + PDATA_KEYS_OFFSET,
					 .values = block + PDATA_KEYS_OFFSET + 8 * (size_t)most };
	for (uint32_t i = 1; i < count; i++)
		if (pdata_key(ret_node, i) <= pdata_key(ret_node, i - 1))
			return refuse(reterr, number, "its keys do not ascend at", pdata_key(ret_node, i));
	return 0;
}

uint32_t pdata_node_find(const struct pdata_node *node, uint64_t key)
{
	uint32_t low = 0, high = node->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (pdata_key(node, middle) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : node->count;
}

void pdata_map_decode(const uint8_t root[PDATA_MAP_ROOT_SIZE], struct pdata_map *ret_map)
{
	*ret_map = (struct pdata_map){
		.blocks = load_le64(root),
		.allocated = load_le64(root + 8),
		.bitmap_root = load_le64(root + 16),
		.refcount_root = load_le64(root + 24),
	};
}
