/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * btrfs: the superblock at byte 65536 with a copy at 64 MiB (and one at 256 GiB), little endian.
 *
 * Source: struct btrfs_super_block in include/uapi/linux/btrfs_tree.h of the kernel. CRC-32C and SHA-256 checksums are verified, xxhash64 and
 * BLAKE2 are not, and the note says so. size_bytes is that of this device; the note tells when there are more. btrfs keeps no
 * stripe hints: both are unknown.
 */
#ifndef FORMAT_BTRFS_BTRFS_H
#define FORMAT_BTRFS_BTRFS_H

#include "format/fsgeom/fsgeom.h"

int btrfs_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr);

extern const struct fsgeom_format btrfs_format;

#endif
