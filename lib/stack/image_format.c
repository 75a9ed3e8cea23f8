/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that hold a disk but are not its bytes. Nothing would be found in them, and "nothing found" is no answer.
 *
 * Signatures: docs/interop/qcow2.rst, block/vmdk.c, block/vpc.c, block/vdi.c of QEMU; MS-VHDX; the formats of gzip, xz, zstd and bzip2.
 */
#include "stack/stack.h"

#define HEAD_BYTES 512U

static const struct {
	const char *name;
	const char *remedy;
	size_t at;
	size_t length;
	const char *magic;
} formats[] = {
	{ "qcow2", "qemu-img convert -O raw", 0, 4, "QFI\xfb" },
	{ "VMDK", "qemu-img convert -O raw", 0, 4, "KDMV" },
	{ "VMDK", "qemu-img convert -O raw", 0, 4, "COWD" },
	{ "VMDK description", "qemu-img convert -O raw", 0, 21, "# Disk DescriptorFile" },
	{ "VHDX", "qemu-img convert -O raw", 0, 8, "vhdxfile" },
	{ "dynamic VHD", "qemu-img convert -O raw", 0, 8, "conectix" },
	{ "VDI", "qemu-img convert -O raw", 64, 4, "\x7f\x10\xda\xbe" },
	{ "gzip", "gzip -dk", 0, 3, "\x1f\x8b\x08" },
	{ "xz", "xz -dk", 0, 6,
	  "\xfd"
	  "7zXZ\0" },
	{ "zstd", "zstd -dk", 0, 4, "\x28\xb5\x2f\xfd" },
	{ "bzip2", "bzip2 -dk", 0, 3, "BZh" },
};

int stack_remark_image_format(struct stack *stack, const struct blkalign_node *node, struct dev *dev)
{
	struct dev_hole hole = { .fd = -1 };
	uint8_t head[HEAD_BYTES];

	if (!dev->size_bytes)
		return graph_remark(stack_graph(stack), "%s: is empty: 0 bytes", blkalign_node_name(node));
	if (dev_is_hole(dev, &hole))
		return graph_remark(stack_graph(stack), "%s: holds nothing: it is one hole, never written to", blkalign_node_name(node));
	if (dev->size_bytes < sizeof(head) || dev_read(dev, 0, head, sizeof(head), NULL) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (memcmp(head + formats[i].at, formats[i].magic, formats[i].length) == 0)
			return graph_remark(stack_graph(stack),
					    "%s: is no raw disk but a file of format %s: make a raw image of it (%s) and look at that",
					    blkalign_node_name(node), formats[i].name, formats[i].remedy);
	return 0;
}
