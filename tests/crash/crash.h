/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Arrays that lose power, or whose devices fail, while they are written to; and what must be true of them afterwards (doc/promises.md).
 *
 * A story is a shape (level, members, records, which members are missing) and a script of writes and flushes. The story is played once on devices that
 * record (dev/power_cut.h). Then everything that the media may hold is gone through: each state is assembled as a user would, judged, resynced, closed, and judged again.
 */
#ifndef CRASH_CRASH_H
#define CRASH_CRASH_H

#include <stdio.h>

#include "dev/power_cut.h"
#include "keep/keep.h"
#include "raid/raid.h"
#include "stack/stack.h"

struct blkalign_run;

#define SECTOR		 512U
#define MEMBERS_MAX	 8U
#define OPS_MAX		 64U
#define MEMBER_BYTES_MAX (192U * 1024U)

enum record { RECORD_NONE, RECORD_BITMAP, RECORD_PPL };

struct shape {
	const char *name;
	int32_t level;
	uint32_t layout;
	uint32_t members;
	const char *metadata; /* "0.90", "1.0", "1.1", "1.2" */
	enum record record;
	uint32_t missing; /* bit per slot */
	uint64_t chunk_bytes;
	uint64_t component_bytes;
	uint64_t behind; /* its superblocks are so many updates old */
};
extern const struct shape shapes[];
extern const size_t shapes_count;

struct script {
	const char *name;
	/**
	 * Words: "w OFFSET LENGTH" (in sectors) writes, and more such writes after "+" start with it in one batch; "f" flushes; "c" closes and
	 * opens again; "r" resyncs, as `scrub --repair=parity`; "n OFFSET LENGTH" rebuilds the first missing member onto an empty device, "o OFFSET LENGTH" onto one that was that member
	 * before, and writes meanwhile. Numbers may be followed by "s": full stripes, or "c": chunks.
	 */
	const char *text;
};
extern const struct script scripts[];
extern const size_t scripts_count;
/** What is played on an array that was cut off in the middle of another script. */
extern const struct script recoveries[];
extern const size_t recoveries_count;
/** A rebuild needs a member that is missing, and a former member's a bitmap. The member that it rebuilds; RAID_SLOT_NONE: it rebuilds none. */
bool script_fits(const struct script *script, const struct shape *shape);
uint32_t script_target(const struct script *script, const struct shape *shape);

/** Geometry of a shape; ended with raid_geometry_done(). */
void shape_geometry(const struct shape *shape, struct raid_geometry *ret);
/** Where the data area of a member begins. */
uint64_t shape_data_offset(const struct shape *shape);
static inline bool shape_has(const struct shape *shape, uint32_t slot) { return !(shape->missing >> slot & 1); }
static inline bool shape_has_parity(const struct shape *shape) { return shape->level >= RAID_4 && shape->level <= RAID_6; }
size_t shape_member_bytes(const struct shape *shape);
/** A clean array whose sectors hold tag 0: `images` of shape_member_bytes() each, by slot; those of missing members stay zero. */
void shape_make(const struct shape *shape, uint8_t *const *images);

/** A sector as tests write it: sector | tag << 40, and what follows from that. */
void sector_fill(uint8_t *data, uint64_t sector, uint32_t tag);
#define TAG_GARBAGE UINT32_MAX
/** The tag that a sector holds; TAG_GARBAGE when it is no sector `sector`. */
uint32_t sector_tag(const uint8_t *data, uint64_t sector);

/* --- what was asked for and when it ended --- */

enum op_kind { OP_WRITE, OP_FLUSH, OP_RESYNC, OP_REBUILD };
struct op {
	enum op_kind kind;
	bool before;	       /* a power cut ago: it was settled by then (result 0), or never will be */
	uint64_t first, count; /* sectors */
	uint32_t tag;
	size_t issued, ended; /* moments */
	int result;
	bool said; /* what went wrong, in a sentence */
};
struct history {
	struct op ops[OPS_MAX];
	size_t count;
	uint32_t target; /* the slot that is rebuilt, or RAID_SLOT_NONE */
	uint32_t holes;	 /* slots that were missing when the power was lost before: what was computed there may be written by now */
	bool failing;	 /* a request of it fails */
	bool killed;	 /* the power stays: what was acknowledged counts, flushed or not */
};
#define MOMENT_END SIZE_MAX /* when all was over */
/** Whether the sector may hold `tag` at `moment`: no write that is settled by then came after it. */
bool history_admits(const struct history *h, uint64_t sector, uint32_t tag, size_t moment);
/** Some write to the sector was under way at `moment`, or had ended but was not flushed. */
bool history_in_flight(const struct history *h, uint64_t sector, size_t moment);
/** A write to it was under way when the power was lost before; and one of this life is settled by `moment`. */
bool history_torn(const struct history *h, uint64_t sector);
bool history_rewritten(const struct history *h, uint64_t sector, size_t moment);
/** An operation of the kind has succeeded by then. */
bool history_has(const struct history *h, enum op_kind kind, size_t moment);
/** A flush failed, and the devices were used again. */
bool history_reused(const struct history *h);
/** What is left of it when the power is lost at `moment`, for the life after that. */
void history_carry(struct history *h, size_t moment);

