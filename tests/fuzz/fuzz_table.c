/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is a disk: which table is believed, in which unit, and the nodes made of it. Its first bytes choose the block size. */
#include "fuzz.h"
#include "stack/layers.h"

static void probe(uint8_t *disk, size_t size, uint64_t logical_bytes)
{
	_cleanup_stack_ struct stack *stack = NULL;
	struct blkalign_graph *graph = graph_new("fuzz");
	struct blkalign_node *node;
	struct dev *dev;

	if (stack_new(graph, NULL, &stack) < 0 || dev_open_memory("fuzz", disk, size, false, &dev) < 0 ||
	    stack_add(stack, BLKALIGN_KIND_DISK, "disk", dev, &node) < 0)
		return;
	if (graph_set_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK, logical_bytes, BLKALIGN_ORIGIN_ASSUMED) == 0)
		layer_table.probe(stack, node, dev);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (copy && size > 512) {
		memcpy(copy, data, size);
		copy[510] = 0x55;
		copy[511] = 0xaa;
		for (size_t at = 446; at < 510; at += 16)
			copy[at] &= 0x80;
		probe(copy, size, copy[0] & 1 ? 4096 : 512);
	}
	free(copy);
	return 0;
}
