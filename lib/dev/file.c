/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Image files and block devices. This is the only file of the library that opens a device, and it opens it O_RDONLY. */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/dev_priv.h"

static void file_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	(void)dev;
	uring_run(requests, count);
}

static void file_close(struct dev *dev) { close(dev->leaf_fd); }

static const struct dev_ops file_ops = { .kind = "file", .run = file_run, .close = file_close };

static int size_of(int fd, uint64_t *ret_bytes)
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
	/* O_NONBLOCK so that a FIFO given by mistake does not hang us; it has no effect on files and disks. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r;
	uint64_t size_bytes = 0;
	struct dev *dev;

	if (fd < 0)
		return blkalign_error_set(reterr, -errno, path, BLKALIGN_UNKNOWN, "cannot open: %s", strerror(errno));
	r = size_of(fd, &size_bytes);
	if (r < 0) {
		close(fd);
		return blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN,
					  r == -ENOTSUP ? "is neither a regular file nor a block device" : "cannot find its size: %s",
					  strerror(-r));
	}
	dev = dev_new(sizeof(*dev), &file_ops, path, size_bytes, 1);
	if (!dev) {
		close(fd);
		return -ENOMEM;
	}
	dev->leaf_fd = fd;
	*ret_dev = dev;
	return 0;
}
