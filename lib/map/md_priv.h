/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of an md device.
 *
 * A batch of requests is cut into pieces: rows of one stripe where there is parity, array bytes elsewhere. Pieces are gathered into groups of bounded size. For a
 * group, locks are taken at once, then the state of the members is looked at, the reads that it needs are planned and run as one batch below, what is lost is
 * computed, and, for writes, the guard is asked and everything is written as one batch below.
 *
 * Nobody who waits for a lock holds a state, so that a state which is out of date always comes free.
 */
#ifndef MAP_MD_PRIV_H
#define MAP_MD_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "map/map.h"

#define MD_SCRATCH_BYTES   (4 * MIB)  /* for the rows of one group */
#define MD_GROUP_BYTES	   (64 * MIB) /* array bytes of one group */
#define MD_PIECE_BYTES	   (4 * MIB)
#define MD_PIECES_MAX	   1024U
#define MD_LOG_SLICE_BYTES (64 * KIB) /* rows of a partial stripe that are logged together */
#define MD_UNIT_BYTES	   4096U      /* after a read error, what is looked at one by one */
#define MD_ALIGN	   64U

/* What is known of the members at one moment. Not changed once it is there, but for valid_bytes, which grows while a member is rebuilt. */
struct md_state {
	struct md_state *older;
	atomic_uint users;
	bool complete; /* every member is there and in sync */
	bool whole;    /* and has no bad ranges */
	struct map_md_member members[];
};

/* Ranges, ascending, that a thread holds or waits for. First come, first served, all ranges of one lock at once: so nobody waits in a circle. */
struct md_lock {
	struct md_lock *next, *previous;
	const struct byte_range *ranges;
	size_t count;
	bool shared;
	bool skipped; /* the thread has the ranges already, by map_md_lock() */
	size_t blockers;
	pthread_cond_t free;
};

struct md_locks {
	pthread_mutex_t mutex;
	struct md_lock *first, *last;
};

struct md {
	struct dev dev;
	struct raid_geometry geometry;
	struct map_md_guard *guard;
	bool has_log;
	uint32_t data_members;
	uint64_t slice_bytes; /* rows of a partial stripe that fit the scratch */

	_Atomic(struct md_state *) state;
	pthread_mutex_t change; /* of the state, one at a time */
	pthread_mutex_t drain;
	pthread_cond_t drained;
	atomic_uint draining;
	VEC(void *) owned;   /* bad ranges of all states */
	struct dev **failed; /* by slot: the device that was failed here; it does not come back by itself */
	VEC(struct map_failure) failures;
	const char **reasons; /* by slot: what to say of a read error that nothing hides */

	struct md_locks locks;

	pthread_mutex_t doubt_mutex;
	VEC(struct byte_range) doubtful;
	atomic_size_t doubtful_count;
	bool use_doubtful;

	/* Something was lost that cannot be had again, or could not be recorded: nothing more is written. */
	_Atomic(const char *) broken;
	atomic_uint_fast64_t computed_bytes, read_errors, rewritten_bytes;
	atomic_uint failed_members;
	_Atomic(char *) first_error;
	atomic_bool askew; /* pages of a member do not begin where units of its data area do */
};

static inline bool md_has_parity(const struct md *md) { return md->geometry.parity != NULL; }
/* Whether a byte is held, or made up for, by more than one member. */
static inline bool md_redundant(const struct md *md) { return raid_redundancy(&md->geometry) > 0; }
bool md_is_md(const struct dev *dev);

/* --- md_members.c --- */
int md_state_init(struct md *md, const struct map_md_member *members);
void md_state_done(struct md *md);
struct md_state *md_state_get(struct md *md);
void md_state_put(struct md *md, struct md_state *state);
static inline uint64_t md_valid_bytes(const struct map_md_member *m) { return __atomic_load_n(&m->valid_bytes, __ATOMIC_ACQUIRE); }
/* A device that did not take a write or a flush, and the first sentence about it. */
struct md_failure {
	struct dev *dev; /* NULL: none */
	char why[256];
};
/* One more of them. `*failed` is by slot, and made when it is NULL; the caller frees it. */
int md_note_failure(const struct md *md, struct md_failure **failed, uint32_t slot, const struct dev_request *request);
/*
 * When the array can do without the devices in `failed` (by slot) they are recorded as faulty and used no more; otherwise they stay, and -EIO says that the write
 * failed.
 */
int md_fail(struct md *md, const struct md_failure *failed);
/* The first read error of all is kept, to be told. */
void md_note_read_error(struct md *md, const struct dev_request *request);
/* A write that ended so is no fault of the member; where one has no room, often none has, and to fail them would cost the array. */
static inline bool md_is_no_fault(int error) { return dev_error_is_ours(error) || error == -ENOSPC; }

