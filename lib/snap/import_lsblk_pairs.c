/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lsblk -P: NAME="sda" LOG-SEC="512" ... on a line for each device. Newer versions write the keys as shell variables (LOG_SEC, MAJ_MIN, FSUSE_PCT). */
#include <stdio.h>

#include "snap/import_priv.h"

static unsigned column_of(char *key)
{
	if (!strcmp(key, "MAJ_MIN"))
		return import_lsblk_column("MAJ:MIN");
	for (char *p = key; (p = strchr(p, '_')); p++)
		*p = '-';
	return import_lsblk_column(key);
}

static bool line(struct import *in, const char *line, bool going_on)
{
	char copy[IMPORT_LINE_MAX], *p = copy;
	const char *values[LSBLK_COLUMNS];

	(void)going_on;
	if (!import_starts(line, "NAME=\"") && !import_starts(line, "KNAME=\"") && !import_starts(line, "ALIGNMENT=\""))
		return false;
	snprintf(copy, sizeof(copy), "%s", line);
	for (unsigned i = 0; i < LSBLK_COLUMNS; i++)
		values[i] = "";
	for (;;) {
		char *key = p + strspn(p, " "), *equals = strstr(key, "=\""), *end = equals ? strchr(equals + 2, '"') : NULL;
		unsigned column;

		if (!end)
			break;
		*equals = *end = '\0';
		column = column_of(key);
		if (column < LSBLK_COLUMNS)
			values[column] = equals + 2;
		p = end + 1;
	}
	if (!*values[LSBLK_NAME])
		values[LSBLK_NAME] = values[LSBLK_KNAME];
	return import_lsblk_row(in, values) != NULL;
}

const struct import_reader import_reader_lsblk_pairs = { "lsblk -P", line };
