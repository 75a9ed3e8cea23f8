/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * RAID volumes of LVM. Their images are members of an md array whose superblocks lie on volumes of their own, so that they are put together by what md arrays are: lvm_raid_legs.c makes
 * members of images and their raid metadata, md.h chooses among them. lvm_raid_shape.c tells what shape the volume has while lvm2 and the kernel change it. Rules: the kernel's drivers/md/dm-raid.c, analyse_superblocks(), super_init_validation().
 */
#ifndef STACK_LVM_RAID_H
#define STACK_LVM_RAID_H

#include "format/dmraid/dmraid.h"
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

/** What a superblock says of the volume, held against the volume group's metadata. */
enum lvm_raid_word {
	LVM_RAID_WORD_NONE,	 /* something that does not fit it */
	LVM_RAID_WORD_SAME,	 /* the same */
	LVM_RAID_WORD_RESHAPING, /* a reshape to that shape is under way */
	LVM_RAID_WORD_OTHER,	 /* another shape of the same size: a conversion has not begun, or the kernel alone has ended it */
};

struct lvm_raid_shape {
	int32_t level;
	uint32_t layout;      /* as md numbers it */
	uint64_t chunk_bytes; /* raid1: 0 */
	uint32_t members;
};

struct lvm_leg {
	enum lvm_leg_kind kind;
	enum lvm_raid_word word; /* of `super` */
	struct dmraid_superblock super;
	bool unfit;		    /* raid metadata is there, and cannot be used */
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
	bool undecided;	    /* none has one that can be used, but they have some: nothing is read */
	bool changed;	    /* LVM's metadata has another size or number of images than was last run with */
	/* by lvm_raid_choose_shape() */
	const struct dmraid_superblock *reference; /* the freshest one that counts; NULL: there is none */
	enum lvm_raid_word word;		   /* of it */
	struct lvm_raid_shape shape;		   /* the images' own: with RESHAPING the old one */
};

/** The shape that the volume group's metadata gives the volume. */
struct lvm_raid_shape lvm_raid_text_shape(const struct lvm_raid *raid);
/** What `superblock` says, or comes to. */
struct lvm_raid_shape lvm_raid_stored_shape(const struct dmraid_superblock *superblock);
struct lvm_raid_shape lvm_raid_coming_shape(const struct dmraid_superblock *superblock);
/** Shapes of mirrors are alike whatever their number of images. */
bool lvm_raid_alike(const struct lvm_raid_shape *a, const struct lvm_raid_shape *b);
/** Fill `word` of a leg whose `super` was read. 0 or -ENOMEM. */
int lvm_raid_hear(const struct lvm_raid *raid, struct lvm_leg *leg);
/** Whom to believe, of all legs. */
void lvm_raid_choose_shape(struct lvm_raid *raid);
/** Whether the leg's superblock was current when the reference was written: as fresh, or the power was cut before its turn came. */
bool lvm_raid_current(const struct lvm_raid *raid, const struct lvm_leg *leg);

/** Bytes that each image has of the volume; 0 when the volume does not divide. */
uint64_t lvm_raid_component(const struct lvm_raid *raid);
/** Read the raid metadata of all legs; what is wrong with one becomes a remark. `legs` and `members` are freed by lvm_raid_done(). 0 or -ENOMEM. */
int lvm_raid_read_legs(struct lvm_raid *raid);
void lvm_raid_done(struct lvm_raid *raid);

#endif
