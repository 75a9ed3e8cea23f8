/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of sysfs as people print them: "path:value" of grep, "path value", and bare values below a `cat path...` prompt. The names are
 * those of Documentation/ABI/stable/sysfs-block and Documentation/admin-guide/md.rst.
 */
#include <ctype.h>
#include <stdio.h>

#include "snap/import_priv.h"

enum how { NUMBER, SIGNED, FLAG, TEXT, START };

static const struct {
	const char *file;
	enum blkalign_attr attr;
	enum how how;
	uint64_t unit;
} files[] = {
	{ "logical_block_size", BLKALIGN_ATTR_LOGICAL_BLOCK, NUMBER, 1 },
	{ "hw_sector_size", BLKALIGN_ATTR_LOGICAL_BLOCK, NUMBER, 1 },
	{ "physical_block_size", BLKALIGN_ATTR_PHYSICAL_BLOCK, NUMBER, 1 },
	{ "minimum_io_size", BLKALIGN_ATTR_MINIMUM_IO, NUMBER, 1 },
	{ "optimal_io_size", BLKALIGN_ATTR_OPTIMAL_IO, NUMBER, 1 },
	{ "alignment_offset", BLKALIGN_ATTR_ALIGNMENT_OFFSET, SIGNED, 1 },
	{ "max_sectors_kb", BLKALIGN_ATTR_MAX_TRANSFER, NUMBER, KIB },
	{ "max_hw_sectors_kb", BLKALIGN_ATTR_MAX_HW_TRANSFER, NUMBER, KIB },
	{ "read_ahead_kb", BLKALIGN_ATTR_READ_AHEAD, NUMBER, KIB },
	{ "rotational", BLKALIGN_ATTR_ROTATIONAL, FLAG, 1 },
	{ "zoned", BLKALIGN_ATTR_ZONED, TEXT, 1 },
	{ "chunk_sectors", BLKALIGN_ATTR_BOUNDARY, NUMBER, 512 },
	{ "discard_granularity", BLKALIGN_ATTR_DISCARD_GRANULARITY, NUMBER, 1 },
	{ "discard_alignment", BLKALIGN_ATTR_DISCARD_ALIGNMENT, NUMBER, 1 },
	{ "nr_requests", BLKALIGN_ATTR_NR_REQUESTS, NUMBER, 1 },
	{ "size", BLKALIGN_ATTR_SIZE, NUMBER, 512 },
	{ "start", BLKALIGN_ATTR_SIZE, START, 512 },
	{ "ro", BLKALIGN_ATTR_READ_ONLY, FLAG, 1 },
	{ "removable", BLKALIGN_ATTR_REMOVABLE, FLAG, 1 },
	{ "model", BLKALIGN_ATTR_MODEL, TEXT, 1 },
	{ "vendor", BLKALIGN_ATTR_VENDOR, TEXT, 1 },
	{ "rev", BLKALIGN_ATTR_REVISION, TEXT, 1 },
	{ "chunk_size", BLKALIGN_ATTR_MD_CHUNK, NUMBER, 1 },
	{ "raid_disks", BLKALIGN_ATTR_MD_MEMBERS, NUMBER, 1 },
	{ "level", BLKALIGN_ATTR_MD_LEVEL, TEXT, 1 },
	{ "metadata_version", BLKALIGN_ATTR_MD_METADATA, TEXT, 1 },
	{ "stripe_cache_size", BLKALIGN_ATTR_MD_STRIPE_CACHE, NUMBER, 1 },
	{ "sync_speed_min", BLKALIGN_ATTR_MD_SYNC_SPEED_MIN, NUMBER, 1 },
	{ "sync_speed_max", BLKALIGN_ATTR_MD_SYNC_SPEED_MAX, NUMBER, 1 },
	{ "sync_speed", BLKALIGN_ATTR_MD_SYNC_SPEED, NUMBER, 1 },
	{ "sync_action", BLKALIGN_ATTR_MD_SYNC_ACTION, TEXT, 1 },
	{ "mismatch_cnt", BLKALIGN_ATTR_MD_MISMATCH, NUMBER, 1 },
	{ "component_size", BLKALIGN_ATTR_MD_COMPONENT, NUMBER, KIB },
};

/* Folders between a device and its attributes. */
static bool is_group(const char *word) { return !strcmp(word, "queue") || !strcmp(word, "md") || !strcmp(word, "device"); }

