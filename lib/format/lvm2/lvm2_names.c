/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/lvm2/lvm2_text.h"

static int compare(struct lvm2_slice a, struct lvm2_slice b)
{
	uint32_t common = a.length < b.length ? a.length : b.length;
	int r = memcmp(a.text, b.text, common);

	return r ? r : (a.length > b.length) - (a.length < b.length);
}

static int by_name(const void *a, const void *b)
{
	return compare(((const struct lvm2_name *)a)->name, ((const struct lvm2_name *)b)->name);
}

static bool is_ascending(const struct lvm2_names *names)
{
	for (size_t i = 1; i < names->count; i++)
		if (compare(names->names[i - 1].name, names->names[i].name) >= 0)
			return false;
	return true;
}

int64_t lvm2_names_sort(struct lvm2_names *names)
{
	if (is_ascending(names))
		return -1;
	qsort(names->names, names->count, sizeof(*names->names), by_name);
	for (size_t i = 1; i < names->count; i++)
		if (!compare(names->names[i - 1].name, names->names[i].name))
			return names->names[i].index;
	return -1;
}

int64_t lvm2_names_find(const struct lvm2_names *names, struct lvm2_slice name)
{
	const struct lvm2_name key = { .name = name };
	const struct lvm2_name *found = NULL;

	if (names->count)
		found = bsearch(&key, names->names, names->count, sizeof(*names->names), by_name);
	return found ? (int64_t)found->index : -1;
}

/* --- names that lvm2 allows --- */

bool lvm2_is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '_' || c == '.' || c == '-';
}

bool lvm2_is_signature_key(const char *key, size_t length)
{
	static const char *const keys[] = { "contents", "version", "description", "creation_host", "creation_time" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strlen(keys[i]) == length && !memcmp(key, keys[i], length))
			return true;
	return false;
}

/* What lvm2 makes itself bears these. */
static const char *reserved(const char *name)
{
	static const char *const parts[] = { "_cdata",	 "_cmeta",  "_corig", "_cpool", "_cvol",  "_iorig", "_imeta",	"_mimage", "_mlog",
					     "_pmspare", "_rimage", "_rmeta", "_tdata", "_tmeta", "_vdata", "_vorigin", "_wcorig" };

	if (!strncmp(name, "snapshot", 8) || !strncmp(name, "pvmove", 6))
		return "names that begin with \"snapshot\" or \"pvmove\" are lvm2's own";
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return "it contains what marks lvm2's own parts of volumes, such as \"_rimage\" or \"_tdata\"";
	return NULL;
}

const char *lvm2_name_refusal(const char *name, bool volume)
{
	if (!*name)
		return "it is empty";
	if (strlen(name) >= LVM2_NAME_MAX)
		return "it is longer than 127 characters";
	if (*name == '-')
		return "it begins with a hyphen";
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return "it is \".\" or \"..\"";
	for (const char *c = name; *c; c++)
		if (!lvm2_is_name_character(*c))
			return "it has characters other than letters, digits and + _ . -";
	if (!volume && lvm2_is_signature_key(name, strlen(name)))
		return "the metadata uses this word for itself";
	return volume ? reserved(name) : NULL;
}
