/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Changing a tree of lvm2_text.h, and writing it. Keys and strings that are added are copied to the arena; NULL and -ENOMEM without memory. */
#ifndef FORMAT_LVM2_TREE_H
#define FORMAT_LVM2_TREE_H

#include <blkalign/version.h>

#include "format/lvm2/lvm2_text.h"

/** Appended to the section; the key must be new there. */
struct lvm2_node *lvm2_tree_add_section(struct arena *arena, struct lvm2_node *section, const char *key);
struct lvm2_node *lvm2_tree_add_array(struct arena *arena, struct lvm2_node *section, const char *key);
/** `key` NULL: appended to an array. */
int lvm2_tree_add_integer(struct arena *arena, struct lvm2_node *section, const char *key, int64_t value);
int lvm2_tree_add_string(struct arena *arena, struct lvm2_node *section, const char *key, const char *text);
/** Replaced where it stands, or appended. */
int lvm2_tree_set_integer(struct arena *arena, struct lvm2_node *section, const char *key, int64_t value);
/** The entry for changing, or NULL. */
struct lvm2_node *lvm2_tree_find(struct lvm2_node *section, const char *key);

/** The whole tree as lvm2 lays it out, without the terminating NUL. */
void lvm2_write(const struct lvm2_node *root, const struct lvm2_signature *signature, struct strbuf *out);

#endif
