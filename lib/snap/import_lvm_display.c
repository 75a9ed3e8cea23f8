/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pvdisplay, vgdisplay and lvdisplay -m: a key and a value on each line, with no mark but the width between them. */
#include <stdio.h>

#include "snap/import_priv.h"

static const char *value_of(const char *line, const char *key)
{
	const char *p = line + strspn(line, " ");
	size_t n = strlen(key);

	return import_starts(p, key) && p[n] == ' ' ? p + n + strspn(p + n, " ") : NULL;
}

static bool heading(struct import *in, const char *line)
{
	static const struct {
		const char *text;
		char section;
	} sections[] = { { "--- Physical volume ---", 'p' },
			 { "--- NEW Physical volume ---", 'p' },
			 { "--- Volume group ---", 'v' },
			 { "--- Logical volume ---", 'l' } };

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (strstr(line, sections[i].text)) {
			import_heading(in, NULL);
			in->state.lvm.section = sections[i].section;
			return true;
		}
	return false;
}

static void pv_line(struct import *in, const char *line)
{
	const char *name = value_of(line, "PV Name"), *uuid = value_of(line, "PV UUID"), *total = value_of(line, "Total PE");
	uint64_t number;

	if (name && name[0] == '/')
		in->state.lvm.last = import_content(in, BLKALIGN_KIND_PV, "pv", import_device(in, name), 0);
	import_str(in, in->state.lvm.last, BLKALIGN_ATTR_PV_UUID, uuid ? uuid : "");
	import_str(in, in->state.lvm.last, BLKALIGN_ATTR_VG_NAME, in->state.lvm.group);
	if (total && import_number(&total, &number))
		import_u64(in, in->state.lvm.last, BLKALIGN_ATTR_PE_COUNT, number);
}

static void group_line(struct import *in, const char *line)
{
	const char *group = value_of(line, "VG Name"), *extent = value_of(line, "PE Size");
	uint64_t bytes;

	if (group)
		snprintf(in->state.lvm.group, sizeof(in->state.lvm.group), "%.*s", (int)strcspn(group, " "), group);
	if (extent && in->state.lvm.group[0] && import_extent_size(extent, &bytes))
		import_extent(in, in->state.lvm.group, bytes);
}

static void add_segment(struct import *in, uint64_t first_extent)
{
	struct import_area area = {
		.lv = in->state.lvm.last,
		.pv = in->state.lvm.pv,
		.first_extent = first_extent,
		.edge = { .upper = in->state.lvm.last,
			  .lower = in->state.lvm.pv,
			  .upper_offset_bytes = in->state.lvm.segment == 1 ? 0 : BLKALIGN_UNKNOWN,
			  .lower_offset_bytes = BLKALIGN_UNKNOWN,
			  .length_bytes = BLKALIGN_UNKNOWN,
			  .stripes = in->state.lvm.stripes ? (uint32_t)in->state.lvm.stripes : 1,
			  .segment = in->state.lvm.segment - 1,
			  .slot = in->state.lvm.slot },
	};

	if (area.lv && area.pv && vec_push(&in->areas, area) < 0)
		in->error = -ENOMEM;
	in->state.lvm.slot++;
}

/* "--- Segments ---" of -m: "Logical extents 0 to 24:", "Type linear", "Physical volume /dev/md0", "Physical extents 0 to 24" */
static void lv_line(struct import *in, const char *line)
{
	const char *name = value_of(line, "LV Name"), *type = value_of(line, "Type"), *pv = value_of(line, "Physical volume"),
		   *extents = value_of(line, "Physical extents"), *stripes = value_of(line, "Stripes"), *path = value_of(line, "LV Path");
	uint64_t number;

	if (path && import_starts(path, "/dev/"))
		in->state.lvm.last = import_device(in, path);
	else if (name && name[0] == '/') /* before 2.02.89 */
		in->state.lvm.last = import_device(in, name);
	if (value_of(line, "Logical extents") || value_of(line, "Logical extent")) {
		in->state.lvm.segment++;
		in->state.lvm.slot = 0;
		in->state.lvm.stripes = 0;
	}
	import_str(in, in->state.lvm.last, BLKALIGN_ATTR_LV_TYPE, type ? type : "");
	if (stripes && import_number(&stripes, &number) && number <= UINT16_MAX)
		in->state.lvm.stripes = number;
	if (pv)
		in->state.lvm.pv = import_content(in, BLKALIGN_KIND_PV, "pv", import_device(in, pv), 0);
	if (extents && import_number(&extents, &number) && in->state.lvm.segment)
		add_segment(in, number);
	import_str(in, in->state.lvm.last, BLKALIGN_ATTR_VG_NAME, in->state.lvm.group);
}

static bool line(struct import *in, const char *line, bool going_on)
{
	if (heading(in, line))
		return true;
	if (!going_on || !in->state.lvm.section || line[0] != ' ')
		return false;
	group_line(in, line);
	if (in->state.lvm.section == 'p')
		pv_line(in, line);
	else if (in->state.lvm.section == 'l')
		lv_line(in, line);
	return true;
}

const struct import_reader import_reader_lvm_display = { "lvm display", line };
