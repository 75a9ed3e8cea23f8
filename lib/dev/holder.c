/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who has a disk or file, in words, for people who were refused it. The refusal itself comes from the kernel (O_EXCL, lease, lock); what is found here may be
 * out of date by the time it is read, and nothing depends on it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libmount.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dev/dev_priv.h"

#define PATH_BYTES 512
#define DEPTH_MAX  2U /* a disk, its partitions */

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}
static void free_table(struct libmnt_table **table) { mnt_unref_table(*table); }
static void free_iter(struct libmnt_iter **iter) { mnt_free_iter(*iter); }

/* The first line of a file of sysfs or /proc; "" when there is none. */
static const char *read_line(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, ret, size - 1) : 0;

	if (fd >= 0)
		close(fd);
	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return ret;
}

static bool read_devno(const char *path, dev_t *ret)
{
	char text[32];
	unsigned major, minor;

	if (sscanf(read_line(path, text, sizeof(text)), "%u:%u", &major, &minor) != 2)
		return false;
	*ret = makedev(major, minor);
	return true;
}

bool holder_disk_of(dev_t devno, dev_t *ret_disk)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(devno), minor(devno));
	if (access(path, F_OK) < 0)
		return false;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(devno), minor(devno));
	return read_devno(path, ret_disk);
}

