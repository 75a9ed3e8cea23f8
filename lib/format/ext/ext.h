/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * ext2, ext3, ext4, ext4dev and external journals (jbd): the superblock at byte 1024, little endian.
 *
 * Source: Documentation/filesystems/ext4/super.rst of the kernel; which of the names applies, and what makes a file system one of
 * them, is decided as libblkid does (superblocks/ext.c). With metadata_csum the CRC-32C of the first 1020 bytes is verified.
 * stride_bytes and stripe_bytes are the stride and stripe width given to mkfs.
 */
#ifndef FORMAT_EXT_EXT_H
#define FORMAT_EXT_EXT_H

#include "format/fsgeom/fsgeom.h"

int ext_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr);

extern const struct fsgeom_format ext_format;

#endif
