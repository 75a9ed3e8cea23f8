/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Listing block devices and how they lie on each other, before anything becomes a node. */
#include <ctype.h>

#include "stack/live.h"

#define CLASS_BLOCK "sys/class/block"

void live_dev_done(struct live_dev *dev)
{
	free(dev->name);
	free(dev->path);
	free(dev->devices);
	free(dev->devno);
	free(dev->dm_name);
	free(dev->dm_uuid);
	vec_done(&dev->below);
}

int live_dev_text(struct live *live, const struct live_dev *dev, const char *file, char **ret_text)
{
	_cleanup_free_ char *path = live_join(dev->path, file);

	return path ? live_text(&live->root, path, ret_text) : -ENOMEM;
}

/* --- finding --- */

static int by_name(const void *a, const void *b)
{
	const struct live_dev *x = a, *y = b;

	return strverscmp(x->name, y->name);
}

size_t live_find(const struct live *live, const char *name)
{
	_cleanup_free_ char *spelled = strdup(name);
	struct live_dev key = { .name = spelled };
	const struct live_dev *found;

	if (!spelled || !live->devs.count)
		return LIVE_NONE;
	for (char *c = spelled; *c; c++)
		if (*c == '/')
			*c = '!';
	found = bsearch(&key, live->devs.data, live->devs.count, sizeof(key), by_name);
	return found ? (size_t)(found - live->devs.data) : LIVE_NONE;
}

size_t live_find_dm(const struct live *live, const char *dm_name)
{
	for (size_t i = 0; i < live->devs.count; i++)
		if (live->devs.data[i].dm_name && !strcmp(live->devs.data[i].dm_name, dm_name))
			return i;
	return LIVE_NONE;
}

size_t live_find_devno(const struct live *live, const char *devno)
{
	for (size_t i = 0; i < live->devs.count; i++)
		if (live->devs.data[i].devno && !strcmp(live->devs.data[i].devno, devno))
			return i;
	return LIVE_NONE;
}

/* --- one device --- */

/* "../../devices/pci0000:00/.../block/sda" is below "sys"; a link that looks different tells nothing. */
static int real_path(struct live *live, const char *path, char **ret_devices)
{
	_cleanup_free_ char *target = NULL;
	int r = live_link(&live->root, path, &target);
	const char *at = target;

	if (r < 0 && r != -ENOMEM)
		r = BLKALIGN_ABSENT;
	if (r < 0)
		return r;
	while (at && !strncmp(at, "../", 3))
		at += 3;
	*ret_devices = at && !strncmp(at, "devices/", 8) ? live_join("sys", at) : strdup(path);
	return *ret_devices ? 0 : -ENOMEM;
}

/* An optional text: absent, unreadable and empty are the same here; the root has counted it. */
static int optional(struct live *live, const struct live_dev *dev, const char *file, char **ret_text)
{
	int r = live_dev_text(live, dev, file, ret_text);

	return r == -ENOMEM ? r : 0;
}

static int fill(struct live *live, struct live_dev *dev)
{
	_cleanup_free_ char *number = NULL;
	int r = real_path(live, dev->path, &dev->devices);

	if (r == 0)
		r = optional(live, dev, "dev", &dev->devno);
	if (r == 0)
		r = optional(live, dev, "dm/name", &dev->dm_name);
	if (r == 0)
		r = optional(live, dev, "dm/uuid", &dev->dm_uuid);
	if (r == 0)
		r = optional(live, dev, "partition", &number);
	if (number && live_number(number, &dev->partition) < 0)
		dev->partition = 0;
	return r;
}

static int add(struct live *live, const char *folder, const char *name)
{
	struct live_dev dev = { .name = strdup(name), .path = live_join(folder, name) };
	int r = dev.name && dev.path ? 0 : -ENOMEM;

	if (r == 0)
		r = live->devs.count < GRAPH_NODES_MAX ? fill(live, &dev) : -E2BIG;
	if (r == 0)
		r = vec_push(&live->devs, dev);
	if (r < 0)
		live_dev_done(&dev);
	return r;
}

