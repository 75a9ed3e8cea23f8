/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Scrubbing an md array, or an LVM RAID volume, whose images are the members: all members of every row are read, and what they say is compared, as md's `check` does.
 *
 * Step by step: blkalign_scrub_open(), blkalign_scrub_step() until it returns BLKALIGN_SCRUB_DONE, look at the findings, close. Then, where the run was opened
 * writable, blkalign_scrub_repair() and step again until done. Nothing is written before that.
 *
 * The count of mismatches is the kernel's mismatch_cnt (512-byte sectors): 8 for each row of 4 KiB of raid4, raid5 and raid6 that does not fit; the length of the
 * compared window (64 KiB, cut at the end, at chunk ends of raid10 and at known bad blocks) for each copy of raid1 and raid10 that differs from the first. Unlike the
 * kernel's on raid1, it leaves out copies that could not be read: those are findings of their own.
 *
 * Threads: one scrub is used from one thread; it starts its own.
 */
#ifndef BLKALIGN_SCRUB_H
#define BLKALIGN_SCRUB_H

#include <blkalign/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkalign_scrub;

struct blkalign_scrub_options {
	unsigned threads;    /**< 0: one for each processor; 16 at most */
	uint64_t rate_bytes; /**< at most so many bytes of each member a second, as md's sync_speed_max counts; 0: no limit */
	/** What blkalign_scrub_state() once gave: go on from there. NULL: from the start. */
	const char *state;
};

/** blkalign_scrub_step() and blkalign_rebuild_step(): nothing is left to do. */
#define BLKALIGN_SCRUB_DONE 1

enum blkalign_scrub_kind {
	BLKALIGN_SCRUB_MISMATCH,   /**< the members contradict each other */
	BLKALIGN_SCRUB_UNREADABLE, /**< `slot` cannot be read here; the others have what it holds */
	BLKALIGN_SCRUB_LOST,	   /**< cannot be read, and what is left is not enough to compute it */
};

/** What is known about a mismatch. */
enum blkalign_scrub_verdict {
	BLKALIGN_SCRUB_PROVEN,	 /**< raid6: `slot` is wrong, it alone explains all bytes that differ */
	BLKALIGN_SCRUB_OUTVOTED, /**< mirrors of three and more: `slot` differs, all the others agree. That is no proof */
	BLKALIGN_SCRUB_ONE_PARITY, /**< cannot say: raid4 and raid5, or two copies, show that one is wrong, not which. Mirrors: `slot` differs from the first copy */
	BLKALIGN_SCRUB_SEVERAL,	  /**< cannot say: no single member explains it (mirrors: there are more than two opinions) */
	BLKALIGN_SCRUB_FEW_BYTES, /**< cannot say: too few bytes differ to blame one member */
	BLKALIGN_SCRUB_DOUBTFUL,  /**< cannot say: an unclean stop or the bitmap says that a write may have been cut short here */
	BLKALIGN_SCRUB_DEGRADED,  /**< cannot say: a member is missing or not readable here */
	/** raid10 that overlaps itself: the layout puts a copy of another chunk in this place, or in that of the copy that it was compared with. No member is wrong. */
	BLKALIGN_SCRUB_OVERLAP,
};
/** "proven", "outvoted", "one_parity", ...: the word in JSON. Static. */
BLKALIGN_API const char *blkalign_scrub_verdict_name(enum blkalign_scrub_verdict verdict);

/** A place where something was found; neighbouring ones of a kind are one. */
struct blkalign_scrub_finding {
	enum blkalign_scrub_kind kind;
	/** Of a mismatch. Of what is unreadable: _DOUBTFUL, _SEVERAL when what can be read contradicts itself, or _DEGRADED; of what is lost _DOUBTFUL or _DEGRADED. */
	enum blkalign_scrub_verdict verdict;
	uint32_t slot;	       /**< the member meant, or BLKALIGN_SLOT_NONE when it is the whole row */
	uint64_t member_bytes; /**< first byte, counted in the data area of `slot`, or of every member */
	uint64_t length_bytes;
	/** First and last byte of the array that lie here; both BLKALIGN_UNKNOWN when `slot` holds parity only. Of a whole row: between them lie other rows as well. */
	uint64_t array_first_bytes;
	uint64_t array_last_bytes;
	uint64_t repaired_bytes; /**< written by blkalign_scrub_repair() */
};

