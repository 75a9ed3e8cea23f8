/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The mathematics of Linux md: which member, and which byte of its data area, holds a byte of the array; and what the blocks of a stripe have to do with each other.
 *
 * Pure functions over numbers and blocks in memory: no devices, no I/O, no superblocks. All offsets, lengths and chunks are bytes. "Device byte" counts from the
 * start of a member's data area (its data_offset), never from the start of the device. Where each layout comes from is in README.md.
 *
 * Threads: a geometry is not changed after raid_geometry_init(); any number of threads may use it.
 */
#ifndef RAID_RAID_H
#define RAID_RAID_H

#include "base/base.h"

/** Level numbers as md superblocks store them. */
enum raid_level {
	RAID_LINEAR = -1,
	RAID_0 = 0,
	RAID_1 = 1,
	RAID_4 = 4,
	RAID_5 = 5,
	RAID_6 = 6,
	RAID_10 = 10,
};

/** raid0 layout numbers. UNRECORDED: the superblock does not say (0.90, and 1.x before feature 4096). */
enum raid0_layout { RAID0_UNRECORDED = 0, RAID0_ORIGINAL = 1, RAID0_ALTERNATE = 2 };

#define RAID_MEMBERS_MAX     1920U /* roles of a 1.x superblock */
#define RAID_CHUNK_MAX_BYTES GIB
#define RAID_CHUNK_MIN_BYTES (4 * KIB) /* raid4, raid5, raid6, raid10: the kernel's page */
#define RAID_SLOT_NONE	     UINT32_MAX

/** A piece of a raid0 or linear array: the array bytes from start_bytes up to the next zone lie on `members` members in turn. */
struct raid_zone {
	uint64_t start_bytes;	     /* array byte */
	uint64_t length_bytes;	     /* array bytes */
	uint64_t device_start_bytes; /* device byte where the zone begins on each of its members */
	uint32_t members;
	uint32_t first; /* index into raid_geometry.zone_slots */
};

struct raid_parity_layout;

struct raid_geometry {
	int32_t level;
	uint32_t layout;
	uint64_t chunk_bytes; /* linear: rounding or 0; raid1: 0 */
	uint32_t members;     /* slots */
	uint64_t array_bytes;
	uint64_t used_bytes; /* of every member's data area; linear and raid0: see the zones */
	/* linear, raid0 */
	struct raid_zone *zones;
	uint32_t zones_count;
	uint32_t *zone_slots;
	/* raid4, raid5, raid6 */
	const struct raid_parity_layout *parity;
	/* raid10 */
	uint32_t near_copies;
	uint32_t far_copies;
	uint32_t far_set_members; /* members among which far copies rotate */
	bool far_is_offset;
	uint64_t far_stride_bytes; /* device bytes from one far copy to the next */
};

/** What an array is described by. */
struct raid_shape {
	int32_t level;
	uint32_t layout;
	uint64_t chunk_bytes;
	uint32_t members;
	/**
	 * Length of each member's data area, `members` entries. linear and raid0 use each as far as it goes; the other levels use
	 * the smallest. Absent members of those levels are given the component size of the superblock.
	 */
	const uint64_t *component_bytes;
};

/**
 * Check `shape` and work out the geometry. -EINVAL with the reason in `reterr` for what md itself would not run, -ENOMEM. On success the
 * caller ends with raid_geometry_done().
 */
int raid_geometry_init(struct raid_geometry *ret, const struct raid_shape *shape, struct blkalign_error *reterr);
void raid_geometry_done(struct raid_geometry *geometry);
#define _cleanup_raid_geometry_ _cleanup_(raid_geometry_done)

/** Size of the array as the kernel shows it. */
static inline uint64_t raid_array_bytes(const struct raid_geometry *geometry) { return geometry->array_bytes; }

/** Places that hold each byte: 1 for linear, raid0, raid4, raid5, raid6; members for raid1; near * far for raid10. */
uint32_t raid_copies(const struct raid_geometry *geometry);

struct raid_place {
	uint32_t slot;
	uint64_t device_bytes;
	uint64_t run_bytes; /* this many bytes from here on are contiguous, in the array and on the member */
};

/**
 * Where copy `copy` (below raid_copies(), in md's order) of array byte `array_bytes` lies. -ERANGE beyond the end; -ENODATA where a raid0 array of
 * members with different sizes does not record its layout and the two layouts disagree about this byte.
 */
int raid_locate(const struct raid_geometry *geometry, uint64_t array_bytes, uint32_t copy, struct raid_place *ret);

/** A row of chunks across all members of a raid4, raid5 or raid6 array; it lies at the same device bytes on each. */
struct raid_stripe {
	uint64_t number;
	uint32_t p_slot;
	uint32_t q_slot; /* RAID_SLOT_NONE without Q */
};

