/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Running a stack: reading and writing the contents of its nodes in user space, without kernel devices.
 *
 * Nothing is written unless the options ask for it. A writable stack opens its images and disks for itself alone and keeps the records of its md arrays (superblocks,
 * bitmaps) in step with their data: "active" before the first write, "clean" after blkalign_run_close(), so that the kernel and mdadm can take over at any moment.
 *
 * Threads: opening and closing from one thread; all other functions of one open stack from any number.
 */
#ifndef BLKALIGN_RUN_H
#define BLKALIGN_RUN_H

#include <blkalign/source.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkalign_run;

/** A member of which parts are known to be unreadable: an image that GNU ddrescue made of a failing drive, and its map file. */
struct blkalign_run_bad {
	const char *path; /**< one of the paths given to blkalign_run_open() */
	const char *map_path;
};

struct blkalign_run_options {
	struct blkalign_source_options source;
	/** What these maps do not call finished is not believed: it is taken from other members, as far as redundancy goes. Not with `writable`. */
	const struct blkalign_run_bad *bad;
	size_t bad_count;
	/** Contents may be written. What cannot be written safely stays readable; see blkalign_run_writable(). */
	bool writable;
	/** Writable as well, but what is written is kept apart and lost on close: images and disks are opened O_RDONLY. */
	bool cow;
	/** Arrays that are both dirty and degraded give out what they compute, though it may be wrong, and may be written. */
	bool force;
};

/** Put the stack of `paths` (image files and raw disks: members, PVs) together for running. `options` may be NULL. */
BLKALIGN_API int blkalign_run_open(const struct blkalign_run_options *options, const char *const *paths, size_t count,
				   struct blkalign_run **ret_run, struct blkalign_error *reterr);
/**
 * Bring everything to the disks, mark the arrays clean where that is true, and close. `run` is freed also on failure, which means that something written may
 * be lost or an array was left dirty; NULL is accepted.
 */
BLKALIGN_API int blkalign_run_close(struct blkalign_run *run, struct blkalign_error *reterr);

/**
 * What closing does, without closing: everything is brought to the disks, and arrays are marked clean where that is true. For those who want to know afterwards what happened on them.
 * Nobody may be writing meanwhile. What is written later makes arrays active again.
 */
BLKALIGN_API int blkalign_run_settle(struct blkalign_run *run, struct blkalign_error *reterr);

/** The stack as a graph; lives as long as `run`. */
BLKALIGN_API const struct blkalign_graph *blkalign_run_graph(const struct blkalign_run *run);
/**
 * The node called `name`, of logical volumes also as lv:VG/LV; NULL: the one node that people mean, an array or logical volume on which no other lies. -ENOENT, -EINVAL when
 * there are several; the message lists them.
 */
BLKALIGN_API int blkalign_run_node(const struct blkalign_run *run, const char *name, const struct blkalign_node **ret_node,
				   struct blkalign_error *reterr);
/**
 * Whether the node is a content of its own, to be offered to others: an array, a logical volume that is no part of another, and a partition, or disk with known contents,
 * on which neither lies. Other nodes can be read as well.
 */
BLKALIGN_API bool blkalign_run_is_content(const struct blkalign_run *run, const struct blkalign_node *node);
/** One line about the node, safe for a terminal: "raid6 array, 8 of 9 members, degraded, 19.1 TiB, read-only". Returns `ret`. */
BLKALIGN_API char *blkalign_run_describe(const struct blkalign_run *run, const struct blkalign_node *node, char *ret, size_t size);
/** Size of the node's contents, or BLKALIGN_UNKNOWN when it cannot be read. */
BLKALIGN_API uint64_t blkalign_run_size(const struct blkalign_run *run, const struct blkalign_node *node);
/** Whether the node's contents can be written; otherwise why not is in `*ret_why` (may be NULL), a sentence that lives as long as `run`. */
BLKALIGN_API bool blkalign_run_writable(const struct blkalign_run *run, const struct blkalign_node *node, const char **ret_why);

/** How requests to a node are best cut. All are powers of two or multiples of `minimum_bytes`; none is a limit for the functions below. */
struct blkalign_run_blocks {
	uint64_t minimum_bytes;	  /**< logical block: offsets and lengths of writes are multiples of it */
	uint64_t preferred_bytes; /**< chunk, or physical block where there are no chunks: a power of two */
	uint64_t maximum_bytes;	  /**< whole stripes: a write of that size and alignment needs no reading */
};
BLKALIGN_API void blkalign_run_blocks(const struct blkalign_run *run, const struct blkalign_node *node, struct blkalign_run_blocks *ret);

/** Read `length_bytes` of the node's contents. All or nothing. */
BLKALIGN_API int blkalign_run_read(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, void *buffer,
				   size_t length_bytes, struct blkalign_error *reterr);
/**
 * Write to the node's contents: whole logical blocks (-EINVAL otherwise). 0: readers see it; durable after blkalign_run_flush() only. -EROFS, with the reason, for what is not
 * writable. On failure any part of it may have been written.
 */
BLKALIGN_API int blkalign_run_write(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, const void *buffer,
				    size_t length_bytes, struct blkalign_error *reterr);
/** All that was written to the node, by any thread, and ended before this began, is durable on return of 0. A failed flush is final, but for -ENOMEM. */
BLKALIGN_API int blkalign_run_flush(struct blkalign_run *run, const struct blkalign_node *node, struct blkalign_error *reterr);
/**
 * Whether the bytes from `offset_bytes` on are known, without reading, to be zeros: `*ret_zero`, for `*ret_length_bytes` of the `length_bytes` asked about (1 at
 * least). What nobody knows is no zeros.
 */
BLKALIGN_API int blkalign_run_extent(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes,
				     uint64_t length_bytes, bool *ret_zero, uint64_t *ret_length_bytes, struct blkalign_error *reterr);

/** What happened on an array since the stack was opened. */
struct blkalign_run_events {
	uint64_t computed_bytes;  /**< given to readers from redundancy */
	uint64_t read_errors;	  /**< of members, that redundancy hid */
	uint64_t rewritten_bytes; /**< of members: written back where they could not be read, or not be written in part */
	size_t failed_members;	  /**< blkalign_run_failure() has them */
	const char *first_error;  /**< of a member that was read: which, where and what; NULL: none. Lives as long as `run` */
};
/** 0, or -EINVAL for a node whose contents do not come from an array of its own: all zeros. */
BLKALIGN_API int blkalign_run_events(struct blkalign_run *run, const struct blkalign_node *node, struct blkalign_run_events *ret);

/** A member that did not take a write or a flush, of data or of the array's records. The array goes on without it: the others record it as faulty. */
struct blkalign_run_failure {
	const struct blkalign_node *array;
	uint32_t slot;	    /**< or BLKALIGN_SLOT_NONE for a spare */
	const char *member; /**< its file or disk; raw bytes. As `why` it lives as long as `run` */
	const char *why;    /**< its first error, a sentence */
};
/**
 * The members that failed since the stack was opened, on all of its arrays, in the order in which they were noticed; false when there are no more than `index`. To be
 * asked for the next one after requests, for these succeed as long as an array can do without a member; it costs next to nothing.
 */
BLKALIGN_API bool blkalign_run_failure(struct blkalign_run *run, size_t index, struct blkalign_run_failure *ret);

#ifdef __cplusplus
}
#endif
#endif