/* The device in .../block/sda/sda1/queue/FILE, or in sda/queue/FILE, by the words of the path. NULL when the path is of another kind. */
static const char *device_word(const struct import_fields *f)
{
	size_t at = f->count - 1; /* of the file */

	if (at && is_group(f->at[at - 1]))
		at--;
	if (!at || import_starts(f->at[at - 1], "dev-"))
		return NULL;
	return f->at[at - 1];
}

static size_t find_file(const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(files[i].file, file))
			return i;
	return ARRAY_SIZE(files);
}

static bool set(struct import *in, struct blkalign_node *node, size_t row, const char *text)
{
	bool minus = *text == '-';
	const char *p = text + minus;
	uint64_t number = 0;

	if (files[row].how == TEXT) {
		import_str(in, node, files[row].attr, text);
		return *text != '\0';
	}
	if (!import_number(&p, &number) || (*p && *p != ' ') || !u64_mul(number, files[row].unit, &number) || number > INT64_MAX)
		return false;
	if (files[row].how == SIGNED)
		import_i64(in, node, files[row].attr, minus ? -(int64_t)number : (int64_t)number);
	else if (files[row].how == FLAG)
		import_bool(in, node, files[row].attr, number != 0);
	else if (files[row].how == START)
		import_connect_linear(in, node, import_disk_of(in, node), number, BLKALIGN_UNKNOWN);
	else
		import_u64(in, node, files[row].attr, number);
	return true;
}

/* .../md0/md/dev-sda1/offset: where the array's data starts on that member, in sectors. */
static bool take_member(struct import *in, const struct import_fields *f, const char *value)
{
	uint64_t sectors;

	if (f->count < 4 || strcmp(f->at[f->count - 1], "offset") != 0 || !import_starts(f->at[f->count - 2], "dev-") ||
	    strcmp(f->at[f->count - 3], "md") != 0 || !import_number(&value, &sectors) || !u64_mul(sectors, 512, &sectors))
		return false;
	import_member(in, import_device(in, f->at[f->count - 4]), import_device(in, f->at[f->count - 2] + strlen("dev-")), sectors,
		      IMPORT_SLOT_UNKNOWN, NULL);
	return true;
}

/* `path` as printed, the value behind it. */
static bool take(struct import *in, const char *path, const char *value)
{
	struct import_fields f;
	const char *device;
	size_t row;

	import_split(&f, path, "/");
	if (f.count < 2 || strpbrk(path, "*?["))
		return false;
	if (take_member(in, &f, value))
		return true;
	row = find_file(f.at[f.count - 1]);
	device = device_word(&f);
	if (row == ARRAY_SIZE(files) || !device || (!strstr(path, "/sys/") && !is_group(f.at[f.count - 2])))
		return false;
	return set(in, import_device(in, device), row, value);
}

static bool bare_value(struct import *in, const char *line)
{
	while (in->arg_next < in->arg_count && in->args[in->arg_next][0] == '-')
		in->arg_next++;
	if (in->arg_next == in->arg_count || !*line)
		return false;
	return take(in, in->args[in->arg_next++], line + strspn(line, " "));
}

/* "==> /sys/block/sda/queue/optimal_io_size <==" of head and tail: the value follows as below `cat`. */
static bool head_line(struct import *in, const char *line)
{
	const char *end = strstr(line, " <==");

	if (!import_starts(line, "==> /sys/") || !end)
		return false;
	snprintf(in->tool, sizeof(in->tool), "cat");
	snprintf(in->args[0], sizeof(in->args[0]), "%.*s", (int)(end - line - 4), line + 4);
	in->arg_count = 1;
	in->arg_next = 0;
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	char path[512];
	size_t n = strcspn(line, " :=");
	const char *value = line + n;

	(void)going_on;
	if (head_line(in, line))
		return true;
	if (!strcmp(in->tool, "cat") && in->arg_next < in->arg_count && import_starts(in->args[in->arg_next], "/sys/"))
		return bare_value(in, line);
	if (!n || n >= sizeof(path) || !*value || !memchr(line, '/', n))
		return false;
	snprintf(path, sizeof(path), "%.*s", (int)n, line);
	return take(in, path, value + 1 + strspn(value + 1, " :="));
}

const struct import_reader import_reader_sysfs = { "sysfs", line };
