/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The locks that lvm2 commands of this host take, so that none of them changes a group between our comparison and our last write.
 * Source: lvm2 lib/locking/file_locking.c, lib/misc/lvm-flock.c: flock() on /run/lock/lvm/V_<group> and P_global.
 */
#ifndef APPLY_LVM_LOCK_H
#define APPLY_LVM_LOCK_H

#include "base/base.h"

#define LVM_LOCK_FOLDER	     "/run/lock/lvm"
#define LVM_LOCK_PATIENCE_MS 5000U

struct lvm_lock {
	int global_fd, group_fd; /* -1: not held */
};
#define LVM_LOCK_NONE ((struct lvm_lock){ -1, -1 })

/**
 * Take the locks for a change of `group`; with `orphans`, of PVs that belong to none as well. -EBUSY when a command still holds one after
 * `patience_ms` milliseconds: they are short, but for those that move data. Where `folder` cannot be made or written to no lvm2 command of this user can run either: 0, and nothing is held.
 */
int lvm_lock_take(const char *folder, const char *group, bool orphans, unsigned patience_ms, struct lvm_lock *ret,
		  struct blkalign_error *reterr);
void lvm_lock_release(struct lvm_lock *lock);

#endif
