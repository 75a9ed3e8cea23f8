/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Inside of lib/keep/.
 *
 * One mutex guards everything in struct keep. It is released in two places only: while waiting, and in io_run() while requests are under way. Whoever runs requests owns
 * `io_busy`, so that records are written by one thread at a time, while others go on counting, or set bits that the next writer takes along. All functions here are called with
 * the mutex held; those that write, with the I/O owned.
 */
#ifndef KEEP_KEEP_PRIV_H
#define KEEP_KEEP_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include <blkalign/graph.h>

#include "format/dmraid/dmraid.h"
#include "format/md0/md0.h"
#include "format/md1/md1.h"
#include "format/mdbitmap/mdbitmap.h"
#include "format/ppl/ppl.h"
#include "keep/keep.h"

#define PAGE_BYTES 4096U /* bitmaps and superblocks are written in pages, as the kernel does */

/* --- ranges: ascending, apart --- */

struct ranges {
	struct byte_range *data;
	size_t count;
	size_t room;
};
void ranges_done(struct ranges *ranges);
int ranges_add(struct ranges *ranges, uint64_t offset_bytes, uint64_t length_bytes);
/** Take [offset, end) out. -ENOMEM leaves more in than necessary, never less. */
int ranges_subtract(struct ranges *ranges, uint64_t offset_bytes, uint64_t end_bytes);
/** Ranges that were added in any order become ascending and apart. */
void ranges_sort(struct ranges *ranges);
int ranges_copy(struct ranges *ret, const struct ranges *from);

/* --- members --- */

/** What lies where on a member. */
enum place_kind { PLACE_SUPER, PLACE_BITMAP, PLACE_LOG, PLACE_BAD_BLOCKS, PLACE_DATA };
#define PLACES 5U
struct place {
	uint64_t offset_bytes;
	uint64_t length_bytes; /* 0: there is none */
};

struct member {
	struct dev *dev;
	struct dev *records; /* where superblock and bitmap lie: `dev`, but for dm-raid */
	uint32_t slot;	     /* BLKALIGN_SLOT_NONE: a spare */
	uint32_t number;     /* entry of the roles (0.90: of the table of disks) that is its own */
	bool replacement;    /* of the slot's member; starts again, as nobody writes the data to it */
	bool failed;	     /* nothing is written to it any more */
	bool write_mostly;
	uint64_t events;	 /* the highest that may be on it */
	uint64_t resync_bytes;	 /* as found */
	uint64_t recovery_bytes; /* UINT64_MAX: in sync */
	struct place places[PLACES];
	uint8_t *super;		     /* PAGE_BYTES, page aligned: the superblock as it is to be written */
	uint64_t log_next_bytes;     /* of its parity log: where the next record goes */
	uint64_t fresh_region_bytes; /* it has no records yet; else 0 */
	uint32_t features;	     /* as found; 0.90: MD1_BITMAP or none */
};

/** Read the superblock of `in`, and check for `writing` that all of it is understood. *ret_loaded is what it says. -ENOTSUP and the like with the reason. */
struct loaded {
	struct md0_superblock v0;
	struct md1_superblock v1;
	struct dmraid_superblock dm;
};
int member_load(const struct keep_array *array, const struct keep_member *in, bool writing, struct member *ret, struct loaded *ret_loaded,
		struct blkalign_error *reterr);
/** -ENOTSUP: "ARRAY cannot be written safely: WHY". */
int member_refuse(const struct keep_array *array, const struct dev *dev, struct blkalign_error *reterr, const char *why);
void member_free(struct member *member);
/** The device that a place lies on. */
static inline struct dev *place_dev(const struct member *member, enum place_kind kind)
{
	return kind == PLACE_DATA ? member->dev : member->records;
}
/** Every place lies inside the device, in whole blocks, and touches no other. Sets the length of the superblock's place. */
int member_check_places(const char *array, struct member *member, struct blkalign_error *reterr);
/** Records are written in multiples of it. */
uint64_t member_block_bytes(const struct member *member);
/** Its data counts: a slot, in sync, not failed. */
bool member_is_in_sync(const struct member *member);

/* --- kinds of records: record_md0.c, record_md1.c, record_dmraid.c --- */

