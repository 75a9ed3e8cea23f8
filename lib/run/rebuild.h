/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The inside of a rebuild: what a member that an array lacks must hold, computed from the others and written. */
#ifndef RUN_REBUILD_H
#define RUN_REBUILD_H

#include <blkalign/rebuild.h>

#include "run/md_view.h"
#include "run/walk.h"
#include "run/workers.h"

#define REBUILD_TARGETS_MAX 2U

struct keep;

/** A member that is being rebuilt. Below `valid_bytes` it is. */
struct rebuild_target {
	struct blkalign_rebuild_target told;
	char *path;
	char *found;	 /* what was on it, for told.overwrites */
	bool same_array; /* its superblock names this array */
	struct dev *dev;
	struct dev *meta;  /* what its records lie on, when that is another one */
	struct dev *owned; /* the same, when it is not a member of the open stack */
	uint64_t data_offset_bytes;
	struct byte_range *lacks; /* of a former member: owned; sync bytes, ascending */
	size_t lacks_count;
};

struct rebuild_worker {
	const struct blkalign_rebuild *rebuild;
	size_t block_bytes;
	uint32_t lanes; /* parity: slots; mirrors: 1 */
	uint8_t *memory;
	uint8_t **blocks;
	bool *has;
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t mismatch_sectors512;
	uint64_t unreadable_bytes;
	int error;
	struct blkalign_error why;
};
int rebuild_worker_init(struct rebuild_worker *worker, const struct blkalign_rebuild *rebuild);
void rebuild_worker_done(struct rebuild_worker *worker);
/** Bytes of the members' data areas. */
void rebuild_unit(struct rebuild_worker *worker, uint64_t at, uint64_t length_bytes);
/** Whether something is lacking in the range of sync bytes. */
bool rebuild_lacks(const struct blkalign_rebuild *rebuild, uint64_t sync_bytes, uint64_t length_bytes);
/** The same unit for all threads. */
uint64_t rebuild_unit_bytes(const struct blkalign_rebuild *rebuild, uint64_t at);

struct blkalign_rebuild {
	struct md_view view;
	struct rebuild_target targets[REBUILD_TARGETS_MAX];
	size_t target_count;
	struct blkalign_run *run;
	const struct blkalign_node *node;
	struct keep *keep;
	bool volume; /* of LVM: targets are PVs on which its images lie */
	/** With `by_bitmap` only these ranges lack something, in sync bytes, ascending. */
	bool by_bitmap;
	struct byte_range *ranges;
	size_t range_count;

	struct workers *workers;
	struct rebuild_worker worker[WORKERS_MAX];
	struct walk walk; /* in bytes of the data area */
	uint64_t checkpoint_bytes;
	uint64_t recorded_bytes; /* what the superblocks say */
	uint64_t recorded_ns;
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t mismatch_sectors512;
	uint64_t unreadable_bytes;
	bool done;  /* the members are in sync */
	int broken; /* a write or a flush failed: nothing more is recorded */
};

/** All but the connection to a run: `view` and `targets` are set. */
int rebuild_start(struct blkalign_rebuild *rebuild, const struct blkalign_rebuild_options *options, struct blkalign_error *reterr);

/** Record how far it is, unless a step failed. */
int rebuild_checkpoint(struct blkalign_rebuild *rebuild, struct blkalign_error *reterr);
void rebuild_stop(struct blkalign_rebuild *rebuild);

/** rebuild_volume.c: what becomes of the images of a RAID volume on the targets, in a run with all PVs. */
int rebuild_find_images(struct blkalign_rebuild *rebuild, struct blkalign_error *reterr);

/** rebuild_target.c: what lies on a target before it is used. */
struct rebuild_candidate {
	bool same_array; /* it carries a superblock of this array */
	char *found;	 /* "ext4, LVM2_member, ..."; NULL when there is nothing; freed by the caller */
	uint64_t size_bytes;
};
int rebuild_look(const struct blkalign_source_options *options, const char *path, const char *array_uuid, struct rebuild_candidate *ret,
		 struct blkalign_error *reterr);

#endif
