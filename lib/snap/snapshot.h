/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * blkalign's own snapshots; the format is described in doc/snapshot.md.
 */
#ifndef SNAP_SNAPSHOT_H
#define SNAP_SNAPSHOT_H

#include "snap/snap.h"

/** The key that makes JSON a snapshot, and the version that is written and read. */
#define SNAPSHOT_KEY	 "blkalign-snapshot"
#define SNAPSHOT_VERSION 1

/** Nesting of a snapshot's JSON: object, nodes, node, on, edge; with room for the contents of "x-" keys. */
#define SNAPSHOT_DEPTH_MAX 16

/** Texts whose parsed form would take more are refused; ten thousand volumes take some 50 MiB. */
#define SNAPSHOT_MEMORY_MAX (160 * MIB)

/**
 * JSON text to graph. `where` names the file in messages. 0; -EBADMSG when the text is no valid snapshot, with what is wrong and in which node; -ENOTSUP for
 * a version of the format that this library does not know; -E2BIG beyond the caps of a graph or SNAPSHOT_MEMORY_MAX, -ENOMEM.
 */
int snapshot_decode(const char *where, const char *text, size_t length, struct blkalign_graph **ret_graph, struct blkalign_error *reterr);

extern const struct snap_reader snapshot_reader;
/** A folder that holds sys/ and proc/ of another machine. */
extern const struct snap_reader sysroot_reader;

#endif
