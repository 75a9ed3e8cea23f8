/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Members of a ZFS pool: the name/value list in the labels at byte 0 and 256 KiB (16 KiB into the label), XDR, with a SHA-256 checksum at its end.
 *
 * Source: include/sys/vdev_impl.h (struct vdev_phys), module/nvpair/nvpair.c (XDR encoding) and module/zfs/zio_checksum.c of OpenZFS. The
 * two labels at the end of the device are not read: alone they are what is left of an older pool. sector_bytes is 2^ashift, the
 * label is the pool's name and the uuid its GUID in decimal, as libblkid has them. Spares and cache devices have no ashift.
 */
#ifndef FORMAT_ZFS_ZFS_H
#define FORMAT_ZFS_ZFS_H

#include "format/fsgeom/fsgeom.h"

#define ZFS_PHYS_OFFSET (16U << 10)
#define ZFS_PHYS_BYTES	(112U << 10)

int zfs_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr);

extern const struct fsgeom_format zfs_format;

#endif
