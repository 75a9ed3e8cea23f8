/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The text of LVM2 metadata as a tree. Source: lvm2's libdm/libdm-config.c.
 *
 * Nodes point into the text they were read from, which must outlive them. Differences to lvm2, all on the strict side: a key that comes twice in a section
 * is refused (lvm2 silently takes the first), bare words are no values, and a number with a leading zero is refused (lvm2 reads it as octal).
 */
#ifndef FORMAT_LVM2_TEXT_H
#define FORMAT_LVM2_TEXT_H

#include <assert.h>

#include "format/lvm2/lvm2.h"

enum lvm2_node_kind {
	LVM2_SECTION,
	LVM2_ARRAY,
	LVM2_INTEGER,
	LVM2_NUMBER, /* a float, or an integer that does not fit 64 bits: kept as text */
	LVM2_STRING,
};

/** A piece of the text; not terminated. */
struct lvm2_slice {
	const char *text;
	uint32_t length;
};

#define LVM2_KEY_MAX 511U
static_assert(LVM2_TEXT_MAX <= 1U << 26);

/** There are hundreds of thousands of them: 32 bytes each. */
struct lvm2_node {
	struct lvm2_node *next; /* in the same section or array */
	union {
		struct lvm2_node *first; /* of a section or array */
		const char *text;	 /* of strings (escapes resolved) and of numbers that are no integers */
		int64_t integer;
	};
	const char *key;      /* NULL in arrays */
	uint64_t offset : 26; /* of the entry in the text */
	uint64_t text_length : 26;
	uint64_t key_length : 9;
	uint64_t kind : 3; /* enum lvm2_node_kind */
};
#define LVM2_NODE_LENGTH(length) ((length) & ((UINT64_C(1) << 26) - 1)) /* of text that is not longer than one may be */
#define LVM2_NODE_KEY(length)	 ((length)&LVM2_KEY_MAX)

/** The whole text as one section without a key; memory from `arena`. */
int lvm2_text_parse(const char *text, size_t length, struct arena *arena, struct lvm2_node **ret_root, struct blkalign_error *reterr);

/** blkalign_error_set() with line and column of byte `offset` in front of the message. */
int lvm2_text_error(struct blkalign_error *reterr, int code, const char *text, size_t offset, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/** Of an entry that stands beside the group and says who wrote it and when: no group can bear such a name. */
bool lvm2_is_signature_key(const char *key, size_t length);

/** The entry of this key, or NULL. */
const struct lvm2_node *lvm2_text_find(const struct lvm2_node *section, const char *key);

/**
 * Names and where they stand, sorted: look-up takes O(log n) whatever an attacker calls his ten thousand volumes, which no unkeyed hash
 * promises.
 */
struct lvm2_name {
	struct lvm2_slice name;
	uint32_t index;
};
struct lvm2_names {
	struct lvm2_name *names;
	size_t count;
};
/** Sorts in place; the index of a name that comes twice, or -1. */
int64_t lvm2_names_sort(struct lvm2_names *names);
/** Of a group or volume. */
bool lvm2_is_name_character(char c);
/** Its index, or -1. */
int64_t lvm2_names_find(const struct lvm2_names *names, struct lvm2_slice name);

#endif
