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

int64_t lvm2_names_sort(struct lvm2_names *names)
{
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
