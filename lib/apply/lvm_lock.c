/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apply/lvm_lock.h"

/* lvm2 removes the file when it is done: the lock counts only while the name leads to it. */
static bool is_named(int fd, const char *path)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

#define STEP_MS 50U

static int lock_within(int fd, unsigned patience_ms)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || patience_ms < STEP_MS)
			return -EBUSY;
		patience_ms -= STEP_MS;
		nanosleep(&step, NULL);
	}
	return 0;
}

static int take(const char *folder, const char *name, unsigned patience_ms, int *ret_fd, struct blkalign_error *reterr)
{
	char path[PATH_MAX];

	text_join(path, sizeof(path), folder, "/", name);
	for (;;) {
		int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return 0;
		if (lock_within(fd, patience_ms) < 0) {
			close(fd);
			return blkalign_error_set(reterr, -EBUSY, path, BLKALIGN_UNKNOWN,
						  "is held by an lvm2 command: wait until it has ended, nothing was written");
		}
		if (is_named(fd, path)) {
			*ret_fd = fd;
			return 0;
		}
		close(fd);
	}
}

int lvm_lock_take(const char *folder, const char *group, bool orphans, unsigned patience_ms, struct lvm_lock *ret,
		  struct blkalign_error *reterr)
{
	char name[NAME_MAX + 1];
	int r = 0;

	*ret = LVM_LOCK_NONE;
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return 0;
	if (orphans)
		r = take(folder, "P_global", patience_ms, &ret->global_fd, reterr);
	if (r >= 0 && group)
		r = take(folder, text_join(name, sizeof(name), "V_", group, ""), patience_ms, &ret->group_fd, reterr);
	if (r < 0)
		lvm_lock_release(ret);
	return r;
}

/* The file stays, as it does when an lvm2 command is killed. */
void lvm_lock_release(struct lvm_lock *lock)
{
	if (lock->global_fd >= 0)
		close(lock->global_fd);
	if (lock->group_fd >= 0)
		close(lock->group_fd);
	*lock = LVM_LOCK_NONE;
}