/** The stripe that holds device byte `device_bytes`. raid4, raid5 and raid6 only. */
struct raid_stripe raid_stripe_at(const struct raid_geometry *geometry, uint64_t device_bytes);
/** Slot of data chunk `index` (below raid_data_members()) of a stripe. */
uint32_t raid_data_slot(const struct raid_geometry *geometry, const struct raid_stripe *stripe, uint32_t index);

/* --- parity: what the blocks of a stripe have to do with each other --- */

enum raid_role { RAID_ROLE_DATA, RAID_ROLE_P, RAID_ROLE_Q };

/** What `slot` holds in `stripe`. */
enum raid_role raid_role_at(const struct raid_stripe *stripe, uint32_t slot);
/** Power of g with which the data slot `slot` enters Q (md: counted from behind Q; DDF layouts: the slot's number). 0 without Q. */
uint32_t raid_exponent(const struct raid_geometry *geometry, const struct raid_stripe *stripe, uint32_t slot);

/** The same bytes of one stripe on every member: at most a chunk long, within one chunk. */
struct raid_row {
	const struct raid_geometry *geometry;
	struct raid_stripe stripe;
	uint8_t *const *blocks; /* by slot, geometry->members of them, length_bytes each; any alignment */
	size_t length_bytes;
};

/** Compute P, and Q where the level has one, from all data blocks. A NULL block in a parity slot is not wanted. */
void raid_generate(const struct raid_row *row);

/**
 * Recompute the blocks of the `lost_count` slots `lost` (ascending) from the others. A NULL block of a lost slot is lost, but not wanted. -EIO when these cannot
 * be recomputed: more than one for raid4 and raid5, more than two for raid6.
 */
int raid_recover(const struct raid_row *row, const uint32_t *lost, uint32_t lost_count);

/**
 * Data slot `slot` changes from `old` to `new`: carry the change into `p` and `q` (each may be NULL: not wanted). `length_bytes` of each.
 */
void raid_update(const struct raid_geometry *geometry, const struct raid_stripe *stripe, uint32_t slot, const uint8_t *old,
		 const uint8_t *new, uint8_t *p, uint8_t *q, size_t length_bytes);

/** What a row's own redundancy says about it. */
enum raid_verdict {
	RAID_CONSISTENT,
	/* raid6: exactly one member explains every differing byte, at least RAID_BLAME_BYTES differ, and two members in each other's place do not explain it */
	RAID_ONE_WRONG,
	RAID_CANNOT_SAY, /* inconsistent, and nobody is proven wrong */
};
#define RAID_BLAME_BYTES 4U

struct raid_judgement {
	enum raid_verdict verdict;
	uint32_t slot;		/* RAID_ONE_WRONG: the member that is wrong */
	size_t differing_bytes; /* bytes at which P or Q does not fit */
};

/** Do P and Q fit the data? Every block must be there. The fast question: compares only. raid4, raid5, raid6. */
bool raid_consistent(const struct raid_row *row);
/** Which member is wrong. As raid_consistent() for raid4 and raid5, which can never say. The rule of one verdict per row asks for rows of at most 4 KiB. */
void raid_judge(const struct raid_row *row, struct raid_judgement *ret);

/** What a byte of a member's data area is to the array. */
struct raid_origin {
	enum raid_role role;
	uint64_t array_bytes; /* data: the byte; parity: the first array byte of its stripe */
	uint32_t copy;	      /* mirrors: which copy, in the order of raid_locate() */
	uint64_t run_bytes;   /* so many bytes from here on continue alike, on the member; for data in the array as well */
};
/** The way back: what lies at `device_bytes` of slot `slot`. -ENODATA for bytes that the array does not use, or where a layout is unrecorded. */
int raid_origin(const struct raid_geometry *geometry, uint32_t slot, uint64_t device_bytes, struct raid_origin *ret);

/** Whether every byte of the array can be had from the members that are `present` (by slot). */
bool raid_survives(const struct raid_geometry *geometry, const bool *present);
/** Whether two copies of different bytes share a place (raid10 of odd shapes): readable as the kernel reads it, never to be written. */
bool raid_overlaps_itself(const struct raid_geometry *geometry);

/** Whether a copy of another chunk lies where copy `copy` of byte `array_bytes` does: what was written last is there. */
bool raid_shares_place(const struct raid_geometry *geometry, uint64_t array_bytes, uint32_t copy);

/** Members whose worth of data a full stripe holds: what md multiplies the chunk by for optimal_io_size. 1 for linear and raid1. */
uint32_t raid_data_members(const struct raid_geometry *geometry);

/** Slots whose loss every byte survives (raid10: of any choice of slots). */
uint32_t raid_redundancy(const struct raid_geometry *geometry);

/** "linear", "raid0", ...; NULL for a level not in enum raid_level. */
const char *raid_level_name(int32_t level);
/** mdadm's word for a layout: "left-symmetric", "near=2, far=2", "original"; empty for levels that have none, "unknown" for others. */
void raid_layout_name(int32_t level, uint32_t layout, char ret[48]);

#endif