/* Of file systems on several devices the table shows a number of their own; their source is one of the devices. */
static bool is_on(struct libmnt_fs *fs, dev_t devno)
{
	const char *source = mnt_fs_get_srcpath(fs);
	struct stat st;

	return mnt_fs_get_devno(fs) == devno || (source && stat(source, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == devno);
}

static bool say_mount(dev_t devno, struct strbuf *ret)
{
	_cleanup_(free_table) struct libmnt_table *table = mnt_new_table();
	_cleanup_(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;

	if (!table || !iter || mnt_table_parse_file(table, "/proc/self/mountinfo") != 0)
		return false;
	while (mnt_table_next_fs(table, iter, &fs) == 0)
		if (is_on(fs, devno)) {
			strbuf_printf(ret, "is mounted on %s; unmount it first", mnt_fs_get_target(fs));
			return true;
		}
	return false;
}

/* A disk (S_ISBLK) or a file that is swapped to. */
static bool say_swap(const struct stat *what, struct strbuf *ret)
{
	_cleanup_(free_table) struct libmnt_table *table = mnt_new_table();
	_cleanup_(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	struct stat st;

	if (!table || !iter || mnt_table_parse_swaps(table, NULL) != 0)
		return false;
	while (mnt_table_next_fs(table, iter, &fs) == 0) {
		const char *source = mnt_fs_get_srcpath(fs);

		if (!source || stat(source, &st) < 0)
			continue;
		if (S_ISBLK(what->st_mode) ? S_ISBLK(st.st_mode) && st.st_rdev == what->st_rdev
					   : st.st_dev == what->st_dev && st.st_ino == what->st_ino) {
			strbuf_printf(ret, "is swapped to; `swapoff %s` first", source);
			return true;
		}
	}
	return false;
}

static void say_one_holder(const char *folder, const char *name, struct strbuf *ret)
{
	char path[PATH_BYTES], text[160];

	snprintf(path, sizeof(path), "%s/holders/%s/md", folder, name);
	if (access(path, F_OK) == 0) {
		strbuf_printf(ret, "is a member of the running array %s; `mdadm --stop /dev/%s` first", name, name);
		return;
	}
	snprintf(path, sizeof(path), "%s/holders/%s/dm/name", folder, name);
	if (*read_line(path, text, sizeof(text)))
		strbuf_printf(ret, "is held by the device-mapper device %s; deactivate or close that first", text);
	else
		strbuf_printf(ret, "is held by %s; stop that first", name);
}

static bool say_sysfs_holder(dev_t devno, struct strbuf *ret)
{
	char folder[64], path[80];
	_cleanup_(close_folder) DIR *holders = NULL;
	struct dirent *entry;

	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u", major(devno), minor(devno));
	snprintf(path, sizeof(path), "%s/holders", folder);
	holders = opendir(path);
	while (holders && (entry = readdir(holders)))
		if (entry->d_name[0] != '.') {
			say_one_holder(folder, entry->d_name, ret);
			return true;
		}
	return false;
}

static bool say_block(dev_t devno, unsigned depth, struct strbuf *ret);

static bool say_partition(dev_t devno, unsigned depth, struct strbuf *ret)
{
	char folder[64], path[PATH_BYTES];
	_cleanup_(close_folder) DIR *disk = NULL;
	struct dirent *entry;
	dev_t part;

	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u", major(devno), minor(devno));
	disk = opendir(folder);
	while (disk && (entry = readdir(disk))) {
		_cleanup_strbuf_ struct strbuf text = { 0 };

		snprintf(path, sizeof(path), "%s/%s/partition", folder, entry->d_name);
		if (entry->d_name[0] == '.' || access(path, F_OK) < 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s/dev", folder, entry->d_name);
		if (read_devno(path, &part) && say_block(part, depth, &text)) {
			strbuf_printf(ret, "has the partition %s, which %s", entry->d_name, strbuf_text(&text));
			return true;
		}
	}
	return false;
}

static bool say_block(dev_t devno, unsigned depth, struct strbuf *ret)
{
	struct stat st = { .st_mode = S_IFBLK, .st_rdev = devno };

	return say_mount(devno, ret) || say_swap(&st, ret) || say_sysfs_holder(devno, ret) ||
	       (depth < DEPTH_MAX && say_partition(devno, depth + 1, ret));
}

static bool say_loop(const struct stat *file, struct strbuf *ret)
{
	_cleanup_(close_folder) DIR *block = opendir("/sys/block");
	char path[PATH_BYTES], backing[PATH_BYTES];
	struct dirent *entry;
	struct stat st;

	while (block && (entry = readdir(block))) {
		if (strncmp(entry->d_name, "loop", 4) != 0)
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", entry->d_name);
		if (!*read_line(path, backing, sizeof(backing)) || stat(backing, &st) < 0)
			continue;
		if (st.st_dev != file->st_dev || st.st_ino != file->st_ino)
			continue;
		strbuf_printf(ret, "is what the loop device %s lies on; `losetup -d /dev/%s` first", entry->d_name, entry->d_name);
		return true;
	}
	return false;
}

static bool same(const struct stat *a, const struct stat *b)
{
	if (S_ISBLK(a->st_mode))
		return S_ISBLK(b->st_mode) && a->st_rdev == b->st_rdev;
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static unsigned count_open(const char *process, const struct stat *what)
{
	char path[PATH_BYTES];
	_cleanup_(close_folder) DIR *fds = NULL;
	struct dirent *entry;
	struct stat st;
	unsigned found = 0;

	snprintf(path, sizeof(path), "/proc/%s/fd", process);
	fds = opendir(path);
	while (fds && (entry = readdir(fds)))
		found += fstatat(dirfd(fds), entry->d_name, &st, 0) == 0 && same(what, &st);
	return found;
}

/* A process that has it open, besides the `own` times that this one has; 0: none. Of other users' processes only root sees the open files. */
static long find_process(const struct stat *what, unsigned own)
{
	_cleanup_(close_folder) DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0 && count_open(entry->d_name, what) > (pid == getpid() ? own : 0))
			return pid;
	}
	return 0;
}

static bool say_process(const struct stat *what, unsigned own, struct strbuf *ret)
{
	char path[64], name[64];
	long pid = find_process(what, own);

	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	if (pid == getpid())
		strbuf_add(ret, "is open already in this process; was it given twice?");
	else if (pid)
		strbuf_printf(ret, "is open in process %ld (%s); end that first", pid, read_line(path, name, sizeof(name)));
	return pid != 0;
}

bool holder_is_open_elsewhere(const struct stat *what) { return find_process(what, 1) != 0; }

/* A partition cannot be had while the disk around it is held. */
static bool say_whole_disk(dev_t devno, struct strbuf *ret)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct stat disk = { .st_mode = S_IFBLK };

	if (!holder_disk_of(devno, &disk.st_rdev) || (!say_block(disk.st_rdev, DEPTH_MAX, &text) && !say_process(&disk, 0, &text)))
		return false;
	strbuf_printf(ret, "lies on a disk that %s", strbuf_text(&text));
	return true;
}

void holder_say(const struct stat *what, unsigned own, struct strbuf *ret)
{
	bool block = S_ISBLK(what->st_mode);

	if (block ? say_block(what->st_rdev, 0, ret) : say_swap(what, ret) || say_loop(what, ret))
		return;
	if (!say_process(what, own, ret) && !(block && say_whole_disk(what->st_rdev, ret)))
		strbuf_add(ret, "is in use by another program or by the kernel, which does not say by what");
}
