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
};
extern const struct shape shapes[];
extern const size_t shapes_count;

struct script {
	const char *name;
	/**
	 * Words: "w OFFSET LENGTH" (in sectors) writes, and more such writes after "+" start with it in one batch; "f" flushes; "c" closes and
	 * opens again. Numbers may be followed by "s": full stripes, or "c": chunks.
	 */
	const char *text;
};
extern const struct script scripts[];
extern const size_t scripts_count;

/** Geometry of a shape; ended with raid_geometry_done(). */
void shape_geometry(const struct shape *shape, struct raid_geometry *ret);
/** Where the data area of a member begins. */
uint64_t shape_data_offset(const struct shape *shape);
static inline bool shape_has(const struct shape *shape, uint32_t slot) { return !(shape->missing >> slot & 1); }
static inline bool shape_has_parity(const struct shape *shape) { return shape->level >= RAID_4 && shape->level <= RAID_6; }
size_t shape_member_bytes(const struct shape *shape);
/** A clean array whose sectors hold tag 0: `images` of shape_member_bytes() each, by slot; those of missing members stay zero. */
void shape_make(const struct shape *shape, uint8_t *const *images);

/** A sector as tests write it: 64 times sector | tag << 40. */
void sector_fill(uint8_t *data, uint64_t sector, uint32_t tag);
#define TAG_GARBAGE UINT32_MAX
/** The tag that a sector holds; TAG_GARBAGE when it is no sector `sector`. */
uint32_t sector_tag(const uint8_t *data, uint64_t sector);

/* --- what was asked for and when it ended --- */

enum op_kind { OP_WRITE, OP_FLUSH };
struct op {
	enum op_kind kind;
	uint64_t first, count; /* sectors */
	uint32_t tag;
	size_t issued, ended; /* moments */
	int result;
};
struct history {
	struct op ops[OPS_MAX];
	size_t count;
};
#define MOMENT_NO_CUT SIZE_MAX /* power was not lost: what was acknowledged counts, flushed or not */
/** Whether the sector may hold `tag` when power was lost at `moment`: no acknowledged and flushed write came after it. */
bool history_admits(const struct history *h, uint64_t sector, uint32_t tag, size_t moment);
/** Some write to the sector was under way at `moment`, or had ended but was not flushed. */
bool history_in_flight(const struct history *h, uint64_t sector, size_t moment);

/* --- the array under test, as a user opens it --- */

struct array {
	struct stack *stack;
	struct dev *dev;   /* owned by the stack */
	struct keep *keep; /* likewise */
};
/** Assemble from the devices (by slot, NULL for absent; taken over, also on failure). */
int array_open(struct dev *const *devs, size_t count, bool writable, bool force, struct array *ret, struct blkalign_error *reterr);
/** Make redundancy fit where it may not. */
int array_resync(struct array *array, struct blkalign_error *reterr);
int array_close(struct array *array, struct blkalign_error *reterr);
/** As if the process had been killed. */
void array_kill(struct array *array);

/** Play a script on the devices of a machine. Stops where writes fail for good. 0, or the error of opening. */
int play(const struct shape *shape, const char *text, struct power_machine *machine, struct dev *const *devs, struct history *ret);

/* --- judging --- */

/**
 * By a second route, which shares nothing with the library but the addresses: do copies agree and parity fit? NULL, or what is wrong. The sector is in the guard's unit: array
 * sectors of raid1 and raid10, component sectors of the parity levels. Members whose image is NULL are missing.
 */
const char *redundancy_fault(const struct shape *shape, const struct raid_geometry *geometry, uint8_t *const *images, uint64_t sync_sector);
/** Write the parity of a component sector, by that route. */
void parity_make(const struct shape *shape, const struct raid_geometry *geometry, uint8_t *const *images, uint64_t device_sector);

/**
 * Judge one state of the media (images by slot, NULL where there is no member); NULL when every promise holds, else which one does not. `thorough`: members are
 * taken away afterwards, one by one and two by two. The images are left changed.
 */
const char *judge(const struct shape *shape, const struct history *history, size_t moment, uint8_t *const *images, bool thorough);

/* --- the two tests --- */

/** The devices of all stories acknowledge flushes and do nothing. */
extern bool lying_flushes;
/** After an injected failure power is cut at the last point, and at every so many before it. */
extern size_t cuts_every;

struct totals {
	_Atomic uint64_t states, stories, injections, faults;
};
/** A story: all states of all its points. Faults are printed, with the line that brings them back. */
void test_cuts(const struct shape *shape, const struct script *script, uint64_t seed, struct totals *totals);
/** Every n-th request of a story failing. */
void test_failures(const struct shape *shape, const struct script *script, uint64_t seed, struct totals *totals);
/**
 * One state again: "SHAPE/SCRIPT [fail=...] [unit=U point=P keep=HEX]". False when the line is none. With `folder`, the images are put there: cutN.img as they were found,
 * endN.img as the trial left them.
 */
bool replay(const char *line, uint64_t seed, const char *folder, struct totals *totals);
/** By name; NULL when there is none. Random scripts are called "random-N" and depend on the seed. */
const struct shape *shape_named(const char *name, size_t length);
const struct script *script_named(const char *name, size_t length, uint64_t seed);

#endif
