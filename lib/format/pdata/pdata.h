/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What the kernel's thin pools and caches share: blocks of 4 KiB with checksums, B-trees of them, and arrays in B-trees. Source: the kernel's
 * drivers/md/persistent-data (dm-btree-internal.h, dm-btree-spine.c, dm-array.c, dm-space-map-common.c).
 *
 * Trees are looked up, never held: a pool may map hundreds of millions of blocks. Blocks are checked when they are read: checksum, own number, kind, counts, order
 * and bounds of keys. A block that has keys outside of its place in the tree is refused, so that whatever a tree looks like, no part of it is met twice at one depth.
 *
 * Errors: -EBADMSG for a wrong checksum, -EPROTO for content that the kernel would not write; what dev_read() returns; the message names block and
 * byte. Threads: any number at a time.
 */
#ifndef FORMAT_PDATA_PDATA_H
#define FORMAT_PDATA_PDATA_H

#include "base/base.h"
#include "dev/dev.h"

#define PDATA_BLOCK_BYTES   4096U
#define PDATA_DEPTH_MAX	    16U
#define PDATA_SALT_NODE	    UINT32_C(121107)
#define PDATA_SALT_ARRAY    UINT32_C(595846735)
#define PDATA_KEYS_OFFSET   32U
#define PDATA_ARRAY_OFFSET  24U
#define PDATA_VALUE_MAX	    24U
#define PDATA_MAP_ROOT_SIZE 128U /* of a space map's root in a superblock */

/** As a block stores it in its first 4 bytes. */
uint32_t pdata_checksum(const uint8_t block[PDATA_BLOCK_BYTES], uint32_t salt);
/** Checksum, and the block's own number. `what` is for the message. */
int pdata_check_block(const uint8_t block[PDATA_BLOCK_BYTES], uint32_t salt, uint64_t number, const char *what,
		      struct blkalign_error *reterr);

/** What superblocks of pools and caches have alike, and where. */
struct pdata_super_form {
	const char *what; /* for messages */
	uint64_t magic;
	uint32_t salt;
	unsigned incompatible_offset;
	unsigned data_block_offset; /* followed by the size of metadata blocks */
	uint64_t data_block_min_bytes;
};
/** Block 0: BLKALIGN_NOT_THIS without the magic. Version 1 or 2, no features that are not known, sizes of blocks. */
int pdata_check_super(const uint8_t block[PDATA_BLOCK_BYTES], const struct pdata_super_form *form, struct blkalign_error *reterr);
static inline uint32_t pdata_super_version(const uint8_t block[PDATA_BLOCK_BYTES]) { return load_le32(block + 40); }
static inline uint64_t pdata_super_data_block(const uint8_t block[PDATA_BLOCK_BYTES], const struct pdata_super_form *form)
{
	return (uint64_t)load_le32(block + form->data_block_offset) * 512;
}

/** A node of a tree; the pointers go into the block it was decoded from. */
struct pdata_node {
	bool leaf;
	uint32_t count;
	uint32_t value_bytes; /* 8 in inner nodes: numbers of blocks */
	const uint8_t *keys;
	const uint8_t *values;
};
/** Block `number`; keys ascend, `count` is 1 at least but for an empty leaf. */
int pdata_node_decode(const uint8_t block[PDATA_BLOCK_BYTES], uint64_t number, struct pdata_node *ret_node, struct blkalign_error *reterr);
static inline uint64_t pdata_key(const struct pdata_node *node, uint32_t i) { return load_le64(node->keys + 8 * (size_t)i); }
static inline const uint8_t *pdata_value(const struct pdata_node *node, uint32_t i) { return node->values + node->value_bytes * (size_t)i; }
/** The last key that is `key` or lower; `count` when there is none. */
uint32_t pdata_node_find(const struct pdata_node *node, uint64_t key);

/** A device with such blocks, and those read last. */
struct pdata;
/** `dev` is borrowed. */
int pdata_open(struct dev *dev, struct pdata **ret_pdata);
/** NULL is accepted. */
void pdata_close(struct pdata *pdata);
uint64_t pdata_blocks(const struct pdata *pdata);
/** Block `number`, checked as pdata_check_block(); not kept. */
int pdata_read(struct pdata *pdata, uint64_t number, uint32_t salt, const char *what, uint8_t ret_block[PDATA_BLOCK_BYTES],
	       struct blkalign_error *reterr);

/** A leaf, and which keys can be in it alone. */
struct pdata_leaf {
	struct pdata_node node;
	uint64_t low;
	uint64_t high; /* first key that is beyond it; UINT64_MAX: none, or that one */
	uint8_t block[PDATA_BLOCK_BYTES];
};
/**
 * The leaf that `key` is in, or would be in, of the tree of values of `value_bytes` whose root is block `root`. For a whole tree: from key 0 on to `high`, until
 * that is UINT64_MAX. Such a walk ends: `high` ascends, and leaves are no more than the device has blocks. After failure `low` and `high` tell which keys cannot be looked up.
 */
int pdata_find_leaf(struct pdata *pdata, uint64_t root, uint32_t value_bytes, uint64_t key, struct pdata_leaf *ret_leaf,
		    struct blkalign_error *reterr);

/**
 * Items `first` and following of an array of u64 whose root is block `root`: as many as its block holds of them, `count` at most and 1 at least, at `ret`. -EPROTO
 * when the array does not have that item. `seen`, unless NULL, has a bit for each block of the device: one that is met again is refused.
 */
int pdata_read_array(struct pdata *pdata, uint64_t root, uint64_t first, uint64_t *ret, uint32_t count, uint8_t *seen, uint32_t *ret_count,
		     struct blkalign_error *reterr);
/** So many items are in one block of an array of u64. */
#define PDATA_ARRAY_ITEMS ((PDATA_BLOCK_BYTES - PDATA_ARRAY_OFFSET) / 8)

/** Which blocks of a device are in use: root of a space map, at the beginning of its 128 bytes. */
struct pdata_map {
	uint64_t blocks;
	uint64_t allocated;
	uint64_t bitmap_root;
	uint64_t refcount_root;
};
void pdata_map_decode(const uint8_t root[PDATA_MAP_ROOT_SIZE], struct pdata_map *ret_map);
/** Blocks in use by the index of a space map of data (that of the metadata has another form): to be compared with `allocated`. */
int pdata_map_count(struct pdata *pdata, const struct pdata_map *map, uint64_t *ret_allocated, struct blkalign_error *reterr);

#endif
