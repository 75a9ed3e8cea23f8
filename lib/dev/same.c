/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file or disk has many names: links, relative and absolute paths, /dev/disk/by-id, nodes made by hand. */
#include "dev/dev_priv.h"

static struct same_identity identify(const char *path)
{
	struct same_identity id = { 0 };
	struct stat st;

	if (stat(path, &st) < 0)
		return id;
	id.known = true;
	id.block = S_ISBLK(st.st_mode);
	id.device = id.disk = id.block ? st.st_rdev : st.st_dev;
	id.inode = id.block ? 0 : st.st_ino;
	if (id.block)
		holder_disk_of(id.device, &id.disk);
	return id;
}

static bool same(const struct same_identity *a, const struct same_identity *b)
{
	return a->known && b->known && a->block == b->block && a->device == b->device && a->inode == b->inode;
}

static bool is_part_of(const struct same_identity *part, const struct same_identity *disk)
{
	return part->known && disk->known && part->block && disk->block && part->disk != part->device && part->disk == disk->device;
}

bool dev_same_file(const char *a, const char *b)
{
	struct same_identity x = identify(a), y = identify(b);

	return !strcmp(a, b) || same(&x, &y);
}

size_t same_stands_for(const struct same_identity *all, size_t count, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (same(&all[i], &all[index]))
			return i;
	for (size_t i = 0; i < count; i++)
		if (is_part_of(&all[index], &all[i]))
			return i;
	return index;
}

int dev_find_repeated(const char *const *paths, size_t count, struct dev_repeated **ret)
{
	_cleanup_free_ struct same_identity *all = calloc(count + 1, sizeof(*all));
	struct dev_repeated *repeated = calloc(count + 1, sizeof(*repeated));

	if (!all || !repeated) {
		free(repeated);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		all[i] = identify(paths[i]);
	for (size_t i = 0; i < count; i++) {
		repeated[i].by = same_stands_for(all, count, i);
		repeated[i].partition = repeated[i].by != i && !same(&all[i], &all[repeated[i].by]);
	}
	*ret = repeated;
	return 0;
}
