/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** The LVM layer in three files: what was found (layer_lvm.c), which copy is believed (lvm_assemble.c), and its volumes as nodes (lvm_volumes.c). */
#ifndef STACK_LVM_H
#define STACK_LVM_H

#include "format/lvm2/lvm2.h"
#include "stack/layers.h"

#define LVM_NO_GROUP SIZE_MAX
/** Of all texts of a host: 128 PVs with texts of 4 MiB. Labels can claim the same text a thousand times. */
#define LVM_TEXTS_MAX (512 * MIB)

/** What one metadata area of a PV was found to hold. */
struct lvm_copy {
	uint64_t area_bytes; /* where the area begins */
	uint64_t seqno;
	uint32_t checksum;
	const char *word; /* "damaged", "torn", "foreign", ...; NULL: a text of the PV's group */
};

/** A label that was found. */
struct lvm_pv {
	struct blkalign_node *node; /* of kind PV */
	struct blkalign_node *host;
	struct dev *dev;
	char id[LVM2_ID_LENGTH + 1];
	struct lvm_copy copies[LVM2_AREAS_MAX];
	unsigned copy_count;
	unsigned areas_used;	  /* not ignored */
	uint64_t area_size_bytes; /* of the smallest; or BLKALIGN_UNKNOWN */
	uint64_t area_free_bytes; /* likewise */
	bool in_use;		  /* the label says that a volume group has it */
	struct lvm2_area bootloader;
	uint64_t metadata_end_bytes; /* of the last metadata area in front of the data; 0: none */
	size_t group;		     /* whose text it carries, or LVM_NO_GROUP */
	uint64_t seqno;		     /* of that text */
};

/** A volume group: the freshest text seen of it. */
struct lvm_group {
	struct lvm2_vg *vg;
	const char *found_on; /* name of the node that carries it */
	uint64_t area_bytes;  /* where on that its metadata area begins */
	uint32_t checksum;
	size_t length;
	bool contradicted; /* another text bears the same sequence number */
	bool waited;	   /* for PVs that may still appear, while the graph had `graph_size` nodes */
	bool built;
	size_t graph_size;
};

struct lvm_thin_pool;
struct lvm_mirror_guard;

struct lvm_state {
	VEC(struct lvm_pv) pvs;
	VEC(struct lvm_group) groups;
	uint64_t texts_bytes;			/* read so far */
	bool texts_refused;			/* and told */
	VEC(struct lvm_thin_pool *) thin_pools; /* metadata of pools, for the volumes in them */
	VEC(struct lvm_mirror_guard *) mirrors;
	VEC(struct dev *) parts; /* devices of volumes that are parts of others: read through, not looked into */
};

/** Note the committed text of `mda`, which `pv` carries; its checksum tells equal texts. What is wrong with it becomes a remark. */
int lvm_note_text(struct stack *stack, struct lvm_state *state, struct lvm_pv *pv, const struct lvm2_mda *mda, const char *text,
		  size_t length);
/** Facts about a PV, whether or not it has a group. */
int lvm_describe_label(const struct lvm_pv *pv);
/** Facts about the group, and each PV's part in it, on the nodes of `pvs`: as lvm_add_volumes() has them. */
int lvm_describe_group(const struct lvm_group *group, const struct lvm_pv *const *pvs);
/** Build the groups that are complete, and those for which nothing more is to be waited for. */
int lvm_assemble(struct stack *stack, struct lvm_state *state, bool *ret_progress);
/** Nodes for all volumes. `pvs` has one entry for each of vg->pvs, NULL where it is missing. */
int lvm_add_volumes(struct stack *stack, struct lvm_state *state, const struct lvm2_vg *vg, const struct lvm_pv *const *pvs);
/** "exported", "partial", ...: the words of VG_STATE, empty when there is nothing to say. */
void lvm_group_words(const struct lvm2_vg *vg, bool partial, char ret[64]);

#endif
