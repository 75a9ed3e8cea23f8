/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The path is made free of links textually: `done` holds resolved components, `todo` what is left. Each step looks at one component
 * without following it. A tree that is changed while we look may lead astray, but not out: the last open does not follow links either.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base.h"
#include "stack/live_resolve.h"

#define LINKS_MAX 40 /* as the kernel: MAXSYMLINKS */

static void drop_last(char *done)
{
	char *slash = strrchr(done, '/');

	*(slash ? slash : done) = '\0';
}

static int push(char done[PATH_MAX], const char *component, size_t length)
{
	size_t used = strlen(done);

	if (used + length + 2 > PATH_MAX)
		return -ENAMETOOLONG;
	if (used)
		done[used++] = '/';
	memcpy(done + used, component, length);
	done[used + length] = '\0';
	return 0;
}

/* `todo` becomes the link's target followed by what was left behind the link. */
static int splice_link(int root_fd, char done[PATH_MAX], char todo[PATH_MAX], const char *rest)
{
	char target[PATH_MAX], joined[PATH_MAX];
	ssize_t n = readlinkat(root_fd, done, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (snprintf(joined, sizeof(joined), "%s/%s", target, rest) >= (int)sizeof(joined))
		return -ENAMETOOLONG;
	memcpy(todo, joined, sizeof(joined));
	if (target[0] == '/')
		done[0] = '\0';
	else
		drop_last(done);
	return 0;
}

static bool is_link(int root_fd, const char *path)
{
	char byte;

	return readlinkat(root_fd, path, &byte, 1) >= 0;
}

static int resolve(int root_fd, const char *path, bool follow_last, char done[PATH_MAX])
{
	char todo[PATH_MAX];
	unsigned links = 0;
	char *at = todo;
	int r = 0;

	if (snprintf(todo, sizeof(todo), "%s", path) >= (int)sizeof(todo))
		return -ENAMETOOLONG;
	done[0] = '\0';
	while (r == 0 && *(at += strspn(at, "/"))) {
		size_t length = strcspn(at, "/");
		char *rest = at + length;

		if (length == 2 && !strncmp(at, "..", 2)) {
			drop_last(done);
		} else if (length != 1 || *at != '.') {
			r = push(done, at, length);
			if (r == 0 && is_link(root_fd, done) && (follow_last || rest[strspn(rest, "/")])) {
				if (++links > LINKS_MAX)
					return -ELOOP;
				r = splice_link(root_fd, done, todo, rest);
				rest = todo;
			}
		}
		at = rest;
	}
	return r;
}

int live_resolve_open(int root_fd, const char *path, int flags)
{
	char done[PATH_MAX];
	int r = resolve(root_fd, path, !(flags & O_NOFOLLOW), done), fd;

	if (r < 0)
		return r;
	fd = openat(root_fd, done[0] ? done : ".", flags | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}
