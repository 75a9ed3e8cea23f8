/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blockdev --report, and the bare numbers of blockdev --getss --getpbsz ... DEVICE below their prompt. */
#include <stdio.h>

#include "snap/import_priv.h"

static const struct {
	const char *option;
	enum blkalign_attr attr;
	uint64_t unit;
} options[] = {
	{ "--getss", BLKALIGN_ATTR_LOGICAL_BLOCK, 1 }, { "--getpbsz", BLKALIGN_ATTR_PHYSICAL_BLOCK, 1 },
	{ "--getiomin", BLKALIGN_ATTR_MINIMUM_IO, 1 }, { "--getioopt", BLKALIGN_ATTR_OPTIMAL_IO, 1 },
	{ "--getsize64", BLKALIGN_ATTR_SIZE, 1 },      { "--getsz", BLKALIGN_ATTR_SIZE, 512 },
	{ "--getra", BLKALIGN_ATTR_READ_AHEAD, 512 },  { "--getmaxsect", BLKALIGN_ATTR_MAX_TRANSFER, 512 },
	{ "--getalignoff", BLKALIGN_ATTR_SIZE, 0 }, /* signed: set by hand */
};

static void set_option(struct import *in, const char *option, const char *text)
{
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(option, options[i].option) != 0)
			continue;
		if (options[i].unit && import_word_number(text, &number) && u64_mul(number, options[i].unit, &number))
			import_u64(in, in->prompt_node, options[i].attr, number);
		else if (!options[i].unit && import_word_number(text + (*text == '-'), &number) && number <= INT32_MAX)
			import_i64(in, in->prompt_node, BLKALIGN_ATTR_ALIGNMENT_OFFSET, *text == '-' ? -(int64_t)number : (int64_t)number);
	}
}

static bool bare_number(struct import *in, const char *line)
{
	const char *p = line + (*line == '-');
	uint64_t number;

	if (strcmp(in->tool, "blockdev") != 0 || !in->prompt_node || !import_word_number(p, &number))
		return false;
	while (in->arg_next < in->arg_count && !import_starts(in->args[in->arg_next], "--get"))
		in->arg_next++;
	if (in->arg_next == in->arg_count)
		return false;
	set_option(in, in->args[in->arg_next++], line);
	return true;
}

/* "rw   256   512  4096       2048      104857600   /dev/sda1": mode, read-ahead, sector, block, start, size */
static bool report_row(struct import *in, const char *line)
{
	struct import_fields f;
	uint64_t v[5];
	struct blkalign_node *node, *disk;

	import_split(&f, line, "");
	if (f.count != 7 || (strcmp(f.at[0], "rw") != 0 && strcmp(f.at[0], "ro") != 0) || f.at[6][0] != '/')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (!import_word_number(f.at[i + 1], &v[i]))
			return false;
	node = import_device(in, f.at[6]);
	disk = import_disk_of(in, node);
	import_u64(in, node, BLKALIGN_ATTR_LOGICAL_BLOCK, v[1]);
	import_u64(in, node, BLKALIGN_ATTR_SIZE, v[4]);
	if (u64_mul(v[0], 512, &v[0]))
		import_u64(in, node, BLKALIGN_ATTR_READ_AHEAD, v[0]);
	if (disk && u64_mul(v[3], 512, &v[3]))
		import_connect_linear(in, node, disk, v[3], v[4]);
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	(void)going_on;
	return report_row(in, line) || bare_number(in, line);
}

const struct import_reader import_reader_blockdev = { "blockdev", line };
