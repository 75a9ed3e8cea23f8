/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which device is which: a disk by what it says of itself, because /dev/sda may be another one after the next boot; anything else by its path. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dev/undo_priv.h"

static bool read_text(const char *folder, const char *file, char *ret, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, ret, size - 1) : 0;
	if (fd >= 0)
		close(fd);
	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return *ret != '\0';
}

static void disk_identity(dev_t devno, char *ret, size_t size)
{
	static const char *const files[] = { "wwid", "device/wwid", "serial", "device/serial" };
	char folder[64], disk[72], part[16], text[160];
	bool found = false;

	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u", major(devno), minor(devno));
	if (read_text(folder, "partition", part, sizeof(part)))
		snprintf(disk, sizeof(disk), "%s/..", folder);
	else
		snprintf(disk, sizeof(disk), "%s", folder);
	for (size_t i = 0; !found && i < ARRAY_SIZE(files); i++)
		found = read_text(disk, files[i], text, sizeof(text));
	if (found)
		snprintf(ret, size, "%s%s%s", text, *part ? " partition " : "", part);
}

int undo_identify(const struct dev *dev, char **ret_name, char **ret_identity)
{
	char identity[200] = "";
	struct stat st;
	char *path = NULL;

	if (dev->leaf_fd >= 0) {
		path = realpath(dev->name, NULL);
		if (fstat(dev->leaf_fd, &st) == 0 && S_ISBLK(st.st_mode))
			disk_identity(st.st_rdev, identity, sizeof(identity));
	}
	*ret_name = path ? path : strdup(dev->name);
	*ret_identity = strdup(identity);
	if (*ret_name && *ret_identity)
		return 0;
	free(*ret_name);
	free(*ret_identity);
	*ret_name = *ret_identity = NULL;
	return -ENOMEM;
}

bool undo_is_same(const struct undo_device *device, uint64_t size_bytes, const char *name, const char *identity)
{
	if (device->size_bytes != size_bytes)
		return false;
	if (*device->identity && *identity)
		return strcmp(device->identity, identity) == 0;
	return strcmp(device->name, name) == 0;
}

int dev_undo_knows(const struct dev_undo *undo, const char *path, bool *ret, struct blkalign_error *reterr)
{
	_cleanup_free_ char *name = NULL, *identity = NULL;
	_cleanup_dev_ struct dev *dev = NULL;
	int r = dev_open_file(path, &dev, reterr);

	if (r == 0)
		r = undo_identify(dev, &name, &identity);
	*ret = false;
	for (size_t i = 0; r == 0 && !*ret && i < undo->log.devices.count; i++)
		*ret = undo_is_same(&undo->log.devices.data[i], dev->size_bytes, name, identity);
	return r;
}
