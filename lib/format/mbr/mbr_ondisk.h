/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The MBR and extended boot records as they lie on disk (little endian). */
#ifndef FORMAT_MBR_MBR_ONDISK_H
#define FORMAT_MBR_MBR_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define MBR_MAGIC 0xaa55

struct mbr_ondisk_entry {
	uint8_t boot_indicator; /* 0x80 active, 0 not */
	uint8_t chs_first[3];
	uint8_t type;
	uint8_t chs_last[3];
	le32 start_lba;
	le32 count_lba;
};
static_assert(sizeof(struct mbr_ondisk_entry) == 16, "MBR entry");

struct mbr_ondisk {
	uint8_t boot_code[440];
	le32 disk_id;
	uint8_t copy_protect[2];
	struct mbr_ondisk_entry entries[4];
	le16 magic;
};
static_assert(sizeof(struct mbr_ondisk) == 512, "MBR sector");
static_assert(offsetof(struct mbr_ondisk, entries) == 446, "MBR entries");

#endif
