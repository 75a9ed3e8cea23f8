/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * md superblocks 1.0, 1.1 and 1.2 and the bad block log. Layout: struct mdp_superblock_1 of the kernel's include/uapi/linux/raid/md_p.h; validity:
 * super_1_load() of drivers/md/md.c, but more lenient: what the kernel refuses and a reader can live with is an oddity here, not a failure.
 *
 * All offsets and sizes are bytes; offsets named *_from_super_bytes are signed and count from the superblock.
 */
#ifndef FORMAT_MD1_MD1_H
#define FORMAT_MD1_MD1_H

#include "base/base.h"
#include "dev/dev.h"

#define MD1_BYTES	    4096U /* largest superblock with all roles */
#define MD1_ROLES_MAX	    1920U
#define MD1_BADBLOCKS_BYTES (64 * KIB) /* largest bad block log that is read */

/** Own names of the feature_map bits. */
enum md1_feature {
	MD1_BITMAP = 1 << 0,
	MD1_RECOVERY_OFFSET = 1 << 1,
	MD1_RESHAPE = 1 << 2,
	MD1_BAD_BLOCKS = 1 << 3,
	MD1_REPLACEMENT = 1 << 4,
	MD1_RESHAPE_BACKWARDS = 1 << 5,
	MD1_NEW_OFFSET = 1 << 6,
	MD1_RECOVERY_BITMAP = 1 << 7,
	MD1_CLUSTERED = 1 << 8,
	MD1_JOURNAL = 1 << 9,
	MD1_PPL = 1 << 10,
	MD1_MULTIPLE_PPLS = 1 << 11,
	MD1_RAID0_LAYOUT = 1 << 12,
};
#define MD1_FEATURES_KNOWN 0x1fffU

/** Roles that are not slots. */
enum { MD1_ROLE_JOURNAL = 0xfffd, MD1_ROLE_FAULTY = 0xfffe, MD1_ROLE_SPARE = 0xffff };
#define MD1_ROLE_IS_SLOT(role) ((role) < MD1_ROLES_MAX)

/** Bits of md1_superblock.devflags. */
enum { MD1_DEV_WRITE_MOSTLY = 1, MD1_DEV_FAILFAST = 2 };

/** What is strange about a superblock whose magic and checksum are right. */
enum md1_oddity {
	MD1_ODD_SUPER_OFFSET = 1 << 0,	/* super_offset is not where the superblock was found */
	MD1_ODD_DATA_BEYOND = 1 << 1,	/* the data area goes beyond the device, or over the superblock */
	MD1_ODD_OVERLAP = 1 << 2,	/* bitmap, PPL or bad block log lie in the data area or beyond the device */
	MD1_ODD_FEATURES = 1 << 3,	/* feature bits that no known kernel defines, or ones that exclude each other */
	MD1_ODD_PADDING = 1 << 4,	/* reserved bytes are not zero */
	MD1_ODD_LOGICAL_BLOCK = 1 << 5, /* logical_block_size is no power of two of 512 to 65536 */
	MD1_ODD_DEV_NUMBER = 1 << 6,	/* dev_number is no entry of the roles: the role is unknown and taken as spare */
	MD1_ODD_RESHAPE = 1 << 7,	/* reshape_position or delta_disks make no sense */
	MD1_ODD_RECOVERY = 1 << 8,	/* recovery_offset goes beyond the component */
	MD1_ODD_VENDOR_ROLE = 1 << 9,	/* Synology's error bit is set in a role */
};
#define MD1_ODDITIES 10U
/** A sentence for oddity bit `number` (0 to MD1_ODDITIES - 1). Static. */
const char *md1_oddity_text(unsigned number);

