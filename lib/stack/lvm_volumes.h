/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What the files that make nodes of volumes share: lvm_volumes.c (names, attributes), lvm_edges.c, lvm_devices.c. */
#ifndef STACK_LVM_VOLUMES_H
#define STACK_LVM_VOLUMES_H

#include "map/map.h"
#include "stack/lvm.h"

struct lvm_dm_node {
	const char *uuid;
	struct blkalign_node *node;
};

/** What the records of a RAID volume say of one of its images. */
struct lvm_leg_fact {
	const char *state;	    /* of the edge; static */
	uint64_t data_offset_bytes; /* in the image, or BLKALIGN_UNKNOWN */
};

struct lvm_thin_pool;

struct lvm_volumes {
	struct stack *stack;
	struct lvm_state *state;
	const struct lvm2_vg *vg;
	const struct lvm_pv *const *pvs;
	char words[64];			   /* VG_STATE */
	struct blkalign_node **nodes;	   /* by lv */
	struct dev **devs;		   /* by lv; NULL where a plain read would not give the volume's bytes */
	bool *partial;			   /* by lv: a part of it lies on a PV that is missing */
	bool *whole;			   /* by lv: every part of the device is there */
	bool *merging;			   /* by lv: a snapshot is being merged into it */
	struct dev **bare;		   /* by lv: then, its own bytes, without those of the snapshot */
	struct lvm_thin_pool **thin_pools; /* by lv; NULL where it is none, or cannot be used */
	bool *referenced;		   /* by lv: others lie on it */
	const struct lvm_leg_fact *legs;   /* by slot, of the volume that is connected; NULL: not known */
	const char *group_refusal;	   /* why no volume of the group is to be written; static, or NULL */
	VEC(struct lvm_dm_node) dm;	   /* of a running machine, sorted by uuid */
	VEC(struct map_segment) segments;
	VEC(struct map_area) areas;
};

/** Data areas among which the kernel divides a segment; 1 when they do not take turns. */
uint32_t lvm_stripes(const struct lvm2_segment *segment);
/** Edges from `upper` to all that the volume lies on. */
int lvm_connect_all(struct lvm_volumes *v, struct blkalign_node *upper, const struct lvm2_lv *lv);
/** graph_connect(), but an edge that would close a circle is a remark. */
int lvm_connect(struct lvm_volumes *v, const struct blkalign_edge *edge);
/** Make the device of volume `index`, where a plain read gives the volume's bytes, and have it looked into unless it is a part of others. */
int lvm_set_device(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node);
/** A volume that the kernel's dm-raid runs with redundancy. */
bool lvm_is_raid(const struct lvm2_lv *lv);
/** The device of such a volume, facts and remarks about it; in a writable stack its records as well. *ret_dev stays NULL when it cannot be read. 0 or negative errno. */
int lvm_open_raid(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev);
/** `dev` is the content of volume `index`, to be looked into, and taken over; whether it may be written is decided here. */
int lvm_give_device(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev *dev);
/** The first reference of that role, or NULL. */
const struct lvm2_ref *lvm_find_ref(const struct lvm2_segment *segment, enum lvm2_role role);
/** What `lvs` knows of volume `index` besides its name, size and type. */
int lvm_describe_volume(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node);
/** Fill `referenced` and `group_refusal`. 0 or -ENOMEM. */
int lvm_find_referenced(struct lvm_volumes *v);
/** Why volume `index` is not to be written, or NULL. Static. */
const char *lvm_write_refusal(const struct lvm_volumes *v, uint32_t index);
/** Nothing but its own records, or those of volumes on it, speaks against writing, and there is an overlay, which is thrown away, to take the writes. */
bool lvm_is_laid_over(const struct lvm_volumes *v, uint32_t index);

#endif
