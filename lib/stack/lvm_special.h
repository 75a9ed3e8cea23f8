/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Volumes whose bytes have to be looked up: thin volumes, snapshots, cached volumes, mirrors with a log. Each function makes the device of volume `index`, called as its node.
 * *ret_dev stays NULL when the content cannot be told; why not is a remark that begins with the node's name. 0 or -ENOMEM. Facts go to the
 * node's attributes.
 */
#ifndef STACK_LVM_SPECIAL_H
#define STACK_LVM_SPECIAL_H

#include "stack/lvm_volumes.h"

/** A pool's metadata, for the volumes in it. */
struct lvm_thin_pool;
void lvm_thin_pool_free(struct lvm_thin_pool *pool);

/** lvm_thin.c. A pool's device gives its data as it lies there, and is to be read through only. */
int lvm_open_thin_pool(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole);
int lvm_open_thin(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole);
/** lvm_snapshot.c. Where one is merged into its origin, *ret_dev is the origin's, and *ret_node the origin. */
int lvm_open_snapshot(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole);
/** lvm_cache.c. A cache pool as a thin pool. */
int lvm_open_cache_pool(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole);
int lvm_open_cache(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole);

/** lvm_mirror.c. The same for one segment of `lv`. *ret_whole is cleared when a part of it cannot be read. */
int lvm_open_mirror(struct lvm_volumes *v, const struct lvm2_lv *lv, const struct lvm2_segment *segment, const struct blkalign_node *node,
		    struct dev **ret_dev, bool *ret_whole);
/** The log of a mirror, and who keeps it while it is written. */
struct lvm_mirror_guard;
void lvm_mirror_guard_free(struct lvm_mirror_guard *guard);

/** Where the bytes of a reference lie; its `dev` is NULL when that is missing. `whole` is cleared when parts are. */
struct map_area lvm_area_of(const struct lvm_volumes *v, const struct lvm2_ref *ref, bool *whole);
/** The device of the segment's only reference of that role; NULL when there is none, or it cannot be read. `ret_whole` is cleared when parts are missing. */
struct dev *lvm_role_dev(const struct lvm_volumes *v, const struct lvm2_segment *segment, enum lvm2_role role, bool *ret_whole);
/** Node `node` cannot be read, because. */
int lvm_cannot_read(const struct lvm_volumes *v, const struct blkalign_node *node, const char *why);
/** Contents that are in doubt are given out. */
bool lvm_is_forced(const struct lvm_volumes *v);

#endif