struct md1_superblock {
	uint32_t features;
	uint8_t array_uuid[16];
	char name[33];		  /* terminated; raw bytes */
	uint64_t created_seconds; /* since 1970 */
	int32_t level;		  /* as stored; not checked */
	uint32_t layout;	  /* as stored; raid0: valid with MD1_RAID0_LAYOUT only */
	uint64_t component_bytes; /* used of each member; 0 for linear and raid0 */
	uint64_t chunk_bytes;
	uint32_t raid_disks;		 /* during a reshape the new number */
	int64_t bitmap_from_super_bytes; /* MD1_BITMAP */
	int64_t ppl_from_super_bytes;	 /* MD1_PPL, MD1_MULTIPLE_PPLS */
	uint64_t ppl_bytes;
	/* MD1_RESHAPE: the level, layout and chunk above are the old ones */
	int32_t new_level;
	uint32_t new_layout;
	uint64_t new_chunk_bytes;
	int32_t delta_disks;
	uint64_t reshape_position_bytes; /* array bytes */
	int64_t new_offset_bytes;	 /* MD1_NEW_OFFSET: added to data_offset_bytes in the new geometry */
	/* this member */
	uint64_t super_bytes; /* where the superblock was found */
	uint64_t stored_super_bytes;
	uint64_t data_offset_bytes;
	uint64_t data_bytes;
	uint64_t recovery_bytes;     /* MD1_RECOVERY_OFFSET: in sync below; UINT64_MAX without. A journal's tail stays out of it */
	uint64_t journal_tail_bytes; /* role MD1_ROLE_JOURNAL: from the data offset; else UINT64_MAX */
	uint32_t dev_number;
	uint8_t device_uuid[16];
	uint32_t corrected_read_errors;
	uint8_t devflags;
	uint8_t badblocks_shift;
	uint64_t badblocks_bytes; /* size of the log, 0 without one */
	int64_t badblocks_from_super_bytes;
	/* state */
	uint64_t updated_seconds;
	uint64_t events;
	uint64_t resync_bytes;	      /* consistent below; UINT64_MAX when in sync. Component bytes, raid10: array bytes */
	uint32_t logical_block_bytes; /* kernels from 6.19 on; 0 when unset */
	uint32_t oddities;
	uint16_t role; /* this member's, by its own superblock; vendor bit removed */
	uint32_t max_dev;
	uint16_t roles[MD1_ROLES_MAX]; /* by dev_number, `max_dev` of them; vendor bits removed */
};

/**
 * Decode a superblock of `length` bytes that was found at `super_bytes` of a device of `device_bytes`. BLKALIGN_NOT_THIS without the magic or of another
 * major version; -EBADMSG, with the reason, when the checksum is wrong or a field cannot be used.
 */
int md1_decode(const void *data, size_t length, uint64_t super_bytes, uint64_t device_bytes, struct md1_superblock *ret,
	       struct blkalign_error *reterr);

/** Where the superblock of version 1.`minor` (0, 1, 2) lies; UINT64_MAX when the device is too small for one. */
uint64_t md1_super_bytes(unsigned minor, uint64_t device_bytes);

/** Read and decode version 1.`minor` from where it belongs. As md1_decode(); also read errors. */
int md1_read(struct dev *dev, unsigned minor, struct md1_superblock *ret, struct blkalign_error *reterr);

/**
 * A range that could not be read when last tried. It counts from the beginning of the device, the data offset included (drivers/md/md.h, is_badblock() adds
 * it; confirmed on a real kernel).
 */
struct md1_bad_range {
	uint64_t from_device_start_bytes;
	uint64_t length_bytes;
};
/**
 * Decode a bad block log; words of 0 are empty places. `*ret_ranges` (freed by the caller) may be NULL for an empty log. -EBADMSG for entries that overlap, go backwards or overflow.
 */
int md1_badblocks_decode(const void *data, size_t length, unsigned shift, struct md1_bad_range **ret_ranges, size_t *ret_count,
			 struct blkalign_error *reterr);
/** Read the log of `sb`; nothing when feature MD1_BAD_BLOCKS is not set. */
int md1_badblocks_read(struct dev *dev, const struct md1_superblock *sb, struct md1_bad_range **ret_ranges, size_t *ret_count,
		       struct blkalign_error *reterr);

/**
 * Encode `count` ranges, ascending and in whole units of 512 << `shift` bytes, into a log of `length` bytes; the rest is filled with ones. -ENOSPC when they do not fit
 * (an entry holds up to 512 units), -EINVAL for ranges that a log cannot hold.
 */
int md1_badblocks_encode(const struct md1_bad_range *ranges, size_t count, unsigned shift, void *data, size_t length);

/*
 * Changing a superblock in place. `raw` holds one that md1_decode() took, all its roles included. Only the named fields change; md1_seal() comes last.
 */

/** `resync_bytes` UINT64_MAX: in sync. */
void md1_put_state(void *raw, uint64_t events, uint64_t resync_bytes, uint64_t updated_seconds);
void md1_put_features(void *raw, uint32_t set, uint32_t clear);
/** How far this member is rebuilt, with its feature bits; UINT64_MAX: wholly. */
void md1_put_recovery(void *raw, uint64_t recovery_bytes);
/** False when the superblock has no entry of that number. */
bool md1_put_role(void *raw, uint32_t number, uint16_t role);
/** What is another member's own: the copy of a superblock becomes that of a new member, without bad blocks, errors and flags. */
struct md1_new_member {
	uint32_t dev_number;
	uint8_t device_uuid[16];
	uint64_t super_bytes;
	uint64_t data_offset_bytes;
	uint64_t data_bytes;
};
void md1_put_member(void *raw, const struct md1_new_member *member);
/** The checksum over as many roles as there are. */
void md1_seal(void *raw);
/** Bytes that the superblock occupies. */
size_t md1_stored_bytes(const void *raw);

/** The checksum of a superblock with `max_dev` roles, stored or not: the field itself counts as zero. `data` holds 256 + 2 * max_dev bytes. */
uint32_t md1_checksum(const void *data, uint32_t max_dev);

#endif
