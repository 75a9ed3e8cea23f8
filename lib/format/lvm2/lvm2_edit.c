/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries are added in the order in which lvm2's lib/format_text/export.c writes them. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "format/lvm2/lvm2_tree.h"

struct lvm2_edit {
	struct arena *arena;
	struct lvm2_node *root;
	struct lvm2_node *vg; /* the one section of the root */
};

/* --- the tree --- */

static struct lvm2_node *add(struct arena *arena, struct lvm2_node *section, const char *key, enum lvm2_node_kind kind)
{
	struct lvm2_node **end = &section->first, *n = arena_alloc(arena, sizeof(*n));

	if (!n)
		return NULL;
	n->kind = kind;
	if (key) {
		n->key = arena_strdup(arena, key);
		n->key_length = LVM2_NODE_KEY(strlen(key));
	}
	if (key && !n->key)
		return NULL;
	while (*end)
		end = &(*end)->next;
	*end = n;
	return n;
}

struct lvm2_node *lvm2_tree_add_section(struct arena *arena, struct lvm2_node *section, const char *key)
{
	return add(arena, section, key, LVM2_SECTION);
}

struct lvm2_node *lvm2_tree_add_array(struct arena *arena, struct lvm2_node *section, const char *key)
{
	return add(arena, section, key, LVM2_ARRAY);
}

int lvm2_tree_add_integer(struct arena *arena, struct lvm2_node *section, const char *key, int64_t value)
{
	struct lvm2_node *n = add(arena, section, key, LVM2_INTEGER);

	if (!n)
		return -ENOMEM;
	n->integer = value;
	return 0;
}

int lvm2_tree_add_string(struct arena *arena, struct lvm2_node *section, const char *key, const char *text)
{
	struct lvm2_node *n = add(arena, section, key, LVM2_STRING);

	if (!n)
		return -ENOMEM;
	n->text = arena_strdup(arena, text);
	n->text_length = LVM2_NODE_LENGTH(strlen(text));
	return n->text ? 0 : -ENOMEM;
}

struct lvm2_node *lvm2_tree_find(struct lvm2_node *section, const char *key)
{
	size_t length = strlen(key);

	for (struct lvm2_node *n = section->first; n; n = n->next)
		if (n->key_length == length && !memcmp(n->key, key, length))
			return n;
	return NULL;
}

int lvm2_tree_set_integer(struct arena *arena, struct lvm2_node *section, const char *key, int64_t value)
{
	struct lvm2_node *n = lvm2_tree_find(section, key);

	if (!n)
		return lvm2_tree_add_integer(arena, section, key, value);
	n->kind = LVM2_INTEGER;
	n->integer = value;
	return 0;
}

/* --- a text --- */

void lvm2_edit_free(struct lvm2_edit *edit)
{
	if (!edit)
		return;
	arena_free(edit->arena);
	free(edit);
}

static int edit_new(struct lvm2_edit **ret)
{
	struct lvm2_edit *edit = calloc(1, sizeof(*edit));

	if (!edit)
		return -ENOMEM;
	edit->arena = arena_new();
	if (!edit->arena) {
		free(edit);
		return -ENOMEM;
	}
	*ret = edit;
	return 0;
}

int lvm2_edit_open(const char *text, size_t length, struct lvm2_edit **ret_edit, struct blkalign_error *reterr)
{
	_cleanup_lvm2_edit_ struct lvm2_edit *edit = NULL;
	int r = edit_new(&edit);
	char *copy = r < 0 ? NULL : arena_strndup(edit->arena, text, length);

	if (!copy)
		return -ENOMEM;
	r = lvm2_text_parse(copy, length, edit->arena, &edit->root, reterr);
	if (r < 0)
		return r;
	for (struct lvm2_node *n = edit->root->first; n; n = n->next) {
		if (n->kind != LVM2_SECTION)
			continue;
		if (edit->vg)
			return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN, "the text describes more than one volume group");
		edit->vg = n;
	}
	if (!edit->vg)
		return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN, "the text describes no volume group");
	*ret_edit = edit;
	edit = NULL;
	return 0;
}

/* --- parts --- */

static int add_words(struct arena *arena, struct lvm2_node *section, const char *key, const char *const *words)
{
	struct lvm2_node *array = lvm2_tree_add_array(arena, section, key);
	int r = array ? 0 : -ENOMEM;

	for (; r >= 0 && words && *words; words++)
		r = lvm2_tree_add_string(arena, array, NULL, *words);
	return r;
}

