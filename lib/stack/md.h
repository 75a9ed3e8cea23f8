/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * md arrays: superblocks of both formats in one struct, the choice of members, and the array's node with its edges. Facts about choosing are those of
 * mdadm --assemble (Assemble.c) and the kernel (drivers/md/md.c, analyze_sbs(), super_1_validate(), super_90_validate()).
 */
#ifndef STACK_MD_H
#define STACK_MD_H

#include "map/map.h"
#include "raid/raid.h"
#include "stack/stack.h"

struct keep_array;
struct keep_member;
struct keep_patch;

enum md_role_kind { MD_ROLE_SLOT, MD_ROLE_SPARE, MD_ROLE_FAULTY, MD_ROLE_JOURNAL };

#define MD_METADATA_DMRAID "dm-raid"

struct md_role {
	enum md_role_kind kind;
	uint32_t slot; /* MD_ROLE_SLOT */
};

/** What became of a member. */
enum md_fate {
	MD_FATE_BEHIND,	     /* it lacks what the freshest has */
	MD_FATE_USED,	     /* it has its slot, in whole or in part */
	MD_FATE_SPARE,	     /* also a journal that is current */
	MD_FATE_FAULTY,	     /* the freshest records it as failed */
	MD_FATE_REMOVED,     /* the freshest does not know it any more */
	MD_FATE_SPLIT,	     /* it and the freshest record each other as failed */
	MD_FATE_DOUBLED,     /* another one is the same member */
	MD_FATE_CONTRADICTS, /* its superblock describes another array than the freshest does */
};

/** A superblock on a device: what it says of the array, and what of this member. Sizes and offsets are bytes. */
struct md_member {
	struct blkalign_node *host;
	struct dev *dev;      /* that has the data */
	struct dev *records;  /* that has superblock and bitmap: the same one, but for dm-raid */
	size_t order;	      /* of discovery */
	const char *metadata; /* "0.90", "1.0", "1.1", "1.2", MD_METADATA_DMRAID */

	/* of the array */
	uint8_t array_uuid[16];
	char name[33];		  /* raw bytes; empty for 0.90 */
	uint64_t preferred_minor; /* 0.90; else BLKALIGN_UNKNOWN */
	uint64_t created_seconds;
	int32_t level;
	uint32_t stored_layout;
	uint32_t layout; /* raid0: RAID0_UNRECORDED where stored_layout does not count */
	uint64_t component_bytes;
	uint64_t chunk_bytes;
	uint32_t raid_disks; /* during a reshape the new number */
	uint64_t events;
	uint64_t resync_bytes; /* UINT64_MAX: clean */
	bool reshaping;
	bool reshape_backwards;
	uint64_t reshape_position_bytes;
	int32_t delta_disks;
	int32_t new_level;
	uint32_t new_layout;
	uint64_t new_chunk_bytes;
	uint32_t logical_block_bytes; /* 0: not stored */
	const char *bitmap;	      /* "none", "internal", "lockless", "clustered" */
	uint64_t bitmap_chunk_bytes;  /* 0: not known */
	uint64_t bitmap_at_bytes;     /* on the member; BLKALIGN_UNKNOWN: none that can be read */
	struct md_role *roles;	      /* of all members by device number, `roles_count` of them */
	uint32_t roles_count;

	/* of this member */
	uint64_t features; /* feature_map; BLKALIGN_UNKNOWN for 0.90 */
	uint32_t dev_number;
	uint8_t device_uuid[16]; /* zeros for 0.90 */
	struct md_role role;	 /* by its own superblock */
	uint64_t super_bytes;
	uint64_t data_offset_bytes;
	uint64_t new_data_offset_bytes; /* while reshaping, where the new shape's data begins; else as data_offset_bytes */
	uint64_t data_bytes;
	uint64_t recovery_bytes;     /* in sync below; UINT64_MAX: wholly */
	uint64_t journal_tail_bytes; /* of a write journal, from the data offset; else UINT64_MAX */
	struct byte_range *bad;
	size_t bad_count;
	bool replacement, write_mostly, failfast, vendor_error, big_endian, journal, ppl, clustered;
	uint64_t fresh_region_bytes; /* dm-raid: no records were ever written; else 0 */
	bool bitmap_damaged;	     /* it has one, by the superblock, that cannot be read */
	/** The superblock lies at the end, and a partition of this device covers it: it may be the partition's own. */
	bool maybe_partition;