/* --- the array under test, as a user opens it --- */

struct array {
	struct blkalign_run *run;
	const struct blkalign_node *node;
	struct dev *dev;   /* owned by the stack */
	struct keep *keep; /* likewise */
};
/** Assemble from the devices (by slot, NULL for absent; borrowed). */
int array_open(struct dev *const *devs, size_t count, bool writable, bool force, struct array *ret, struct blkalign_error *reterr);
/** Make redundancy fit where it may not. */
int array_resync(struct array *array, struct blkalign_error *reterr);
int array_close(struct array *array, struct blkalign_error *reterr);
/** As if the process had been killed. */
void array_kill(struct array *array);
/** The verbs' own ways to do it. */
int array_scrub(struct array *array, struct blkalign_error *reterr);
/** `target`: a device that becomes the member in `slot`; NULL: the one there is half rebuilt. `meanwhile` is called once, when part of it is (NULL: not). */
int array_rebuild(struct array *array, struct dev *target, uint32_t slot, void (*meanwhile)(void *context), void *context,
		  struct blkalign_error *reterr);

/** Play a script on the devices of a machine; *ret may hold what was before. Stops where writes fail for good. 0, or the error of opening. */
int play(const struct shape *shape, const char *text, struct power_machine *machine, struct dev *const *devs, struct history *ret);

/* --- judging --- */

/**
 * By a second route, which shares nothing with the library but the addresses: do copies agree and parity fit? NULL, or what is wrong. The sector is in the guard's unit: array
 * sectors of raid1 and raid10, component sectors of the parity levels. Members whose image is NULL are missing, others have `valid_bytes` of their data (NULL: all).
 */
const char *redundancy_fault(const struct shape *shape, const struct raid_geometry *geometry, uint8_t *const *images,
			     const uint64_t *valid_bytes, uint64_t sync_sector);
/** Write the parity of a component sector, by that route. */
void parity_make(const struct shape *shape, const struct raid_geometry *geometry, uint8_t *const *images, uint64_t device_sector);

/**
 * Judge one state of the media (images by slot, NULL where there is no member); NULL when every promise holds, else which one does not. `thorough`: members are
 * taken away afterwards, one by one and two by two. The images are left changed.
 */
const char *judge(const struct shape *shape, const struct history *history, size_t moment, uint8_t *const *images, bool thorough);

/* --- the tests --- */

/** The devices of all stories acknowledge flushes and do nothing. */
extern bool lying_flushes;
/** After an injected failure power is cut at the last point, and at every so many before it. */
extern size_t cuts_every;
/** Of the requests that could fail, every so many do. */
extern size_t failures_every;

struct totals {
	/* Distinct: no state counts twice that holds the same after the same operations of a story. */
	_Atomic uint64_t states, kills;
	_Atomic uint64_t stories, injections, faults;
	/* Points of which every subset of the sectors in flight was gone through, and others. */
	_Atomic uint64_t points_whole, points_sampled;
};

/** Where a story begins that goes on after a power cut. */
struct start {
	uint8_t *images[MEMBERS_MAX]; /* by slot; owned */
	struct history history;
	char line[160]; /* " from=..." */
};
struct story {
	const struct shape *shape;
	const struct script *script;
	const struct start *start; /* NULL: a clean array */
	uint64_t seed;
};
/** All states of all its points, and the kills in between. Then every n-th request of it failing. Faults are printed, with the line that brings them back. */
void test_story(const struct story *story, struct totals *totals);
/** Some states of `story`, and all recoveries played on each of them. */
void test_recoveries(const struct story *story, struct totals *totals);
/** The start that "POINT,SEED" names. */
bool start_named(const struct story *story, const char *value, struct start *ret);
void start_done(struct start *start);
struct replay_folders {
	const char *dump;   /* cutN.img are put there as they were found, endN.img as the trial left them; NULL: not */
	const char *images; /* mN.img of it are judged instead: what somebody else made of the state; NULL: the state */
};
/** One state again: "SHAPE/SCRIPT [from=POINT,SEED after=SCRIPT] [fail=...] [unit=U point=P keep=HEX]". False when the line is none. */
bool replay(const char *line, uint64_t seed, const struct replay_folders *folders, struct totals *totals);
/**
 * Put the images of `count` states that `seed` picks into FOLDER/0 ... as mN.img, and print their lines. Of arrays that have all members, for others to
 * assemble. False when that fails.
 */
bool sample(size_t count, uint64_t seed, const char *folder);
/** splitmix64. */
uint64_t draw(uint64_t *state);
/** By name; NULL when there is none. Random scripts are called "random-N" and depend on the seed. */
const struct shape *shape_named(const char *name, size_t length);
const struct script *script_named(const char *name, size_t length, uint64_t seed);

#endif
