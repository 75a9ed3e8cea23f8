/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A volume group that is being changed: shared by group.c, commit.c, vg.c, alloc.c and lv.c. */
#ifndef PLAN_LVM_H
#define PLAN_LVM_H

#include "plan/plan.h"

#define LVM_EXTENT_DEFAULT (4 * MIB)

struct group_pv {
	struct plan_place place; /* the device that carries the label */
	struct lvm2_label label;
	struct lvm2_mda mdas[LVM2_AREAS_MAX];
	unsigned mda_count;
	struct plan_grain grain;
};

struct group {
	const char *name;
	struct lvm2_vg *vg; /* as it is; NULL for one that is being made */
	struct lvm2_edit *edit;
	struct group_pv *pvs; /* in the order of vg->pvs */
	size_t count;
};
void group_done(struct group *g);
#define _cleanup_group_ _cleanup_(group_done)

/** Label and area headers of the device at `place`. */
int group_read_pv(const struct plan_place *place, struct group_pv *ret, struct blkalign_error *reterr);
/** The group `name` of the stack, whole and ours to change; otherwise -ENOENT, -EINVAL, -EBUSY, -ENODEV with the reason. */
int group_open(struct stack *stack, const struct plan_facts *facts, const char *name, struct group *ret, struct blkalign_error *reterr);
/** Write the text of `g->edit` with `seqno` to all areas in use, so that a cut leaves the old or the new one in each. */
int group_commit(struct plan *plan, struct group *g, uint64_t seqno, const struct plan_author *author, struct blkalign_error *reterr);

/* --- room --- */

/** Extents of a PV. */
struct run {
	uint32_t pv;
	uint64_t extent;
	uint64_t count;
};
typedef VEC(struct run) runs_t;

/** Free runs of all PVs, ascending by PV, then extent. */
int free_runs(const struct lvm2_vg *vg, runs_t *ret);
uint64_t runs_total(const runs_t *runs);
uint64_t runs_total_of(const runs_t *runs, uint32_t pv);
/** Take [extent, extent + count) of `pv`, which is free, out of `runs`. */
int runs_take(runs_t *runs, const struct run *taken);
/**
 * `count` extents of `pv` (UINT32_MAX: of any, in order), appended to `out` and taken from `runs`: one run that begins on a stripe of what is below, else one run, else
 * pieces, first of them the longest that begins on a stripe. -ENOSPC when there are not enough.
 */
int runs_allocate(const struct group *g, runs_t *runs, uint32_t pv, uint64_t count, runs_t *out);
/** Whether the extent begins on a stripe of what is below its PV; true where none is proven. */
bool on_stripe(const struct group *g, uint32_t pv, uint64_t extent);

#endif