static int add_id(struct arena *arena, struct lvm2_node *section, const char id[LVM2_ID_LENGTH])
{
	char text[LVM2_ID_TEXT];

	lvm2_id_format(text, id);
	return lvm2_tree_add_string(arena, section, "id", text);
}

/* Entries with numbers, in this order; those that are absent have the value BLKALIGN_UNKNOWN. */
struct number {
	const char *key;
	uint64_t value;
};

static int add_numbers(struct arena *arena, struct lvm2_node *section, const struct number *numbers, size_t count)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++)
		if (numbers[i].value != BLKALIGN_UNKNOWN)
			r = lvm2_tree_add_integer(arena, section, numbers[i].key, (int64_t)numbers[i].value);
	return r;
}

int lvm2_edit_new(const struct lvm2_vg *vg, struct lvm2_edit **ret_edit)
{
	static const char *const status[] = { "RESIZEABLE", "READ", "WRITE", NULL };
	const struct number numbers[] = {
		{ "extent_size", vg->extent_bytes / 512 }, { "max_lv", 0 }, { "max_pv", 0 }, { "metadata_copies", 0 }
	};
	_cleanup_lvm2_edit_ struct lvm2_edit *edit = NULL;
	int r = edit_new(&edit);
	struct arena *arena = r < 0 ? NULL : edit->arena;

	edit = r < 0 ? NULL : edit;
	if (!edit)
		return r;
	edit->root = arena_alloc(arena, sizeof(*edit->root));
	edit->vg = edit->root ? lvm2_tree_add_section(arena, edit->root, vg->name) : NULL;
	if (!edit->vg)
		return -ENOMEM;
	edit->root->kind = LVM2_SECTION;
	r = add_id(arena, edit->vg, vg->id);
	if (r >= 0)
		r = lvm2_tree_add_integer(arena, edit->vg, "seqno", 0);
	if (r >= 0)
		r = lvm2_tree_add_string(arena, edit->vg, "format", "lvm2");
	if (r >= 0)
		r = add_words(arena, edit->vg, "status", status);
	if (r >= 0)
		r = add_words(arena, edit->vg, "flags", NULL);
	if (r >= 0)
		r = add_numbers(arena, edit->vg, numbers, ARRAY_SIZE(numbers));
	if (r >= 0 && !lvm2_tree_add_section(arena, edit->vg, "physical_volumes"))
		r = -ENOMEM;
	if (r < 0)
		return r;
	*ret_edit = edit;
	edit = NULL;
	return 0;
}

/* A section of the group that there may not be yet; behind it may come others only. */
static struct lvm2_node *list_of(struct lvm2_edit *edit, const char *key)
{
	struct lvm2_node *list = lvm2_tree_find(edit->vg, key);

	return list ? list : lvm2_tree_add_section(edit->arena, edit->vg, key);
}

static struct lvm2_node *add_item(struct lvm2_edit *edit, const char *list_key, const char *key)
{
	struct lvm2_node *list = list_of(edit, list_key);

	if (!list || list->kind != LVM2_SECTION || lvm2_tree_find(list, key))
		return NULL;
	return lvm2_tree_add_section(edit->arena, list, key);
}

int lvm2_edit_add_pv(struct lvm2_edit *edit, const struct lvm2_pv *pv)
{
	static const char *const status[] = { "ALLOCATABLE", NULL };
	bool boots = pv->bootloader.size_bytes;
	const struct number numbers[] = {
		{ "dev_size", pv->size_bytes / 512 },
		{ "pe_start", pv->pe_start_bytes / 512 },
		{ "pe_count", pv->pe_count },
		{ "ba_start", boots ? pv->bootloader.offset_bytes / 512 : BLKALIGN_UNKNOWN },
		{ "ba_size", boots ? pv->bootloader.size_bytes / 512 : BLKALIGN_UNKNOWN },
	};
	struct lvm2_node *n = add_item(edit, "physical_volumes", pv->key);
	int r = n ? add_id(edit->arena, n, pv->id) : -ENOMEM;

	if (r >= 0)
		r = lvm2_tree_add_string(edit->arena, n, "device", pv->device ? pv->device : "[unknown]");
	if (r >= 0)
		r = add_words(edit->arena, n, "status", status);
	if (r >= 0)
		r = add_words(edit->arena, n, "flags", NULL);
	return r < 0 ? r : add_numbers(edit->arena, n, numbers, ARRAY_SIZE(numbers));
}

