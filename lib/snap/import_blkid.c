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
