/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A folder that holds sys/ and proc/ of another machine. */
#include <sys/stat.h>
#include <unistd.h>

#include "snap/snap.h"
#include "snap/snapshot.h"

static bool has_folder(const char *folder, const char *name)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	return asprintf(&path, "%s/%s", folder, name) >= 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool recognise(const struct snap_probe *probe)
{
	return probe->directory && (has_folder(probe->path, "sys/class/block") || has_folder(probe->path, "sys/block"));
}

static int read_one(const struct blkalign_source_options *options, const char *const *paths, size_t count,
		    struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	struct blkalign_source_options below = options ? *options : (struct blkalign_source_options){ 0 };

	(void)count;
	below.sysroot = paths[0];
	return blkalign_read_host(&below, ret_graph, reterr);
}

const struct snap_reader sysroot_reader = { .name = "dumped tree", .recognise = recognise, .read = read_one };
