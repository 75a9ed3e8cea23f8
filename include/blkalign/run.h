/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Running a stack: reading and writing the contents of its nodes in user space, without kernel devices.
 *
 * Threads: opening and closing from one thread; reads, writes and flushes of one open stack from any number.
 */
#ifndef BLKALIGN_RUN_H
#define BLKALIGN_RUN_H

#include <blkalign/source.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkalign_run;

struct blkalign_run_options {
	struct blkalign_source_options source;
};

/** Put the stack of `paths` (image files and raw disks: members, PVs) together for running. `options` may be NULL. */
BLKALIGN_API int blkalign_run_open(const struct blkalign_run_options *options, const char *const *paths, size_t count,
				   struct blkalign_run **ret_run, struct blkalign_error *reterr);
/** Close everything. `run` is freed also on failure; NULL is accepted. */
BLKALIGN_API int blkalign_run_close(struct blkalign_run *run, struct blkalign_error *reterr);

/** The stack as a graph; lives as long as `run`. */
BLKALIGN_API const struct blkalign_graph *blkalign_run_graph(const struct blkalign_run *run);
/**
 * The node called `name`; NULL: the one node that people mean, an array or logical volume on which no other lies. -ENOENT, -EINVAL when there are several; the
 * message lists them.
 */
BLKALIGN_API int blkalign_run_node(const struct blkalign_run *run, const char *name, const struct blkalign_node **ret_node,
				   struct blkalign_error *reterr);
/** Size of the node's contents, or BLKALIGN_UNKNOWN when it cannot be read. */
BLKALIGN_API uint64_t blkalign_run_size(const struct blkalign_run *run, const struct blkalign_node *node);
/** Read `length_bytes` of the node's contents. All or nothing. */
BLKALIGN_API int blkalign_run_read(struct blkalign_run *run, const struct blkalign_node *node, uint64_t offset_bytes, void *buffer,
				   size_t length_bytes, struct blkalign_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
