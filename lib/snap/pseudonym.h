/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Replacing what identifies a host: serials, UUIDs, names of hosts, volume groups and labels, mount points.
 *
 * The same original always gets the same pseudonym, also in the next capture of the same host: pseudonyms are the start of HMAC-SHA256 keyed by the
 * machine id. Without one they are counted through ("vg1", "vg2", ...). Names that say nothing about anybody ("root", "swap", "/boot") stay.
 */
#ifndef SNAP_PSEUDONYM_H
#define SNAP_PSEUDONYM_H

#include <blkalign/graph.h>

#include "base/base.h"

struct pseudonyms;

/** Collect all that is to be replaced in `graph`, which must outlive the result. 0 or -ENOMEM. */
int pseudonyms_new(const struct blkalign_graph *graph, struct pseudonyms **ret);
void pseudonyms_free(struct pseudonyms *names);
static inline void pseudonyms_freep(struct pseudonyms **names) { pseudonyms_free(*names); }

/** What to write instead; the strings live as long as `names`. NULL without memory. `names` NULL: the original. */
const char *pseudonym_node(struct pseudonyms *names, const struct blkalign_node *node);
const char *pseudonym_value(struct pseudonyms *names, const struct blkalign_node *node, enum blkalign_attr attr);
/** Free text: every original in it that stands by itself is replaced. */
const char *pseudonym_text(struct pseudonyms *names, const char *text);

#endif
