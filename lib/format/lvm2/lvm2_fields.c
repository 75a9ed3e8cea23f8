/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/lvm2/lvm2_decode.h"

int lvm2_get_number_or(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, uint64_t max, uint64_t *ret)
{
	const struct lvm2_node *n = lvm2_text_find(section, key);

	if (!n)
		return 0;
	if (n->kind != LVM2_INTEGER || n->integer < 0 || (uint64_t)n->integer > max)
		return LVM2_REFUSE(d, n, "\"%s\" is not a number from 0 to %" PRIu64, key, max);
	*ret = (uint64_t)n->integer;
	return 0;
}

int lvm2_get_number(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, uint64_t max, uint64_t *ret)
{
	uint64_t v = UINT64_MAX;
	int r = lvm2_get_number_or(d, section, key, max, &v);

	if (r < 0)
		return r;
	if (v == UINT64_MAX)
		return LVM2_REFUSE(d, section, "the section that begins here has no \"%s\"", key);
	*ret = v;
	return 0;
}

uint64_t lvm2_any_number(const struct lvm2_node *section, const char *key)
{
	const struct lvm2_node *n = lvm2_text_find(section, key);

	return n && n->kind == LVM2_INTEGER && n->integer > 0 ? (uint64_t)n->integer : 0;
}

int lvm2_get_sectors_or(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, uint64_t max_sectors512,
			uint64_t *ret_bytes)
{
	uint64_t sectors512 = *ret_bytes / 512;
	int r = lvm2_get_number_or(d, section, key, max_sectors512, &sectors512);

	if (r >= 0)
		*ret_bytes = sectors512 * 512;
	return r;
}

const struct lvm2_node *lvm2_get_string(const struct lvm2_node *section, const char *key)
{
	const struct lvm2_node *n = lvm2_text_find(section, key);

	return n && n->kind == LVM2_STRING ? n : NULL;
}

int lvm2_copy_string(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, const char **ret)
{
	const struct lvm2_node *n = lvm2_get_string(section, key);

	*ret = NULL;
	if (!n)
		return 0;
	*ret = arena_strndup(d->vg->arena, n->text, n->text_length);
	return *ret ? 0 : -ENOMEM;
}

int lvm2_copy_strings(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, const char **ret)
{
	const struct lvm2_node *list = lvm2_text_find(section, key);
	_cleanup_strbuf_ struct strbuf joined = { 0 };

	*ret = NULL;
	if (!list || list->kind != LVM2_ARRAY || !list->first)
		return 0;
	for (const struct lvm2_node *n = list->first; n; n = n->next) {
		if (n->kind != LVM2_STRING)
			continue;
		strbuf_add(&joined, joined.length ? "," : "");
		strbuf_addn(&joined, n->text, n->text_length);
	}
	*ret = joined.failed ? NULL : arena_strdup(d->vg->arena, strbuf_text(&joined));
	return *ret ? 0 : -ENOMEM;
}

int lvm2_get_id(struct lvm2_decoder *d, const struct lvm2_node *section, char ret[LVM2_ID_LENGTH + 1])
{
	const struct lvm2_node *n = lvm2_get_string(section, "id");
	char id[LVM2_ID_LENGTH + 1] = { 0 };
	unsigned count = 0;

	if (!n)
		return LVM2_REFUSE(d, section, "the section that begins here has no \"id\"");
	for (uint32_t i = 0; i < n->text_length && count <= LVM2_ID_LENGTH; i++)
		if (n->text[i] != '-' && count++ < LVM2_ID_LENGTH)
			id[count - 1] = n->text[i];
	if (count != LVM2_ID_LENGTH || !lvm2_id_valid(id))
		return LVM2_REFUSE(d, n, "\"id\" is not an id of %u characters", LVM2_ID_LENGTH);
	memcpy(ret, id, sizeof(id));
	return 0;
}

int lvm2_get_section(struct lvm2_decoder *d, const struct lvm2_node *section, const char *key, const struct lvm2_node **ret)
{
	const struct lvm2_node *n = lvm2_text_find(section, key);

	if (n && n->kind != LVM2_SECTION)
		return LVM2_REFUSE(d, n, "\"%s\" is not a section", key);
	*ret = n;
	return 0;
}

