/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Imports: graphs made of what other tools print.
 *
 * An import knows only what the text says. Everything it sets has the origin TOOL; a size that a tool rounded for people is left unknown
 * unless the rounding leaves one possibility. Values of one device from several tools are joined by the device's name.
 *
 * All functions take hostile text: they are linear in its length and bounded by the caps of graph/graph.h. Each returns 0, BLKALIGN_NOT_THIS when
 * the text holds nothing they know (`graph` is then unchanged), or negative errno. `graph` must be empty.
 */
#ifndef SNAP_IMPORT_H
#define SNAP_IMPORT_H

#include "graph/graph.h"

struct snap_reader;

/** Rows for the table of readers. */
extern const struct snap_reader import_lsblk_reader, import_sosreport_reader, import_text_reader;

/** Loose text: the output of one tool or of many, one after another, with prompts and prose between. */
int import_text(const char *text, size_t length, struct blkalign_graph *graph, struct blkalign_error *reterr);

/** `lsblk -J` with any columns: an object with the key "blockdevices". `text` need not be terminated. */
int import_lsblk(const char *text, size_t length, struct blkalign_graph *graph, struct blkalign_error *reterr);

/**
 * An unpacked sosreport: the printed output in sos_commands/ and proc/. `base` (may be NULL) is a graph of its sys/ tree; it is read only, and what it
 * says goes before what the tools printed.
 */
int import_sosreport(const char *path, const struct blkalign_graph *base, struct blkalign_graph *graph, struct blkalign_error *reterr);

#endif
