/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xfs_info and what mkfs.xfs prints (libfrog/fsgeom.c: xfs_report_geom). Units and widths are in file system blocks. */
#include <stdio.h>

#include "snap/import_priv.h"

static bool assigned(const char *line, const char *key, uint64_t *ret)
{
	const char *p = import_after(line, key);

	return p && import_number(&p, ret);
}

/* "meta-data=/dev/sda1 ...", "data     =  ..."; lines without a word before the equals sign go on with the section. */
static bool section(struct import *in, const char *line, bool going_on)
{
	static const char *const names[] = { "meta-data", "data", "naming", "log", "realtime" };
	struct blkalign_node *device;

	if (import_starts(line, "meta-data=")) {
		char name[IMPORT_NAME_MAX];
		const char *p = line + strlen("meta-data=");

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " "), p);
		device = import_device(in, name);
		import_heading(in, device);
		in->state.fs.content = import_content(in, BLKALIGN_KIND_CONTENT, "xfs", device, 0);
		snprintf(in->state.fs.section, sizeof(in->state.fs.section), "meta-data");
		return in->state.fs.content != NULL;
	}
	if (!going_on || !in->state.fs.content)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (import_starts(line, names[i]) && strchr(line, '='))
			snprintf(in->state.fs.section, sizeof(in->state.fs.section), "%s", names[i]);
	return strchr(line, '=') != NULL;
}

static void set_blocks(struct import *in, enum blkalign_attr attr, uint64_t blocks)
{
	uint64_t bytes;

	if (in->state.fs.block_bytes && u64_mul(blocks, in->state.fs.block_bytes, &bytes))
		import_u64(in, in->state.fs.content, attr, bytes);
}

static void data_line(struct import *in, const char *line)
{
	uint64_t n;

	if (assigned(line, "bsize=", &n)) {
		in->state.fs.block_bytes = n;
		import_u64(in, in->state.fs.content, BLKALIGN_ATTR_FS_BLOCK, n);
	}
	if (assigned(line, " blocks=", &n))
		set_blocks(in, BLKALIGN_ATTR_FS_SIZE, n);
	if (assigned(line, "sunit=", &n))
		set_blocks(in, BLKALIGN_ATTR_FS_STRIDE, n);
	if (assigned(line, "swidth=", &n))
		set_blocks(in, BLKALIGN_ATTR_FS_STRIPE, n);
}

static bool line(struct import *in, const char *line, bool going_on)
{
	uint64_t n;

	if (!section(in, line, going_on))
		return false;
	if (!strcmp(in->state.fs.section, "meta-data") && assigned(line, "sectsz=", &n))
		import_u64(in, in->state.fs.content, BLKALIGN_ATTR_FS_SECTOR, n);
	else if (!strcmp(in->state.fs.section, "data"))
		data_line(in, line);
	else if (!strcmp(in->state.fs.section, "log") && assigned(line, "sunit=", &n))
		set_blocks(in, BLKALIGN_ATTR_FS_LOG_STRIDE, n);
	return true;
}

const struct import_reader import_reader_xfs = { "xfs_info", line };