/** What differs between them. All are called with the mutex held. */
struct record_kind {
	/** As member_load(), of a `m` that has its devices and slot. */
	int (*load)(const struct keep_array *array, const struct keep_member *in, bool writing, struct member *m, struct loaded *loaded,
		    struct blkalign_error *reterr);
	/** The freshest member's superblock becomes the array's. */
	void (*take_array)(struct keep *keep, const struct loaded *loaded);
	bool (*same_array)(const struct keep *keep, const struct loaded *loaded);
	/** Whoever becomes the freshest one day speaks for all: then its shape would be the array's. */
	bool (*same_shape)(const struct keep *keep, const struct loaded *loaded);
	/** What a member says of itself alone. NULL: nothing. */
	void (*take_own)(struct keep *keep, const struct loaded *loaded);
	/** Who is listed as working, but is not here, becomes faulty. True when there was one. */
	bool (*settle_absent)(struct keep *keep);
	/** The array's record of a member is as it was given; otherwise why not, static. */
	const char *(*settle_role)(struct keep *keep, const struct member *member);
	void (*list_missing)(struct keep *keep, const struct member *member);
	/** Bring the member's superblock up to the state of `keep`. Bytes from its start that may have changed. */
	size_t (*compose)(struct keep *keep, struct member *member);
	/** A superblock that may be a former member's: whether it was in `slot`, and counted `other` as working. */
	bool (*had_slot)(const struct keep *keep, const struct loaded *loaded, uint32_t slot);
	bool (*knows)(const struct loaded *loaded, const struct member *other);
	/** Where a superblock of the template's version lies on a device for records; UINT64_MAX when that is too small. */
	uint64_t (*super_place)(const struct member *template, const struct dev *dev);
	/** For a new member; UINT32_MAX when there is none left. */
	uint32_t (*free_number)(const struct keep *keep, const struct member *member);
	/** A copy of the template's superblock becomes that of a new member, whose places are known, and the array lists it. */
	int (*make_super)(struct keep *keep, struct member *member, const struct member *spare);
	/** Store its recovery offset; false when superblocks have none. */
	bool (*put_recovery)(struct keep *keep, struct member *member);
	/** It is in sync. */
	void (*end_recovery)(struct keep *keep, struct member *member);
	/** No superblock says "active": bits that are set in an array that ran whole do. */
	bool bits_tell_dirt;
};
extern const struct record_kind record_md0, record_md1, record_dmraid;
const struct record_kind *record_kind(enum keep_metadata metadata);

/* --- bitmap --- */

struct bits {
	bool present;
	bool everywhere;      /* members' bitmaps may differ from ours: all pages go to all members with the next update */
	struct mdbitmap info; /* as found on the freshest member */
	uint8_t *area;	      /* superblock and bits in whole pages, as they should be on the disks */
	uint64_t pages;
	uint64_t stored_bytes;
	uint64_t events_cleared;
	bool *dirty;	  /* by page: to be written */
	uint64_t *set_at; /* by page: `sequence` when a bit was last set in it */
	uint64_t sequence;
	uint64_t durable;     /* bits set up to this number are on the disks */
	uint32_t **in_flight; /* by page, NULL until used: batches that write to each of its chunks */
	uint8_t *unflushed;   /* by chunk: a batch ended since the members were last flushed for cleaning */
	uint8_t *sticky;      /* by chunk: a member lacks data */
	unsigned flushes;
};

/* --- parity log --- */

/** An entry that is to be replayed. */
struct replay_job {
	struct member *log;	  /* whose log it is in, and whose parity it completes */
	uint64_t parity_at_bytes; /* of the device: its partial parity; 0: none */
	uint64_t first_bytes;	  /* array bytes that were written, up to */
	uint64_t last_bytes;
	uint64_t rows_bytes;
	uint64_t stripe_bytes; /* of the data area: where the stripe begins on each member */
	uint64_t step_bytes;   /* rows that take the same members */
	uint32_t blocks;
};
struct replay {
	struct replay_job *jobs;
	size_t count;
	size_t room;
	bool complete; /* nothing of what was logged is lost, so that redundancy fits the data afterwards */
	uint64_t generation;
};

/** An entry of ours, as long as its stripe may be torn. */
struct pending {
	struct ppl_entry entry;
	uint8_t *parity;
	uint64_t offset_bytes; /* rows, of the data area */
	uint64_t end_bytes;
	uint64_t sequence;    /* of the log() that brought it */
	uint64_t ended_epoch; /* of the last flush that began before its batch ended */
	bool ended;
};

