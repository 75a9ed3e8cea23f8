/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Drives known to hide their block size. */
#ifndef CHECK_MODELS_H
#define CHECK_MODELS_H

#include "graph/graph.h"

/** True when the model is known to have 4096-byte blocks (or larger pages) while reporting 512. */
bool model_hides_4096(const struct blkalign_node *node);

#endif
