/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * New layouts as exact writes: what goes where, in which order, instead of what, and why. Nothing here writes; lib/apply carries a plan out.
 *
 * A plan names devices by the nodes of a stack, which may be opened for reading only while it is made, and again for writing when it is carried out: that nothing has changed in
 * between is seen by what each place held. Functions return 0 or negative errno; a plan in which one failed is of no use. Threads: one at a time.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "check/check.h"
#include "format/lvm2/lvm2.h"
#include "stack/stack.h"

/** The largest single write: what is longer is no metadata. */
#define PLAN_WRITE_MAX LVM2_TEXT_MAX

struct plan_write {
	const char *node; /* whose device is written */
	uint64_t offset_bytes;
	size_t length_bytes;
	const uint8_t *data;
	const uint8_t *before; /* what it holds before this write */
	const char *reason;    /* a phrase: "header of the metadata area: the new text is the committed one" */
	unsigned step;	       /* ascending; everything of a step is flushed on its devices before the next one begins */
};

/** A sentence: what was chosen, and why. */
struct plan_word {
	const char *text;
	bool detail; /* for those who ask */
};

struct plan {
	struct arena *arena;
	VEC(struct plan_write) writes;
	VEC(struct plan_word) words;
	unsigned step;
};

int plan_new(struct plan **ret_plan);
void plan_free(struct plan *plan);
static inline void plan_freep(struct plan **plan) { plan_free(*plan); }
#define _cleanup_plan_ _cleanup_(plan_freep)

/** A device of the stack. */
struct plan_place {
	const struct blkalign_node *node;
	struct dev *dev;
};
/**
 * Write `length` bytes (copied; NULL: zeros), of which those at the ends that are there already are left out in whole sectors. `reason` is copied. -ERANGE outside of the
 * device, -E2BIG beyond PLAN_WRITE_MAX.
 */
int plan_write(struct plan *plan, const struct plan_place *place, uint64_t offset_bytes, const void *data, size_t length_bytes,
	       const char *reason, struct blkalign_error *reterr);
/** Change `bytes`, which are those of the place of `w`, as the writes from `first` up to `end` (excluded) do. */
void plan_overlay(const struct plan *plan, size_t first, size_t end, const struct plan_write *w, uint8_t *bytes);
/** What follows comes after all that was planned so far is durable. */
void plan_flush(struct plan *plan);
/** One sentence, which names what it is about first. */
int plan_say(struct plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Likewise, for those who ask for details. */
int plan_explain(struct plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Who signs the metadata, and when. */
struct plan_author {
	const char *command; /* the description in the text: what was asked for */
	const char *host;
	const char *system; /* for a comment */
	uint64_t unix_time;
};

/* --- boundaries below a device --- */

/** What data on a device should begin at, and why. */
struct plan_grain {
	uint64_t physical_bytes;
	uint64_t physical_first_bytes; /* byte of the device where the first physical block begins, below physical_bytes */
	uint64_t stripe_bytes;	       /* 0: none is proven */
	uint64_t stripe_first_bytes;   /* below stripe_bytes */
};
/** A disk of the stack, and what the running system knows of it. */
struct plan_twin {
	const struct blkalign_node *node, *live;
};
/** By what devices are judged: the nodes of the stack, and better what the kernel says where they are block devices of this machine. */
struct plan_facts {
	struct check *stack;
	struct check *live; /* or NULL */
	const struct plan_twin *twins;
	size_t twin_count;
};
/** The node that stands for `node` of the stack, and whose facts it belongs to. */
const struct blkalign_node *plan_judged(const struct plan_facts *facts, const struct blkalign_node *node, struct check **ret_check);
/** Of `node` as `c` believes it; says into `plan` (may be NULL) which hints are ignored and why. 0 or negative errno. */
int plan_grain(struct check *c, const struct blkalign_node *node, struct plan *plan, struct plan_grain *ret);

struct plan_pv_options {
	uint64_t data_alignment_bytes;	      /* 0: by the rule */
	uint64_t data_alignment_offset_bytes; /* BLKALIGN_UNKNOWN: by the rule */
	uint64_t metadata_bytes;	      /* 0: what fits before 1 MiB */
	unsigned metadata_copies;	      /* 0 to 2 */
	bool force;			      /* also misaligned, and over what is there */
};
struct plan_pe_start {
	uint64_t pe_start_bytes;
	uint64_t align_bytes;
	uint64_t offset_bytes;
};
/**
 * The one rule for where the first extent goes: doc/pe-start.md. -EINVAL, with the reason, when what was asked for would put data across blocks or stripes and is not forced, or
 * contradicts itself.
 */
int plan_pe_start(struct plan *plan, struct check *c, const struct blkalign_node *node, const struct plan_pv_options *options,
		  struct plan_pe_start *ret, struct blkalign_error *reterr);

/* --- LVM2 --- */

/** A new PV. -EEXIST when there is something on the device and it is not forced, -EBUSY when it belongs to a volume group, -ENOSPC when it is too small. */
int plan_pv(struct plan *plan, const struct plan_facts *facts, const struct plan_place *place, const struct plan_pv_options *options,
	    struct blkalign_error *reterr);

/** Whether it is a member only of arrays that cannot be read with what else is there. */
bool plan_is_left_over(const struct blkalign_node *member);

struct plan_vg_options {
	const char *name;
	uint64_t extent_bytes; /* 0: 4 MiB */
};
/** A volume group of the PVs on `places`. `stack`: whose names must not be taken. */
int plan_vg(struct plan *plan, struct stack *stack, const struct plan_facts *facts, const struct plan_place *places, size_t count,
	    const struct plan_vg_options *options, const struct plan_author *author, struct blkalign_error *reterr);

struct plan_lv_options {
	const char *vg;
	const char *name;    /* NULL: the next lvolN */
	const char *type;    /* "linear", "striped", "raid1", "raid4", "raid5", "raid6", "raid10"; NULL: by stripes and mirrors */
	uint64_t size_bytes; /* 0: `extents` counts */
	uint64_t extents;    /* or, with `percent`, hundredths of it */
	enum plan_percent { PLAN_EXTENTS, PLAN_PERCENT_FREE, PLAN_PERCENT_VG } percent;
	uint32_t stripes;      /* data areas; 0: the type's default */
	uint64_t stripe_bytes; /* 0: 64 KiB */
	uint32_t mirrors;      /* copies beside the first; UINT32_MAX: the type's default */
	uint64_t region_bytes; /* 0: 2 MiB */
};
/** A volume in the group `options->vg` of the stack. `*ret_name` ("vg/lv") lives as long as the plan. */
int plan_lv(struct plan *plan, struct stack *stack, const struct plan_facts *facts, const struct plan_lv_options *options,
	    const struct plan_author *author, const char **ret_name, struct blkalign_error *reterr);

#endif
