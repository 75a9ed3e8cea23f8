/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two disks with hostile 1.x superblocks through the whole way: decode, choice of members, geometry, edges, reading and writing the array. */
#include <string.h>

#include "format/md1/md1.h"
#include "fuzz.h"
#include "stack/stack.h"

#define DISK_BYTES (256U * 1024U)
#define SUPER_AT   4096U

static uint8_t disks[2][DISK_BYTES];

/* The second disk carries the same superblock as device number 1, so that arrays of two come up. */
static void fill(unsigned disk, const uint8_t *data, size_t size)
{
	uint8_t *sb = disks[disk] + SUPER_AT;
	uint32_t max_dev, sum;

	memset(disks[disk], 0, DISK_BYTES);
	memcpy(sb, data, size < MD1_BYTES ? size : MD1_BYTES);
	if (disk)
		sb[160] ^= 1;
	max_dev = load_le32(sb + 220);
	if (max_dev > MD1_ROLES_MAX)
		return;
	sum = md1_checksum(sb, max_dev);
	for (unsigned i = 0; i < 4; i++)
		sb[216 + i] = (uint8_t)(sum >> 8 * i);
}

static void use_some(struct stack *stack)
{
	static uint8_t buffer[8192];

	for (size_t i = 0; i < blkalign_graph_size(stack_graph(stack)); i++) {
		struct dev *dev = stack_dev(stack, blkalign_graph_node(stack_graph(stack), i));

		if (dev && dev->size_bytes > sizeof(buffer))
			dev_read(dev, dev->size_bytes - sizeof(buffer), buffer, sizeof(buffer), NULL);
		if (dev && dev->size_bytes > sizeof(buffer) && !stack_read_only_because(stack, blkalign_graph_node(stack_graph(stack), i)))
			dev_write(dev, 0, buffer, sizeof(buffer), NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The same input always goes the same way. */
	unsigned way = size ? data[size - 1] : 0;
	bool writable = way & 1;
	struct stack *stack = NULL;

	if (stack_new(graph_new("fuzz"), NULL, &stack) < 0)
		return 0;
	if (writable)
		stack_set_running(stack, &(struct stack_running){ .writable = true, .force = way & 2 });
	for (unsigned i = 0; i < 2; i++) {
		struct blkalign_node *node;
		struct dev *dev;

		fill(i, data, size);
		if (dev_open_memory(i ? "b" : "a", disks[i], DISK_BYTES, writable, &dev) < 0 ||
		    stack_add(stack, BLKALIGN_KIND_DISK, i ? "b" : "a", dev, &node) < 0)
			break;
	}
	if (stack_run(stack, NULL) == 0)
		use_some(stack);
	stack_close(stack, NULL);
	return 0;
}
