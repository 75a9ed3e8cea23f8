/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Undo logs: what was overwritten, put back. Format: doc/undo.md. */
#ifndef BLKALIGN_UNDO_H
#define BLKALIGN_UNDO_H

#include <stddef.h>

#include <blkalign/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Put back on the files and disks `paths` what the log at `log_path` has saved of them, and flush. All devices of the log must be among them (-ENOENT), and each must still
 * hold what was written since, or the old bytes: otherwise nothing is written (-ESTALE). -EBUSY when somebody has a device. *ret_bytes: how many were put back.
 */
BLKALIGN_API int blkalign_undo_apply(const char *log_path, const char *const *paths, size_t count, uint64_t *ret_bytes,
				     struct blkalign_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
