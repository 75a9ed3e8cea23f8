/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The binary parts of LVM2 metadata, little endian; lvm2: lib/format_text/layout.h, lib/label/label.h. */
#ifndef FORMAT_LVM2_ONDISK_H
#define FORMAT_LVM2_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define LVM2_CRC_SEED  UINT32_C(0xf597a6cf)
#define LVM2_SECTOR    512U
#define LVM2_MDA_MAGIC "\x20\x4c\x56\x4d\x32\x20\x78\x5b\x35\x41\x25\x72\x30\x4e\x2a\x3e"

struct lvm2_label_ondisk {
	char id[8]; /* "LABELONE" */
	le64 sector_number;
	le32 checksum;	       /* of bytes 20 to 511 */
	le32 pv_header_offset; /* from the start of the sector */
	char type[8];	       /* "LVM2 001" */
};
static_assert(sizeof(struct lvm2_label_ondisk) == 32, "label header");
static_assert(offsetof(struct lvm2_label_ondisk, pv_header_offset) == 20, "the checksum covers the rest");

struct lvm2_area_ondisk {
	le64 offset_bytes;
	le64 size_bytes;
};

/* Followed by the data areas, the metadata areas, the extension and the boot loader areas; each list ends with a zero pair. */
struct lvm2_pv_header_ondisk {
	char pv_id[32];
	le64 device_size_bytes;
};
static_assert(sizeof(struct lvm2_pv_header_ondisk) == 40, "physical volume header");

struct lvm2_extension_ondisk {
	le32 version;
	le32 flags;
};

struct lvm2_location_ondisk {
	le64 offset_bytes; /* from the start of the metadata area */
	le64 size_bytes;
	le32 checksum;
	le32 flags;
};
static_assert(sizeof(struct lvm2_location_ondisk) == 24, "raw location");

struct lvm2_mda_ondisk {
	le32 checksum; /* of bytes 4 to 511 */
	uint8_t magic[16];
	le32 version;
	le64 start_bytes; /* of this header, from the start of the device */
	le64 size_bytes;
	struct lvm2_location_ondisk locations[19];
	uint8_t unused[16];
};
static_assert(sizeof(struct lvm2_mda_ondisk) == LVM2_SECTOR, "metadata area header");
static_assert(offsetof(struct lvm2_mda_ondisk, locations) == 40, "raw locations");

#endif
