/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/layers.h"

/*
 * The order carries meaning.
 */
const struct layer *const stack_layers[] = {
	NULL,
};
const size_t stack_layers_count = 0;
