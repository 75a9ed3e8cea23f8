/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * zdb -C: a vdev's ashift stands before the disks of a mirror or raidz and behind the path of a single disk. The value governs the whole top-level
 * vdev.
 */
#include <stdio.h>

#include "snap/import_priv.h"

#define ASHIFT_MAX 17U

static void set_ashift(struct import *in)
{
	if (in->state.fs.features)
		import_u64(in, in->state.fs.content, BLKALIGN_ATTR_FS_SECTOR, UINT64_C(1) << in->state.fs.features);
}

static bool line(struct import *in, const char *line, bool going_on)
{
	const char *ashift = import_value(line, "ashift"), *path = import_value(line, "path"), *type = import_value(line, "type");
	uint64_t shift;

	if (!going_on && !import_value(line, "vdev_tree") && !ashift)
		return false;
	if (!going_on)
		import_heading(in, NULL);
	if (ashift && import_number(&ashift, &shift) && shift >= 9 && shift <= ASHIFT_MAX) {
		in->state.fs.features = shift;
		if (in->state.fs.in_data) /* a disk is waiting for it */
			set_ashift(in);
		in->state.fs.in_data = false;
	} else if (path && import_mentioned(in, path)) {
		in->state.fs.content = import_content(in, BLKALIGN_KIND_CONTENT, "zfs_member", import_mentioned(in, path), 0);
		in->state.fs.in_data = true;
		set_ashift(in);
	} else if (type && !import_starts(type, "'disk'")) {
		in->state.fs.features = 0;
		in->state.fs.in_data = false;
	} else {
		return going_on ? false : true;
	}
	return true;
}

const struct import_reader import_reader_zfs = { "zdb", line };
