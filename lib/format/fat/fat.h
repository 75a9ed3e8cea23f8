/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * FAT12, FAT16 and FAT32: the boot sector, little endian; the label is an entry of the root directory.
 *
 * Source: Microsoft's FAT specification (fatgen103); what is accepted as FAT is decided as libblkid does (superblocks/vfat.c), because
 * there is neither a signature nor a checksum. data_offset_bytes is where the clusters begin.
 */
#ifndef FORMAT_FAT_FAT_H
#define FORMAT_FAT_FAT_H

#include "format/fsgeom/fsgeom.h"

int fat_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr);
/** `data` is (the first cluster of) the root directory. */
void fat_decode_record(const uint8_t *data, size_t size, struct fsgeom *geom);

extern const struct fsgeom_format fat_format;

#endif
