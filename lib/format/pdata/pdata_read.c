/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes that were read are kept by number, each in its place or not at all: the upper ones are met by every lookup, and leaves by neighbours. */
#include <inttypes.h>
#include <pthread.h>

#include "format/pdata/pdata.h"

#define SLOTS_MAX	8192U  /* 32 MiB when all are in use: the leaves of a million mappings */
#define BITMAP_BLOCKS	16320U /* that one block of bits tells of; those behind the end are free */
#define MAP_INDEX_BYTES 16U
#define MAP_LEAVES_MAX	4096U

struct slot {
	uint64_t number;
	uint8_t *block; /* NULL: none */
};

struct pdata {
	struct dev *dev;
	uint64_t blocks;
	pthread_mutex_t mutex; /* of `slots` */
	size_t slot_count;
	struct slot slots[];
};

int pdata_open(struct dev *dev, struct pdata **ret_pdata)
{
	uint64_t blocks = dev->size_bytes / PDATA_BLOCK_BYTES;
	/* One also where there is no block: none is found in it. */
	size_t slots = blocks > SLOTS_MAX ? SLOTS_MAX : blocks ? (size_t)blocks : 1;
	struct pdata *p = calloc(1, sizeof(*p) + slots * sizeof(p->slots[0]));
	int r;

	if (!p)
		return -ENOMEM;
	p->dev = dev;
	p->blocks = blocks;
	p->slot_count = slots;
	r = pthread_mutex_init(&p->mutex, NULL);
	if (r) {
		free(p);
		return -r;
	}
	*ret_pdata = p;
	return 0;
}

void pdata_close(struct pdata *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->slot_count; i++)
		free(p->slots[i].block);
	pthread_mutex_destroy(&p->mutex);
	free(p);
}

uint64_t pdata_blocks(const struct pdata *pdata) { return pdata->blocks; }

/* The message has no place yet. */
static int place_error(const struct pdata *p, uint64_t number, int r, struct blkalign_error *from, struct blkalign_error *reterr)
{
	blkalign_error_set(reterr, r, p->dev->name, number * PDATA_BLOCK_BYTES, "%s", from->message);
	return r;
}

int pdata_read(struct pdata *p, uint64_t number, uint32_t salt, const char *what, uint8_t ret_block[PDATA_BLOCK_BYTES],
	       struct blkalign_error *reterr)
{
	struct blkalign_error err;
	int r;

	if (number >= p->blocks)
		return blkalign_error_set(reterr, -EPROTO, p->dev->name, BLKALIGN_UNKNOWN,
					  "%s is said to be at metadata block %" PRIu64 ", but there are %" PRIu64 " blocks", what, number,
					  p->blocks);
	r = dev_read(p->dev, number * PDATA_BLOCK_BYTES, ret_block, PDATA_BLOCK_BYTES, reterr);
	if (r < 0)
		return r;
	r = pdata_check_block(ret_block, salt, number, what, &err);
	return r < 0 ? place_error(p, number, r, &err, reterr) : 0;
}

static bool recall(struct pdata *p, uint64_t number, uint8_t ret_block[PDATA_BLOCK_BYTES])
{
	struct slot *s = &p->slots[number % p->slot_count];
	bool found;

	pthread_mutex_lock(&p->mutex);
	found = s->block && s->number == number;
	if (found)
		memcpy(ret_block, s->block, PDATA_BLOCK_BYTES);
	pthread_mutex_unlock(&p->mutex);
	return found;
}

/* Without memory it is read again next time. */
static void remember(struct pdata *p, uint64_t number, const uint8_t block[PDATA_BLOCK_BYTES])
{
	struct slot *s = &p->slots[number % p->slot_count];

	pthread_mutex_lock(&p->mutex);
	if (!s->block)
		s->block = malloc(PDATA_BLOCK_BYTES);
	if (s->block) {
		s->number = number;
		memcpy(s->block, block, PDATA_BLOCK_BYTES);
	}
	pthread_mutex_unlock(&p->mutex);
}

/* The pointers of a node that is known to be good. */
static void view(const uint8_t *block, struct pdata_node *ret)
{
	*ret = (struct pdata_node){ .leaf = load_le32(block + 4) == 2,
				    .count = load_le32(block + 16),
				    .value_bytes = load_le32(block + 24),
				    .keys = block + PDATA_KEYS_OFFSET,
				    .values = block + PDATA_KEYS_OFFSET + 8 * (size_t)load_le32(block + 20) };
}

static int read_node(struct pdata *p, uint64_t number, struct pdata_leaf *ret, struct blkalign_error *reterr)
{
	struct blkalign_error err;
	struct pdata_node checked;
	int r;

	if (number < p->blocks && recall(p, number, ret->block)) {
		view(ret->block, &ret->node);
		return 0;
	}
	r = pdata_read(p, number, PDATA_SALT_NODE, "tree node", ret->block, reterr);
	if (r < 0)
		return r;
	r = pdata_node_decode(ret->block, number, &checked, &err);
	if (r < 0)
		return place_error(p, number, r, &err, reterr);
	remember(p, number, ret->block);
	view(ret->block, &ret->node);
	return 0;
}

static int refuse(const struct pdata *p, uint64_t number, const char *why, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EPROTO, p->dev->name, number * PDATA_BLOCK_BYTES, "tree node at metadata block %" PRIu64 ": %s",
				  number, why);
}

