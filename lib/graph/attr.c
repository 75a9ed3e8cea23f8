/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <strings.h>

#include "graph/graph.h"

static const struct blkalign_attr_info infos[BLKALIGN_ATTR_COUNT] = {
#define BLKALIGN_ATTR(symbol, key, type, privacy, heading, help)                                                                           \
	{ #symbol, key, heading, help, BLKALIGN_TYPE_##type, BLKALIGN_PRIVACY_##privacy },
#include <blkalign/attrs.def>
#undef BLKALIGN_ATTR
};

const struct blkalign_attr_info *blkalign_attr_info(enum blkalign_attr attr) { return &infos[attr]; }

enum blkalign_attr blkalign_attr_find(const char *name)
{
	for (unsigned i = 0; i < BLKALIGN_ATTR_COUNT; i++)
		if (!strcmp(infos[i].key, name) || !strcasecmp(infos[i].heading, name))
			return (enum blkalign_attr)i;
	return BLKALIGN_ATTR_COUNT;
}

static const char *const origin_names[] = {
	[BLKALIGN_ORIGIN_SYSFS] = "sysfs",
	[BLKALIGN_ORIGIN_IOCTL] = "ioctl",
	[BLKALIGN_ORIGIN_VPD] = "vpd",
	[BLKALIGN_ORIGIN_IDENTIFY] = "identify",
	[BLKALIGN_ORIGIN_CAPACITY16] = "read-capacity-16",
	[BLKALIGN_ORIGIN_ONDISK] = "on-disk",
	[BLKALIGN_ORIGIN_SYSTEM] = "system",
	[BLKALIGN_ORIGIN_FILE] = "file",
	[BLKALIGN_ORIGIN_ASSUMED] = "assumed",
	[BLKALIGN_ORIGIN_COMPUTED] = "computed",
	[BLKALIGN_ORIGIN_TOOL] = "tool",
	[BLKALIGN_ORIGIN_SNAPSHOT] = "snapshot",
};

const char *blkalign_origin_name(enum blkalign_origin origin) { return origin_names[origin]; }

int blkalign_origin_parse(const char *name, enum blkalign_origin *ret_origin)
{
	for (unsigned i = 0; i < ARRAY_SIZE(origin_names); i++)
		if (!strcmp(origin_names[i], name)) {
			*ret_origin = (enum blkalign_origin)i;
			return 0;
		}
	return -EINVAL;
}

static const char *const kind_names[] = {
	[BLKALIGN_KIND_HOST] = "host",	     [BLKALIGN_KIND_DISK] = "disk",   [BLKALIGN_KIND_PARTITION] = "partition",
	[BLKALIGN_KIND_MD] = "md",	     [BLKALIGN_KIND_PV] = "pv",	      [BLKALIGN_KIND_LV] = "lv",
	[BLKALIGN_KIND_DM] = "dm",	     [BLKALIGN_KIND_CRYPT] = "crypt", [BLKALIGN_KIND_BCACHE] = "bcache",
	[BLKALIGN_KIND_CONTENT] = "content",
};

const char *blkalign_kind_name(enum blkalign_kind kind) { return kind_names[kind]; }

int blkalign_kind_parse(const char *name, enum blkalign_kind *ret_kind)
{
	for (unsigned i = 0; i < ARRAY_SIZE(kind_names); i++)
		if (!strcmp(kind_names[i], name)) {
			*ret_kind = (enum blkalign_kind)i;
			return 0;
		}
	return -EINVAL;
}