	/* chosen by md_choose() */
	enum md_fate fate;
	uint32_t slot;	   /* BLKALIGN_SLOT_NONE without part in the array's data */
	const char *state; /* of the edge; static */
};

void md_member_free(struct md_member *member);
static inline void md_member_freep(struct md_member **member) { md_member_free(*member); }
#define _cleanup_md_member_ _cleanup_(md_member_freep)

/**
 * The superblock of `dev`. Of several valid ones the youngest array's is taken, as mdadm does, and the others are told. BLKALIGN_NOT_THIS when there is none;
 * damaged ones are told. Strange fields are told as well.
 */
int md_member_read(struct stack *stack, struct blkalign_node *host, struct dev *dev, struct md_member **ret_member);

/** Members with one array UUID, and what became of them. */
struct md_array {
	struct md_member **members; /* borrowed, in order of discovery */
	size_t count;
	struct md_member *freshest;
	struct md_member *journal;    /* current one, or NULL */
	uint32_t slots_count;	      /* during a reshape the larger number */
	struct md_member **slots;     /* owned array; NULL: missing */
	struct md_member **replacers; /* owned array; replacements by slot */
	struct md_member *rival;      /* of the other half, when both halves could be the array: then nothing is believed. Else NULL */
	uint32_t degraded;	      /* slots without a member that is wholly in sync */
	uint32_t missing;	      /* slots without a member, or a replacement of it */
	bool log_whole;		      /* dirty, but its partial parity log tells what was under way */
	bool journal_lost;	      /* it has a write journal that could not be replayed */
	uint32_t doubled;	      /* slots that two devices claim */
	bool failed;		      /* more is missing than redundancy replaces */
	bool dirty;		      /* any current member says so; never without redundancy */
	uint64_t resync_bytes;	      /* dirty: in sync below, by the member that says least */
	bool rebuilding;
	bool never_synced; /* all of it is doubtful, whatever the records say */
	/* by md_find_doubtful(): where redundancy may not fit the data, ascending; bytes of the data areas, raid10: of the array */
	struct byte_range *doubtful; /* owned */
	size_t doubtful_count;
	size_t doubtful_room;
	uint64_t doubtful_bytes;
	uint64_t bitmap_dirty_bytes; /* BLKALIGN_UNKNOWN without a bitmap that counts */
};
void md_array_done(struct md_array *array);
#define _cleanup_md_array_ _cleanup_(md_array_done)

/** Find the freshest member, give every member its fate, slot and state. Tells nothing: see md_array_say(). `count` is 1 at least. -ENOMEM. */
int md_choose(struct md_member **members, size_t count, struct md_array *ret);
/** All slots are taken. */
bool md_array_complete(const struct md_array *array);
/** "it reports the freshest as failed": what a member's own records say against it. */
bool md_accuses(const struct md_member *by, const struct md_member *of);

/** An array that is being reshaped has two shapes. */
enum md_which_shape { MD_SHAPE_NEW, MD_SHAPE_OLD };
/** Geometry of the array; without a reshape both shapes are the same. -EINVAL with the reason where it cannot be known. */
int md_array_geometry(const struct md_array *array, enum md_which_shape which, struct raid_geometry *ret, struct blkalign_error *reterr);
/** Whether every byte can be had from the members in their slots. -ENOMEM. */
int md_array_survives(const struct md_array *array, bool *ret);

/** A write-intent bitmap: the set bits of all current copies together. */
struct md_bitmap {
	bool counts; /* there is a current one */
	uint64_t chunk_bytes;
	uint64_t covered_bytes;
	struct byte_range *ranges; /* owned; of set bits, ascending */
	size_t count;
};
/** Read it from the members in their slots. Copies that cannot be read, are older than the array or say that they are stale do not count. 0 or -ENOMEM. */
int md_bitmap_read(const struct md_array *array, struct md_bitmap *ret);

/** One more doubtful range, of any place. 0 or -ENOMEM. */
int md_add_doubtful(struct md_array *array, uint64_t begin_bytes, uint64_t end_bytes);
/** Fill the fields of `array` about doubtful ranges; those of a parity log were added before. 0 or -ENOMEM. */
int md_find_doubtful(struct md_array *array, const struct raid_geometry *g);

