/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parted print, for people and (-m) for programs. Starts and sizes in sectors are exact; those in other units are known where the rounding leaves one
 * possibility (17.4kB is sector 34, 1049kB is not surely 2048).
 */
#include <stdio.h>

#include "snap/import_priv.h"
#include "stack/stack.h"

static bool size_of(const struct import *in, const char *word, uint64_t *ret)
{
	const char *p = word;
	uint64_t sectors, unit = in->state.part.unit_bytes;

	if (import_number(&p, &sectors) && !strcmp(p, "s"))
		return unit && u64_mul(sectors, unit, ret);
	return import_size(word, IMPORT_UNITS_PARTED, 0, 512, ret);
}

/* A word that parted writes sizes as: a number, perhaps a point and decimals, a unit. */
static bool looks_like_size(const char *word)
{
	size_t n = strspn(word, "0123456789.,");

	return n && n < strlen(word) && strspn(word + n, "skMGTPEiB") == strlen(word + n);
}

static void set_sector_sizes(struct import *in, uint64_t logical, uint64_t physical)
{
	in->state.part.unit_bytes = logical;
	import_u64(in, in->node, BLKALIGN_ATTR_LOGICAL_BLOCK, logical);
	import_u64(in, in->node, BLKALIGN_ATTR_PHYSICAL_BLOCK, physical);
}

/* The size in sectors comes before the sector size: remembered until that is known. */
static void set_disk_size(struct import *in, const char *word)
{
	uint64_t bytes;

	if (in->node && size_of(in, word, &bytes))
		import_u64(in, in->node, BLKALIGN_ATTR_SIZE, bytes);
}

static bool heading(struct import *in, const char *line)
{
	struct import_fields f;
	char model[sizeof(in->state.part.model)] = "";

	import_split(&f, line, "");
	if (import_starts(line, "Model: ")) {
		const char *p = line + strlen("Model: "), *kind = strrchr(p, '(');

		/* Without "(scsi)" and the like behind it, it is gdisk that speaks. */
		if (!kind)
			return false;
		import_heading(in, NULL);
		snprintf(in->state.part.model, sizeof(in->state.part.model), "%.*s", (int)(kind - p), p);
		return true;
	}
	if (f.count != 3 || f.at[1][strlen(f.at[1]) - 1] != ':' || f.at[1][0] != '/' || !looks_like_size(f.at[2]))
		return false;
	snprintf(model, sizeof(model), "%s", in->reader == &import_reader_parted ? in->state.part.model : "");
	import_heading(in, import_device(in, f.at[1]));
	import_str(in, in->node, BLKALIGN_ATTR_MODEL, model);
	snprintf(in->state.part.prefix, sizeof(in->state.part.prefix), "%s", f.at[2]);
	return in->node != NULL;
}

static bool facts(struct import *in, const char *line)
{
	const char *table = import_after(line, ": ");
	uint64_t logical, physical;

	if (import_number_pair(line, &logical, &physical)) {
		set_sector_sizes(in, logical, physical);
		set_disk_size(in, in->state.part.prefix);
		return true;
	}
	if (!table || (strcmp(table, "gpt") != 0 && strcmp(table, "msdos") != 0))
		return false;
	import_str(in, in->node, BLKALIGN_ATTR_TABLE_TYPE, *table == 'g' ? "gpt" : "dos");
	return true;
}

static bool row_of(struct import *in, const struct import_fields *f)
{
	uint64_t number, start = BLKALIGN_UNKNOWN, size = BLKALIGN_UNKNOWN;
	char name[IMPORT_NAME_MAX];
	struct blkalign_node *part;

	if (!in->node || f->count < 4 || !import_word_number(f->at[0], &number) || number > 1000 || !looks_like_size(f->at[1]) ||
	    !looks_like_size(f->at[2]) || !looks_like_size(f->at[3]))
		return false;
	size_of(in, f->at[3], &size);
	stack_partition_name(name, sizeof(name), blkalign_node_name(in->node), (unsigned)number);
	if (!size_of(in, f->at[1], &start))
		import_rounded(in, import_device(in, name), "the start", f->at[1], "unit s");
	part = import_partition(in, in->node, name, start, size);
	for (size_t i = 4; i < f->count; i++)
		import_role(in, part, f->at[i]);
	return true;
}

/* "/dev/sda:7814037168s:scsi:512:4096:gpt:ATA Disk:;" and rows "1:2048s:4095s:2048s:ext4:name:flags;" */
static bool machine(struct import *in, const char *line)
{
	struct import_fields f;
	uint64_t logical, physical;

	import_split(&f, line, ":;,");
	if (line[0] == '/' && f.count >= 6 && looks_like_size(f.at[1]) && import_word_number(f.at[3], &logical) &&
	    import_word_number(f.at[4], &physical)) {
		import_heading(in, import_device(in, f.at[0]));
		set_sector_sizes(in, logical, physical);
		set_disk_size(in, f.at[1]);
		return in->node != NULL;
	}
	return line[strspn(line, "0123456789")] == ':' && row_of(in, &f);
}

static bool line(struct import *in, const char *line, bool going_on)
{
	struct import_fields f;

	if (heading(in, line) || machine(in, line))
		return true;
	if (!going_on)
		return !strcmp(line, "BYT;");
	import_split(&f, line, ",");
	return facts(in, line) || row_of(in, &f);
}

const struct import_reader import_reader_parted = { "parted", line };
