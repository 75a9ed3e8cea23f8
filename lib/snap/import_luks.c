/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cryptsetup luksDump of both versions, and cryptsetup status. */
#include <stdio.h>

#include "snap/import_priv.h"

static bool set_offset(struct import *in, uint64_t bytes)
{
	struct blkalign_node *device = import_current(in);

	import_content(in, BLKALIGN_KIND_CRYPT, "luks", device, bytes);
	import_u64(in, in->state.fs.content, BLKALIGN_ATTR_LUKS_OFFSET, bytes);
	return true;
}

static bool heading(struct import *in, const char *line)
{
	const char *name = import_after(line, "LUKS header information for ");
	struct blkalign_node *device = name ? import_device(in, name) : NULL;

	if (!import_starts(line, "LUKS header information"))
		return false;
	if (!device)
		device = in->prompt_node ? in->prompt_node : in->node;
	import_heading(in, device);
	in->state.fs.content = import_content(in, BLKALIGN_KIND_CRYPT, "luks", import_current(in), BLKALIGN_UNKNOWN);
	return true;
}

static bool dump(struct import *in, const char *line)
{
	static const struct import_key keys[] = {
		{ "Version", BLKALIGN_ATTR_LUKS_VERSION, IMPORT_PLAIN, 1 },
		{ "UUID", BLKALIGN_ATTR_LUKS_UUID, IMPORT_TEXT, 0 },
	};
	const char *payload = import_value(line, "Payload offset"), *offset = import_value(line, "offset"),
		   *sector = import_value(line, "sector");
	uint64_t number;

	if (line[0] != ' ' && line[0])
		in->state.fs.in_data = import_starts(line, "Data segments");
	if (payload && import_number(&payload, &number) && u64_mul(number, 512, &number))
		return set_offset(in, number);
	if (in->state.fs.in_data && offset && import_number(&offset, &number))
		return set_offset(in, number);
	if (in->state.fs.in_data && sector && import_number(&sector, &number)) {
		import_u64(in, in->state.fs.content, BLKALIGN_ATTR_LUKS_SECTOR, number);
		return true;
	}
	return import_keys(in, in->state.fs.content, keys, ARRAY_SIZE(keys), line) || in->state.fs.in_data;
}

/* "/dev/mapper/home is active and is in use." and lines "  device:  /dev/sda3", "  offset:  32768 sectors", "  sector size:  512" */
static bool status_heading(struct import *in, const char *line)
{
	if (!import_starts(line, "/dev/mapper/") || !strstr(line, " is active"))
		return false;
	import_heading(in, import_mentioned(in, line));
	in->state.fs.content = in->node;
	snprintf(in->state.fs.section, sizeof(in->state.fs.section), "status");
	if (in->node)
		graph_set_kind(in->node, BLKALIGN_KIND_CRYPT);
	return true;
}

static bool status(struct import *in, const char *line)
{
	const char *device = import_value(line, "device"), *offset = import_value(line, "offset"),
		   *sector = import_value(line, "sector size"), *size = import_value(line, "size");
	uint64_t number;

	if (device && import_starts(device, "/dev/")) {
		in->state.fs.features = 1; /* the device is known */
		in->node = import_device(in, device);
	} else if (offset && in->state.fs.features && import_number(&offset, &number) && u64_mul(number, 512, &number)) {
		import_connect_linear(in, in->state.fs.content, in->node, number, BLKALIGN_UNKNOWN);
		import_u64(in, in->state.fs.content, BLKALIGN_ATTR_LUKS_OFFSET, number);
	} else if (size && import_number(&size, &number) && u64_mul(number, 512, &number)) {
		import_u64(in, in->state.fs.content, BLKALIGN_ATTR_SIZE, number);
	} else if (sector && import_number(&sector, &number)) {
		import_u64(in, in->state.fs.content, BLKALIGN_ATTR_LUKS_SECTOR, number);
	} else {
		return line[0] == ' ' && strchr(line, ':');
	}
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	if (heading(in, line) || status_heading(in, line))
		return true;
	if (!going_on || !in->state.fs.content)
		return false;
	return in->state.fs.section[0] ? status(in, line) : dump(in, line);
}

const struct import_reader import_reader_luks = { "cryptsetup", line };
