/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Request sizes: what the graph knows of blocks, chunks and stripes, made into numbers that an NBD client accepts. */
#include "run/run.h"

#define PREFERRED_MIN_BYTES 512U /* the least that the NBD protocol allows */
#define PHYSICAL_DEFAULT    4096U
#define REQUEST_BYTES	    (1 * MIB) /* whole stripes are put together up to this */
#define LARGEST_BYTES	    (4 * MIB) /* of a stripe or a chunk that is one request: a server has a buffer for each thread */
#define DEPTH_MAX	    64U

/* The node's own value, or that of the first device below that has one: a partition has the chunk of its array. */
static uint64_t attr_below(const struct blkalign_node *node, enum blkalign_attr attr)
{
	for (unsigned depth = 0; node && depth < DEPTH_MAX; depth++) {
		uint64_t value = blkalign_node_u64(node, attr);

		if (value && value != BLKALIGN_UNKNOWN)
			return value;
		node = blkalign_node_edges(node) ? blkalign_node_edge(node, 0)->lower : NULL;
	}
	return BLKALIGN_UNKNOWN;
}

/* Chunks of 96 KiB are allowed on raid0: the largest power of two that divides it. */
static uint64_t largest_power(uint64_t value) { return value & (~value + 1); }

static uint64_t minimum_of(const struct dev *dev, uint64_t logical_bytes)
{
	uint64_t minimum = logical_bytes == BLKALIGN_UNKNOWN ? 512 : largest_power(logical_bytes);

	if (minimum > 65536)
		minimum = 512;
	/* An image may end anywhere, and its last bytes are to be written too. */
	while (minimum > dev->block_bytes && dev->size_bytes % minimum)
		minimum /= 2;
	return minimum < dev->block_bytes ? dev->block_bytes : minimum;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high) { return value < low ? low : value > high ? high : value; }

static uint64_t maximum_of(uint64_t stripe_bytes, uint64_t preferred_bytes, uint64_t minimum_bytes)
{
	if (stripe_bytes > LARGEST_BYTES || stripe_bytes < preferred_bytes || stripe_bytes % minimum_bytes)
		stripe_bytes = preferred_bytes;
	return stripe_bytes < REQUEST_BYTES ? REQUEST_BYTES / stripe_bytes * stripe_bytes : stripe_bytes;
}

struct blkalign_run_blocks run_blocks(const struct blkalign_run *run, const struct blkalign_node *node)
{
	const struct dev *dev = stack_dev(run->stack, node);
	uint64_t chunk = attr_below(node, BLKALIGN_ATTR_MD_CHUNK);
	uint64_t preferred = chunk != BLKALIGN_UNKNOWN ? chunk : attr_below(node, BLKALIGN_ATTR_PHYSICAL_BLOCK);
	uint64_t minimum = dev ? minimum_of(dev, attr_below(node, BLKALIGN_ATTR_LOGICAL_BLOCK)) : 512;

	preferred = preferred == BLKALIGN_UNKNOWN ? PHYSICAL_DEFAULT : largest_power(preferred);
	preferred = clamp(preferred, minimum > PREFERRED_MIN_BYTES ? minimum : PREFERRED_MIN_BYTES, LARGEST_BYTES);
	return (struct blkalign_run_blocks){
		.minimum_bytes = minimum,
		.preferred_bytes = preferred,
		.maximum_bytes = maximum_of(attr_below(node, BLKALIGN_ATTR_MD_STRIPE), preferred, minimum),
	};
}

void blkalign_run_blocks(const struct blkalign_run *run, const struct blkalign_node *node, struct blkalign_run_blocks *ret)
{
	*ret = run->nodes[blkalign_node_index(node)].blocks;
}
