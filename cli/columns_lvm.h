/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Columns that pvs, vgs and lvs have and no attribute gives: worked out from attributes and edges. */
#ifndef CLI_COLUMNS_LVM_H
#define CLI_COLUMNS_LVM_H

#include "cli.h"

enum lvm_form {
	LVM_TEXT,
	LVM_NUMBER,
	LVM_BYTES, /* a size: read at a glance */
};

/** Text that is put together, cut to fit. */
struct lvm_text {
	char *text;
	size_t size, used;
};
void lvm_add(struct lvm_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** `text` comes from a disk. */
void lvm_add_safe(struct lvm_text *t, const char *text);
/** The name by which lvm2 calls the node: a volume's without its group, a PV's device. Raw. */
const char *lvm_name_of(const struct blkalign_node *node);

struct lvm_column {
	const char *key, *heading, *help;
	enum lvm_form form;
	enum blkalign_kind kind; /* of nodes that have a value; what is the group's is said of PVs and volumes */
	bool of_group;
	/* (value - less) * times; a column that is `text` has none */
	enum blkalign_attr value, less, times; /* BLKALIGN_ATTR_COUNT: not there */
	void (*text)(const struct blkalign_node *node, struct lvm_text *ret);
};

extern const struct lvm_column lvm_columns[];
extern const size_t lvm_columns_count;

/** By lvm2's rules: underscores may be left out, and so may the "lv_", "pv_", "vg_" or "seg_" in front. lvm_columns_count when there is none. */
size_t lvm_column_find(const char *name);
/** `key` is `name` by the same rules. */
bool lvm_is_called(const char *key, const char *name);
/** BLKALIGN_UNKNOWN when not known, or a text. */
uint64_t lvm_column_number(const struct lvm_column *column, const struct blkalign_node *node);
/** Raw bytes of disks are escaped; empty when there is nothing to say. */
void lvm_column_text(const struct lvm_column *column, const struct blkalign_node *node, char *buffer, size_t size);
/** Whose `attr` is meant: facts of a group are told of its PVs, and looked up there for volumes. NULL: nobody's. */
const struct blkalign_node *lvm_owner(const struct blkalign_node *node, enum blkalign_attr attr);

/* --- columns_volume.c: what lvs says of a volume --- */
void lvm_volume_attr(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_volume_layout(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_volume_role(const struct blkalign_node *node, struct lvm_text *ret);

/* --- columns_segment.c: and of its segments, a line for each --- */
void lvm_segment_type(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_stripes(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_data_stripes(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_stripe_size(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_start(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_start_pe(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_size(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_size_pe(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_pe_ranges(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_le_ranges(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_devices(const struct blkalign_node *node, struct lvm_text *ret);
void lvm_segment_metadata_devices(const struct blkalign_node *node, struct lvm_text *ret);

#endif
