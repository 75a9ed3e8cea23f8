/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DEV_DEV_PRIV_H
#define DEV_DEV_PRIV_H

#include "dev/dev.h"

/** Reads and writes of leaf devices through one io_uring; where the kernel refuses one, by pread and pwrite. Sets each result. */
void uring_run(struct dev_request *requests, size_t count);

#endif
