/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * An md array as scrubbing and rebuilding see it: its members, side by side. All of it is borrowed.
 *
 * "Sync bytes" are md's unit of order for a pass over an array: bytes of the members' data areas, raid10: of the array.
 */
#ifndef RUN_MD_VIEW_H
#define RUN_MD_VIEW_H

#include <blkalign/run.h>

#include "map/map.h"

/** What md calls a stripe head: parity is looked at in rows of this on each member, and so are damaged places of mirrors. */
#define VIEW_ROW_BYTES 4096U

struct md_view {
	struct dev *md; /* locked while a place is looked at; NULL when nobody else can write to it */
	const struct raid_geometry *geometry;
	const struct map_md_member *members; /* by slot, as they were when this was made */
	const struct byte_range *doubtful;   /* in sync bytes, ascending */
	size_t doubtful_count;
};

/** An md array, or a volume of LVM that is run as one and is no part of another. */
bool run_is_array(const struct blkalign_node *node);
/** Makes `*node` the one array of the stack when it is NULL. -EINVAL, -ENOENT when there is no such one. */
int run_md_node(const struct blkalign_run *run, const struct blkalign_node **node, struct blkalign_error *reterr);
/** Likewise, and its members; -ENOTSUP while it is reshaped. */
int run_md(const struct blkalign_run *run, const struct blkalign_node **node, struct md_view *ret, struct blkalign_error *reterr);
/** The node that lies in `slot` of an array, or NULL. */
const struct blkalign_node *run_md_member(const struct blkalign_node *node, uint32_t slot);

/** -EBUSY when a member is a disk that the kernel has in use. */
int view_refuse_live(const struct md_view *view, struct blkalign_error *reterr);

/** The member in `slot` as it is now: who has failed since, while others wrote, has nothing any more. Stays valid, and out of date, until the array is closed. */
const struct map_md_member *view_member(const struct md_view *view, uint32_t slot);
uint64_t view_sync_bytes(const struct md_view *view);
/** Whether the member has byte `at` of its data area by the records; *run_bytes (1 at least) is cut to where the answer may change. */
bool view_has(const struct map_md_member *member, uint64_t at, uint64_t *run_bytes);
/** Whether the member has all of the range. */
bool view_has_all(const struct map_md_member *member, uint64_t at, uint64_t length_bytes);
bool view_doubtful(const struct md_view *view, uint64_t sync_bytes, uint64_t length_bytes);
/** Read a range of a member's data area. 0, -EIO for what cannot be read, other errors when the member is gone or memory is short. */
int view_read(const struct map_md_member *member, uint64_t at, void *buffer, size_t length_bytes, struct blkalign_error *reterr);
/**
 * A thread is at this range of all members (sync bytes): where they are files or disks, tell the kernel what is read next, so that all of them seek and read at a time, though each
 * thread reads one after the other.
 */
void view_read_ahead(const struct md_view *view, uint64_t at, uint64_t length_bytes);

/** Lock and unlock a range of sync bytes, when there is an md device to lock. */
void view_lock(const struct md_view *view, uint64_t sync_bytes, uint64_t length_bytes);
void view_unlock(const struct md_view *view, uint64_t sync_bytes, uint64_t length_bytes);

#endif
