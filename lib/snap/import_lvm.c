/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of pvs, vgs and lvs, with any columns and units. Their default units round: what 1.00m leaves open stays unknown. */
#include <stdio.h>

#include "snap/import_priv.h"

void import_extent(struct import *in, const char *group, uint64_t extent_bytes)
{
	struct blkalign_node *node = in->error ? NULL : graph_find(in->groups, group);
	int r = in->error;

	if (!r && !node)
		r = graph_add(in->groups, BLKALIGN_KIND_DM, group, &node);
	if (!r)
		r = graph_set_u64(node, BLKALIGN_ATTR_EXTENT, extent_bytes, BLKALIGN_ORIGIN_TOOL);
	if (r < 0)
		in->error = r;
	in->facts++;
}

bool import_extent_size(const char *text, uint64_t *ret_bytes)
{
	return import_size(text, IMPORT_UNITS_LVM, 0, 512, ret_bytes) || import_size(text, IMPORT_UNITS_LVM, 0, 128 * KIB, ret_bytes);
}

struct blkalign_node *import_volume(struct import *in, const char *group, const char *name)
{
	char full[2 * IMPORT_NAME_MAX];
	bool hidden = *name == '[';
	struct blkalign_node *node;

	name += hidden;
	if (!*group || !*name || strchr(name, '/'))
		return NULL;
	snprintf(full, sizeof(full), "%.200s/%.*s", group, (int)strcspn(name, "]"), name);
	node = import_node(in, BLKALIGN_KIND_LV, full);
	import_str(in, node, BLKALIGN_ATTR_VG_NAME, group);
	import_str(in, node, BLKALIGN_ATTR_LV_NAME, strchr(full, '/') + 1);
	if (hidden)
		import_bool(in, node, BLKALIGN_ATTR_LV_HIDDEN, true);
	return node;
}

/* --- cells --- */

static const char *cell(const struct import *in, const char *const *cells, const char *heading)
{
	const struct import_table *t = &in->state.lvm.table;

	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->heading[i], heading))
			return cells[i];
	return "";
}

static uint64_t size_cell(const struct import *in, const char *const *cells, const char *heading)
{
	uint64_t bytes;

	return import_size(cell(in, cells, heading), IMPORT_UNITS_LVM, 0, 512, &bytes) ? bytes : BLKALIGN_UNKNOWN;
}

static void extent_cell(struct import *in, const char *const *cells)
{
	const char *group = cell(in, cells, "VG");
	uint64_t bytes;

	if (*group && import_extent_size(cell(in, cells, "Ext"), &bytes))
		import_extent(in, group, bytes);
}

/* --- rows --- */

static bool pv_row(struct import *in, const char *const *cells)
{
	const char *name = cell(in, cells, "PV"), *format = cell(in, cells, "Fmt");
	struct blkalign_node *device, *pv;
	uint64_t extents;

	if (name[0] != '/' || (*format && strcmp(format, "lvm2") != 0))
		return false;
	device = import_device(in, name);
	pv = import_content(in, BLKALIGN_KIND_PV, "pv", device, 0);
	import_str(in, pv, BLKALIGN_ATTR_VG_NAME, cell(in, cells, "VG"));
	import_str(in, pv, BLKALIGN_ATTR_PV_UUID, cell(in, cells, "PV UUID"));
	import_u64(in, pv, BLKALIGN_ATTR_PE_START, size_cell(in, cells, "1st PE"));
	if (*cell(in, cells, "1st PE") && size_cell(in, cells, "1st PE") == BLKALIGN_UNKNOWN)
		import_rounded(in, device, "the first extent", cell(in, cells, "1st PE"), "--units s");
	import_u64(in, device, BLKALIGN_ATTR_SIZE, size_cell(in, cells, "DevSize"));
	if (import_word_number(cell(in, cells, "PE"), &extents))
		import_u64(in, pv, BLKALIGN_ATTR_PE_COUNT, extents);
	extent_cell(in, cells);
	return pv != NULL;
}

/* How many areas hold data, 0 when the type does not tell. */
static uint32_t data_areas(const char *type, uint32_t areas)
{
	if (areas == 1)
		return 1;
	if (!strcmp(type, "striped") || import_starts(type, "raid0"))
		return areas;
	if (import_starts(type, "raid10"))
		return areas / 2;
	if (import_starts(type, "raid5") || import_starts(type, "raid4"))
		return areas - 1;
	if (import_starts(type, "raid6"))
		return areas > 2 ? areas - 2 : 0;
	return import_starts(type, "raid1") || !strcmp(type, "mirror") ? 1 : 0;
}

static uint32_t count_areas(const char *devices)
{
	uint32_t n = 1;

	for (; (devices = strpbrk(devices, ", ")); devices++)
		n++;
	return n;
}

