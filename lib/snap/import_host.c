/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Versions of kernel and tools, from their own banners, uname -a, and the package lists of Debian and Red Hat. */
#include <ctype.h>
#include <stdio.h>

#include "snap/import_priv.h"

static const struct {
	const char *mark; /* the version is the first word with a digit behind it */
	enum blkalign_attr attr;
} banners[] = {
	{ "Linux version ", BLKALIGN_ATTR_KERNEL },	   { "LVM version:", BLKALIGN_ATTR_TOOL_LVM2 },
	{ "mdadm - v", BLKALIGN_ATTR_TOOL_MDADM },	   { "from util-linux ", BLKALIGN_ATTR_TOOL_UTIL_LINUX },
	{ "(util-linux ", BLKALIGN_ATTR_TOOL_UTIL_LINUX }, { "GNU Parted ", BLKALIGN_ATTR_TOOL_PARTED },
	{ "(GNU parted) ", BLKALIGN_ATTR_TOOL_PARTED },	   { "cryptsetup ", BLKALIGN_ATTR_TOOL_CRYPTSETUP },
};

static const struct {
	const char *package;
	enum blkalign_attr attr;
} packages[] = {
	{ "lvm2", BLKALIGN_ATTR_TOOL_LVM2 },
	{ "util-linux", BLKALIGN_ATTR_TOOL_UTIL_LINUX },
	{ "mdadm", BLKALIGN_ATTR_TOOL_MDADM },
	{ "cryptsetup-bin", BLKALIGN_ATTR_TOOL_CRYPTSETUP },
	{ "cryptsetup", BLKALIGN_ATTR_TOOL_CRYPTSETUP },
	{ "parted", BLKALIGN_ATTR_TOOL_PARTED },
};

static void set(struct import *in, enum blkalign_attr attr, const char *version, size_t length)
{
	struct blkalign_node *host = NULL;
	char text[128];

	if (in->error || (in->error = graph_host(in->graph, &host)) < 0)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)length, version);
	import_str(in, host, attr, text);
}

/* "ii  lvm2  2.03.16-2  amd64  ..." (an architecture may follow the name after a colon) and "lvm2-2.03.14-5.el8.x86_64" */
static bool package_line(struct import *in, const char *line)
{
	struct import_fields f;
	const char *p;

	import_split(&f, line, "");
	if (f.count < 1)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(packages); i++) {
		size_t n = strlen(packages[i].package);

		p = f.count >= 3 && !strcmp(f.at[0], "ii") ? f.at[1] : NULL;
		if (p && !strncmp(p, packages[i].package, n) && (!p[n] || p[n] == ':')) {
			set(in, packages[i].attr, f.at[2], strlen(f.at[2]));
			return true;
		}
		p = f.at[0];
		if (import_starts(p, packages[i].package) && p[n] == '-' && isdigit((unsigned char)p[n + 1]) && f.count <= 7 &&
		    strchr(p, '.')) {
			set(in, packages[i].attr, p + n + 1, strlen(p + n + 1));
			return true;
		}
	}
	return false;
}

/* "Linux HOST 6.1.0-57-amd64 #1 SMP ... x86_64 GNU/Linux"; below `uname -r` the release stands alone. */
static bool uname_line(struct import *in, const char *line)
{
	struct import_fields f;

	import_split(&f, line, "");
	if (f.count >= 4 && !strcmp(f.at[0], "Linux") && isdigit((unsigned char)f.at[2][0]) && f.at[3][0] == '#') {
		set(in, BLKALIGN_ATTR_KERNEL, f.at[2], strlen(f.at[2]));
		set(in, BLKALIGN_ATTR_HOST_NAME, f.at[1], strlen(f.at[1]));
		return true;
	}
	if (strcmp(in->tool, "uname") != 0 || f.count != 1 || !isdigit((unsigned char)f.at[0][0]))
		return false;
	set(in, BLKALIGN_ATTR_KERNEL, f.at[0], strlen(f.at[0]));
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	(void)going_on;
	for (size_t i = 0; i < ARRAY_SIZE(banners); i++) {
		const char *p = import_after(line, banners[i].mark);

		if (!p || !isdigit((unsigned char)*p) || (p - line > 60 && !import_starts(line, "[")))
			continue;
		set(in, banners[i].attr, p, strcspn(p, " (),"));
		return true;
	}
	return uname_line(in, line) || package_line(in, line);
}

const struct import_reader import_reader_host = { "host", line };
