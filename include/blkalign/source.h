/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Sources of a graph: the live host, images and raw disks, snapshots and what other tools print.
 *
 * Nothing here writes to any device: targets are opened O_RDONLY.
 */
#ifndef BLKALIGN_SOURCE_H
#define BLKALIGN_SOURCE_H

#include <stdio.h>

#include <blkalign/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkalign_source_options {
	/** Root of a dumped tree (holding sys/, proc/, ...) for blkalign_read_host(); NULL for this machine. */
	const char *sysroot;
	/** Logical and physical block size of image files, which have no topology. 0: 512 and 4096. */
	uint64_t assume_logical_bytes;
	uint64_t assume_physical_bytes;
	/** Do not open the devices themselves: sysfs and /proc only. */
	bool no_superblocks;
};

/**
 * The stack of this machine, or of a dumped tree. Without root what sysfs gives; what could not be opened becomes a remark, not a failure.
 * `options` may be NULL. 0, or a negative errno with `reterr`.
 */
BLKALIGN_API int blkalign_read_host(const struct blkalign_source_options *options, struct blkalign_graph **ret_graph,
				    struct blkalign_error *reterr);

/** Part of a live graph: the named devices, all they lie on and all that lies on them. `names` are node names or paths below /dev. */
BLKALIGN_API int blkalign_read_host_devices(const struct blkalign_source_options *options, const char *const *names, size_t count,
					    struct blkalign_graph **ret_graph, struct blkalign_error *reterr);

/** Images and raw disks given together: members of an array, PVs of a VG. Recursive, without root, loop devices or kernel help. */
BLKALIGN_API int blkalign_read_images(const struct blkalign_source_options *options, const char *const *paths, size_t count,
				      struct blkalign_graph **ret_graph, struct blkalign_error *reterr);

/** A snapshot as `capture` writes it (compressed or plain JSON), a util-linux style dump, lsblk -J, a sosreport folder, or text that people paste. */
BLKALIGN_API int blkalign_read_snapshot(const struct blkalign_source_options *options, const char *path, struct blkalign_graph **ret_graph,
					struct blkalign_error *reterr);

/**
 * What the command line does with its TARGETs: no target, the host; snapshots, dumps and pasted text are recognised by content; block devices of this
 * machine are read live with their stack; other files are images. All targets together make one graph.
 */
BLKALIGN_API int blkalign_read_targets(const struct blkalign_source_options *options, const char *const *targets, size_t count,
				       struct blkalign_graph **ret_graph, struct blkalign_error *reterr);

/** True when the file at `path` is a snapshot or import of its own (its graph is not to be joined with other targets'). */
BLKALIGN_API bool blkalign_is_snapshot(const char *path);

/**
 * Write `graph` as a snapshot: gzip-compressed JSON, format in doc/snapshot.md. Serials, UUIDs, host, volume and label names and mount points are replaced
 * by stable pseudonyms unless `keep_names`. `file` stays open. 0 or negative errno.
 */
BLKALIGN_API int blkalign_write_snapshot(const struct blkalign_graph *graph, bool keep_names, FILE *file, struct blkalign_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
