/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening for writing what nobody else has. The kernel decides: O_EXCL on block devices (mounts, swap, md, device mapper, also of partitions and of the disk
 * around a partition), a write lease on files (any other open file description, loop devices included), and locks for programs that agree on
 * them: qemu and we ourselves lock bytes, udev and what partitions disks lock the whole node (systemd's "Locking Block Device Access").
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "dev/dev_priv.h"

/* udev holds its lock while it probes, and a loser in a race its file until it has seen that it lost. */
#define PATIENCE_TRIES 25U
#define PATIENCE_NSEC  20000000L

static void wait_a_little(void) { nanosleep(&(struct timespec){ .tv_nsec = PATIENCE_NSEC }, NULL); }

/* `own`: how often this process has it open for the attempt. */
static int refuse_busy(const char *path, const struct stat *st, unsigned own, struct blkalign_error *reterr)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	holder_say(st, own, &text);
	return blkalign_error_set(reterr, -EBUSY, path, BLKALIGN_UNKNOWN, "cannot be opened for writing: it %s", strbuf_text(&text));
}

static bool set_read_only(const struct stat *st)
{
	char path[64], digit = '0';
	int fd;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/ro", major(st->st_rdev), minor(st->st_rdev));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, &digit, 1) != 1)
		digit = '0';
	close(fd);
	return digit == '1';
}

int exclusive_refused(const char *path, int error, struct blkalign_error *reterr)
{
	struct stat st = { 0 };
	bool known = stat(path, &st) == 0;

	/* EAGAIN: somebody has a lease; ETXTBSY: it is swapped to, or is a program that runs. */
	if (known && (error == EBUSY || error == EAGAIN || error == ETXTBSY))
		return refuse_busy(path, &st, 0, reterr);
	if (known && S_ISBLK(st.st_mode) && (error == EROFS || set_read_only(&st)))
		return blkalign_error_set(reterr, -EROFS, path, BLKALIGN_UNKNOWN,
					  "cannot be opened for writing: the device is set read-only (see `blockdev --getro`)");
	if (error == EROFS)
		return blkalign_error_set(reterr, -EROFS, path, BLKALIGN_UNKNOWN,
					  "cannot be opened for writing: its file system is mounted read-only");
	if (error == EACCES || error == EPERM)
		return blkalign_error_set(reterr, -error, path, BLKALIGN_UNKNOWN, "cannot be opened for writing: %s%s", strerror(error),
					  known && S_ISBLK(st.st_mode) ? "; are you root?" : "; see its mode and attributes");
	return blkalign_error_set(reterr, -error, path, BLKALIGN_UNKNOWN, "cannot be opened for writing: %s", strerror(error));
}

/* The whole file, by open file description: kept until it is closed. File systems without locks are taken as they are. */
static int lock_bytes(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES))
		return 0;
	return -EBUSY;
}

static int lock_node(int fd, const struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(st->st_rdev), minor(st->st_rdev));
	if (access(path, F_OK) == 0)
		return 0;
	for (unsigned i = 0; i < PATIENCE_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		wait_a_little();
	}
	return -EBUSY;
}

/*
 * A write lease is granted when no other open file description of the file exists. It is given back at once: an opener would wait for it, and we
 * would be sent a signal, by default one that kills. In the moment between, the signal is one that does nothing.
 */
static int probe_lease(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return 0;
	for (unsigned i = 0; i < PATIENCE_TRIES; i++) {
		if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0) {
			fcntl(fd, F_SETLEASE, F_UNLCK);
			return 0;
		}
		if (errno != EAGAIN)
			return -errno;
		wait_a_little();
	}
	return -EBUSY;
}

/* Where there are no leases (network file systems, other people's files) the open files of all processes are looked through instead. */
static int alone_with_file(int fd, const struct stat *st)
{
	int r = probe_lease(fd);

	if (r == 0 || r == -EBUSY)
		return r;
	return holder_is_open_elsewhere(st) ? -EBUSY : 0;
}

int exclusive_secure(int fd, const char *path, uint64_t *ret_size_bytes, struct blkalign_error *reterr)
{
	struct stat st;
	int read_only = 0, r = fstat(fd, &st) < 0 ? -errno : file_size(fd, ret_size_bytes);

	if (r == -ENOTSUP)
		return blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN, "is neither a regular file nor a block device");
	if (r < 0)
		return blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN, "cannot find its size: %s", strerror(-r));
	if (S_ISBLK(st.st_mode) && ioctl(fd, BLKROGET, &read_only) == 0 && read_only)
		return exclusive_refused(path, EROFS, reterr);
	r = lock_bytes(fd);
	if (r == 0)
		r = S_ISBLK(st.st_mode) ? lock_node(fd, &st) : alone_with_file(fd, &st);
	if (r == -EBUSY)
		return refuse_busy(path, &st, 1, reterr);
	if (r == 0 && fcntl(fd, F_SETFL, 0) < 0)
		r = -errno;
	return r == 0 ? 0 : blkalign_error_set(reterr, r, path, BLKALIGN_UNKNOWN, "cannot be locked: %s", strerror(-r));
}

/* O_EXCL without O_CREAT means nothing to files. O_NONBLOCK: neither FIFOs nor leases make us wait. */
int exclusive_open(const char *path)
{
	int fd = open(path, O_RDWR | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int dev_open_file_exclusive(const char *path, struct dev **ret_dev, struct blkalign_error *reterr)
{
	uint64_t size_bytes = 0;
	int fd = exclusive_open(path), r;

	if (fd < 0)
		return exclusive_refused(path, -fd, reterr);
	r = exclusive_secure(fd, path, &size_bytes, reterr);
	if (r < 0) {
		close(fd);
		return r;
	}
	return file_new(path, fd, size_bytes, true, ret_dev);
}
