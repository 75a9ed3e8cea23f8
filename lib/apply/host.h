/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What the running system knows of devices that something is to be created on. */
#ifndef APPLY_HOST_H
#define APPLY_HOST_H

#include "plan/plan.h"

bool host_is_block(const char *path);
/**
 * The nodes of `live` that are the same block devices as the disks of `graph`, by device number: names differ, as of volumes of the device mapper. Caller frees `*ret`. -ENOMEM.
 */
int host_pair(const struct blkalign_graph *graph, const struct blkalign_graph *live, struct plan_twin **ret, size_t *ret_count);
/** The devices that carry the physical volumes of group `vg` on this machine; each and the list are the caller's to free. -ENOENT when there are none. */
int host_find_group(const struct blkalign_source_options *source, const char *vg, char ***ret_paths, size_t *ret_count,
		    struct blkalign_error *reterr);

#endif
