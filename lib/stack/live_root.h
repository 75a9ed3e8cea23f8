/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Reading small files below a root: "/" of this machine, or a dumped tree.
 *
 * Paths are relative to the root ("sys/class/block/sda/size"). Symbolic links are followed inside the root only: an absolute target starts
 * again at the root and ".." stops there, as openat2(2) RESOLVE_IN_ROOT defines it. Everything is opened O_RDONLY.
 */
#ifndef STACK_LIVE_ROOT_H
#define STACK_LIVE_ROOT_H

#include <stdio.h>

#include "base/base.h"

/** Largest file that is read; the rest is cut off. A Debian dpkg status file has some 5 MB. */
#define LIVE_FILE_MAX (32 * MIB)

struct live_root {
	int fd;
	bool foreign;	 /* a dumped tree: /dev, uname() and ioctls do not belong to it */
	bool no_openat2; /* the kernel refuses openat2(): resolve links ourselves */
	size_t refused;	 /* files that could not be read for lack of permission */
	size_t failed;	 /* files that could not be read for other reasons than being absent */
	char first_refused[256];
	char first_failed[256];
};

/** `sysroot` NULL means this machine. 0, or negative errno with `reterr`. */
int live_root_open(const char *sysroot, struct live_root *ret_root, struct blkalign_error *reterr);
void live_root_close(struct live_root *root);

/** An fd, or negative errno. `flags` are added to O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK. */
int live_open(struct live_root *root, const char *path, int flags);

/**
 * The bytes of a file, NUL-terminated behind `*ret_length` (may be NULL); freed by the caller. BLKALIGN_ABSENT when there is none or the kernel has no
 * value (ENODATA, EOPNOTSUPP, EINVAL, ENXIO), negative errno otherwise, which is counted in `root`.
 */
int live_read(struct live_root *root, const char *path, char **ret_bytes, size_t *ret_length);
/** The same as text: white space at the end cut off, ends at the first NUL. An empty text is BLKALIGN_ABSENT. */
int live_text(struct live_root *root, const char *path, char **ret_text);
/** True when the path exists. */
bool live_exists(struct live_root *root, const char *path);
/** Target of a symbolic link as it is stored; BLKALIGN_ABSENT when `path` is none. */
int live_link(struct live_root *root, const char *path, char **ret_target);
/** Last component of the link's target; BLKALIGN_ABSENT when `path` is no link. */
int live_link_name(struct live_root *root, const char *path, char **ret_name);

/** Names in a folder, sorted as people count ("sda9" before "sda10"). */
struct live_names {
	char **data;
	size_t count;
	size_t room;
};
/** BLKALIGN_ABSENT when there is no such folder. */
int live_list(struct live_root *root, const char *path, struct live_names *ret_names);
void live_names_done(struct live_names *names);
#define _cleanup_names_ _cleanup_(live_names_done)

/** `a`/`b` in one string; NULL without memory. */
char *live_join(const char *a, const char *b);

#endif
