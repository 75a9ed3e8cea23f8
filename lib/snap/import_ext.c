/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dumpe2fs -h and tune2fs -l (e2fsprogs lib/e2p/ls.c). Stride and width are printed in blocks, and only where they are set. */
#include <stdio.h>

#include "snap/import_priv.h"

static bool heading(struct import *in, const char *line)
{
	if (!import_value(line, "Filesystem volume name"))
		return false;
	import_heading(in, in->prompt_node);
	return true;
}

static const char *type_of(const char *features)
{
	if (strstr(features, "extent"))
		return "ext4";
	return strstr(features, "has_journal") ? "ext3" : "ext2";
}

static void set_blocks(struct import *in, enum blkalign_attr attr, const char *text)
{
	uint64_t blocks;

	if (import_number(&text, &blocks) && in->state.fs.block_bytes && u64_mul(blocks, in->state.fs.block_bytes, &blocks))
		import_u64(in, in->state.fs.content, attr, blocks);
}

static void set_block_size(struct import *in, const char *text)
{
	struct blkalign_node *fs = in->state.fs.content;
	uint64_t size;

	if (!import_number(&text, &in->state.fs.block_bytes))
		return;
	import_u64(in, fs, BLKALIGN_ATTR_FS_BLOCK, in->state.fs.block_bytes);
	import_u64(in, fs, BLKALIGN_ATTR_FS_STRIDE, 0);
	import_u64(in, fs, BLKALIGN_ATTR_FS_STRIPE, 0);
	if (in->state.fs.features && u64_mul(in->state.fs.features, in->state.fs.block_bytes, &size))
		import_u64(in, fs, BLKALIGN_ATTR_FS_SIZE, size);
}

static bool line(struct import *in, const char *line, bool going_on)
{
	const char *features = import_value(line, "Filesystem features"), *count = import_value(line, "Block count"),
		   *block = import_value(line, "Block size"), *stride = import_value(line, "RAID stride"),
		   *width = import_value(line, "RAID stripe width"), *uuid = import_value(line, "Filesystem UUID");

	if (heading(in, line))
		return true;
	if (!going_on && !features)
		return false;
	if (features)
		in->state.fs.content = import_content(in, BLKALIGN_KIND_CONTENT, type_of(features), import_current(in), 0);
	else if (count)
		return import_number(&count, &in->state.fs.features);
	else if (block)
		set_block_size(in, block);
	else if (stride)
		set_blocks(in, BLKALIGN_ATTR_FS_STRIDE, stride);
	else if (width)
		set_blocks(in, BLKALIGN_ATTR_FS_STRIPE, width);
	else if (uuid)
		return true;
	else
		return false;
	return true;
}

const struct import_reader import_reader_ext = { "dumpe2fs", line };
