/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a volume group: grammar, decoding, bounds and order; and that what was read is the same when it was written and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/lvm2/lvm2_text.h"
#include "fuzz.h"

static bool same_bytes(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
	return a_length == b_length && (!a_length || !memcmp(a, b, a_length));
}

static bool same_value(const struct lvm2_node *a, const struct lvm2_node *b)
{
	if (a->kind != b->kind || !a->key != !b->key || (a->key && !same_bytes(a->key, a->key_length, b->key, b->key_length)))
		return false;
	if (a->kind == LVM2_INTEGER)
		return a->integer == b->integer;
	return a->kind == LVM2_SECTION || a->kind == LVM2_ARRAY || same_bytes(a->text, a->text_length, b->text, b->text_length);
}

static bool same_tree(const struct lvm2_node *a, const struct lvm2_node *b)
{
	if (!same_value(a, b))
		return false;
	if (a->kind != LVM2_SECTION && a->kind != LVM2_ARRAY)
		return true;
	a = a->first;
	for (b = b->first; a && b; a = a->next, b = b->next)
		if (!same_tree(a, b))
			return false;
	return a == b;
}

/* Each entry at the top is there again, in whatever order, and none is new, but for what the writer says of itself. */
static bool same_text(const struct lvm2_node *a, const struct lvm2_node *b)
{
	size_t balance = 0;

	for (const struct lvm2_node *n = b->first; n; n = n->next)
		balance += !lvm2_is_signature_key(n->key, n->key_length);
	for (const struct lvm2_node *n = a->first; n; n = n->next) {
		const struct lvm2_node *m = b->first;

		if (lvm2_is_signature_key(n->key, n->key_length))
			continue;
		while (m && !same_tree(n, m))
			m = m->next;
		if (!m)
			return false;
		balance--;
	}
	return !balance;
}

static void write_again(const char *text, size_t length)
{
	static const struct lvm2_signature signature = { .description = "a \"b\" \\", .host = "host", .system = "Linux\n", .unix_time = 1 };
	struct arena *arena = arena_new();
	struct lvm2_node *before, *after;
	struct blkalign_error err;
	struct lvm2_edit *edit;
	struct lvm2_vg *vg;
	size_t again_length;
	char *again;

	if (!arena || lvm2_edit_open(text, length, &edit, &err) < 0 || lvm2_edit_text(edit, &signature, &again, &again_length) < 0)
		abort();
	if (lvm2_text_parse(text, length, arena, &before, &err) < 0 || lvm2_text_parse(again, again_length - 1, arena, &after, &err) < 0 ||
	    !same_text(before, after) || lvm2_vg_decode(again, again_length - 1, &vg, &err) < 0) {
		fprintf(stderr, "%s\n%s\n", err.message, again);
		abort();
	}
	lvm2_vg_free(vg);
	lvm2_edit_free(edit);
	free(again);
	arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct blkalign_error err;
	struct lvm2_vg *vg;

	if (lvm2_vg_decode((const char *)data, size, &vg, &err) == 0) {
		lvm2_vg_free(vg);
		write_again((const char *)data, size);
	}
	return 0;
}
