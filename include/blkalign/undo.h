/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Undo logs: what was overwritten, put back. Format: doc/undo.md. */
#ifndef BLKALIGN_UNDO_H
#define BLKALIGN_UNDO_H

#include <stddef.h>

#include <blkalign/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What was made of a path. */
enum blkalign_undo_use {
	BLKALIGN_UNDO_USED,
	BLKALIGN_UNDO_REPEATED, /**< another path to the same file or disk came before */
	BLKALIGN_UNDO_NOT_OURS, /**< the log has nothing of it; it was opened O_RDONLY only */
};

/**
 * Put back on the files and disks `paths` what the log at `log_path` has saved of them, and flush. All devices of the log must be among them (-ENOENT), and each must still
 * hold what was written since, or the old bytes: otherwise nothing is written (-ESTALE). -EBUSY when somebody has a device. *ret_bytes: how many were put back;
 * ret_uses (may be NULL): for each path, what was made of it, also on failure.
 */
BLKALIGN_API int blkalign_undo_apply(const char *log_path, const char *const *paths, size_t count, uint64_t *ret_bytes,
				     enum blkalign_undo_use *ret_uses, struct blkalign_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