/* --- md_doubt.c --- */
int md_doubt_init(struct md *md, const struct byte_range *ranges, size_t count);
/* Whether redundancy at `at` may not fit; *run_bytes is cut to where the answer may change. */
bool md_doubtful(struct md *md, uint64_t at, uint64_t *run_bytes);
int md_doubt_add(struct md *md, const struct byte_range *range);

/* --- md_lock.c --- */
void md_locks_init(struct md_locks *locks);
void md_locks_done(struct md_locks *locks);
/* `lock` with its ranges and `shared` filled in; it must stay where it is until it is unlocked. */
void md_lock(struct md *md, struct md_lock *lock);
void md_unlock(struct md *md, struct md_lock *lock);

/* --- md_batch.c --- */

/* A part of a request. The range is what is locked: rows (device bytes) of one stripe where there is parity, array bytes elsewhere. */
struct md_piece {
	struct dev_request *request;
	struct byte_range range;
	size_t scratch_bytes;
	uint32_t read_errors;
	bool full; /* all data of these rows */
	bool dead; /* its request failed */
};

/* What a member could not read. */
struct md_exclusion {
	uint32_t slot;
	bool exact; /* each part of it was tried by itself */
	struct byte_range range;
};

enum md_how {
	MD_DIRECT,	/* read: each block from its member. write: there is no parity to be written */
	MD_RECOVER,	/* what is lost is computed; of a write: then as MD_RECONSTRUCT */
	MD_RECONSTRUCT, /* parity from all data: what is written, and the other data, read */
	MD_MODIFY,	/* parity from the old one and the old data */
};

/* Rows of one stripe in which each member is used in one way. */
struct md_band {
	uint32_t piece;
	enum md_how how;
	struct raid_stripe stripe;
	uint64_t device_bytes;
	size_t length_bytes;
	uint32_t first, count; /* data blocks of the request */
	bool doubtful;
	uint32_t lost[2], lost_count; /* slots that cannot be read, ascending; more than two are counted only */
	uint8_t **blocks;	      /* by slot; scratch or the caller's */
	uint8_t **lanes;	      /* write: scratch rows of the piece, by slot */
	uint8_t *partial;	      /* for the parity log */
};

struct md_leaf {
	uint32_t piece;
	uint32_t slot;
};

struct md_batch {
	struct md *md;
	struct md_state *state;
	VEC(struct md_piece) pieces;
	uint64_t group_bytes, scratch_bytes; /* of the pieces */
	uint64_t group_end;		     /* of the ranges */
	uint64_t partial_bytes;		     /* rows of stripes that are not full */
	VEC(struct byte_range) ranges;
	VEC(struct md_band) bands;
	VEC(struct dev_request) requests; /* to members */
	VEC(struct md_leaf) leaves;	  /* whose each of them is */
	VEC(struct md_exclusion) exclusions;
	size_t piece_leaves, band_leaves; /* where those of the piece and band that are being planned begin */
	uint8_t **lanes;		  /* by slot: scratch rows of the piece that is being planned */
	struct md_scratch *scratch;
	size_t scratch_used;
	VEC(void *) extra;  /* scratch beyond what was foreseen */
	const char *reason; /* why the piece that was planned last cannot be had */
};

void md_batch_done(struct md_batch *b);
/* Forget the pieces, keep the exclusions. */
void md_batch_next(struct md_batch *b);
/* Forget what was planned. */
void md_plan_reset(struct md_batch *b);
void *md_scratch_get(struct md_batch *b, size_t size);
/* The ranges of all pieces that are alive, ascending, joined where they touch; or whole pages around them. */
int md_ranges(struct md_batch *b, bool pages);
/* The member's bytes are to be transferred; joined to an earlier transfer of the piece where both are contiguous. */
int md_add_leaf(struct md_batch *b, uint32_t piece, uint32_t slot, enum dev_op op, uint64_t device_bytes, void *buffer, size_t length);
/* Whether the member has the byte; *run_bytes is cut to where the answer may change. */
bool md_readable(const struct md_batch *b, uint32_t slot, uint64_t at, uint64_t *run_bytes);
static inline void md_cut(uint64_t *run_bytes, uint64_t limit)
{
	if (*run_bytes > limit)
		*run_bytes = limit;
}
void md_request_fail(struct dev_request *request, int error, const char *reason);
/* By all pieces of the group: after a failure that concerns all of it. */
void md_batch_fail(struct md_batch *b, int error, const char *reason);

/* --- md_piece.c --- */

