/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The records that an md array, or a RAID volume of LVM, keeps about itself while it is written to: superblocks, write-intent bitmap, bad block log, partial parity log.
 *
 * A keep is opened on the members that assembly chose. It writes nothing until the first begin(); then the superblocks say "active", durably, before data is
 * written, and "clean" again after keep_close(). So the kernel, mdadm and we can take over at any moment. Rules: the kernel's drivers/md/md.c
 * (md_update_sb(), md_write_start()), md-bitmap.c and raid5-ppl.c.
 *
 * Threads: guard operations from any thread; everything else from one.
 */
#ifndef KEEP_KEEP_H
#define KEEP_KEEP_H

#include "base/base.h"
#include "dev/dev.h"
#include "map/map.h"
#include "raid/raid.h"

enum keep_metadata { KEEP_MD0, KEEP_MD1, KEEP_DMRAID };

/** A current member, also a spare or a half rebuilt one: its superblock is kept in step. Stale and foreign ones are not given. */
struct keep_member {
	struct dev *dev; /* borrowed */
	enum keep_metadata metadata;
	uint64_t super_bytes;
	uint32_t slot;	  /* or BLKALIGN_SLOT_NONE for a spare */
	struct dev *meta; /* borrowed; KEEP_DMRAID: what superblock and bitmap lie on. Else NULL */
	/**
	 * KEEP_DMRAID, all members alike: no records were ever written. They begin with the first write, with a bitmap of which each bit covers so much, and all is in doubt.
	 * 0: there are records.
	 */
	uint64_t fresh_region_bytes;
};

struct keep_array {
	const char *name; /* for messages */
	const struct keep_member *members;
	size_t count;
	size_t freshest;		      /* index of the member whose superblock speaks for the array */
	const struct raid_geometry *geometry; /* borrowed while the keep is open */
};

struct keep;

/**
 * Read and check the records of `array`. -ENOTSUP, with the reason, for what cannot be written safely: journal, clustered, lockless bitmap, unknown features,
 * reshape under way, raid10 that overlaps itself. Reads only.
 */
int keep_open(const struct keep_array *array, struct keep **ret_keep, struct blkalign_error *reterr);
/** For map_open_md(). Owned by the keep. */
struct map_md_guard *keep_guard(struct keep *keep);
/**
 * Where redundancy may not fit the data, by the records as found: the whole range behind the resync checkpoint of a dirty array, the set bits where there is a current
 * bitmap; the stripes that whole parity logs tell of, and after keep_replay() nothing. Ascending, in the guard's unit. Owned by the keep.
 */
const struct byte_range *keep_doubtful(const struct keep *keep, size_t *ret_count);
/**
 * Do at once what the first begin() would do with the parity logs of a dirty array, as the kernel does at its start: write the parity that they complete, flushed, and
 * record what the array is then. For who reads before anything is written. Nothing happens where nothing is to be replayed.
 */
int keep_replay(struct keep *keep, struct blkalign_error *reterr);
/** True when the array was found dirty (any current member says so). */
bool keep_was_dirty(const struct keep *keep);

/** The members that failed while records were written, in that order (spares have BLKALIGN_SLOT_NONE); false when there are no more than `index`. Any thread. */
bool keep_failure(struct keep *keep, size_t index, struct map_failure *ret);

/**
 * A resync of everything up to `synced_bytes` (guard's unit) has reached the disks, flushed; UINT64_MAX: all of it, the array may be clean. Recorded durably,
 * so that the kernel goes on from there; while writes are in flight only remembered, and recorded by a later call or keep_close().
 */
int keep_resynced(struct keep *keep, uint64_t synced_bytes, struct blkalign_error *reterr);
/** A range was resynced and flushed: its bits may be cleared when the array is whole. */
void keep_range_resynced(struct keep *keep, const struct byte_range *range);

/**
 * `dev` becomes the member that `slot` lacks: a superblock is written to it with recovery offset 0, and the others list it. The keep chooses
 * data offset and places as the freshest member has them; -ENOSPC when it is too small. Its data offset is returned. `meta` as in struct keep_member.
 */
int keep_add_member(struct keep *keep, struct dev *dev, struct dev *meta, uint32_t slot, uint64_t *ret_data_offset_bytes,
		    struct blkalign_error *reterr);
/**
 * What a former member in `slot` lacks, when the bitmaps have it recorded: ranges in the guard's unit, ascending, freed by the caller; to be asked before it is added.
 * BLKALIGN_ABSENT: it is none, or needs everything. -ENOMEM.
 */
int keep_lacking(struct keep *keep, struct dev *dev, struct dev *meta, uint32_t slot, struct byte_range **ret_ranges, size_t *ret_count);
/** The member is rebuilt, flushed, below `recovered_bytes` of its data area; UINT64_MAX: wholly, it counts as in sync from here. */
int keep_recovered(struct keep *keep, uint32_t slot, uint64_t recovered_bytes, struct blkalign_error *reterr);

/** Write "clean" where that is true, bits cleared where allowed. Failure leaves the array dirty. Nothing is being written meanwhile; -EBUSY otherwise. */
int keep_settle(struct keep *keep, struct blkalign_error *reterr);
/** keep_settle(), and the end. The keep is freed also on failure. */
int keep_close(struct keep *keep, struct blkalign_error *reterr);
/** Free without writing anything more: as if the power had gone. */
void keep_abandon(struct keep *keep);

/** --- parity log, for readers too: what replay would write, without writing it --- */
struct keep_patch {
	uint32_t slot;
	uint64_t device_bytes; /* of the data area */
	size_t length_bytes;
	uint8_t *
		data; /* owned; NULL: this parity cannot be told, because a member that was being written there is missing. These rows are in doubt */
};
/**
 * Parity that the logs of a dirty array complete, in order. *ret_complete: every log was whole, so that nothing but rows without data is in doubt with it. Freed by keep_patches_free().
 */
int keep_ppl_patches(const struct keep_array *array, struct keep_patch **ret_patches, size_t *ret_count, bool *ret_complete,
		     struct blkalign_error *reterr);
void keep_patches_free(struct keep_patch *patches, size_t count);

#endif
