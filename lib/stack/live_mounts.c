/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is mounted or swapped to. The files are opened below the root and given to libmount. */
#include <libmount.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stack/live.h"

static void free_table(struct libmnt_table **table) { mnt_unref_table(*table); }
static void free_iter(struct libmnt_iter **iter) { mnt_free_iter(*iter); }

/* Bad lines of a dumped file are passed over. */
static int skip_bad_line(struct libmnt_table *table, const char *file, int line)
{
	(void)table;
	(void)file;
	(void)line;
	return 1;
}

/* libmount reads swaps by path only; the fd is named through /proc. */
static int parse(struct libmnt_table *table, int fd, bool swaps)
{
	char path[64];
	FILE *file;
	int r;

	if (swaps) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		r = mnt_table_parse_swaps(table, path);
		close(fd);
		return r;
	}
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	r = mnt_table_parse_stream(table, file, "mountinfo");
	fclose(file);
	return r;
}

static struct libmnt_table *read_table(struct live *live, const char *path, bool swaps)
{
	struct libmnt_table *table = mnt_new_table();
	int fd = table ? live_open(&live->root, path, 0) : -1;

	if (table)
		mnt_table_set_parser_errcb(table, skip_bad_line);
	if (fd < 0 || parse(table, fd, swaps) != 0) {
		mnt_unref_table(table);
		return NULL;
	}
	return table;
}

/* "/dev/mapper/NAME" by its device mapper name, others by the kernel's. */
static size_t find_source(const struct live *live, const char *source)
{
	if (!source || strncmp(source, "/dev/", 5) != 0)
		return LIVE_NONE;
	if (!strncmp(source, "/dev/mapper/", 12))
		return live_find_dm(live, source + 12);
	return live_find(live, source + 5);
}

/* btrfs shows an anonymous device number: then the source tells. */
static size_t find_device(const struct live *live, struct libmnt_fs *fs)
{
	dev_t devno = mnt_fs_get_devno(fs);
	char text[32];
	size_t found;

	snprintf(text, sizeof(text), "%u:%u", major(devno), minor(devno));
	found = live_find_devno(live, text);
	return found != LIVE_NONE ? found : find_source(live, mnt_fs_get_srcpath(fs));
}

static int take(struct live *live, size_t index, const char *where, bool set)
{
	struct live_dev *dev;

	if (index == LIVE_NONE)
		return 0;
	dev = &live->devs.data[index];
	dev->in_use = true;
	if (!set || !dev->node || !where || blkalign_node_str(dev->node, BLKALIGN_ATTR_MOUNT_POINT))
		return 0;
	return graph_set_str(dev->node, BLKALIGN_ATTR_MOUNT_POINT, where, BLKALIGN_ORIGIN_SYSTEM);
}

static int walk(struct live *live, const char *path, bool swaps, bool set)
{
	_cleanup_(free_table) struct libmnt_table *table = read_table(live, path, swaps);
	_cleanup_(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	int r = 0;

	if (!iter)
		return -ENOMEM;
	while (table && r == 0 && mnt_table_next_fs(table, iter, &fs) == 0) {
		if (swaps)
			r = take(live, find_source(live, mnt_fs_get_source(fs)), "[SWAP]", set);
		else
			r = take(live, find_device(live, fs), mnt_fs_get_target(fs), set);
	}
	return r;
}

int live_mounts(struct live *live, bool set)
{
	int r = walk(live, "proc/self/mountinfo", false, set);

	return r == 0 ? walk(live, "proc/swaps", true, set) : r;
}
