/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blkid: "/dev/sda1: UUID="..." TYPE="ext4" ..." */
#include <stdio.h>

#include "snap/import_priv.h"

static bool quoted(const char *line, const char *key, char *ret, size_t size)
{
	const char *p = strstr(line, key);
	size_t n = strlen(key);

	if (!p)
		return false;
	snprintf(ret, size, "%.*s", (int)strcspn(p + n, "\""), p + n);
	return true;
}

/* blkid -i: the limits, instead of what lies on the device. */
static void limits(struct import *in, struct blkalign_node *device, const char *line)
{
	static const struct {
		const char *key;
		enum blkalign_attr attr;
	} keys[] = {
		{ " MINIMUM_IO_SIZE=\"", BLKALIGN_ATTR_MINIMUM_IO },
		{ " OPTIMAL_IO_SIZE=\"", BLKALIGN_ATTR_OPTIMAL_IO },
		{ " PHYSICAL_SECTOR_SIZE=\"", BLKALIGN_ATTR_PHYSICAL_BLOCK },
		{ " LOGICAL_SECTOR_SIZE=\"", BLKALIGN_ATTR_LOGICAL_BLOCK },
	};
	char text[32];
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (quoted(line, keys[i].key, text, sizeof(text)) && import_word_number(text, &bytes))
			import_u64(in, device, keys[i].attr, bytes);
}

static bool line(struct import *in, const char *line, bool going_on)
{
	char name[IMPORT_NAME_MAX], text[128];
	size_t n = strcspn(line, ":");
	struct blkalign_node *device, *content = NULL;
	uint64_t bytes;

	(void)going_on;
	if (line[0] != '/' || n >= sizeof(name) || !import_starts(line + n, ": ") || !strstr(line + n, "=\""))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)n, line);
	device = import_device(in, name);
	if (!device)
		return false;
	limits(in, device, line);
	if (quoted(line, " TYPE=\"", text, sizeof(text)))
		content = import_signature(in, text, device);
	if (content && blkalign_node_kind(content) == BLKALIGN_KIND_CONTENT && quoted(line, " UUID=\"", text, sizeof(text)))
		import_str(in, content, BLKALIGN_ATTR_FS_UUID, text);
	if (content && quoted(line, " BLOCK_SIZE=\"", text, sizeof(text)) && import_word_number(text, &bytes) && strstr(line, "\"xfs\""))
		import_u64(in, content, BLKALIGN_ATTR_FS_SECTOR, bytes);
	if (quoted(line, " PTTYPE=\"", text, sizeof(text)))
		import_str(in, device, BLKALIGN_ATTR_TABLE_TYPE, text);
	return true;
}

const struct import_reader import_reader_blkid = { "blkid", line };
