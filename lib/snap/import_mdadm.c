/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mdadm -E of members (0.90 and 1.x superblocks, and the MBR summary) and mdadm -D of arrays (super0.c, super1.c, Detail.c). -E does not know the
 * array's device name: such arrays are named after their UUID until a shared member tells the name.
 */
#include <stdio.h>

#include "snap/import_priv.h"

static const struct import_key array_keys[] = {
	{ "Raid Level", BLKALIGN_ATTR_MD_LEVEL, IMPORT_TEXT, 0 },
	{ "Raid Devices", BLKALIGN_ATTR_MD_MEMBERS, IMPORT_PLAIN, 1 },
	{ "Layout", BLKALIGN_ATTR_MD_LAYOUT_NAME, IMPORT_TEXT, 0 },
	{ "Events", BLKALIGN_ATTR_MD_EVENTS, IMPORT_PLAIN, 1 },
};

static bool is_version(const char *text) { return text && (import_starts(text, "0.9") || import_starts(text, "1.")); }

/* Data of 0.90 members starts at 0; 1.0 prints an offset only where there is one. */
static uint64_t implied_offset(const char *version)
{
	return import_starts(version, "0.9") || !strcmp(version, "1.0") ? 0 : BLKALIGN_UNKNOWN;
}

static bool start(struct import *in, const char *line, bool going_on)
{
	const char *magic = import_value(line, "Magic"), *version = import_value(line, "Version");

	if (magic && import_starts(magic, "a92b4efc")) {
		import_heading(in, import_current(in));
		in->state.md.examine = true;
		in->state.md.features = BLKALIGN_UNKNOWN;
		return true;
	}
	if (!is_version(version))
		return false;
	if (!going_on || !in->state.md.examine) {
		if (!in->node)
			in->node = in->prompt_node;
		if (!in->node || blkalign_node_kind(in->node) != BLKALIGN_KIND_MD)
			return false;
		import_heading(in, in->node);
		in->state.md.array = in->node;
	}
	snprintf(in->state.md.version, sizeof(in->state.md.version), "%.*s", (int)strcspn(version, " "), version);
	if (import_starts(version, "0.90"))
		in->state.md.version[4] = '\0';
	import_str(in, in->state.md.array, BLKALIGN_ATTR_MD_METADATA, in->state.md.version);
	return true;
}

static bool identity(struct import *in, const char *line)
{
	const char *uuid = import_value(line, "Array UUID"), *name = import_value(line, "Name"),
		   *features = import_value(line, "Feature Map");
	char text[64];

	if (!uuid)
		uuid = import_value(line, "UUID");
	if (uuid) {
		snprintf(text, sizeof(text), "md-%.*s", (int)strcspn(uuid, " "), uuid);
		if (in->state.md.examine)
			in->state.md.array = import_node(in, BLKALIGN_KIND_MD, text);
		else
			import_same(in, in->state.md.array, import_node(in, BLKALIGN_KIND_MD, text));
		import_str(in, in->state.md.array, BLKALIGN_ATTR_MD_UUID, text + 3);
		import_str(in, in->state.md.array, BLKALIGN_ATTR_MD_METADATA, in->state.md.version);
		import_u64(in, in->state.md.array, BLKALIGN_ATTR_MD_FEATURES, in->state.md.features);
		if (in->state.md.examine)
			import_member(in, in->state.md.array, in->node, implied_offset(in->state.md.version), IMPORT_SLOT_UNKNOWN, NULL);
		return true;
	}
	if (name) {
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(name, " "), name);
		import_str(in, in->state.md.array, BLKALIGN_ATTR_MD_NAME, text);
		return true;
	}
	return features && import_number(&features, &in->state.md.features);
}

/* -D counts KiB; -E of 1.x sectors, of 0.90 KiB. Newer versions print the unit. */
static uint64_t size_unit(const struct import *in, const char *behind)
{
	if (import_starts(behind, " sectors"))
		return 512;
	return import_starts(behind, " KiB") || !in->state.md.examine || import_starts(in->state.md.version, "0.9") ? KIB : 512;
}

