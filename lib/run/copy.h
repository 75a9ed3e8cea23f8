/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What the parts of a copy know of each other. Inside of lib/run/. */
#ifndef RUN_COPY_H
#define RUN_COPY_H

#include <blkalign/copy.h>

#include "format/ddrescue/ddrescue.h"
#include "run/run.h"

#define COPY_UNIT_BYTES	  (4 * MIB)  /* read at once */
#define COPY_PIECE_BYTES  (64 * KIB) /* of a unit that cannot be read at once; what cannot be read of those is tried again at the end */
#define COPY_HOLE_BYTES	  (64 * KIB) /* shorter runs of zeros are written with the data around them */
#define COPY_SECTOR_BYTES 512U	     /* the finest account */
#define COPY_SLOTS	  8U
#define COPY_THREADS_MAX  4U

/** A part of the node on its way from the readers to the writer. */
struct copy_unit {
	uint64_t offset_bytes;
	uint64_t length_bytes;
	bool zeros;    /* known without reading; may be longer than the buffer */
	bool lost;     /* likewise: nobody knows where it lies */
	uint8_t *data; /* COPY_UNIT_BYTES, owned by the slot */
	/** By sector, counted from offset_bytes: could not be read. Looked at when `bad_sectors` is not 0. */
	bool bad[COPY_UNIT_BYTES / COPY_SECTOR_BYTES];
	size_t bad_sectors;
	char bad_status; /* how these are accounted for */
	bool ready;
	int error; /* a failure that is not the disks' */
};

/** Readers run ahead of the writer by COPY_SLOTS units; units are handed out and taken in order. */
struct copy_pipe {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t threads[COPY_THREADS_MAX];
	unsigned threads_count;
	struct copy_unit slots[COPY_SLOTS];
	uint64_t handed_out; /* units */
	uint64_t taken;
	uint64_t next_bytes;	   /* of the node */
	uint64_t data_until_bytes; /* up to there no holes are known */
	bool no_more;		   /* nothing is left to hand out */
	bool stop;
	bool made; /* mutex and condition are there */
};

struct blkalign_copy {
	struct blkalign_run *run;
	struct dev *from;
	uint64_t begin_bytes; /* of the node */
	uint64_t end_bytes;
	struct dev *to; /* NULL: stream */
	int stream_fd;
	bool to_is_zeros; /* what is not written reads as zeros */
	uint64_t sector_bytes;
	struct ddrescue_map map;    /* the writer's */
	struct byte_range *untried; /* what the first pass reads: does not change while readers run */
	size_t untried_count;
	struct copy_pipe pipe;
	uint8_t *again;	      /* COPY_PIECE_BYTES */
	uint64_t again_bytes; /* the second pass has come so far */
	struct blkalign_copy_progress progress;
	bool done;
};

/** Start the readers. */
int copy_pipe_start(struct blkalign_copy *copy);
/** The next unit in order; NULL when there are no more. It is given back by copy_pipe_give_back() before the next is taken. */
struct copy_unit *copy_pipe_take(struct blkalign_copy *copy);
void copy_pipe_give_back(struct blkalign_copy *copy);
void copy_pipe_stop(struct blkalign_copy *copy);

/**
 * Read [offset, offset + length) in steps of `step_bytes`, all in one batch; `bad` (by COPY_SECTOR_BYTES) says what could not be read. Returns the number of bad
 * sectors, or negative errno for failures that are not the disks'.
 */
int64_t copy_read_pieces(const struct blkalign_copy *copy, uint64_t offset_bytes, uint64_t length_bytes, uint64_t step_bytes, void *data,
			 bool *bad);
/**
 * Whether nobody knows where byte `at` lies, nor those behind it; *length is cut to these. A damaged map may be silent on terabytes at once, which would be tried in vain
 * sector by sector.
 */
bool copy_known_lost(const struct blkalign_copy *copy, uint64_t at, uint64_t *length);
/** A failure of the disks, which reading elsewhere may not have. */
bool copy_is_unreadable(int error);

/** Write what was read of a unit, and account for it. */
int copy_write_unit(struct blkalign_copy *copy, const struct copy_unit *unit, struct blkalign_error *reterr);
/** Account for [offset, offset + length) of the node. */
int copy_account(struct blkalign_copy *copy, uint64_t offset_bytes, uint64_t length_bytes, char status);

#endif