struct blkalign_scrub_progress {
	uint64_t position_bytes; /**< of each member; raid10: of the array. While repairing: bytes of findings looked at */
	uint64_t total_bytes;
	uint64_t read_bytes; /**< from all members */
	uint64_t mismatch_sectors512;
	uint64_t unreadable_bytes;
	uint64_t lost_bytes;
	uint64_t uncompared_bytes; /**< of position_bytes: read where there was nothing to compare it with, for want of members */
	uint64_t repaired_bytes;   /**< written */
	uint64_t left_bytes;	   /**< that a repair has found and left as they are */
	uint64_t findings;
	bool repairing;
};

/**
 * Begin with the array `node` of `run`; NULL: the one md array of the stack. `options` may be NULL. -EINVAL when it is no md array or cannot be read, -ENOTSUP for
 * levels without redundancy, -EBUSY while the kernel has a member in use, -ESTALE for a state of another array or of one that was written since, -EBADMSG for a state that is none. `run` must outlive
 * the scrub.
 */
BLKALIGN_API int blkalign_scrub_open(struct blkalign_run *run, const struct blkalign_node *node,
				     const struct blkalign_scrub_options *options, struct blkalign_scrub **ret_scrub,
				     struct blkalign_error *reterr);
/** Free it. What was repaired was flushed by the step that repaired it. NULL is accepted. */
BLKALIGN_API void blkalign_scrub_close(struct blkalign_scrub *scrub);

/**
 * Work for about a tenth of a second. 0: there is more; BLKALIGN_SCRUB_DONE; negative errno: a member went away or memory is short, or, while repairing, a write failed: nothing
 * more is written then. `ret_progress` may be NULL.
 */
BLKALIGN_API int blkalign_scrub_step(struct blkalign_scrub *scrub, struct blkalign_scrub_progress *ret_progress,
				     struct blkalign_error *reterr);

/** The array that is scrubbed. */
BLKALIGN_API const struct blkalign_node *blkalign_scrub_node(const struct blkalign_scrub *scrub);
/** The member in `slot`, NULL when it is missing, and where its data area begins. */
BLKALIGN_API const struct blkalign_node *blkalign_scrub_member(const struct blkalign_scrub *scrub, uint32_t slot,
							       uint64_t *ret_data_offset_bytes);
/** Findings so far, in order of place. Those beyond a hundred thousand are counted, but not kept: *ret_complete (may be NULL) is false then. */
BLKALIGN_API size_t blkalign_scrub_findings(const struct blkalign_scrub *scrub, bool *ret_complete);
/** Number `index`; lives until the next step. */
BLKALIGN_API const struct blkalign_scrub_finding *blkalign_scrub_finding(const struct blkalign_scrub *scrub, size_t index);

/**
 * All that is needed to go on later, as JSON; freed by the caller with free(). -EBUSY while repairing: a repair is not resumed but done again.
 */
BLKALIGN_API int blkalign_scrub_state(const struct blkalign_scrub *scrub, char **ret_text, struct blkalign_error *reterr);

/** What blkalign_scrub_repair() would do about the findings, in bytes of members. */
struct blkalign_scrub_plan {
	uint64_t proven_bytes;	   /**< of members proven wrong: recomputed from the others */
	uint64_t unreadable_bytes; /**< recomputed from the others, and written back */
	uint64_t parity_bytes;	   /**< of rows and copies of which nothing is proven. With `parity` only */
	uint64_t outvoted_bytes;   /**< of them: where all other copies are overwritten by a first one that none of them agrees with */
	uint64_t left_bytes;	   /**< of what stays as it is */
	/**
	 * So many rows blame several members that it rather is their order, or the geometry, that is wrong: as when an array was created anew over an old one.
	 */
	bool implausible;
};
BLKALIGN_API void blkalign_scrub_plan(const struct blkalign_scrub *scrub, bool parity, struct blkalign_scrub_plan *ret);

struct blkalign_scrub_repair_options {
	/**
	 * As md's `repair`, where nothing is proven: parity is made to fit the data, and copies to fit the first of them, though data or that copy may be what is wrong. A dirty array
	 * is in sync afterwards, and marked so, unless so much is missing that there was nothing to compare. Data that cannot be read where a write may have been cut short is left as it
	 * is, and the array dirty: what parity makes of it was perhaps never written.
	 */
	bool parity;
	/** Also when the plan is implausible; and such data is replaced by what parity makes of it. */
	bool force;
	/** New file, to which everything is saved before it is overwritten: see blkalign_undo_apply(). */
	const char *undo_path;
};
/**
 * Begin to repair, after BLKALIGN_SCRUB_DONE. Each finding is looked at again, under the array's records, and changed only when it is still as it was.
 * -EROFS, with the reason, when the array is not open for writing; -EUCLEAN when the plan is implausible.
 */
BLKALIGN_API int blkalign_scrub_repair(struct blkalign_scrub *scrub, const struct blkalign_scrub_repair_options *options,
				       struct blkalign_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
