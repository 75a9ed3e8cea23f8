/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The layers, one file each: layer_NAME.c. */
#ifndef STACK_LAYERS_H
#define STACK_LAYERS_H

#include "stack/stack.h"

extern const struct layer layer_md;
extern const struct layer layer_blkid_raid;
extern const struct layer layer_fs;
extern const struct layer layer_blkid;
extern const struct layer layer_table;
extern const struct layer layer_table_lost;
extern const struct layer layer_luks;
extern const struct layer layer_bcache;
extern const struct layer layer_lvm;

#endif
