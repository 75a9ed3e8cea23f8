/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The layers, one file each: layer_NAME.c. */
#ifndef STACK_LAYERS_H
#define STACK_LAYERS_H

#include "stack/stack.h"

#endif
