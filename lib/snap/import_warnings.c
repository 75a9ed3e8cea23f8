/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tools say about alignment while they do something else: kept word for word on the device they mean. */
#include <stdio.h>

#include "snap/import_priv.h"
#include "stack/stack.h"

/* Parts of lines that are messages of that kind; the device is the one in the line, else the one of the prompt. */
static const char *const marks[] = {
	"Ignoring bogus optimal-io size", /* cryptsetup */
	"gnoring optimal_io_size",	  /* LVM */
	"gnoring queue/optimal_io_size",
	"gnoring minimum_io_size",
	"inconsistent logical block sizes", /* vgcreate, vgextend */
	"is not properly aligned",	    /* mkfs.xfs, parted */
	"is misaligned",		    /* mkswap */
	"log stripe unit adjusted",	    /* mkfs.xfs */
	"is too large (maximum is 256KiB)",
	"Device size is not aligned to requested sector size", /* cryptsetup */
	"offset is not multiple of",
	"does not start on physical sector boundary",
	"exceeds device size",
	"attempt to access beyond",
};

/* "mke2fs: /dev/sdb1 alignment is offset by 512 bytes." */
static bool ext_offset(struct import *in, const char *line)
{
	const char *p = import_after(line, "alignment is offset by ");
	struct blkalign_node *node;
	uint64_t bytes;

	if (!p || !import_number(&p, &bytes) || bytes > INT32_MAX)
		return false;
	node = import_mentioned(in, line);
	if (!node)
		node = import_current(in);
	import_i64(in, node, BLKALIGN_ATTR_ALIGNMENT_OFFSET, (int64_t)bytes);
	import_message(in, node, BLKALIGN_ATTR_TOOL_MESSAGES, line);
	return true;
}

/* "1 not aligned: 2048s % 65535s != 0s", and the same arithmetic behind other words of parted's; "1 aligned" */
static bool parted_modulo(struct import *in, const char *line)
{
	const char *p = line + strspn(line, " "), *percent = strstr(line, "s % ");
	struct blkalign_node *disk = in->prompt_node ? in->prompt_node : in->node;
	char name[IMPORT_NAME_MAX];
	uint64_t number;

	if (!percent || !strstr(percent, "!= "))
		return false;
	if (disk && strstr(line, "not aligned") && import_number(&p, &number) && number < 1000) {
		stack_partition_name(name, sizeof(name), blkalign_node_name(disk), (unsigned)number);
		disk = import_device(in, name);
	}
	import_message(in, disk, BLKALIGN_ATTR_TOOL_MESSAGES, line);
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	struct blkalign_node *node;

	(void)going_on;
	if (ext_offset(in, line) || parted_modulo(in, line))
		return true;
	if (import_starts(line, "Partition ") && going_on == false && in->reader == &import_reader_fdisk)
		return false; /* fdisk's own reader knows which partition */
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (!strstr(line, marks[i]))
			continue;
		node = import_mentioned(in, line);
		if (!node)
			node = in->prompt_node ? in->prompt_node : in->node;
		import_message(in, node, BLKALIGN_ATTR_TOOL_MESSAGES, line);
		return true;
	}
	return false;
}

const struct import_reader import_reader_warnings = { "warning", line };