static bool sizes(struct import *in, const char *line)
{
	const char *used = import_value(line, "Used Dev Size"), *size = import_value(line, "Array Size"),
		   *chunk = import_value(line, "Chunk Size");
	uint64_t number, bytes;

	if (chunk) {
		if (import_size(chunk, IMPORT_UNITS_BINARY, 0, KIB, &bytes))
			import_u64(in, in->state.md.array, BLKALIGN_ATTR_MD_CHUNK, bytes);
		return true;
	}
	if (used && import_number(&used, &number) && u64_mul(number, size_unit(in, used), &bytes)) {
		import_u64(in, in->state.md.array, BLKALIGN_ATTR_MD_COMPONENT, bytes);
		return true;
	}
	if (size && !in->state.md.examine && import_number(&size, &number) && u64_mul(number, KIB, &bytes)) {
		import_u64(in, in->state.md.array, BLKALIGN_ATTR_SIZE, bytes);
		return true;
	}
	return used || size;
}

static void role(struct import *in, const char *text)
{
	const char *number = import_after(text, "Active device ");
	uint64_t slot;

	if (number && import_number(&number, &slot) && slot < IMPORT_SLOT_UNKNOWN)
		import_member(in, in->state.md.array, in->node, BLKALIGN_UNKNOWN, (uint32_t)slot, "in_sync");
	else if (import_starts(text, "spare") || import_starts(text, "Journal"))
		import_member(in, in->state.md.array, in->node, BLKALIGN_UNKNOWN, BLKALIGN_SLOT_NONE, *text == 's' ? "spare" : "journal");
}

static bool member(struct import *in, const char *line)
{
	const char *offset = import_value(line, "Data Offset"), *device_role = import_value(line, "Device Role");
	uint64_t sectors;

	if (!in->state.md.examine)
		return false;
	if (offset && import_number(&offset, &sectors) && u64_mul(sectors, 512, &sectors))
		import_member(in, in->state.md.array, in->node, sectors, IMPORT_SLOT_UNKNOWN, NULL);
	else if (device_role)
		role(in, device_role);
	else
		return offset != NULL;
	return true;
}

static bool state(struct import *in, const char *line)
{
	const char *value = import_value(line, "State"), *bitmap = import_value(line, "Internal Bitmap");

	if (!bitmap)
		bitmap = import_value(line, "Intent Bitmap");
	if (bitmap)
		import_str(in, in->state.md.array, BLKALIGN_ATTR_MD_BITMAP, *bitmap == '/' ? "external" : "internal");
	else if (value)
		import_str(in, in->state.md.array, BLKALIGN_ATTR_MD_STATE, value);
	else if (import_value(line, "Reshape pos'n"))
		import_str(in, in->state.md.array, BLKALIGN_ATTR_MD_EXTRAS, "reshape");
	else
		return false;
	return true;
}

/*
 * "   0   8   17   1   active sync   /dev/sdb1" of -D, where the fourth number is the slot; of the rows in -E of 0.90 only that of "this" device
 * belongs to it for sure, the others have the names of some former day.
 */
static bool row(struct import *in, const char *line)
{
	struct import_fields f;
	size_t at;
	uint64_t number, slot = BLKALIGN_SLOT_NONE;
	struct blkalign_node *device;
	bool spare = strstr(line, "spare") || strstr(line, "journal"), faulty = strstr(line, "faulty") != NULL;

	import_split(&f, line, "");
	at = f.count && !strcmp(f.at[0], "this");
	if (f.count < at + 6 || (!import_word_number(f.at[at], &number) && strcmp(f.at[at], "-") != 0) ||
	    !import_word_number(f.at[at + 1], &number) || !import_starts(f.at[f.count - 1], "/dev/"))
		return false;
	if (import_word_number(f.at[at + 3], &slot) && slot >= IMPORT_SLOT_UNKNOWN)
		return false;
	device = in->state.md.examine ? in->node : import_device(in, f.at[f.count - 1]);
	if (in->state.md.examine && !at)
		return true;
	import_member(in, in->state.md.array, device, implied_offset(in->state.md.version),
		      spare || faulty ? BLKALIGN_SLOT_NONE : (uint32_t)slot,
		      faulty			? "faulty"
		      : strstr(line, "journal") ? "journal"
		      : spare			? "spare"
						: "in_sync");
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	if (start(in, line, going_on))
		return true;
	if (!going_on)
		return false;
	if (identity(in, line))
		return true;
	if (!in->state.md.array)
		return false;
	return sizes(in, line) || member(in, line) || state(in, line) || row(in, line) ||
	       import_keys(in, in->state.md.array, array_keys, ARRAY_SIZE(array_keys), line);
}

const struct import_reader import_reader_mdadm = { "mdadm", line };
