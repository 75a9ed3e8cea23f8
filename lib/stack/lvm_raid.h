/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * RAID volumes of LVM. Their images are members of an md array whose superblocks lie on volumes of their own, so that they are put together by what md arrays are: lvm_raid_legs.c makes
 * members of images and their raid metadata, md.h chooses among them. Rules: the kernel's drivers/md/dm-raid.c, analyse_superblocks(), super_init_validation().
 */
#ifndef STACK_LVM_RAID_H
#define STACK_LVM_RAID_H

#include "stack/lvm_volumes.h"
#include "stack/md.h"

/** How an image takes part. */
enum lvm_leg_kind {
	LVM_LEG_MISSING, /* it, or its raid metadata, lies on a PV that is not there */
	LVM_LEG_FOUND,	 /* with a superblock that fits the volume */
	LVM_LEG_NEW,	 /* raid metadata that was never written */
	LVM_LEG_DAMAGED, /* told; not used */
	LVM_LEG_REBUILD, /* LVM has it marked to be filled anew; told; not used */
};

struct lvm_leg {
	enum lvm_leg_kind kind;
	struct blkalign_node *host; /* of the image */
	struct dev *image, *meta;
	struct md_member *member; /* NULL when it is none; owned */
	bool rebuild;		  /* LVM has it marked to be rebuilt */
	bool write_mostly;
};

struct lvm_raid {
	struct lvm_volumes *v;
	const struct lvm2_lv *lv;
	const struct lvm2_segment *segment;
	struct blkalign_node *node;
	struct lvm_leg *legs; /* by slot; owned */
	struct md_member **members;
	size_t count;
	bool never_started; /* no image has a superblock: the order of LVM's metadata is all there is */
	bool reshaping;	    /* nothing is read then */
	bool changed;	    /* LVM's metadata has another size or number of images than was last run with */
};

/** Bytes that each image has of the volume; 0 when the volume does not divide. */
uint64_t lvm_raid_component(const struct lvm_raid *raid);
/** Read the raid metadata of all legs; what is wrong with one becomes a remark. `legs` and `members` are freed by lvm_raid_done(). 0 or -ENOMEM. */
int lvm_raid_read_legs(struct lvm_raid *raid);
void lvm_raid_done(struct lvm_raid *raid);

#endif
