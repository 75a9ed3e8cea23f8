/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Copying the contents of a node to a file, a disk or a stream, and keeping account of what could not be read.
 *
 * Step by step: blkalign_copy_open(), blkalign_copy_step() until it returns BLKALIGN_COPY_DONE, close. Zeros become holes. What cannot be read is narrowed down to
 * sectors and left out (in a stream: zeros); the copy goes on. First everything that reads well is fetched, then what did not is tried again
 * sector by sector, as GNU ddrescue does, and in the format of its map files it is accounted for.
 *
 * Threads: one copy is used from one thread; it starts its own.
 */
#ifndef BLKALIGN_COPY_H
#define BLKALIGN_COPY_H

#include <blkalign/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkalign_copy;

struct blkalign_copy_options {
	/** A new or empty file; NULL: `output_fd` is a stream (borrowed). What the stack lies on is never written to: -EINVAL. */
	const char *output;
	int output_fd;
	bool overwrite;	       /**< whatever `output` holds is lost; a block device is always overwritten. Otherwise -EEXIST */
	uint64_t offset_bytes; /**< first byte of the node that is copied; it becomes byte 0 of the output */
	uint64_t length_bytes; /**< 0: up to the end of the node */
	/**
	 * A map that blkalign_copy_map() or ddrescue made of the same range (NULL: none): what is finished there is not read again, and `output`
	 * goes on being filled. Not for streams.
	 */
	const char *map;
	size_t map_bytes;
};

/** blkalign_copy_step(): nothing is left to do. */
#define BLKALIGN_COPY_DONE 1

struct blkalign_copy_progress {
	uint64_t total_bytes;
	uint64_t done_bytes; /**< good, or looked at sector by sector */
	uint64_t good_bytes; /**< in the output, with those that an earlier copy put there */
	uint64_t bad_bytes;  /**< could not be read; those of large pieces may yet be found good */
	uint64_t bad_areas;  /**< places they lie in; counted at the end */
	uint64_t zero_bytes; /**< of the good ones: holes */
	bool trying_again;   /**< the bad ones, sector by sector */
};

/**
 * Begin to copy `node` of `run`, which must outlive the copy. Errors of opening the output are told as they are; -ERANGE for a range that the node does not have, -EBADMSG
 * for a map that is none.
 */
BLKALIGN_API int blkalign_copy_open(struct blkalign_run *run, const struct blkalign_node *node, const struct blkalign_copy_options *options,
				    struct blkalign_copy **ret_copy, struct blkalign_error *reterr);
/**
 * Copy some MiB. 0: there is more; BLKALIGN_COPY_DONE: everything was tried, and what was written is durable (`bad_bytes` says whether the copy is whole); negative errno: the
 * output cannot be written, -EINTR when a signal came while a stream was. `ret_progress` may be NULL.
 */
BLKALIGN_API int blkalign_copy_step(struct blkalign_copy *copy, struct blkalign_copy_progress *ret_progress, struct blkalign_error *reterr);
/** How far it is, without doing anything. */
BLKALIGN_API void blkalign_copy_progress(const struct blkalign_copy *copy, struct blkalign_copy_progress *ret_progress);
/** What was read, as a ddrescue map file, freed by the caller with free(); what it calls finished was made durable first. */
BLKALIGN_API int blkalign_copy_map(struct blkalign_copy *copy, char **ret_text, struct blkalign_error *reterr);
/** Stop and free it. NULL is accepted. */
BLKALIGN_API void blkalign_copy_close(struct blkalign_copy *copy);

#ifdef __cplusplus
}
#endif
#endif
