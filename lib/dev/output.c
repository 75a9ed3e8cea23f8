/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where results go: a file of its own, or a disk that nobody uses, and never what they are read from. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dev/dev_priv.h"

#define ZEROS_BYTES (64 * KIB)

/* The file that a loop device, or the one around a partition, lies on. */
static bool backing_file(dev_t devno, struct stat *ret)
{
	char path[80], file[4096];
	dev_t disk = devno;
	FILE *f;
	bool ok;

	holder_disk_of(devno, &disk);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/loop/backing_file", major(disk), minor(disk));
	f = fopen(path, "re");
	ok = f && fgets(file, sizeof(file), f);
	if (f)
		fclose(f);
	if (!ok)
		return false;
	file[strcspn(file, "\n")] = '\0';
	return stat(file, ret) == 0;
}

static bool same_file(const struct stat *a, const struct stat *b) { return a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

/* Partitions of one disk are apart from each other; a partition and its disk are not. */
static bool same_disk(dev_t a, dev_t b)
{
	dev_t disk;

	return a == b || (holder_disk_of(a, &disk) && disk == b) || (holder_disk_of(b, &disk) && disk == a);
}

static bool share_storage(const struct stat *a, const struct stat *b)
{
	struct stat file;

	if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode))
		return same_disk(a->st_rdev, b->st_rdev);
	if (S_ISBLK(a->st_mode))
		return backing_file(a->st_rdev, &file) && same_file(&file, b);
	if (S_ISBLK(b->st_mode))
		return backing_file(b->st_rdev, &file) && same_file(&file, a);
	return same_file(a, b);
}

static int refuse_sources(int fd, const char *path, const char *const *sources, size_t count, struct blkalign_error *reterr)
{
	struct stat st, source;

	if (fstat(fd, &st) < 0)
		return -errno;
	for (size_t i = 0; i < count; i++)
		if (stat(sources[i], &source) == 0 && share_storage(&st, &source))
			return blkalign_error_set(reterr, -EINVAL, path, BLKALIGN_UNKNOWN,
						  "is what is read from (%s): nothing is ever written there", sources[i]);
	return 0;
}

static int exists(const char *path, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EEXIST, path, BLKALIGN_UNKNOWN,
				  "exists and is not empty; name another file, or give --overwrite");
}

static int set_size(int fd, const char *path, uint64_t size_bytes, struct blkalign_error *reterr)
{
	int r = size_bytes > INT64_MAX ? -EFBIG : 0;

	if (r == 0 && (ftruncate(fd, 0) < 0 || ftruncate(fd, (off_t)size_bytes) < 0))
		r = -errno;
	return r == 0 ? 0
		      : blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN, "cannot be made %" PRIu64 " bytes long: %s", size_bytes,
					   strerror(-r));
}

/* An open file of `now_bytes`, or a disk, becomes the output. */
static int prepare(int fd, const char *path, uint64_t now_bytes, uint64_t size_bytes, enum dev_output how, bool *ret_zeros,
		   struct blkalign_error *reterr)
{
	struct stat st;

	*ret_zeros = false;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (how == DEV_OUTPUT_NEW && now_bytes)
		return exists(path, reterr);
	if (S_ISBLK(st.st_mode) && now_bytes < size_bytes)
		return blkalign_error_set(reterr, -ENOSPC, path, BLKALIGN_UNKNOWN,
					  "has %" PRIu64 " bytes, and %" PRIu64 " are to be written", now_bytes, size_bytes);
	if (S_ISBLK(st.st_mode))
		return 0;
	if (how == DEV_OUTPUT_RESUME)
		return now_bytes == size_bytes ? 0
					       : blkalign_error_set(reterr, -EINVAL, path, BLKALIGN_UNKNOWN,
								    "has %" PRIu64 " bytes, not the %" PRIu64
								    " of what was begun; there is nothing to go on with",
								    now_bytes, size_bytes);
	*ret_zeros = true;
	return set_size(fd, path, size_bytes, reterr);
}

int dev_open_output(const char *path, uint64_t size_bytes, enum dev_output how, const char *const *sources, size_t count,
		    struct dev **ret_dev, bool *ret_zeros, struct blkalign_error *reterr)
{
	uint64_t now_bytes = 0;
	int fd = exclusive_open(path), r;
	bool made = fd == -ENOENT && how != DEV_OUTPUT_RESUME;

	if (made) {
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
		if (fd < 0)
			fd = -errno;
	}
	if (fd < 0)
		return exclusive_refused(path, -fd, reterr);
	r = refuse_sources(fd, path, sources, count, reterr);
	if (r == 0)
		r = exclusive_secure(fd, path, &now_bytes, reterr);
	if (r == 0)
		r = prepare(fd, path, now_bytes, size_bytes, how, ret_zeros, reterr);
	if (r < 0) {
		if (made)
			unlink(path);
		close(fd);
		return r;
	}
	return file_new(path, fd, size_bytes, true, ret_dev);
}

static int write_zeros_plain(struct dev *dev, uint64_t offset_bytes, uint64_t length_bytes, struct blkalign_error *reterr)
{
	static const uint8_t zeros[ZEROS_BYTES];
	int r = 0;

	while (r == 0 && length_bytes) {
		size_t part = length_bytes < ZEROS_BYTES ? (size_t)length_bytes : ZEROS_BYTES;

		r = dev_write(dev, offset_bytes, zeros, part, reterr);
		offset_bytes += part;
		length_bytes -= part;
	}
	return r;
}

int dev_write_zeros(struct dev *dev, uint64_t offset_bytes, uint64_t length_bytes, struct blkalign_error *reterr)
{
	uint64_t at;
	int fd;

	if (dev->writable && range_inside(offset_bytes, length_bytes, dev->size_bytes) && !dev->flush_error &&
	    dev_leaf_range(dev, &fd, &at) && length_bytes &&
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(at + offset_bytes), (off_t)length_bytes) == 0)
		return 0;
	return write_zeros_plain(dev, offset_bytes, length_bytes, reterr);
}
