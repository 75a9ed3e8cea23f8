/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * NTFS: the boot sector, little endian; the label is in the fourth record of the master file table.
 *
 * Source: the boot sector as fs/ntfs3/ntfs.h of the kernel has it (struct NTFS_BOOT), records as struct MFT_REC and ATTRIB there; the
 * checks are those of libblkid (superblocks/ntfs.c). There is no checksum. size_bytes leaves out the backup boot sector behind the volume.
 */
#ifndef FORMAT_NTFS_NTFS_H
#define FORMAT_NTFS_NTFS_H

#include "format/fsgeom/fsgeom.h"

int ntfs_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr);
/** `data` is the $Volume record. */
void ntfs_decode_record(const uint8_t *data, size_t size, struct fsgeom *geom);

extern const struct fsgeom_format ntfs_format;

#endif
