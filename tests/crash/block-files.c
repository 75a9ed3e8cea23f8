/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LD_PRELOAD: to lvm2 the files directly in the folder $BLOCK_FILES are block devices of 512/4096-byte blocks, so that it judges images without root and without a kernel's help. All else goes
 * through.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAJOR 259 /* blkext: every kernel knows it */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int ioctl(int fd, unsigned long request, ...);

static bool is_ours(const char *path)
{
	const char *folder = getenv("BLOCK_FILES");
	size_t length = folder ? strlen(folder) : 0;

	return length && !strncmp(path, folder, length) && path[length] == '/' && !strchr(path + length + 1, '/');
}

static void dress(struct stat64 *s)
{
	if (!S_ISREG(s->st_mode))
		return;
	s->st_mode = S_IFBLK | (s->st_mode & 07777);
	s->st_rdev = makedev(MAJOR, s->st_ino & 0xfffff);
}

EXPORTED int stat64(const char *path, struct stat64 *ret)
{
	int (*real)(const char *, struct stat64 *) = dlsym(RTLD_NEXT, "stat64");
	int r = real(path, ret);

	if (r == 0 && is_ours(path))
		dress(ret);
	return r;
}

EXPORTED int lstat64(const char *path, struct stat64 *ret)
{
	int (*real)(const char *, struct stat64 *) = dlsym(RTLD_NEXT, "lstat64");
	int r = real(path, ret);

	if (r == 0 && is_ours(path))
		dress(ret);
	return r;
}

/* Of an open file the folder is known by what the kernel calls it. */
static bool is_open(int fd)
{
	char link[64], path[4096];
	char *end = link + sizeof(link) - 1, *at = end;
	ssize_t length;

	*at = 0;
	for (unsigned n = (unsigned)fd; at == end || n; n /= 10)
		*--at = (char)('0' + n % 10);
	at -= strlen("/proc/self/fd/");
	memcpy(at, "/proc/self/fd/", strlen("/proc/self/fd/"));
	length = readlink(at, path, sizeof(path) - 1);
	if (fd < 0 || length <= 0)
		return false;
	path[length] = 0;
	return is_ours(path);
}

EXPORTED int fstat64(int fd, struct stat64 *ret)
{
	int (*real)(int, struct stat64 *) = dlsym(RTLD_NEXT, "fstat64");
	int r = real(fd, ret);

	if (r == 0 && is_open(fd))
		dress(ret);
	return r;
}

EXPORTED int open64(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return real(path, is_ours(path) ? flags & ~(O_DIRECT | O_EXCL) : flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	struct stat64 s;
	va_list args;
	void *ret;

	va_start(args, request);
	ret = va_arg(args, void *);
	va_end(args);
	if (!is_open(fd) || fstat64(fd, &s) != 0)
		return real(fd, request, ret);
	switch (request) {
	case BLKGETSIZE64:
		*(uint64_t *)ret = (uint64_t)s.st_size;
		return 0;
	case BLKGETSIZE:
		*(unsigned long *)ret = (unsigned long)s.st_size / 512;
		return 0;
	case BLKSSZGET:
		*(int *)ret = 512;
		return 0;
	case BLKPBSZGET:
		*(unsigned *)ret = 4096;
		return 0;
	case BLKROGET:
		*(int *)ret = 0;
		return 0;
	case BLKRAGET:
		*(long *)ret = 256;
		return 0;
	case BLKFLSBUF:
		return 0;
	default:
		return real(fd, request, ret);
	}
}
