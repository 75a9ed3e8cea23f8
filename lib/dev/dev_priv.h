/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DEV_DEV_PRIV_H
#define DEV_DEV_PRIV_H

#include "dev/dev.h"

/** Reads and writes of leaf devices through one io_uring; where the kernel refuses one, by pread and pwrite. Sets each result. */
void uring_run(struct dev_request *requests, size_t count);

/** A device of its own for an open file; `fd` is closed with it, and on failure. 0 or -ENOMEM. */
int file_new(const char *name, int fd, uint64_t size_bytes, bool writable, struct dev **ret_dev);

#endif
