/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The superblock that dm-raid keeps at the beginning of each `_rmeta_` volume of an LVM RAID volume. Layout and rules: struct dm_raid_superblock, super_sync() and
 * super_load() of the kernel's drivers/md/dm-raid.c, checked against volumes made by lvm2 2.03. It has no checksum: whoever reads it compares every field with
 * what LVM's metadata says of the volume. The write-intent bitmap behind it, at byte DMRAID_BITMAP_BYTES, is md's (mdbitmap.h) with an uuid of zeros.
 *
 * All offsets and sizes are bytes. Functions keep no state.
 */
#ifndef FORMAT_DMRAID_DMRAID_H
#define FORMAT_DMRAID_DMRAID_H

#include "base/base.h"

#define DMRAID_BYTES	    148U /* what is stored; the rest of its block is zeros */
#define DMRAID_BITMAP_BYTES 4096U
#define DMRAID_MEMBERS_MAX  253U
#define DMRAID_SLOT_NONE    UINT32_MAX

/** Slots as bits: as many as a superblock has room for. */
struct dmraid_slots {
	uint64_t word[4];
};
static inline bool dmraid_has(const struct dmraid_slots *slots, uint32_t slot) { return slots->word[slot / 64] >> slot % 64 & 1; }
static inline void dmraid_add(struct dmraid_slots *slots, uint32_t slot) { slots->word[slot / 64] |= UINT64_C(1) << slot % 64; }

struct dmraid_superblock {
	uint32_t members; /* while reshaping the new number */
	uint32_t slot;	  /* of this one; DMRAID_SLOT_NONE: a reshape has ended without it */
	uint64_t events;
	struct dmraid_slots failed; /* that lack what was written since */
	uint64_t recovery_bytes;    /* of this one, of its data area: in sync below; UINT64_MAX: wholly */
	uint64_t resync_bytes;	    /* consistent below: member bytes, raid10: array bytes; UINT64_MAX: all */
	int32_t level;
	uint32_t layout; /* as md numbers them */
	uint64_t chunk_bytes;
	/* the rest is 0 without `extended`, as kernels before 4.8 wrote it */
	bool extended;
	bool reshaping;
	bool backwards;
	uint64_t
		position_bytes; /* of the reshape, array bytes; UINT64_MAX: there is none. Array bytes below it (backwards: from it on) have the new shape */
	int32_t new_level;
	uint32_t new_layout;
	uint64_t new_chunk_bytes;
	int32_t delta_disks;	    /* while reshaping `members - delta_disks` is the old number */
	uint64_t array_bytes;	    /* while reshaping, and until the volume is activated anew, the smaller size */
	uint64_t data_offset_bytes; /* where the data begins in the image */
	uint64_t new_data_offset_bytes;
	uint64_t used_bytes; /* of each image; a reshape makes it larger or smaller than what is used */
};

/**
 * Decode `length` bytes, DMRAID_BYTES at least. BLKALIGN_ABSENT for zeros: the volume was never started. BLKALIGN_NOT_THIS without the magic, which the kernel takes for
 * a new member as well. -ENOTSUP for features of a newer dm-raid, -EBADMSG for fields that no kernel writes, with the reason.
 */
int dmraid_decode(const void *data, size_t length, struct dmraid_superblock *ret, struct blkalign_error *reterr);

/** Change a superblock in place: `raw` holds one that dmraid_decode() took. Nothing else changes. */
struct dmraid_state {
	uint64_t events;
	struct dmraid_slots failed;
	uint64_t recovery_bytes;
	uint64_t resync_bytes;
};
void dmraid_put_state(void *raw, const struct dmraid_state *state);
/** Make the copy of another member's superblock that of `slot`, whose data begins at `data_offset_bytes`. */
void dmraid_put_member(void *raw, uint32_t slot, uint64_t data_offset_bytes);
/** DMRAID_BYTES of a new superblock, as kernels from 4.8 on write it; reshape fields say that there is none. */
void dmraid_encode(const struct dmraid_superblock *superblock, void *raw);

#endif
