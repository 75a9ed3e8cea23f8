/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The inside of a scrub: units of work handed out in order, looked at by several threads, and what they find put in order. Semantics are the kernel's: drivers/md/raid5.c
 * (handle_parity_checks5(), handle_parity_checks6()), raid1.c (raid1_sync_request(), process_checks()), raid10.c (raid10_sync_request(), sync_request_write()).
 */
#ifndef RUN_SCRUB_H
#define RUN_SCRUB_H

#include <blkalign/scrub.h>

#include "run/md_view.h"
#include "run/walk.h"
#include "run/workers.h"

#define SCRUB_WINDOW_BYTES   (64 * KIB) /* md's RESYNC_BLOCK_SIZE: what mirrors compare at a time */
#define SCRUB_FINDINGS_MAX   100000U
#define SCRUB_MISMATCH_SHIFT 9U
#define SCRUB_NEIGHBOURS     8U /* what is found of several members at one place is told in turn: what belongs together may lie so far back */

/** A finding and where it comes in the order of the pass. */
struct scrub_item {
	struct blkalign_scrub_finding found;
	uint64_t sync_bytes;
};

/** Ordered, neighbours merged. */
struct scrub_list {
	VEC(struct scrub_item) items;
	uint64_t dropped; /* beyond SCRUB_FINDINGS_MAX */
	bool mirror;
};
/** Put new findings behind those there are; `items` is sorted by it. */
int scrub_list_add(struct scrub_list *list, struct scrub_item *items, size_t count);

/** What there is of a block. */
enum scrub_has { SCRUB_READ, SCRUB_ABSENT, SCRUB_UNREADABLE };

/** What one thread needs, and what it has found since it was last collected. */
struct scrub_worker {
	const struct md_view *view;
	size_t block_bytes; /* of each block */
	/* By slot, or by copy of mirrors. */
	uint32_t lanes;
	uint8_t *memory;
	uint8_t **blocks;
	uint8_t **row_blocks; /* the blocks of the row that is looked at */
	enum scrub_has *has;
	struct raid_place *places;
	bool *differs;
	VEC(struct scrub_item) found;
	uint64_t read_bytes;
	uint64_t mismatch_sectors512;
	uint64_t uncompared_bytes;
	int error; /* a member went away, or memory is short: the unit was not finished */
	struct blkalign_error why;
};
int scrub_worker_init(struct scrub_worker *worker, const struct md_view *view);
void scrub_worker_done(struct scrub_worker *worker);
/** Note a finding. On want of memory the worker fails. */
void scrub_found(struct scrub_worker *worker, uint64_t sync_bytes, const struct blkalign_scrub_finding *found);
/** Read a block. False when it cannot be read; the worker fails when the member went away. */
bool scrub_read(struct scrub_worker *worker, uint32_t slot, uint64_t at, uint8_t *buffer, size_t length_bytes);

/** Length of the unit of work that begins at `sync_bytes`: whole windows of mirrors, within a stripe's rows of parity. */
uint64_t scrub_unit_bytes(const struct md_view *view, uint64_t sync_bytes);
/** Look at one unit. */
void scrub_unit(struct scrub_worker *worker, uint64_t sync_bytes, uint64_t length_bytes);

/** scrub_parity.c */
void scrub_parity(struct scrub_worker *worker, uint64_t at, uint64_t length_bytes);
/** Rows of one stripe, as they lie in the worker's blocks. */
struct scrub_row {
	struct raid_row row;
	uint64_t at;
	uint32_t lost[2];    /* slots without contents, ascending; their blocks are scratch */
	uint32_t lost_count; /* more than two are counted only */
};
/** Read the row of VIEW_ROW_BYTES at `at` into the worker's blocks. */
void scrub_read_row(struct scrub_worker *worker, uint64_t at, struct scrub_row *ret);
/**
 * What a row that was read says of itself; a lost block is recomputed on the way. True, with the finding, when it does not fit. Rows that have lost all their redundancy
 * always fit.
 */
bool scrub_row_differs(const struct scrub_worker *worker, const struct scrub_row *row, struct blkalign_scrub_finding *ret);

