/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * XFS: the superblock at byte 0, big endian.
 *
 * Source: struct xfs_dsb in fs/xfs/libxfs/xfs_format.h of the kernel; the checks are those of libblkid (superblocks/xfs.c). The CRC-32C of version 5 covers
 * the first sector and is verified. sector_bytes is the sector size given to mkfs, stride_bytes and stripe_bytes are sunit and
 * swidth, log_stride_bytes the log stripe unit.
 */
#ifndef FORMAT_XFS_XFS_H
#define FORMAT_XFS_XFS_H

#include "format/fsgeom/fsgeom.h"

int xfs_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr);

extern const struct fsgeom_format xfs_format;

#endif
