/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Rebuilding members that an md array lacks, on new devices or files; and images that an LVM RAID volume lacks, on the PVs where they lie.
 *
 * Step by step: blkalign_rebuild_open(), blkalign_rebuild_step() until it returns BLKALIGN_REBUILD_DONE, blkalign_rebuild_close(). The new member is recorded in the
 * superblocks from the beginning, with how far it is; so the kernel can go on with it at any moment, and so can a later rebuild onto the same device.
 *
 * Threads: one rebuild is used from one thread; it starts its own.
 */
#ifndef BLKALIGN_REBUILD_H
#define BLKALIGN_REBUILD_H

#include <blkalign/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkalign_rebuild;

struct blkalign_rebuild_options {
	struct blkalign_source_options source;
	const char *node;	   /**< the array; NULL: the only one */
	unsigned threads;	   /**< 0: one for each processor; 16 at most */
	uint64_t rate_bytes;	   /**< at most so many bytes of each member a second; 0: no limit */
	uint64_t checkpoint_bytes; /**< record at least every so many bytes how far it is; 0: every ten seconds */
	bool force;		   /**< also where an unclean stop makes doubtful what is computed */
	bool force_overwrite;	   /**< also onto devices that hold something */
	bool dry_run;		   /**< find out what would be done; every device is opened O_RDONLY, and steps are refused */
};

#define BLKALIGN_REBUILD_DONE 1

enum blkalign_rebuild_how {
	BLKALIGN_REBUILD_NEW,	/**< from the beginning */
	BLKALIGN_REBUILD_GO_ON, /**< it was rebuilt up to start_bytes */
	BLKALIGN_REBUILD_READD, /**< a former member: only what the bitmap says that it lacks */
};

struct blkalign_rebuild_target {
	const char *path;
	enum blkalign_rebuild_how how;
	uint32_t slot;
	uint64_t start_bytes;	/**< of its data area */
	uint64_t rebuild_bytes; /**< to be written */
	const char *overwrites; /**< what lies on it, for people; NULL: nothing that is known */
};

struct blkalign_rebuild_progress {
	uint64_t position_bytes; /**< of each member's data area */
	uint64_t total_bytes;
	uint64_t read_bytes; /**< from all members */
	uint64_t written_bytes;
	/** raid6 with one member missing: rows that do not fit although all members of them could be read. What was rebuilt there may be wrong; scrub says more. */
	uint64_t mismatch_sectors512;
	uint64_t unreadable_bytes; /**< of other members, that were not needed because more redundancy was left */
};

/**
 * Open the array on `members` (files and disks) and make `targets` the members that it lacks, one or two as the level allows. A target that is a half rebuilt or former member
 * of the array is recognised as such. Nothing is written before every refusal: -EEXIST when a target holds something, -ENOSPC when it is too small, -EUCLEAN when the array is dirty and
 * what it lacks would be computed from what may not fit, -ENOTSUP for a PV on which no image of an LVM volume lies, -EINVAL when nothing is missing or too many targets are given, -EBUSY when somebody has a device.
 */
BLKALIGN_API int blkalign_rebuild_open(const struct blkalign_rebuild_options *options, const char *const *members, size_t member_count,
				       const char *const *targets, size_t target_count, struct blkalign_rebuild **ret_rebuild,
				       struct blkalign_error *reterr);
/** Record how far it is, and close the array. It is freed also on failure, which leaves the array as after a power cut: to be gone on with. NULL is accepted. */
BLKALIGN_API int blkalign_rebuild_close(struct blkalign_rebuild *rebuild, struct blkalign_error *reterr);

/**
 * Work for about a tenth of a second. 0: there is more; BLKALIGN_REBUILD_DONE: the new members are in sync, and recorded as such. -EIO when a place cannot be
 * rebuilt because too many others cannot be read there, or a write failed: nothing more is written then. `ret_progress` may be NULL.
 */
BLKALIGN_API int blkalign_rebuild_step(struct blkalign_rebuild *rebuild, struct blkalign_rebuild_progress *ret_progress,
				       struct blkalign_error *reterr);

/** The stack of the members, with what was told while it was put together. */
BLKALIGN_API const struct blkalign_graph *blkalign_rebuild_graph(const struct blkalign_rebuild *rebuild);
/** The open stack, for blkalign_run_events() and blkalign_run_failure(). */
BLKALIGN_API struct blkalign_run *blkalign_rebuild_run(const struct blkalign_rebuild *rebuild);
/** The array, and the targets in the order given. */
BLKALIGN_API const struct blkalign_node *blkalign_rebuild_node(const struct blkalign_rebuild *rebuild);
BLKALIGN_API size_t blkalign_rebuild_targets(const struct blkalign_rebuild *rebuild);
BLKALIGN_API const struct blkalign_rebuild_target *blkalign_rebuild_target(const struct blkalign_rebuild *rebuild, size_t index);

#ifdef __cplusplus
}
#endif
#endif
