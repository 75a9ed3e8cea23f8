/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_MDBITMAP_MDBITMAP_ONDISK_H
#define FORMAT_MDBITMAP_MDBITMAP_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define MDBITMAP_MAGIC 0x6d746962U /* "bitm" */

struct mdbitmap_ondisk {
	le32 magic;
	le32 version;
	uint8_t uuid[16];
	le64 events;
	le64 events_cleared;
	le64 sync_size; /* 512-byte sectors */
	le32 state;
	le32 chunksize; /* bytes */
	le32 daemon_sleep;
	le32 write_behind;
	le32 sectors_reserved;
	le32 nodes;
	char cluster_name[64];
	uint8_t pad[120];
};

static_assert(sizeof(struct mdbitmap_ondisk) == 256);
static_assert(offsetof(struct mdbitmap_ondisk, sync_size) == 40);
static_assert(offsetof(struct mdbitmap_ondisk, chunksize) == 52);
static_assert(offsetof(struct mdbitmap_ondisk, cluster_name) == 72);

#endif
