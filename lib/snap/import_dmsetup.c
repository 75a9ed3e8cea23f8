/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dmsetup table (Documentation/admin-guide/device-mapper): linear, striped and crypt targets give the map itself; others their devices are left out. */
#include <stdio.h>

#include "snap/import_priv.h"

#define STRIPES_MAX 1024U

struct target {
	struct blkalign_node *node;
	uint64_t start, length; /* bytes */
	uint32_t segment;
};

/* A device and a sector on it, as the table pairs them. */
static bool device_and_sector(struct import *in, const struct import_fields *f, size_t at, struct blkalign_node **ret_node,
			      uint64_t *ret_bytes)
{
	uint64_t sectors;

	if (at + 1 >= f->count || !import_word_number(f->at[at + 1], &sectors) || !u64_mul(sectors, 512, ret_bytes))
		return false;
	*ret_node = import_device(in, f->at[at]);
	return *ret_node != NULL;
}

static void connect(struct import *in, const struct target *t, struct blkalign_node *lower, uint64_t offset, uint32_t slot,
		    uint32_t stripes, uint64_t chunk)
{
	import_connect(in, &(struct blkalign_edge){ .upper = t->node,
						    .lower = lower,
						    .upper_offset_bytes = t->start,
						    .lower_offset_bytes = offset,
						    .length_bytes = t->length,
						    .chunk_bytes = chunk,
						    .stripes = stripes,
						    .segment = t->segment,
						    .slot = slot });
}

static bool striped(struct import *in, const struct target *t, const struct import_fields *f, size_t at)
{
	uint64_t stripes, chunk, offset;
	struct blkalign_node *lower;

	if (at + 1 >= f->count || !import_word_number(f->at[at], &stripes) || !import_word_number(f->at[at + 1], &chunk) || !stripes ||
	    stripes > STRIPES_MAX || !u64_mul(chunk, 512, &chunk))
		return false;
	import_u64(in, t->node, BLKALIGN_ATTR_MD_CHUNK, chunk);
	for (uint32_t i = 0; i < stripes && device_and_sector(in, f, at + 2 + 2 * (size_t)i, &lower, &offset); i++)
		connect(in, t, lower, offset, i, (uint32_t)stripes, stripes > 1 ? chunk : 0);
	return true;
}

/* "cipher key iv_offset device offset [options]" */
static bool crypt(struct import *in, const struct target *t, const struct import_fields *f, size_t at)
{
	uint64_t offset, sector;
	struct blkalign_node *lower;

	if (!device_and_sector(in, f, at + 3, &lower, &offset))
		return false;
	graph_set_kind(t->node, BLKALIGN_KIND_CRYPT);
	connect(in, t, lower, offset, 0, 1, 0);
	import_u64(in, t->node, BLKALIGN_ATTR_LUKS_OFFSET, offset);
	for (size_t i = at + 5; i < f->count; i++)
		if (import_starts(f->at[i], "sector_size:") && import_word_number(f->at[i] + strlen("sector_size:"), &sector))
			import_u64(in, t->node, BLKALIGN_ATTR_LUKS_SECTOR, sector);
	return true;
}

/* "vg0-root  (253:0)" of dmsetup ls, and "vg0-root -> ../dm-0" of ls -l /dev/mapper */
static bool names(struct import *in, const char *line)
{
	struct import_fields f;
	char name[IMPORT_NAME_MAX];
	const char *arrow = import_after(line, " -> ../"), *last;
	uint64_t number;

	import_split(&f, line, "()");
	if (f.count < 2)
		return false;
	last = f.at[f.count - 1];
	if (arrow && import_starts(arrow, "dm-") && f.count >= 3) {
		snprintf(name, sizeof(name), "/dev/mapper/%.200s", f.at[f.count - 3]);
		import_same(in, import_device(in, name), import_device(in, arrow));
		return true;
	}
	if (f.count != 2 || line[0] == ' ' || !strchr(line, '(') || !import_number(&last, &number) || *last++ != ':' ||
	    !import_word_number(last, &number))
		return false;
	snprintf(name, sizeof(name), "/dev/mapper/%.200s", f.at[0]);
	import_str(in, import_device(in, name), BLKALIGN_ATTR_DEVNO, f.at[1]);
	return true;
}

/* "vg0-root: 0 204800 linear 9:0 2048" */
static bool table(struct import *in, const char *line, bool going_on)
{
	struct import_fields f;
	struct target t;
	struct blkalign_node *lower;
	char name[IMPORT_NAME_MAX];
	uint64_t offset;
	size_t n;

	import_split(&f, line, "");
	n = f.count ? strlen(f.at[0]) : 0;
	if (f.count < 5 || n < 2 || n >= sizeof(name) - 16 || f.at[0][n - 1] != ':' || !import_word_number(f.at[1], &t.start) ||
	    !import_word_number(f.at[2], &t.length) || !u64_mul(t.start, 512, &t.start) || !u64_mul(t.length, 512, &t.length))
		return false;
	if (strcmp(f.at[3], "linear") != 0 && strcmp(f.at[3], "striped") != 0 && strcmp(f.at[3], "crypt") != 0)
		return false;
	snprintf(name, sizeof(name), "/dev/mapper/%.*s", (int)n - 1, f.at[0]);
	t.node = import_device(in, name);
	if (!t.node)
		return false;
	t.segment = going_on && in->node == t.node ? in->state.lvm.segment + 1 : 0;
	in->node = t.node;
	in->state.lvm.segment = t.segment;
	import_str(in, t.node, BLKALIGN_ATTR_DM_NAME, blkalign_node_name(t.node));
	if (f.at[3][0] == 's')
		return striped(in, &t, &f, 4);
	if (f.at[3][0] == 'c')
		return crypt(in, &t, &f, 4);
	if (!device_and_sector(in, &f, 4, &lower, &offset))
		return false;
	connect(in, &t, lower, offset, 0, 1, 0);
	return true;
}

static bool line(struct import *in, const char *line, bool going_on) { return table(in, line, going_on) || names(in, line); }

const struct import_reader import_reader_dmsetup = { "dmsetup", line };
