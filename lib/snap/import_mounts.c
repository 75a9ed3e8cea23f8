/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mount ("DEVICE on PLACE type TYPE (OPTIONS)") and /proc/mounts. XFS shows its stripe in sectors of 512 bytes, ext4 in file system blocks, whose size is not
 * told here.
 */
#include <stdio.h>

#include "snap/import_priv.h"

static void set_sectors(struct import *in, struct blkalign_node *fs, enum blkalign_attr attr, const char *options, const char *key)
{
	const char *p = import_after(options, key);
	uint64_t sectors;

	if (p && import_number(&p, &sectors) && u64_mul(sectors, 512, &sectors))
		import_u64(in, fs, attr, sectors);
}

static bool mounted(struct import *in, const char *device, const char *place, const char *type, const char *options)
{
	static const char *const types[] = { "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "ntfs", "f2fs", "exfat" };
	struct blkalign_node *fs;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(type, types[i]) != 0)
			continue;
		fs = import_content(in, BLKALIGN_KIND_CONTENT, type, import_device(in, device), 0);
		import_str(in, fs, BLKALIGN_ATTR_MOUNT_POINT, place);
		if (!strcmp(type, "xfs")) {
			set_sectors(in, fs, BLKALIGN_ATTR_FS_STRIDE, options, "sunit=");
			set_sectors(in, fs, BLKALIGN_ATTR_FS_STRIPE, options, "swidth=");
		}
		return fs != NULL;
	}
	return false;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	struct import_fields f;

	(void)going_on;
	if (!import_starts(line, "/dev/"))
		return false;
	import_split(&f, line, "");
	if (f.count >= 6 && !strcmp(f.at[1], "on") && !strcmp(f.at[3], "type"))
		return mounted(in, f.at[0], f.at[2], f.at[4], f.at[5]);
	return f.count == 6 && f.at[1][0] == '/' && mounted(in, f.at[0], f.at[1], f.at[2], f.at[3]);
}

const struct import_reader import_reader_mounts = { "mounts", line };