/* "/dev/sda1(25)" is extent 25 of a PV, "root_rimage_0(0)" the start of another volume of the group. */
static void add_area(struct import *in, const char *group, const char *word, struct blkalign_edge edge)
{
	const char *open = strpbrk(word, "(:"), *number = open ? open + 1 : "";
	char name[IMPORT_NAME_MAX];
	struct import_area area = { .edge = edge };

	if (!open || !import_number(&number, &area.first_extent))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(open - word), word);
	area.lv = in->state.lvm.last;
	if (name[0] == '/') {
		area.pv = import_content(in, BLKALIGN_KIND_PV, "pv", import_device(in, name), 0);
		import_str(in, area.pv, BLKALIGN_ATTR_VG_NAME, group);
		area.edge.lower = area.pv;
		if (area.pv && vec_push(&in->areas, area) < 0)
			in->error = -ENOMEM;
	} else if (area.first_extent == 0) {
		area.edge.lower = import_volume(in, group, name);
		area.edge.lower_offset_bytes = 0;
		import_connect(in, &area.edge);
	}
}

static void add_areas(struct import *in, const char *const *cells, const char *devices)
{
	const char *type = cell(in, cells, "Type");
	uint32_t areas = count_areas(devices), data = data_areas(type, areas);
	uint64_t chunk = size_cell(in, cells, "Stripe");
	struct import_fields f;
	struct blkalign_edge edge = {
		.upper = in->state.lvm.last,
		.upper_offset_bytes = in->state.lvm.segment ? in->state.lvm.segment_end : 0,
		.lower_offset_bytes = BLKALIGN_UNKNOWN,
		.length_bytes = size_cell(in, cells, "SSize"),
		.stripes = data ? data : areas,
		.segment = in->state.lvm.segment,
	};

	if (size_cell(in, cells, "Start") != BLKALIGN_UNKNOWN)
		edge.upper_offset_bytes = size_cell(in, cells, "Start");
	if (edge.stripes > 1 && data && chunk != BLKALIGN_UNKNOWN)
		edge.chunk_bytes = chunk;
	import_split(&f, devices, ",");
	for (size_t i = 0; i < f.count; i++) {
		edge.slot = (uint32_t)i;
		add_area(in, cell(in, cells, "VG"), f.at[i], edge);
	}
	if (edge.upper_offset_bytes == BLKALIGN_UNKNOWN || edge.length_bytes == BLKALIGN_UNKNOWN ||
	    !u64_add(edge.upper_offset_bytes, edge.length_bytes, &in->state.lvm.segment_end))
		in->state.lvm.segment_end = BLKALIGN_UNKNOWN;
}

static bool lv_row(struct import *in, const char *const *cells)
{
	struct blkalign_node *lv = import_volume(in, cell(in, cells, "VG"), cell(in, cells, "LV"));
	const char *devices = cell(in, cells, "Devices");

	if (!lv)
		return false;
	in->state.lvm.segment = lv == in->state.lvm.last ? in->state.lvm.segment + 1 : 0;
	in->state.lvm.last = lv;
	import_u64(in, lv, BLKALIGN_ATTR_SIZE, size_cell(in, cells, "LSize"));
	import_str(in, lv, BLKALIGN_ATTR_LV_TYPE, cell(in, cells, "Type"));
	import_str(in, lv, BLKALIGN_ATTR_LV_UUID, cell(in, cells, "LV UUID"));
	if (!*devices)
		devices = cell(in, cells, "PE Ranges");
	if (*devices)
		add_areas(in, cells, devices);
	extent_cell(in, cells);
	return true;
}

static bool vg_row(struct import *in, const char *const *cells)
{
	uint64_t bytes;

	if (!*cell(in, cells, "VG") || !import_extent_size(cell(in, cells, "Ext"), &bytes))
		return false;
	extent_cell(in, cells);
	return true;
}

/* --- lines --- */

/* A heading names what the table lists first, and at least one more column of LVM's. */
static bool heading(struct import *in, const char *line)
{
	static const char *const pairs[] = { "1st PE", "PV UUID", "VG UUID", "LV UUID", "PE Ranges", "LE Ranges", NULL };
	static const char *const marks[] = { " Attr ", " Fmt ", " PSize", " VSize", " LSize", " 1st PE", " #PV ", " Devices" };
	const char *p = line + strspn(line, " ");

	if (!import_starts(p, "PV ") && !import_starts(p, "LV ") && !import_starts(p, "VG "))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (strstr(line, marks[i])) {
			import_heading(in, NULL);
			import_table_learn(&in->state.lvm.table, line, pairs);
			return true;
		}
	return false;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	const char *cells[IMPORT_FIELDS_MAX];
	struct import_fields store;

	if (heading(in, line))
		return true;
	if (!going_on || !in->state.lvm.table.count || line[0] != ' ')
		return false;
	import_table_row(&in->state.lvm.table, line, &store, cells);
	return lv_row(in, cells) || pv_row(in, cells) || vg_row(in, cells);
}

const struct import_reader import_reader_lvm_table = { "lvm", line };
