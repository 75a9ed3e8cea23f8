/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Swap areas: a header at byte 1024 and a signature in the last 10 bytes of the first page, whose size (4 to 64 KiB) is known by where
 * the signature is found. Either byte order.
 *
 * Source: union swap_header in include/linux/swap.h of the kernel; signatures of hibernation images take the place of the swap
 * signature and are named swsuspend, as in libblkid (superblocks/swap.c). There is no checksum. block_bytes is the page size.
 */
#ifndef FORMAT_SWAP_SWAP_H
#define FORMAT_SWAP_SWAP_H

#include "format/fsgeom/fsgeom.h"

int swap_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr);

extern const struct fsgeom_format swap_format;

#endif
