/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device names: how tools write them, and what they tell of the device. */
#include <ctype.h>
#include <stdio.h>

#include "snap/import_priv.h"

/* Drives whose partitions are named by a number alone, and those that put a p before it. */
static const char *const letter_drives[] = { "sd", "hd", "vd", "xvd", "ubd" };
static const char *const digit_drives[] = { "nvme", "mmcblk", "loop", "nbd", "md", "pmem", "rbd", "zram", "ram", "cciss/c" };

/* Length of the disk's name when `name` is a partition's, else 0. */
static size_t disk_part(const char *name)
{
	size_t n = strlen(name), digits = 0;

	while (digits < n && isdigit((unsigned char)name[n - digits - 1]))
		digits++;
	n -= digits;
	if (!digits || n < 3)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(letter_drives); i++)
		if (import_starts(name, letter_drives[i]) && strspn(name, "abcdefghijklmnopqrstuvwxyz") == n &&
		    n > strlen(letter_drives[i]))
			return n;
	for (size_t i = 0; i < ARRAY_SIZE(digit_drives); i++)
		if (import_starts(name, digit_drives[i]) && name[n - 1] == 'p' && isdigit((unsigned char)name[n - 2]))
			return n - 1;
	return 0;
}

static bool is_md(const char *name)
{
	return import_starts(name, "md") &&
	       (isdigit((unsigned char)name[2]) || name[2] == '/' || (import_starts(name, "md_d") && isdigit((unsigned char)name[4])));
}

static enum blkalign_kind kind_of(const char *name, bool mapper)
{
	if (mapper || (import_starts(name, "dm-") && isdigit((unsigned char)name[3])))
		return BLKALIGN_KIND_DM;
	if (is_md(name))
		return BLKALIGN_KIND_MD;
	return strchr(name, '/') && !import_starts(name, "cciss/") ? BLKALIGN_KIND_LV : BLKALIGN_KIND_DISK;
}

/* Majors of SCSI disks: 16 minors each, 16 disks to a major (Documentation/admin-guide/devices.txt). */
static bool scsi_name(uint64_t major, uint64_t minor, char *ret, size_t size)
{
	uint64_t block = major == 8 ? 0 : major >= 65 && major <= 71 ? major - 64 : major >= 128 && major <= 135 ? major - 120 : UINT64_MAX;
	uint64_t disk, part = minor % 16;
	char letters[4] = "", number[8] = "";

	if (block == UINT64_MAX || minor > 255)
		return false;
	disk = block * 16 + minor / 16;
	if (disk < 26)
		letters[0] = (char)('a' + disk);
	else
		letters[0] = (char)('a' + disk / 26 - 1), letters[1] = (char)('a' + disk % 26);
	if (part)
		snprintf(number, sizeof(number), "%u", (unsigned)part);
	snprintf(ret, size, "sd%s%s", letters, number);
	return true;
}

/* "8:17": a name where the number has a fixed one, else a stand-in that import_finish() replaces by the device of this number. */
static struct blkalign_node *by_number(struct import *in, const char *text)
{
	const char *p = text;
	char name[32];
	uint64_t major, minor;
	struct blkalign_node *node;

	if (!import_number(&p, &major) || *p++ != ':' || !import_word_number(p, &minor))
		return NULL;
	if (scsi_name(major, minor, name, sizeof(name)))
		return import_device(in, name);
	if (major == 9 && minor < 1000) {
		snprintf(name, sizeof(name), "md%u", (unsigned)minor);
		return import_device(in, name);
	}
	node = import_node(in, BLKALIGN_KIND_DISK, text);
	import_str(in, node, BLKALIGN_ATTR_DEVNO, text);
	return node;
}

static struct blkalign_node *by_name(struct import *in, const char *name, bool mapper)
{
	struct blkalign_node *node = in->error ? NULL : graph_find(in->graph, name);
	size_t disk = disk_part(name);
	char parent[IMPORT_NAME_MAX];

	if (node || in->error)
		return node;
	if (!disk || mapper)
		return import_node(in, kind_of(name, mapper), name);
	snprintf(parent, sizeof(parent), "%.*s", (int)disk, name);
	return import_partition(in, by_name(in, parent, false), name, BLKALIGN_UNKNOWN, BLKALIGN_UNKNOWN);
}

struct blkalign_node *import_disk_of(struct import *in, const struct blkalign_node *node)
{
	const char *name = node ? blkalign_node_name(node) : "";
	size_t disk = disk_part(name);
	char parent[IMPORT_NAME_MAX];

	snprintf(parent, sizeof(parent), "%.*s", (int)disk, name);
	return disk ? by_name(in, parent, false) : NULL;
}

bool import_is_image(const char *word)
{
	size_t n = strlen(word);

	return n > 4 && (!strcmp(word + n - 4, ".img") || !strcmp(word + n - 4, ".raw"));
}

struct blkalign_node *import_device(struct import *in, const char *name)
{
	char copy[IMPORT_NAME_MAX] = "";
	const char *p = name + strspn(name, "'\"`(<");
	size_t n = strnlen(p, sizeof(copy));
	bool mapper = false;

	if (n == sizeof(copy))
		return NULL;
	while (n && strchr(":,;.)>'\"`", p[n - 1]))
		n--;
	memcpy(copy, p, n);
	copy[n] = '\0';
	p = copy;
	if (import_starts(p, "/dev/block/"))
		p += strlen("/dev/block/");
	else if (import_starts(p, "/dev/mapper/"))
		p += strlen("/dev/mapper/"), mapper = true;
	else if (import_starts(p, "/dev/") && !import_starts(p, "/dev/disk/"))
		p += strlen("/dev/");
	else if (strchr(p, '/') && (*p == '/' || import_is_image(p))) /* an image file, or a link below /dev/disk */
		p = strrchr(p, '/') + 1;
	if (!*p || !strcmp(copy, "/dev/mapper") || strpbrk(p, " \t*?[]{}=$|<>\"'"))
		return NULL;
	if (isdigit((unsigned char)*p) && p[strspn(p, "0123456789:")] == '\0' && strchr(p, ':'))
		return by_number(in, p);
	return by_name(in, p, mapper);
}