int lvm2_copy_name(struct lvm2_decoder *d, const struct lvm2_node *node, const char **ret)
{
	const char *name = node->key;
	uint32_t length = node->key_length;
	bool good = length <= LVM2_NAME_MAX && name[0] != '-' && !(length <= 2 && name[0] == '.' && name[length - 1] == '.');

	for (uint32_t i = 0; good && i < length; i++)
		good = lvm2_is_name_character(name[i]);
	if (!good)
		return LVM2_REFUSE(d, node, "a name that lvm2 does not allow: \"%.*s\"", (int)(length < 100 ? length : 100), name);
	*ret = arena_strndup(d->vg->arena, name, length);
	return *ret ? 0 : -ENOMEM;
}

/* --- flags; lvm2: lib/format_text/flags.c --- */

static const struct word {
	enum lvm2_flag_owner owner;
	const char *name;
	uint32_t flag;
} words[] = {
	{ LVM2_FLAGS_LV, "READ", LVM2_READ },
	{ LVM2_FLAGS_LV, "WRITE", LVM2_WRITE },
	{ LVM2_FLAGS_LV, "VISIBLE", LVM2_VISIBLE },
	{ LVM2_FLAGS_LV, "REBUILD", LVM2_REBUILD },
	{ LVM2_FLAGS_LV, "NOTSYNCED", LVM2_NOTSYNCED },
	{ LVM2_FLAGS_LV, "CACHE_VOL", LVM2_CACHE_VOL },
	{ LVM2_FLAGS_LV, "FIXED_MINOR", LVM2_FIXED_MINOR },
	{ LVM2_FLAGS_LV, "PVMOVE", LVM2_OTHER },
	{ LVM2_FLAGS_LV, "LOCKED", LVM2_LOCKED },
	{ LVM2_FLAGS_LV, "ACTIVATION_SKIP", LVM2_ACTIVATION_SKIP },
	{ LVM2_FLAGS_LV, "WRITEMOSTLY", LVM2_WRITE_MOSTLY },
	{ LVM2_FLAGS_PV, "ALLOCATABLE", LVM2_ALLOCATABLE },
	{ LVM2_FLAGS_PV, "EXPORTED", LVM2_EXPORTED },
	{ LVM2_FLAGS_PV, "MISSING", LVM2_MISSING },
	{ LVM2_FLAGS_VG, "READ", LVM2_READ },
	{ LVM2_FLAGS_VG, "WRITE", LVM2_WRITE },
	{ LVM2_FLAGS_VG, "EXPORTED", LVM2_EXPORTED },
	{ LVM2_FLAGS_VG, "CLUSTERED", LVM2_CLUSTERED },
	{ LVM2_FLAGS_VG, "SHARED", LVM2_SHARED },
	{ LVM2_FLAGS_VG, "RESIZEABLE", LVM2_RESIZEABLE },
	{ LVM2_FLAGS_VG, "PVMOVE", LVM2_OTHER },
};

static uint32_t find_flag(enum lvm2_flag_owner owner, const struct lvm2_node *n)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].owner == owner && strlen(words[i].name) == n->text_length && !memcmp(words[i].name, n->text, n->text_length))
			return words[i].flag;
	return 0;
}

static int add_flags(struct lvm2_decoder *d, const struct lvm2_node *list, enum lvm2_flag_owner owner, bool strict, uint32_t *flags)
{
	for (const struct lvm2_node *n = list->kind == LVM2_ARRAY ? list->first : list; n; n = n->next) {
		uint32_t flag = n->kind == LVM2_STRING ? find_flag(owner, n) : 0;

		if (n->kind != LVM2_STRING)
			return LVM2_REFUSE(d, n, "a flag that is not a string");
		if (!flag && strict)
			return LVM2_REFUSE(d, n, "status \"%.*s\" is unknown: what it means for reading is not known either",
					   (int)(n->text_length < 64 ? n->text_length : 64), n->text);
		*flags |= flag;
		if (list->kind != LVM2_ARRAY)
			break;
	}
	return 0;
}

int lvm2_get_flags(struct lvm2_decoder *d, const struct lvm2_node *section, enum lvm2_flag_owner owner, uint32_t *ret)
{
	const struct lvm2_node *status = lvm2_text_find(section, "status"), *flags = lvm2_text_find(section, "flags");
	int r;

	if (!status)
		return LVM2_REFUSE(d, section, "the section that begins here has no \"status\"");
	r = add_flags(d, status, owner, true, ret);
	if (r >= 0 && flags)
		r = add_flags(d, flags, owner, false, ret);
	return r;
}
