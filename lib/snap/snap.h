/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Files that describe a stack without being one: our own snapshots and what other tools print.
 *
 * A reader is a row of the table in readers.c: it recognises a target by its first bytes (or, for a folder, by what lies in it) and makes a
 * graph of it. blkalign_read_targets() asks the rows in order and takes the first that says yes.
 */
#ifndef SNAP_SNAP_H
#define SNAP_SNAP_H

#include <blkalign/source.h>

#include "base/base.h"

/** Bytes of a target that recognise() is shown. */
#define SNAP_HEAD_MAX 8192U
/** Largest text that is read, after decompression: more is refused with -EFBIG. */
#define SNAP_TEXT_MAX (64 * MIB)

/** What a reader recognises a target by. */
struct snap_probe {
	const char *path; /* borrowed */
	bool directory;
	size_t head_length;	      /* 0 for a folder */
	char head[SNAP_HEAD_MAX + 1]; /* the first bytes, seen through gzip, NUL-terminated; may hold NULs */
};

struct snap_reader {
	const char *name; /* "snapshot", "lsblk", "sosreport", ...: for messages */
	bool many;	  /* read() takes several targets at once and makes one graph of them */
	bool (*recognise)(const struct snap_probe *probe);
	/** All `paths` were recognised by this reader; `count` is 1 unless `many`. 0, or negative errno with `reterr`. */
	int (*read)(const struct blkalign_source_options *options, const char *const *paths, size_t count,
		    struct blkalign_graph **ret_graph, struct blkalign_error *reterr);
};

/** Ordered; ends with NULL. */
extern const struct snap_reader *const snap_readers[];

/** Look at the target `path`: a regular file or a folder; -ENOTSUP for anything else. */
int snap_probe(const char *path, struct snap_probe *ret_probe, struct blkalign_error *reterr);

/** The reader that recognises the target, or NULL. */
const struct snap_reader *snap_recognise(const struct snap_probe *probe);

/** True when the head holds no NUL and no control characters but white space and ESC: text as people paste it. */
bool snap_looks_like_text(const struct snap_probe *probe);

/**
 * The whole of a regular file, seen through gzip, NUL-terminated behind `*ret_length` bytes; freed by the caller. -EFBIG beyond SNAP_TEXT_MAX, -EBADMSG
 * for damaged compression, -ENOTSUP for anything but a regular file.
 */
int snap_read_text(const char *path, char **ret_text, size_t *ret_length, struct blkalign_error *reterr);

#endif
