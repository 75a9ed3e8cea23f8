/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Creating LVM2 physical volumes, volume groups and logical volumes, aligned by construction, on disks, image files, and the arrays and partitions that lie on them.
 *
 * Two steps. blkalign_create_pv(), _vg() and _lv() open everything for reading only and make a plan: exact writes, in order, each with its reason. blkalign_create_apply() opens the
 * same devices for itself alone, makes sure that each place still holds what it held, writes, flushes, reads back and looks at the stack once more. A power cut at any point leaves the old
 * or the new state on every physical volume.
 *
 * Threads: one at a time for each plan.
 */
#ifndef BLKALIGN_CREATE_H
#define BLKALIGN_CREATE_H

#include <blkalign/source.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkalign_create;

struct blkalign_create_options {
	struct blkalign_source_options source;
	/** Nodes of the stack that the paths make: arrays, partitions. None: the paths themselves are meant. */
	const char *const *nodes;
	size_t node_count;
	const char *command; /**< what was asked for, stored in the metadata; NULL: "blkalign" */
};

/** 0 and BLKALIGN_UNKNOWN, as said, stand for the default. */
struct blkalign_create_pv_options {
	uint64_t data_alignment_bytes;	      /**< 0: by the rule in doc/pe-start.md */
	uint64_t data_alignment_offset_bytes; /**< BLKALIGN_UNKNOWN: likewise */
	uint64_t metadata_bytes;	      /**< of each area; 0: what fits before 1 MiB */
	unsigned metadata_copies;	      /**< areas: 0, 1 or 2 */
	bool force;			      /**< overwrite what is there, and misalign when asked to */
};
struct blkalign_create_vg_options {
	const char *name;
	uint64_t extent_bytes; /**< 0: 4 MiB */
};
struct blkalign_create_lv_options {
	const char *vg;
	const char *name; /**< NULL: the next free lvolN */
	const char *type; /**< linear, striped, raid1, raid4, raid5, raid6, raid10; NULL: by stripes and mirrors */
	/** Or 0 and `extents`: "N", or an upper limit for all physical extents that are taken: "N%FREE", "N%VG", "N%PVS" */
	uint64_t size_bytes;
	const char *extents;
	uint32_t stripes;      /**< areas that hold different data; 0: the type's default */
	uint64_t stripe_bytes; /**< 0: 64 KiB */
	uint32_t mirrors;      /**< copies beside the first; UINT32_MAX: the type's default */
};

/**
 * Plan a physical volume on each of the paths or nodes. -EEXIST when one holds something and it is not forced, -EBUSY when it is in use by an array or volume group, -ENOSPC, -EINVAL. Nothing is
 * written.
 */
BLKALIGN_API int blkalign_create_pv(const struct blkalign_create_options *options, const struct blkalign_create_pv_options *pv,
				    const char *const *paths, size_t count, struct blkalign_create **ret_create,
				    struct blkalign_error *reterr);
/** Plan a volume group of the physical volumes on the paths or nodes. */
BLKALIGN_API int blkalign_create_vg(const struct blkalign_create_options *options, const struct blkalign_create_vg_options *vg,
				    const char *const *paths, size_t count, struct blkalign_create **ret_create,
				    struct blkalign_error *reterr);
/** Plan a logical volume in a volume group whose physical volumes are all on the paths; without paths: on the devices of this machine. `options->nodes` is not used. */
BLKALIGN_API int blkalign_create_lv(const struct blkalign_create_options *options, const struct blkalign_create_lv_options *lv,
				    const char *const *paths, size_t count, struct blkalign_create **ret_create,
				    struct blkalign_error *reterr);
/** NULL is accepted. */
BLKALIGN_API void blkalign_create_free(struct blkalign_create *create);

/** One of the planned writes. Strings live as long as the plan. */
struct blkalign_create_write {
	const char *node; /**< raw bytes: escape before printing */
	uint64_t offset_bytes;
	uint64_t length_bytes;
	const void *data;
	bool zeros;
	unsigned step; /**< ascending: all of a step is durable before the next one begins */
	const char *reason;
};
BLKALIGN_API size_t blkalign_create_writes(const struct blkalign_create *create);
BLKALIGN_API void blkalign_create_write(const struct blkalign_create *create, size_t index, struct blkalign_create_write *ret);
/** Sentences about what was chosen and why, safe for a terminal; `*ret_detail`: for those who ask for details. NULL behind the last one. */
BLKALIGN_API const char *blkalign_create_word(const struct blkalign_create *create, size_t index, bool *ret_detail);

/**
 * Carry the plan out, once. What is overwritten is saved to the new file `undo_path` first (blkalign_undo_apply()), unless it is NULL. -ESTALE, and nothing is written, when a device has changed since
 * the plan was made; -EBUSY, saying who, when somebody has one. On any failure after the first write the stack is in the old or the new state.
 */
BLKALIGN_API int blkalign_create_apply(struct blkalign_create *create, const char *undo_path, struct blkalign_error *reterr);

#ifdef __cplusplus
}
#endif
#endif
