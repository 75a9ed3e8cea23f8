/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Read-ahead that follows a bogus hint. Pure functions. */
#ifndef CHECK_READ_AHEAD_H
#define CHECK_READ_AHEAD_H

#include "graph/graph.h"

/** True when the node's read-ahead is known and is twice `optimal_bytes`, as the kernel computes and rounds it. */
bool read_ahead_inflated_by(const struct blkalign_node *node, uint64_t optimal_bytes);

#endif
