/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * md superblock 0.90, in the byte order of the machine that made it. Layout: mdp_superblock_t of the kernel's include/uapi/linux/raid/md_p.h; validity:
 * super_90_load() of drivers/md/md.c. All offsets and sizes are bytes.
 */
#ifndef FORMAT_MD0_MD0_H
#define FORMAT_MD0_MD0_H

#include "base/base.h"
#include "dev/dev.h"

#define MD0_BYTES     4096U
#define MD0_DISKS_MAX 27U

/** Bits of md0_disk.state. */
enum md0_disk_state {
	MD0_DISK_FAULTY = 1 << 0,
	MD0_DISK_ACTIVE = 1 << 1,
	MD0_DISK_SYNC = 1 << 2,
	MD0_DISK_REMOVED = 1 << 3,
	MD0_DISK_VENDOR_ERROR = 1 << 6, /* Synology: set after a read error; such a member is not rebuilt */
	MD0_DISK_WRITE_MOSTLY = 1 << 9,
	MD0_DISK_FAILFAST = 1 << 10,
};

/** Bits of md0_superblock.state. */
enum md0_state { MD0_CLEAN = 1 << 0, MD0_ERRORS = 1 << 1, MD0_CLUSTERED = 1 << 5, MD0_BITMAP = 1 << 8 };

struct md0_disk {
	uint32_t number; /* index in the table of disks */
	uint32_t major;
	uint32_t minor;
	uint32_t raid_disk; /* slot */
	uint32_t state;
};

struct md0_superblock {
	bool big_endian;
	uint32_t minor_version; /* 90, or 91 while a reshape is under way */
	uint8_t array_uuid[16]; /* as mdadm prints it, byte by byte */
	uint64_t created_seconds;
	int32_t level;		  /* as stored; not checked */
	uint64_t component_bytes; /* meaningless for linear and raid0 */
	uint32_t nr_disks;
	uint32_t raid_disks; /* during a reshape the new number */
	uint32_t preferred_minor;
	uint64_t updated_seconds;
	uint32_t state;
	uint32_t layout;
	uint64_t chunk_bytes;
	uint64_t events;
	uint64_t resync_bytes; /* consistent below; UINT64_MAX when clean */
	/* minor_version 91 only; zero otherwise */
	uint64_t reshape_position_bytes;
	int32_t new_level;
	int32_t delta_disks;
	uint32_t new_layout;
	uint64_t new_chunk_bytes;
	uint64_t super_bytes; /* where the superblock was found: the data area's end */
	struct md0_disk disks[MD0_DISKS_MAX];
	struct md0_disk self; /* this member's own descriptor */
};

/**
 * Decode a superblock found at `super_bytes` of its device. BLKALIGN_NOT_THIS without the magic in either byte order; -EBADMSG, with the reason, when the
 * checksum is wrong or a field cannot be used.
 */
int md0_decode(const void *data, size_t length, uint64_t super_bytes, struct md0_superblock *ret, struct blkalign_error *reterr);

/** Where the superblock lies, 64 to 128 KiB before the end; UINT64_MAX when the device is too small. */
uint64_t md0_super_bytes(uint64_t device_bytes);
/** Read and decode from there. As md0_decode(); also read errors. */
int md0_read(struct dev *dev, struct md0_superblock *ret, struct blkalign_error *reterr);

/*
 * Changing a superblock in place, in its byte order. `raw` holds the MD0_BYTES of one that md0_decode() took. Only the named fields change; md0_seal() comes last.
 */

/** `resync_bytes` UINT64_MAX: clean. A checkpoint that does not fit becomes 0. */
void md0_put_state(void *raw, bool big_endian, uint64_t events, uint64_t resync_bytes, uint64_t updated_seconds);
#define MD0_SELF UINT32_MAX
/** Descriptor `index` of the table (below MD0_DISKS_MAX), or the member's own with MD0_SELF. */
void md0_put_disk(void *raw, bool big_endian, uint32_t index, const struct md0_disk *disk);
struct md0_counts {
	uint32_t present;
	uint32_t active;
	uint32_t failed;
	uint32_t spare;
};
void md0_put_counts(void *raw, bool big_endian, const struct md0_counts *counts);
void md0_seal(void *raw, bool big_endian);

/** The checksum of a superblock in the given byte order, unfolded; the field itself counts as zero. */
uint32_t md0_checksum(const void *data, bool big_endian);

#endif