/** What logs would write, were the array started: pages of members and of the array. */
struct md_patches {
	struct map_patch *data; /* ascending; members: bytes of the data area */
	size_t count;
	size_t room;
};
struct md_replay {
	struct md_patches *members; /* by slot; NULL when nothing is to be replayed */
	uint32_t slots;
	struct md_patches array;   /* newer than what lies on the members, whose redundancy goes with the older bytes */
	struct keep_patch *parity; /* what the members' patches point to */
	size_t parity_count;
};
void md_replay_done(struct md_replay *replay);
#define _cleanup_md_replay_ _cleanup_(md_replay_done)
/** The write journal of `array`. -ENOENT without a current journal, -EIO and the like when it cannot be read to its end, with the reason in `reterr`. */
int md_replay_journal(const struct md_array *array, const struct raid_geometry *g, struct md_replay *ret, struct blkalign_error *reterr);

/** The partial parity logs of `array`, whose `log_whole` and doubtful ranges are set by it. 0 or negative errno with the reason. */
int md_replay_ppl(struct md_array *array, const char *name, const struct raid_geometry *g, struct md_replay *ret,
		  struct blkalign_error *reterr);
/** Members in their slots and spares, as lib/keep wants them; `*ret_members` is freed by the caller. Fills but name and geometry. 0 or -ENOMEM. */
int md_list_keep_members(const struct md_array *array, struct keep_member **ret_members, struct keep_array *ret);

/**
 * In a writable stack: the records of `node`'s array, given to the stack, so that stack_keep() has them; or the reason why it is not to be written. `g` is its geometry,
 * NULL when that is not known. 0 or -ENOMEM.
 */
int md_array_keep(struct stack *stack, const struct blkalign_node *node, const struct md_array *array, const struct raid_geometry *g);

/** The device that reads the array and, when the stack has its records, writes it. Devices that it needs besides the members' belong to the stack. */
int md_array_open(struct stack *stack, const struct blkalign_node *node, const struct md_array *array, const struct md_replay *replay,
		  struct dev **ret_dev);

/** Add the array's node (or annotate the one that the live host shows), its edges, device and remarks. */
int md_array_add(struct stack *stack, struct md_array *array);

/** "md0", "md/data", ...: the name an administrator expects. `ret` holds 64 bytes. */
void md_array_name(const struct md_member *freshest, char ret[64]);

/** As mdadm and mdadm.conf write it: four groups of four bytes. */
void md_uuid_text(const uint8_t uuid[16], char ret[36]);

/** Attributes of `node` from the superblocks; what the node knows already (from sysfs) stays. `g` may be NULL. */
int md_array_annotate(struct blkalign_node *node, const struct md_array *array, const struct raid_geometry *g);
/** raid10: whether copies of different chunks share a place. What is known already stays. */
int md_set_overlap(struct blkalign_node *node, const struct raid_geometry *g);
/** What state it is in, also on the nodes of its members. While the kernel runs it, that is not for the superblocks to say. */
int md_array_set_state(struct stack *stack, struct blkalign_node *node, const struct md_array *array, const struct raid_geometry *g);
/** A sync of `node` has come so far. What is known already stays. */
int md_set_progress(struct blkalign_node *node, uint64_t done_bytes, uint64_t total_bytes, enum blkalign_origin origin);
/** Remarks about members that are missing, stale, doubled, and about what cannot be read. `why_unreadable` may be NULL. */
int md_array_say(struct stack *stack, const struct blkalign_node *node, const struct md_array *array, const struct raid_geometry *g,
		 const char *why_unreadable);

/** One edge of an array. */
struct md_link {
	const struct blkalign_node *lower;
	uint64_t data_offset_bytes; /* or BLKALIGN_UNKNOWN */
	uint32_t slot;
	const char *state;
	bool takes_part; /* its data area belongs to the map */
};
/**
 * Edges from `upper` to all `links`; a segment per zone for linear and raid0. `g` is NULL when the geometry is not known. -ELOOP when an edge would close a circle
 * or make the graph too deep: it is left out and told, the others are there.
 */
int md_connect(struct blkalign_graph *graph, const struct blkalign_node *upper, const struct md_link *links, size_t count,
	       const struct raid_geometry *g);

#endif
