/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Shared by the files that turn the tree into a volume group. Sections and entries are nodes of lvm2_text.h. */
#ifndef FORMAT_LVM2_DECODE_H
#define FORMAT_LVM2_DECODE_H

#include "format/lvm2/lvm2_text.h"

struct lvm2_decoder {
	const char *text;
	struct lvm2_vg *vg;
	struct lvm2_names pvs; /* index in vg->pvs */
	struct lvm2_names lvs; /* index in vg->lvs */
	uint32_t segments;     /* of all volumes so far */
	struct blkalign_error *reterr;
};

/** Refuse with the place of `node`. */
#define LVM2_REFUSE(d, node, ...) lvm2_text_error((d)->reterr, -EPROTO, (d)->text, (node)->offset, __VA_ARGS__)

/* --- lvm2_fields.c: single entries, checked --- */

enum lvm2_flag_owner { LVM2_FLAGS_VG, LVM2_FLAGS_PV, LVM2_FLAGS_LV };

/** The number under `key`, 0 to `max`; must be there. */
int lvm2_get_number(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, uint64_t max, uint64_t *ret);
/** The same, `*ret` left as it is when there is no such entry. */
int lvm2_get_number_or(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, uint64_t max, uint64_t *ret);
/** A number that no reader needs: 0 where there is none from 0 on, for which nothing is refused. */
uint64_t lvm2_any_number(const struct lvm2_node *section, const char *key);
/** As lvm2_get_number_or() in units of 512 bytes, 0 to `max_sectors512` (at most UINT64_MAX / 512); the result in bytes. */
int lvm2_get_sectors_or(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, uint64_t max_sectors512,
			uint64_t *ret_bytes);
/** The string node under `key`, or NULL when there is none or it is something else. */
const struct lvm2_node *lvm2_get_string(const struct lvm2_node *section, const char *key);
/** A terminated copy in the group's arena; NULL in `*ret` when there is no such entry. */
int lvm2_copy_string(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, const char **ret);
/** The strings of the array under `key` with commas between them; NULL in `*ret` when there are none. */
int lvm2_copy_strings(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, const char **ret);
/** The entry "id", hyphens taken out. */
int lvm2_get_id(struct lvm2_decoder *d, const struct lvm2_node *section, char ret[LVM2_ID_LENGTH + 1]);
/** The arrays "status" and "flags". An unknown word in "status" is refused, in "flags" ignored, as lvm2 does. */
int lvm2_get_flags(struct lvm2_decoder *d, const struct lvm2_node *section, enum lvm2_flag_owner owner, uint32_t *ret);
/** The section under `key`, or an error when it is something else; NULL in `*ret` when there is none. */
int lvm2_get_section(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, const struct lvm2_node **ret);
/** A name of a group or volume as lvm2 allows it, copied to the arena. */
int lvm2_copy_name(struct lvm2_decoder *d, const struct lvm2_node *node, const char **ret);

/* --- the parts --- */

/** lvm2_segment.c: one segment; references are resolved by name, bounds are checked later. */
int lvm2_decode_segment(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_segment *ret);
/** lvm2_lv.c: all volumes; fills vg->lvs. */
int lvm2_decode_lvs(struct lvm2_decoder *d, const struct lvm2_node *section);
/** lvm2_bounds.c: every area lies within what it names, none overlaps. */
int lvm2_check_bounds(struct lvm2_vg *vg, struct blkalign_error *reterr);
/** lvm2_order.c: fills vg->order and each lv->internal; refuses volumes that lie on themselves or too deep. */
int lvm2_order_lvs(struct lvm2_vg *vg, struct blkalign_error *reterr);

#endif