/* Goes through the requests of one operation. */
struct md_cursor {
	struct dev_request *requests;
	size_t count, index;
	enum dev_op op;
	uint64_t done_bytes; /* of the request; parity: array bytes of the stripes before this one */
	uint64_t row;	     /* parity: of the stripe */
};
bool md_next_piece(struct md *md, struct md_cursor *cursor, struct md_piece *ret);
/* The piece that holds `length` bytes of the request from array byte `array_bytes` on, within one chunk where there is parity. */
struct md_piece md_piece_at(const struct md *md, struct dev_request *request, uint64_t array_bytes, uint64_t length);
/* Add to the group; when it is full, or has a piece in the same place, it is run before. */
int md_add_piece(struct md_batch *b, const struct md_piece *piece, void (*run)(struct md_batch *b));

/* Which part of a stripe a request covers. */
struct md_span {
	uint64_t start_bytes; /* array byte at which the stripe begins */
	uint32_t first, last; /* data blocks */
	uint64_t from, to;    /* the row at which it begins in the first, and ends in the last */
};
struct md_span md_span(const struct md *md, const struct dev_request *request, uint64_t stripe);

/* --- md_gather.c --- */
/* Plan, read and compute what the group needs; read errors are planned around. What cannot be had fails its request. */
void md_gather(struct md_batch *b);
/* Try every part of what could not be read by itself, so that no more is excluded than must be. True when there was something to try. */
bool md_exclusions_refine(struct md_batch *b);

/* --- md_rows.c --- */
/* The next rows of a piece from `at` on: sets all but how and blocks. */
void md_next_band(struct md_batch *b, uint32_t piece, uint64_t at, struct md_band *ret);
uint8_t *md_caller_block(const struct md_batch *b, const struct md_band *band, uint32_t index);
/* Scratch for the rows of the band of one slot; NULL without memory. */
uint8_t *md_lane(struct md_batch *b, const struct md_band *band, uint32_t slot);
bool md_is_lost(const struct md_band *band, uint32_t slot);
/* -EIO for this piece, saying why: a member that could not be read, or `reason`. */
int md_refuse(struct md_batch *b, const struct md_band *band, const char *reason);
int md_need_blocks(struct md_batch *b, struct md_band *band);
/* The slot's rows are to be read to `block`; NULL is taken as -ENOMEM. */
int md_add_block(struct md_batch *b, struct md_band *band, uint32_t slot, uint8_t *block);
static inline bool md_in_band(const struct md_band *band, uint32_t index) { return index - band->first < band->count; }
/*
 * Plan to compute the lost data blocks: every data block that can be read is read, those of the request to where the caller wants them (`to_caller`), and as many parity
 * blocks as data blocks are lost. -EIO when that is not enough.
 */
int md_plan_recover(struct md_batch *b, struct md_band *band, bool to_caller);
int md_recover_band(struct md_batch *b, const struct md_band *band);

/* --- md_mirror.c, md_rows.c, md_parity_write.c: what to read for a piece --- */
int md_plan_copies(struct md_batch *b, uint32_t piece);
int md_plan_rows(struct md_batch *b, uint32_t piece, enum dev_op op);
int md_plan_write_band(struct md_batch *b, struct md_band *band);
int md_compute_parity(struct md_batch *b, struct md_band *band);
int md_add_mirror_writes(struct md_batch *b, uint32_t piece);
int md_add_parity_writes(struct md_batch *b, const struct md_band *band);
/* Ask the guard to log the group's partial stripes. */
int md_log(struct md_batch *b);
/* Which copy to read from: the first that is there and not write-mostly, else the first that is there. */
int md_no_copy_at(struct md_batch *b, uint64_t array_bytes); /* the error where there is none; sets the reason */
bool md_pick_copy(const struct md_batch *b, uint64_t array_bytes, uint64_t *run_bytes, struct raid_place *ret);

extern const char *const md_no_copy, *const md_no_parity, *const md_no_layout, *const md_in_doubt;
/* What to say of a read error there that nothing hides. */
static inline const char *md_slot_reason(const struct md *md, uint32_t slot)
{
	return __atomic_load_n(&md->reasons[slot], __ATOMIC_ACQUIRE);
}

void md_read(struct md *md, struct dev_request *requests, size_t count);
void md_write(struct md *md, struct dev_request *requests, size_t count);
int md_flush(struct md *md);
/* Write back what could not be read, where it can be computed. */
void md_mend(struct md_batch *b);
/* How far into a page of the file or disk below the member's data area begins. */
uint64_t md_page_phase(const struct map_md_member *m);
/* The range, in the guard's unit, with all of the pages that it touches on any member. */
struct byte_range md_whole_pages(const struct md *md, const struct byte_range *range);
/*
 * After all requests of a group of writes ended: write whole pages to a member that did not take parts of them. With the group's locks, which are on whole pages. False when it
 * failed nevertheless, or cannot be tried.
 */
bool md_rewrite_pages(struct md_batch *b, size_t failed_request);
int md_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero);

#endif
