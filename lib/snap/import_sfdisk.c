/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sfdisk -d, old ("# partition table of DEVICE") and new (header lines "label:", "device:", ...; libfdisk/src/script.c). */
#include <stdio.h>

#include "snap/import_priv.h"

static bool header(struct import *in, const char *line)
{
	const char *device = import_after(line, "# partition table of "), *text;
	uint64_t number;

	if (device) {
		import_heading(in, import_device(in, device));
		return true;
	}
	if (import_starts(line, "label: ")) {
		import_heading(in, NULL);
		snprintf(in->state.part.model, sizeof(in->state.part.model), "%s", line + strlen("label: "));
		return true;
	}
	if (import_starts(line, "device: ")) {
		in->node = import_device(in, line + strlen("device: "));
		import_str(in, in->node, BLKALIGN_ATTR_TABLE_TYPE, in->state.part.model);
		return true;
	}
	text = import_value(line, "sector-size");
	if (text && import_word_number(text, &number) && number && number <= MIB) {
		in->state.part.unit_bytes = number;
		import_u64(in, in->node, BLKALIGN_ATTR_LOGICAL_BLOCK, number);
		return true;
	}
	return import_starts(line, "unit: ") || import_starts(line, "first-lba: ") || import_starts(line, "last-lba: ") ||
	       import_starts(line, "label-id: ");
}

/* The word behind "key=", up to a comma. */
static bool word_of(const char *line, const char *key, char *ret, size_t size)
{
	const char *p = import_after(line, key);

	if (!p)
		return false;
	snprintf(ret, size, "%.*s", (int)strcspn(p, ", "), p);
	return true;
}

/* Versions before sector-size: was printed count in logical blocks, which are then known from elsewhere or were 512 bytes. */
static uint64_t unit_of(const struct import *in, const struct blkalign_node *disk)
{
	uint64_t logical = disk ? blkalign_node_u64(disk, BLKALIGN_ATTR_LOGICAL_BLOCK) : BLKALIGN_UNKNOWN;

	if (in->state.part.unit_bytes)
		return in->state.part.unit_bytes;
	return logical == BLKALIGN_UNKNOWN ? 512 : logical;
}

static bool row(struct import *in, const char *line)
{
	const char *p = strstr(line, ": start=");
	char name[IMPORT_NAME_MAX], start_text[32], size_text[32] = "", type[64] = "";
	struct blkalign_node *part, *disk;
	uint64_t start, size, unit;

	if (!p || !word_of(line, "start=", start_text, sizeof(start_text)) || !import_word_number(start_text, &start) ||
	    !word_of(line, "size=", size_text, sizeof(size_text)) || !import_word_number(size_text, &size))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, " :"), line);
	part = size ? import_device(in, name) : NULL;
	disk = import_disk_of(in, part);
	if (!disk)
		disk = in->node;
	unit = unit_of(in, disk);
	if (!part || !u64_mul(start, unit, &start) || !u64_mul(size, unit, &size))
		return true;
	part = import_partition(in, disk, blkalign_node_name(part), start, size);
	if (!word_of(line, "type=", type, sizeof(type)))
		word_of(line, "Id=", type, sizeof(type));
	import_role(in, part, type);
	if (strlen(type) > 2)
		import_str(in, part, BLKALIGN_ATTR_PART_TYPE, type);
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	if (row(in, line))
		return true;
	return (going_on || import_starts(line, "label: ") || import_starts(line, "# partition table of ")) && header(in, line);
}

const struct import_reader import_reader_sfdisk = { "sfdisk", line };
