/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 1024 words of 32 bits, all in the byte order of the machine that made the array. The byte order is known only after the magic was seen, so the
 * fields are word numbers here and not a struct of le32 or be32.
 */
#ifndef FORMAT_MD0_MD0_ONDISK_H
#define FORMAT_MD0_MD0_ONDISK_H

#include <assert.h>

#define MD0_MAGIC 0xa92b4efcU
#define MD0_WORDS 1024U

enum md0_word {
	MD0_W_MAGIC = 0,
	MD0_W_MAJOR = 1,
	MD0_W_MINOR = 2,
	MD0_W_UUID0 = 5,
	MD0_W_CTIME = 6,
	MD0_W_LEVEL = 7,
	MD0_W_SIZE_KIB = 8,
	MD0_W_NR_DISKS = 9,
	MD0_W_RAID_DISKS = 10,
	MD0_W_MD_MINOR = 11,
	MD0_W_UUID1 = 13, /* and 14, 15 */
	MD0_W_UTIME = 32,
	MD0_W_STATE = 33,
	MD0_W_ACTIVE = 34, /* and working, failed, spare */
	MD0_W_CSUM = 38,
	MD0_W_EVENTS = 39,    /* two words: low first on little-endian machines, high first on big-endian ones */
	MD0_W_CP_EVENTS = 41, /* as MD0_W_EVENTS */
	MD0_W_RECOVERY_CP = 43,
	MD0_W_RESHAPE_POSITION = 44, /* 64 bits in the machine's order */
	MD0_W_NEW_LEVEL = 46,
	MD0_W_DELTA_DISKS = 47,
	MD0_W_NEW_LAYOUT = 48,
	MD0_W_NEW_CHUNK = 49,
	MD0_W_LAYOUT = 64,
	MD0_W_CHUNK = 65,
	MD0_W_DISKS = 128,
	MD0_W_THIS_DISK = 992,
};
#define MD0_DISK_WORDS 32U

static_assert(MD0_W_DISKS + MD0_DISKS_MAX * MD0_DISK_WORDS == MD0_W_THIS_DISK);
static_assert(MD0_W_THIS_DISK + MD0_DISK_WORDS == MD0_WORDS);

#endif