/* Keys that are none of its parent's business would be found by nobody, or twice. */
static int check_place(const struct pdata *p, uint64_t number, const struct pdata_leaf *leaf, unsigned depth, struct blkalign_error *reterr)
{
	const struct pdata_node *n = &leaf->node;

	if (!n->count)
		return depth ? refuse(p, number, "is empty, which only a root may be", reterr) : 0;
	if (pdata_key(n, 0) < leaf->low || (leaf->high != UINT64_MAX && pdata_key(n, n->count - 1) >= leaf->high))
		return refuse(p, number, "has keys that belong elsewhere in the tree", reterr);
	return 0;
}

int pdata_find_leaf(struct pdata *p, uint64_t root, uint32_t value_bytes, uint64_t key, struct pdata_leaf *ret,
		    struct blkalign_error *reterr)
{
	uint64_t number = root;

	ret->low = 0;
	ret->high = UINT64_MAX;
	for (unsigned depth = 0; depth < PDATA_DEPTH_MAX; depth++) {
		int r = read_node(p, number, ret, reterr);
		uint32_t i;

		if (r >= 0)
			r = check_place(p, number, ret, depth, reterr);
		if (r < 0)
			return r;
		if (ret->node.leaf)
			return ret->node.value_bytes == value_bytes ? 0 : refuse(p, number, "has values of another size", reterr);
		i = pdata_node_find(&ret->node, key);
		/* Keys below the first one would be put into the first child. */
		if (i == ret->node.count)
			i = 0;
		else
			ret->low = pdata_key(&ret->node, i);
		if (i + 1 < ret->node.count)
			ret->high = pdata_key(&ret->node, i + 1);
		number = load_le64(pdata_value(&ret->node, i));
	}
	return refuse(p, number, "is deeper than any tree can be", reterr);
}

int pdata_read_array(struct pdata *p, uint64_t root, uint64_t first, uint64_t *ret, uint32_t count, uint8_t *seen, uint32_t *ret_count,
		     struct blkalign_error *reterr)
{
	uint64_t index = first / PDATA_ARRAY_ITEMS, number;
	uint32_t skip = (uint32_t)(first % PDATA_ARRAY_ITEMS), there, i;
	uint8_t block[PDATA_BLOCK_BYTES];
	struct pdata_leaf leaf;
	int r = pdata_find_leaf(p, root, 8, index, &leaf, reterr);

	if (r < 0)
		return r;
	i = pdata_node_find(&leaf.node, index);
	if (i == leaf.node.count || pdata_key(&leaf.node, i) != index)
		return blkalign_error_set(reterr, -EPROTO, p->dev->name, BLKALIGN_UNKNOWN,
					  "the array at metadata block %" PRIu64 " has no item %" PRIu64, root, first);
	number = load_le64(pdata_value(&leaf.node, i));
	r = pdata_read(p, number, PDATA_SALT_ARRAY, "array block", block, reterr);
	if (r < 0)
		return r;
	there = load_le32(block + 8);
	if (load_le32(block + 12) != 8 || there > PDATA_ARRAY_ITEMS || there <= skip)
		return blkalign_error_set(reterr, -EPROTO, p->dev->name, number * PDATA_BLOCK_BYTES,
					  "array block at metadata block %" PRIu64 ": has %" PRIu32 " items of %" PRIu32
					  " bytes, asked for number %" PRIu32 " of 8 bytes",
					  number, there, load_le32(block + 12), skip);
	if (seen && (seen[number / 8] >> number % 8 & 1))
		return blkalign_error_set(reterr, -EPROTO, p->dev->name, number * PDATA_BLOCK_BYTES,
					  "array block at metadata block %" PRIu64 ": is said to be two parts of the array", number);
	if (seen)
		seen[number / 8] |= (uint8_t)(1U << number % 8);
	*ret_count = count < there - skip ? count : there - skip;
	for (i = 0; i < *ret_count; i++)
		ret[i] = load_le64(block + PDATA_ARRAY_OFFSET + 8 * (size_t)(skip + i));
	return 0;
}

/* Bits behind the end of the device are free to the kernel, and not there to thin_restore. */
static uint64_t settle(const struct pdata_map *map, uint64_t allocated, uint64_t bitmaps)
{
	uint64_t behind = bitmaps * BITMAP_BLOCKS - map->blocks;

	return allocated == map->allocated || allocated < behind ? allocated : allocated - behind;
}

int pdata_map_count(struct pdata *p, const struct pdata_map *map, uint64_t *ret_allocated, struct blkalign_error *reterr)
{
	uint64_t allocated = 0, bitmaps = 0, key = 0;
	struct pdata_leaf leaf = { .high = 0 };

	for (unsigned leaves = 0; key != UINT64_MAX; key = leaf.high) {
		int r = pdata_find_leaf(p, map->bitmap_root, MAP_INDEX_BYTES, key, &leaf, reterr);

		if (r < 0)
			return r;
		if (++leaves > MAP_LEAVES_MAX)
			return -E2BIG;
		for (uint32_t i = 0; i < leaf.node.count; i++)
			allocated += BITMAP_BLOCKS - (uint64_t)load_le32(pdata_value(&leaf.node, i) + 8);
		bitmaps += leaf.node.count;
	}
	*ret_allocated = settle(map, allocated, bitmaps);
	return 0;
}
