/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fdisk -l, from the days of cylinders to 2.42, in any language: lines are known by their shape, not by their words. The heading is "Disk DEVICE: size,
 * N bytes, M sectors"; the first two lines of the form "(a/b): N bytes / M bytes" are the sector sizes and the I/O sizes (util-linux,
 * disk-utils/fdisk-list.c: list_disk_geometry).
 */
#include <ctype.h>
#include <stdio.h>

#include "snap/import_priv.h"
#include "stack/stack.h"

/* The first number behind a comma that can be a disk's size in bytes: "4,0 TB" in front of it has a comma too. */
static bool size_behind_comma(const char *p, uint64_t *ret)
{
	uint64_t bytes;

	while ((p = strchr(p, ','))) {
		p += 1 + strspn(p + 1, " ");
		if (import_number(&p, &bytes) && bytes >= 65536) {
			*ret = bytes;
			return true;
		}
	}
	return false;
}

static bool heading(struct import *in, const char *line)
{
	size_t word = strcspn(line, " :"), length;
	const char *name = line + word + strspn(line + word, " ");
	struct blkalign_node *disk;
	uint64_t bytes;

	length = strcspn(name, " :,");
	if (!word || line[word] != ' ' || !length || length >= IMPORT_NAME_MAX || name[length + strspn(name + length, " ")] != ':' ||
	    !size_behind_comma(name + length, &bytes))
		return false;
	import_heading(in, NULL);
	snprintf(in->state.part.prefix, sizeof(in->state.part.prefix), "%.*s", (int)length, name);
	disk = in->node = import_device(in, in->state.part.prefix);
	import_u64(in, disk, BLKALIGN_ATTR_SIZE, bytes);
	return disk != NULL;
}

/*
 * fdisk prints the minimum where the kernel says that there is no optimum (libfdisk/src/context.c), so two equal sizes leave the
 * optimum unknown.
 */
static bool sizes(struct import *in, const char *line)
{
	uint64_t a, b;

	if (in->state.part.pairs >= 2 || !import_number_pair(line, &a, &b))
		return false;
	if (in->state.part.pairs++ == 0) {
		import_u64(in, in->node, BLKALIGN_ATTR_LOGICAL_BLOCK, a);
		import_u64(in, in->node, BLKALIGN_ATTR_PHYSICAL_BLOCK, b);
		return true;
	}
	import_u64(in, in->node, BLKALIGN_ATTR_MINIMUM_IO, a);
	if (a != b)
		import_u64(in, in->node, BLKALIGN_ATTR_OPTIMAL_IO, b);
	return true;
}

/* "Units: sectors of 1 * 512 = 512 bytes"; cylinders are many sectors, and starts in them are rounded. */
static bool units(struct import *in, const char *line)
{
	const char *p = strrchr(line, '=');
	uint64_t bytes;

	if (!p || strchr(line, '/') || !strpbrk(line, "*\xc3"))
		return false;
	p += 1 + strspn(p + 1, " ");
	if (!import_number(&p, &bytes) || *p != ' ')
		return false;
	in->state.part.rounded = bytes > 65536;
	in->state.part.unit_bytes = bytes;
	return true;
}

static bool label(struct import *in, const char *line)
{
	const char *p = strrchr(line, ':');

	if (!p)
		return false;
	p += 1 + strspn(p + 1, " ");
	if (strcmp(p, "gpt") != 0 && strcmp(p, "dos") != 0)
		return false;
	import_str(in, in->node, BLKALIGN_ATTR_TABLE_TYPE, p);
	return true;
}

static bool is_type_number(const char *word)
{
	size_t n = strlen(word);

	return n <= 2 && isxdigit((unsigned char)word[0]) && (!word[1] || isxdigit((unsigned char)word[1]));
}

static void set_type(struct import *in, struct blkalign_node *part, const struct import_fields *f, size_t at)
{
	char text[64];

	if (at < f->count && isdigit((unsigned char)f->at[at][0]) && strpbrk(f->at[at], "KMGTPB"))
		at++;
	if (at >= f->count)
		return;
	if (is_type_number(f->at[at])) {
		snprintf(text, sizeof(text), "0x%s%s", f->at[at][1] ? "" : "0", f->at[at]);
		import_str(in, part, BLKALIGN_ATTR_PART_TYPE, text);
		import_role(in, part, f->at[at]);
		return;
	}
	snprintf(text, sizeof(text), "%s%s%s", f->at[at], at + 1 < f->count ? " " : "", at + 1 < f->count ? f->at[at + 1] : "");
	import_role(in, part, text);
}

/* "/dev/sda1  *  2048  411647  409600  200M  83 Linux"; a sign behind a number marks what CHS could not express. */
static bool row(struct import *in, const char *line)
{
	struct import_fields f;
	struct blkalign_node *disk, *part;
	uint64_t start, end, unit = in->state.part.unit_bytes, from = BLKALIGN_UNKNOWN, size = BLKALIGN_UNKNOWN;
	size_t at = 1;

	import_split(&f, line, "*+-");
	while (at < f.count && strchr(f.at[at], ',')) /* busybox prints cylinder,head,sector first */
		at++;
	if (f.count < at + 3 || !(import_starts(line, "/dev/") || import_starts(line, in->state.part.prefix)) ||
	    !import_word_number(f.at[at], &start) || !import_word_number(f.at[at + 1], &end) || end < start ||
	    !isdigit((unsigned char)f.at[at + 2][0]))
		return false;
	part = import_device(in, f.at[0]);
	disk = import_disk_of(in, part);
	if (!disk)
		disk = in->node;
	if (!unit && disk)
		unit = blkalign_node_u64(disk, BLKALIGN_ATTR_LOGICAL_BLOCK);
	if (!in->state.part.rounded && unit != BLKALIGN_UNKNOWN && unit && u64_mul(start, unit, &start) &&
	    u64_mul(end - start / unit + 1, unit, &end)) {
		from = start;
		size = end;
	}
	if (part)
		set_type(in, import_partition(in, disk, blkalign_node_name(part), from, size), &f, at + 3);
	return true;
}

static bool warning(struct import *in, const char *line)
{
	const char *p = import_starts(line, "Partition ") ? line + strlen("Partition ") : NULL;
	char name[IMPORT_NAME_MAX];
	uint64_t number;

	if (!p || !in->node || !import_number(&p, &number) || !import_starts(p, " does not start on ") || number > 1000)
		return false;
	stack_partition_name(name, sizeof(name), blkalign_node_name(in->node), (unsigned)number);
	import_message(in, import_device(in, name), BLKALIGN_ATTR_TOOL_MESSAGES, line);
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	if (heading(in, line))
		return true;
	if (!going_on)
		return false;
	return sizes(in, line) || units(in, line) || label(in, line) || row(in, line) || warning(in, line);
}

const struct import_reader import_reader_fdisk = { "fdisk", line };
