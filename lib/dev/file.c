/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Image files and block devices. */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dev/dev_priv.h"

static void file_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	(void)dev;
	uring_run(requests, count);
}

static void file_close(struct dev *dev) { close(dev->leaf_fd); }

static const struct dev_ops file_ops = { .kind = "file", .run = file_run, .extent = file_extent, .close = file_close };

int file_new(const char *name, int fd, uint64_t size_bytes, bool writable, struct dev **ret_dev)
{
	struct dev *dev = dev_new(sizeof(*dev), &file_ops, name, size_bytes, 1);
	struct statfs fs;

	if (!dev) {
		close(fd);
		return -ENOMEM;
	}
	dev->leaf_fd = fd;
	dev->leaf_in_memory = fstatfs(fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
	dev->writable = writable;
	dev->failed_flush_is_final = true;
	*ret_dev = dev;
	return 0;
}

int file_size(int fd, uint64_t *ret_bytes)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode)) {
		*ret_bytes = (uint64_t)st.st_size;
		return 0;
	}
	if (!S_ISBLK(st.st_mode))
		return -ENOTSUP;
	return ioctl(fd, BLKGETSIZE64, ret_bytes) < 0 ? -errno : 0;
}

int dev_open_file(const char *path, struct dev **ret_dev, struct blkalign_error *reterr)
{
	/* O_NONBLOCK so that a FIFO given by mistake does not hang us; taken off again, because io_uring minds it also on files and disks. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r;
	uint64_t size_bytes = 0;

	if (fd < 0)
		return blkalign_error_set(reterr, -errno, path, BLKALIGN_UNKNOWN, "cannot open: %s", strerror(errno));
	r = file_size(fd, &size_bytes);
	if (r >= 0 && fcntl(fd, F_SETFL, 0) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN,
					  r == -ENOTSUP ? "is neither a regular file nor a block device" : "cannot find its size: %s",
					  strerror(-r));
	}
	return file_new(path, fd, size_bytes, false, ret_dev);
}
