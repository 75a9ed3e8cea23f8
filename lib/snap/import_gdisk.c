/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gdisk -l and sgdisk -p (gpt.cc: DisplayGPTData). */
#include <stdio.h>

#include "snap/import_priv.h"
#include "stack/stack.h"

static bool heading(struct import *in, const char *line)
{
	struct import_fields f;
	uint64_t sectors;

	import_split(&f, line, "");
	if (f.count < 4 || strcmp(f.at[0], "Disk") != 0 || !import_word_number(f.at[2], &sectors) || !import_starts(f.at[3], "sectors,"))
		return false;
	import_heading(in, import_device(in, f.at[1]));
	snprintf(in->state.part.prefix, sizeof(in->state.part.prefix), "%s", f.at[2]);
	return in->node != NULL;
}

/* Printed since 1.0.4, between the heading and the sector size. */
static bool model(struct import *in, const char *line)
{
	if (!import_starts(line, "Model: "))
		return false;
	import_str(in, in->node, BLKALIGN_ATTR_MODEL, line + strlen("Model: "));
	return true;
}

static bool sector_size(struct import *in, const char *line)
{
	const char *p = import_value(line, "Sector size (logical)");
	uint64_t logical, physical = BLKALIGN_UNKNOWN, sectors;

	if (!p)
		p = import_value(line, "Logical sector size");
	if (!(p && import_number(&p, &logical)) && !import_number_pair(line, &logical, &physical))
		return false;
	in->state.part.unit_bytes = logical;
	import_u64(in, in->node, BLKALIGN_ATTR_LOGICAL_BLOCK, logical);
	import_u64(in, in->node, BLKALIGN_ATTR_PHYSICAL_BLOCK, physical);
	import_str(in, in->node, BLKALIGN_ATTR_TABLE_TYPE, "gpt");
	if (import_word_number(in->state.part.prefix, &sectors) && u64_mul(sectors, logical, &sectors))
		import_u64(in, in->node, BLKALIGN_ATTR_SIZE, sectors);
	return true;
}

static bool first_usable(struct import *in, const char *line)
{
	const char *p = import_after(line, "First usable sector is ");
	uint64_t sector;

	if (!p || !import_number(&p, &sector) || !in->state.part.unit_bytes || !u64_mul(sector, in->state.part.unit_bytes, &sector))
		return false;
	import_u64(in, in->node, BLKALIGN_ATTR_TABLE_FIRST_USABLE, sector);
	return true;
}

/* "   1            2048          411647   200.0 MiB   EF00  EFI System" */
static bool row(struct import *in, const char *line)
{
	struct import_fields f;
	uint64_t number, start, end, unit = in->state.part.unit_bytes, bytes;
	char name[IMPORT_NAME_MAX];

	import_split(&f, line, "");
	if (f.count < 5 || !in->node || !import_word_number(f.at[0], &number) || number > 1000 || !import_word_number(f.at[1], &start) ||
	    !import_word_number(f.at[2], &end) || end < start || !strstr(f.at[4], "B"))
		return false;
	if (!unit || !u64_mul(start, unit, &bytes) || !u64_mul(end - start + 1, unit, &end))
		bytes = end = BLKALIGN_UNKNOWN;
	stack_partition_name(name, sizeof(name), blkalign_node_name(in->node), (unsigned)number);
	import_role(in, import_partition(in, in->node, name, bytes, end), f.count > 5 ? f.at[5] : "");
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	return heading(in, line) || (going_on && (model(in, line) || sector_size(in, line) || first_usable(in, line) || row(in, line)));
}

const struct import_reader import_reader_gdisk = { "gdisk", line };
