/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STACK_LIVE_RESOLVE_H
#define STACK_LIVE_RESOLVE_H

/**
 * What openat2() with RESOLVE_IN_ROOT does, for kernels and sandboxes without it: opens `path` below `root_fd`, following links inside the
 * root only. An fd, or negative errno; -ELOOP beyond 40 links.
 */
int live_resolve_open(int root_fd, const char *path, int flags);

#endif