struct log {
	bool present;
	bool many;     /* records in one area */
	bool replayed; /* nothing is left to replay, or never was */
	bool emptied;
	bool on; /* entries are logged; not where the array is unsynced otherwise: the kernel takes it for clean after a replay */
	uint32_t signature;
	uint64_t generation;
	struct replay replay;
	struct pending *pending; /* in order of sequence */
	size_t count;
	size_t room;
	uint64_t sequence;
	uint64_t durable;
	uint64_t epoch; /* flushes begun */
};

/* --- the whole --- */

/** As superblocks store it. */
struct stored_shape {
	uint32_t layout;
	uint64_t chunk_bytes;
	uint64_t component_bytes;
};

struct keep {
	struct map_md_guard guard;
	struct map_md_guard_ops ops;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* io_busy, durable, active, broken */
	bool io_busy;

	char *name;
	const struct raid_geometry *geometry;
	uint64_t unit_bytes; /* what the guard's unit goes up to: component, raid10: array */
	bool redundant;	     /* linear and raid0 keep no state */
	enum keep_metadata metadata;
	const struct record_kind *kind;
	bool big_endian;	   /* 0.90 */
	struct stored_shape shape; /* by the freshest */
	uint8_t array_uuid[16];
	uint8_t bitmap_uuid[16]; /* as a bitmap stores it: the words of 0.90 in their own byte order */
	struct member **members;
	size_t count;
	bool *present; /* by slot, scratch of enough_members() */

	uint64_t events;		  /* of the last update that was begun */
	uint64_t events_needed;		  /* updates go on until here, so that members left behind are seen to be */
	unsigned lost;			  /* members that failed */
	VEC(struct map_failure) failures; /* of these, whose records could not be written */
	atomic_size_t failures_count;
	uint16_t roles[MD1_ROLES_MAX];
	uint32_t roles_count;
	struct md0_disk disks[MD0_DISKS_MAX];

	/* dm-raid */
	struct dmraid_slots listed_failed; /* by the freshest, as found */
	bool ran_degraded;		   /* an image was listed as failed, or being filled: bits are what it lacks */
	uint64_t found_resync_bytes;

	bool was_dirty;
	bool doubted;		/* redundancy was lost in a range that was written: guard_doubt() */
	bool confirmed;		/* the superblocks as found are on the disks, not in a cache only */
	bool active;		/* the superblocks say, durably, that writes may be in flight */
	bool say_active;	/* what they say from the next update on */
	bool resynced;		/* further than the superblocks say */
	bool broken;		/* too few members, or records that could not be written: nothing more is */
	uint64_t in_flight;	/* batches */
	struct ranges doubtful; /* as found */
	struct ranges unsynced; /* of these, what was not resynced since */
	struct bits bits;
	struct log log;
};

/* --- I/O --- */

void io_take(struct keep *keep);
void io_give(struct keep *keep);
/** Carry out requests with the mutex released. */
int io_run(struct keep *keep, struct dev_request *requests, size_t count, struct blkalign_error *reterr);

/** Writes to members' places, that go out together. */
struct output {
	struct dev_request *requests;
	struct member **owners;
	size_t count;
	size_t room;
};
void output_done(struct output *output);
#define _cleanup_output_ _cleanup_(output_done)
/** `data` is borrowed until output_write(). -ERANGE for what would go beyond the place. */
int output_add(struct output *output, struct member *member, enum place_kind kind, uint64_t from_bytes, const void *data,
	       size_t length_bytes);
/** The same for parity that replay computed, of the data area. */
int output_add_parity(struct output *output, struct member *member, uint64_t device_bytes, const void *data, size_t length_bytes);
/**
 * Write everything, then flush the members written to. Those that fail are lost (member_lost()); -EIO with the reason, when too few are left; -ENOMEM when that is all that
 * failed a member, which is not lost. The output is empty afterwards.
 */
int output_write(struct keep *keep, struct output *output, struct blkalign_error *reterr);
/** Flush all members with data; as output_write(). */
int members_flush(struct keep *keep, struct blkalign_error *reterr);

/* --- records --- */