/** scrub_mirror.c */
void scrub_mirror(struct scrub_worker *worker, uint64_t at, uint64_t length_bytes);
/** Read one page, or less, of every copy into the worker's blocks. */
void scrub_read_copies(struct scrub_worker *worker, uint64_t at, size_t length_bytes);
/** Whether copies that could be read, from `first` on, say the same. */
bool scrub_copies_agree(const struct scrub_worker *worker, uint32_t first, size_t offset, size_t length_bytes);
/** Whether the finding is about the copy that md takes first, of those that are there. */
bool scrub_is_first_copy(const struct md_view *view, const struct blkalign_scrub_finding *found);
/** md's window at `at`: cut at the end, at chunk ends of raid10, and where a member begins or ceases to have the bytes. */
uint64_t scrub_window_bytes(const struct md_view *view, uint64_t at);

/** Where a member's bytes are written, behind the undo log: on the disk or file that it is a part of, or on all those that its segments lie on. */
struct scrub_logged {
	struct dev *dev; /* NULL: not logged */
	uint64_t offset_bytes;
};

/** A disk or file, and it behind the undo log. */
struct scrub_whole {
	const struct dev *dev;
	struct dev *logged;
};

/** scrub_repair.c, scrub_plan.c: what it takes to write. */
struct scrub_repair {
	bool parity;
	bool force;
	struct map_md_guard *guard; /* NULL: nobody keeps records of this array */
	struct keep *keep;	    /* likewise */
	struct dev_undo *undo;
	struct scrub_logged *logged; /* by slot */
	VEC(struct dev *) owned;     /* of them */
	VEC(struct scrub_whole) wholes;
	bool written; /* something, since the last flush */
	size_t item;  /* finding that is looked at, and how much of it was */
	uint64_t item_done_bytes;
	uint64_t position_bytes;
	uint64_t total_bytes;
	uint64_t repaired_bytes;
	uint64_t left_bytes; /* that still do not fit, or cannot be read */
	int broken;	     /* a write or a flush failed: nothing more is written */
};
/** One step. */
int scrub_repair_step(struct blkalign_scrub *scrub, struct blkalign_error *reterr);
/** All but the connection to a run. */
int scrub_repair_begin(struct blkalign_scrub *scrub, const struct blkalign_scrub_repair_options *options, struct blkalign_error *reterr);
void scrub_repair_done(struct scrub_repair *repair);
/** scrub_logged.c: open `logged` of all members. -ENOTSUP for one that lies on neither files nor disks. */
int scrub_open_logged(struct blkalign_scrub *scrub, struct blkalign_error *reterr);

struct blkalign_scrub {
	struct md_view view;
	const struct blkalign_node *node; /* NULL in a scrub without a run */
	struct blkalign_run *run;
	VEC(struct byte_range) doubtful;
	struct workers *workers;
	struct scrub_worker worker[WORKERS_MAX];
	struct walk walk; /* in sync bytes */
	struct scrub_list list;
	uint64_t read_bytes;
	uint64_t mismatch_sectors512;
	uint64_t unreadable_bytes;
	uint64_t lost_bytes;
	uint64_t uncompared_bytes;

	struct scrub_repair *repair; /* NULL: checking */
};

/** A scrub of `view` (copied): all but the connection to a run. */
int scrub_start(const struct md_view *view, const struct blkalign_scrub_options *options, struct blkalign_scrub **ret_scrub,
		struct blkalign_error *reterr);
/** scrub_walk.c: check for about a tenth of a second. 0, BLKALIGN_SCRUB_DONE, or negative errno. */
int scrub_round(struct blkalign_scrub *scrub, struct blkalign_error *reterr);

/** What a state says of the array that it is of. */
struct scrub_identity {
	const char *uuid; /* NULL: not known */
	uint64_t events;
	const char *level;
};
/** scrub_state.c. -EBADMSG for what is no state, -ESTALE for the state of something else. */
int scrub_state_write(const struct blkalign_scrub *scrub, const struct scrub_identity *identity, char **ret_text);
int scrub_state_read(struct blkalign_scrub *scrub, const struct scrub_identity *identity, const char *text, struct blkalign_error *reterr);

#endif