static int add_areas(struct lvm2_edit *edit, struct lvm2_node *n, const struct lvm2_new_segment *s, bool striped)
{
	struct lvm2_node *array = lvm2_tree_add_array(edit->arena, n, striped ? "stripes" : "raids");
	int r = array ? 0 : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < s->area_count; i++) {
		r = lvm2_tree_add_string(edit->arena, array, NULL, s->areas[i].name);
		if (r >= 0 && striped)
			r = lvm2_tree_add_integer(edit->arena, array, NULL, (int64_t)s->areas[i].extent);
	}
	return r;
}

static int add_segment(struct lvm2_edit *edit, struct lvm2_node *lv, uint32_t number, const struct lvm2_new_segment *s)
{
	bool striped = !strcmp(s->type, "striped");
	const struct number before[] = { { "start_extent", s->start_extent }, { "extent_count", s->extent_count } };
	const struct number after[] = {
		{ striped ? "stripe_count" : "device_count", striped ? s->area_count : s->area_count / 2 },
		{ "data_copies", s->data_copies ? s->data_copies : BLKALIGN_UNKNOWN },
		{ "region_size", s->region_bytes ? s->region_bytes / 512 : BLKALIGN_UNKNOWN },
		{ "stripe_size", s->stripe_bytes ? s->stripe_bytes / 512 : BLKALIGN_UNKNOWN },
	};
	struct lvm2_node *n;
	char key[32];
	int r;

	snprintf(key, sizeof(key), "segment%" PRIu32, number);
	n = lvm2_tree_add_section(edit->arena, lv, key);
	r = n ? add_numbers(edit->arena, n, before, ARRAY_SIZE(before)) : -ENOMEM;
	if (r >= 0)
		r = lvm2_tree_add_string(edit->arena, n, "type", s->type);
	if (r >= 0)
		r = add_numbers(edit->arena, n, after, ARRAY_SIZE(after));
	return r < 0 ? r : add_areas(edit, n, s, striped);
}

int lvm2_edit_add_lv(struct lvm2_edit *edit, const struct lvm2_new_lv *lv)
{
	static const char *const visible[] = { "READ", "WRITE", "VISIBLE", NULL }, *const hidden[] = { "READ", "WRITE", NULL };
	struct lvm2_node *n = add_item(edit, "logical_volumes", lv->name);
	int r = n ? add_id(edit->arena, n, lv->id) : -ENOMEM;

	if (r >= 0)
		r = add_words(edit->arena, n, "status", lv->visible ? visible : hidden);
	if (r >= 0)
		r = add_words(edit->arena, n, "flags", NULL);
	if (r >= 0)
		r = lvm2_tree_add_integer(edit->arena, n, "creation_time", (int64_t)lv->created_unix);
	if (r >= 0)
		r = lvm2_tree_add_string(edit->arena, n, "creation_host", lv->created_on);
	if (r >= 0)
		r = lvm2_tree_add_integer(edit->arena, n, "segment_count", lv->segment_count);
	for (uint32_t i = 0; r >= 0 && i < lv->segment_count; i++)
		r = add_segment(edit, n, i + 1, &lv->segments[i]);
	return r;
}

int lvm2_edit_set_seqno(struct lvm2_edit *edit, uint64_t seqno)
{
	return lvm2_tree_set_integer(edit->arena, edit->vg, "seqno", (int64_t)seqno);
}

int lvm2_edit_text(struct lvm2_edit *edit, const struct lvm2_signature *signature, char **ret_text, size_t *ret_length)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };

	lvm2_write(edit->root, signature, &out);
	if (out.failed)
		return -ENOMEM;
	if (out.length >= LVM2_TEXT_MAX)
		return -E2BIG;
	*ret_text = out.text;
	*ret_length = out.length + 1;
	out = (struct strbuf){ 0 };
	return 0;
}

/* --- ids --- */

/* As lvm2's id_create(): letters and digits only. Bytes that would make some of them likelier are thrown away. */
int lvm2_id_make(char ret[LVM2_ID_LENGTH + 1])
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const unsigned count = sizeof(letters) - 1;
	unsigned length = 0;

	while (length < LVM2_ID_LENGTH) {
		uint8_t bytes[64];

		if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
			return -EIO;
		for (size_t i = 0; i < sizeof(bytes) && length < LVM2_ID_LENGTH; i++)
			if (bytes[i] < 256 / count * count)
				ret[length++] = letters[bytes[i] % count];
	}
	ret[length] = 0;
	return 0;
}
