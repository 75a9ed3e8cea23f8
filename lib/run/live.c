/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members that the kernel has in use change while they are read: what does not fit then proves nothing. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "run/md_view.h"

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* Name of a device that lies on the block device, "" when there is none. */
static void first_holder(dev_t devno, char ret[256])
{
	char path[64];
	_cleanup_(close_folder) DIR *folder = NULL;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders", major(devno), minor(devno));
	folder = opendir(path);
	*ret = '\0';
	for (struct dirent *e; folder && !*ret && (e = readdir(folder));)
		if (e->d_name[0] != '.')
			snprintf(ret, 256, "%s", e->d_name);
}

/* Whoever writes to images locks them: the exclusive opening does. */
static bool is_locked(int fd)
{
	struct flock whole = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

int view_refuse_live(const struct md_view *view, struct blkalign_error *reterr)
{
	for (uint32_t slot = 0; slot < view->geometry->members; slot++) {
		const struct dev *dev = view->members[slot].dev;
		char holder[256];
		uint64_t offset;
		struct stat st;
		int fd;

		if (!dev || !dev_leaf_range(dev, &fd, &offset) || fstat(fd, &st) < 0)
			continue;
		if (is_locked(fd))
			return blkalign_error_set(
				reterr, -EBUSY, dev->name, BLKALIGN_UNKNOWN,
				"is open for writing in another program, such as `serve --rw`, and changes while it is read: end "
				"that first");
		if (!S_ISBLK(st.st_mode))
			continue;
		first_holder(st.st_rdev, holder);
		if (*holder)
			return blkalign_error_set(reterr, -EBUSY, dev->name, BLKALIGN_UNKNOWN,
						  "is in use by %s, and changes while it is read: let the kernel check (echo check > "
						  "/sys/block/%s/md/sync_action), or stop the array",
						  holder, holder);
	}
	return 0;
}