/** It failed: listed as faulty from now on. `failed` (may be NULL) is what it did not do, to be told. */
void member_lost(struct keep *keep, struct member *member, const struct dev_request *failed);
/** The member that has `slot`, or NULL. */
struct member *member_at(const struct keep *keep, uint32_t slot);
/** All slots have a member in sync. */
bool whole(const struct keep *keep);
/** A member has this number. */
bool has_number(const struct keep *keep, uint32_t number);
/** Every byte of the array can be had; otherwise `broken` and -EIO. */
int enough_members(struct keep *keep, struct blkalign_error *reterr);
int broken(const struct keep *keep, struct blkalign_error *reterr);
/** Bring the state to the disks: bitmaps, then superblocks, with higher events. A failure is final: `broken`. */
int records_update(struct keep *keep, struct blkalign_error *reterr);
/** Of what ended with `r`: the members that it lost, if any (`lost` is the number before), are recorded. Returns the first error. */
int record_losses(struct keep *keep, unsigned lost, int r, struct blkalign_error *reterr);
/** No batch is in flight: flush the data, clear bits, and say how much redundancy fits instead of "active". Who begins to write meanwhile waits. */
int records_settle(struct keep *keep, struct blkalign_error *reterr);
/** What is true of the array when no write is in flight: UINT64_MAX, or from where on a resync must go. */
uint64_t records_checkpoint(const struct keep *keep);

/* --- bitmap --- */

int bits_load(struct keep *keep, size_t freshest, struct blkalign_error *reterr);
void bits_done(struct bits *bits);
/** The set bits from chunk `first` on. */
int bits_ranges(const struct bits *bits, uint64_t first, struct ranges *ret);
bool bits_any(const struct bits *bits);
/** A batch begins: count it, set the bits. *ret_sequence has to become durable before data is written. -ENOMEM: nothing is counted. */
int bits_begin(struct bits *bits, const struct byte_range *ranges, size_t count, uint64_t *ret_sequence);
void bits_end(struct bits *bits, const struct byte_range *ranges, size_t count, bool complete);
/** Pages that changed, to all members. */
int bits_write(struct keep *keep, struct blkalign_error *reterr);
/** Wait, or write, until the sequence is durable. The I/O is not owned. */
int bits_commit(struct keep *keep, uint64_t sequence, struct blkalign_error *reterr);
/** Flush the members, and clear the bits that nobody needs any more. Nothing while a member is missing. The pages are written later, or by bits_write(). */
int bits_clean(struct keep *keep, struct blkalign_error *reterr);
/** Every member has the data of all chunks again. */
void bits_unstick(struct bits *bits);

/* --- parity log --- */

#define REPLAY_STEP_BYTES 65536U
#define LOG_ZEROS_BYTES	  65536U

/** Look at all logs, of an array whose superblocks have this checkpoint. -ENOMEM. */
int replay_plan(struct keep *keep, uint64_t checkpoint, struct replay *ret);
void replay_done(struct replay *replay);
/**
 * New parity of [from, from + length) of a job's rows, at most REPLAY_STEP_BYTES, and where it belongs in the data area. BLKALIGN_NOT_THIS: none of these rows was
 * written; BLKALIGN_ABSENT: a member that has part of it is missing or cannot be read. `scratch` is as long as the parity.
 */
int replay_rows(struct keep *keep, const struct replay_job *job, uint64_t from_bytes, size_t length_bytes, uint8_t *parity,
		uint8_t *scratch, uint64_t *ret_device_bytes);
/** Carry out log.replay, flushed. */
int replay_write(struct keep *keep, struct blkalign_error *reterr);

void log_load(struct keep *keep, size_t freshest);
int log_check(struct keep *keep, struct blkalign_error *reterr);
void log_done(struct log *log);
/** Empty logs, durably: of all members, or of one. */
int log_empty(struct keep *keep, struct member *only, struct blkalign_error *reterr);
/** Make the partials durable. The I/O is not owned. */
int log_write(struct keep *keep, const struct map_md_partial *partials, size_t count, struct blkalign_error *reterr);
void log_end(struct keep *keep, const struct byte_range *ranges, size_t count);
void log_flushed(struct keep *keep, uint64_t mark);

/* --- rebuild.c --- */

/** The member in sync that new ones are modelled on; NULL when there is none. */
struct member *template_of(const struct keep *keep);

/* --- keep.c, guard.c --- */

/** The members of `array` and what they are to each other, for writing or for looking. */
int keep_load(const struct keep_array *array, bool writing, struct keep **ret_keep, struct blkalign_error *reterr);
uint64_t found_checkpoint(const struct keep *keep);
extern const struct map_md_guard_ops keep_guard_ops;

#endif