static bool is_block_device(struct live *live, const char *folder, const char *name, const char *file)
{
	_cleanup_free_ char *path = NULL;

	return asprintf(&path, "%s/%s/%s", folder, name, file) >= 0 && live_exists(&live->root, path);
}

/* --- all devices --- */

static int list_folder(struct live *live, const char *folder, const char *file)
{
	_cleanup_names_ struct live_names names = { 0 };
	int r = live_list(&live->root, folder, &names);

	for (size_t i = 0; r == 0 && i < names.count; i++)
		if (is_block_device(live, folder, names.data[i], file))
			r = add(live, folder, names.data[i]);
	return r;
}

/* Dumps of old kernels and by other tools know sys/block only: partitions are folders below their disk. */
static int list_sys_block(struct live *live)
{
	int r = list_folder(live, "sys/block", "size");

	for (size_t i = 0, disks = live->devs.count; r == 0 && i < disks; i++) {
		_cleanup_free_ char *folder = strdup(live->devs.data[i].path);

		r = folder ? list_folder(live, folder, "partition") : -ENOMEM;
	}
	return r;
}

/* --- how they lie on each other --- */

/* The disk's name when no link tells it: "sda1" without digits, "nvme0n1p1" without "p" as well. */
static size_t disk_by_name(const struct live *live, const char *partition)
{
	char name[256];
	size_t length, found;

	snprintf(name, sizeof(name), "%s", partition);
	length = strlen(name);
	while (length && isdigit((unsigned char)name[length - 1]))
		name[--length] = '\0';
	found = live_find(live, name);
	if (found != LIVE_NONE || !length || name[length - 1] != 'p')
		return found;
	name[length - 1] = '\0';
	return live_find(live, name);
}

static size_t disk_of(const struct live *live, const struct live_dev *dev)
{
	_cleanup_free_ char *parent = strdup(dev->devices);
	char *slash = parent ? strrchr(parent, '/') : NULL;
	size_t found;

	if (!slash)
		return LIVE_NONE;
	*slash = '\0';
	slash = strrchr(parent, '/');
	found = slash ? live_find(live, slash + 1) : LIVE_NONE;
	return found != LIVE_NONE ? found : disk_by_name(live, dev->name);
}

static int lies_on(struct live *live, struct live_dev *dev, size_t below)
{
	if (below == LIVE_NONE)
		return 0;
	live->devs.data[below].held = true;
	if (dev->dm_uuid && !strncmp(dev->dm_uuid, "mpath-", 6))
		live->devs.data[below].by_multipath = true;
	return vec_push(&dev->below, below);
}

static int find_below(struct live *live, struct live_dev *dev)
{
	_cleanup_names_ struct live_names slaves = { 0 };
	_cleanup_free_ char *folder = NULL;
	int r;

	if (dev->partition)
		return lies_on(live, dev, disk_of(live, dev));
	folder = live_join(dev->path, "slaves");
	if (!folder)
		return -ENOMEM;
	r = live_list(&live->root, folder, &slaves);
	for (size_t i = 0; r == 0 && i < slaves.count; i++)
		r = lies_on(live, dev, live_find(live, slaves.data[i]));
	return r == -ENOMEM ? r : 0;
}

int live_scan(struct live *live, struct blkalign_error *reterr)
{
	int r = list_folder(live, CLASS_BLOCK, "size");

	if (r == BLKALIGN_ABSENT)
		r = list_sys_block(live);
	if (r == BLKALIGN_ABSENT)
		return blkalign_error_set(reterr, -ENOENT, CLASS_BLOCK, BLKALIGN_UNKNOWN,
					  "there is no such folder and no sys/block: is sysfs mounted, is this the root of a dumped tree?");
	if (r < 0)
		return blkalign_error_set(reterr, r, CLASS_BLOCK, BLKALIGN_UNKNOWN, "cannot list block devices: %s", strerror(-r));
	if (live->devs.count)
		qsort(live->devs.data, live->devs.count, sizeof(*live->devs.data), by_name);
	for (size_t i = 0; r == 0 && i < live->devs.count; i++)
		r = find_below(live, &live->devs.data[i]);
	return r;
}
