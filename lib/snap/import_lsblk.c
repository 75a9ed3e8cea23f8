/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lsblk: what its columns mean, and the JSON form. The tree as text is import_lsblk_table.c. */
#include <json-c/json.h>
#include <stdio.h>
#include <strings.h>

#include "snap/import_priv.h"

#define JSON_DEPTH_MAX 200

enum how { NUMBER, SIGNED, FLAG, SIZE, TEXT };

/* Columns whose meaning is a row of their own in import_lsblk_row(). */
static const char *const special[LSBLK_VALUES] = {
	[LSBLK_NAME] = "NAME",	   [LSBLK_KNAME] = "KNAME",	  [LSBLK_TYPE] = "TYPE",     [LSBLK_START] = "START",
	[LSBLK_FSTYPE] = "FSTYPE", [LSBLK_UUID] = "UUID",	  [LSBLK_LABEL] = "LABEL",   [LSBLK_MOUNT] = "MOUNTPOINT",
	[LSBLK_PTTYPE] = "PTTYPE", [LSBLK_PARTTYPE] = "PARTTYPE", [LSBLK_PARENT] = "PKNAME",
};

/* The others are values of the device. */
static const struct {
	const char *name;
	enum blkalign_attr attr;
	enum how how;
	uint64_t unit;
} values_of[LSBLK_COLUMNS - LSBLK_VALUES] = {
	{ "LOG-SEC", BLKALIGN_ATTR_LOGICAL_BLOCK, NUMBER, 1 },
	{ "PHY-SEC", BLKALIGN_ATTR_PHYSICAL_BLOCK, NUMBER, 1 },
	{ "MIN-IO", BLKALIGN_ATTR_MINIMUM_IO, NUMBER, 1 },
	{ "OPT-IO", BLKALIGN_ATTR_OPTIMAL_IO, NUMBER, 1 },
	{ "ALIGNMENT", BLKALIGN_ATTR_ALIGNMENT_OFFSET, SIGNED, 1 },
	{ "RA", BLKALIGN_ATTR_READ_AHEAD, NUMBER, KIB },
	{ "RQ-SIZE", BLKALIGN_ATTR_NR_REQUESTS, NUMBER, 1 },
	{ "ROTA", BLKALIGN_ATTR_ROTATIONAL, FLAG, 1 },
	{ "RO", BLKALIGN_ATTR_READ_ONLY, FLAG, 1 },
	{ "RM", BLKALIGN_ATTR_REMOVABLE, FLAG, 1 },
	{ "SIZE", BLKALIGN_ATTR_SIZE, SIZE, 1 },
	{ "DISC-GRAN", BLKALIGN_ATTR_DISCARD_GRANULARITY, SIZE, 1 },
	{ "DISC-ALN", BLKALIGN_ATTR_DISCARD_ALIGNMENT, NUMBER, 1 },
	{ "ZONED", BLKALIGN_ATTR_ZONED, TEXT, 1 },
	{ "MODEL", BLKALIGN_ATTR_MODEL, TEXT, 1 },
	{ "VENDOR", BLKALIGN_ATTR_VENDOR, TEXT, 1 },
	{ "REV", BLKALIGN_ATTR_REVISION, TEXT, 1 },
	{ "SERIAL", BLKALIGN_ATTR_SERIAL, TEXT, 1 },
	{ "WWN", BLKALIGN_ATTR_WWN, TEXT, 1 },
	{ "TRAN", BLKALIGN_ATTR_TRANSPORT, TEXT, 1 },
	{ "MAJ:MIN", BLKALIGN_ATTR_DEVNO, TEXT, 1 },
	{ "PATH", BLKALIGN_ATTR_DEVPATH, TEXT, 1 },
	{ "PARTUUID", BLKALIGN_ATTR_PART_ID, TEXT, 1 },
	{ "PARTLABEL", BLKALIGN_ATTR_PART_NAME, TEXT, 1 },
};

unsigned import_lsblk_column(const char *name)
{
	if (!strcasecmp(name, "MOUNTPOINTS"))
		return LSBLK_MOUNT;
	for (unsigned i = 0; i < LSBLK_VALUES; i++)
		if (!strcasecmp(name, special[i]))
			return i;
	for (unsigned i = 0; i < ARRAY_SIZE(values_of); i++)
		if (!strcasecmp(name, values_of[i].name))
			return LSBLK_VALUES + i;
	return LSBLK_COLUMNS;
}

static bool flag_of(const char *text) { return !strcmp(text, "1") || !strcmp(text, "true"); }

/* The number without its sign. */
static bool magnitude(unsigned row, const char *text, uint64_t *ret)
{
	if (values_of[row].how == SIZE && import_size(text, IMPORT_UNITS_BINARY, 1, 512, ret))
		return true;
	return import_word_number(text + (*text == '-'), ret) && u64_mul(*ret, values_of[row].unit, ret) && *ret <= INT64_MAX;
}

static void set_value(struct import *in, struct blkalign_node *node, unsigned row, const char *text)
{
	uint64_t number;

	if (values_of[row].how == TEXT)
		import_str(in, node, values_of[row].attr, text);
	else if (values_of[row].how == FLAG)
		import_bool(in, node, values_of[row].attr, flag_of(text));
	else if (!magnitude(row, text, &number))
		return;
	else if (values_of[row].how == SIGNED)
		import_i64(in, node, values_of[row].attr, *text == '-' ? -(int64_t)number : (int64_t)number);
	else if (*text != '-')
		import_u64(in, node, values_of[row].attr, number);
}

static bool is_raid(const char *type) { return import_starts(type, "raid") || !strcmp(type, "linear") || !strcmp(type, "md"); }

static void set_kind(struct blkalign_node *node, const char *type)
{
	if (!strcmp(type, "part") && !strchr(blkalign_node_name(node), '/'))
		graph_set_kind(node, BLKALIGN_KIND_PARTITION);
	else if (!strcmp(type, "crypt"))
		graph_set_kind(node, BLKALIGN_KIND_CRYPT);
	else if (!strcmp(type, "lvm"))
		graph_set_kind(node, BLKALIGN_KIND_LV);
	else if (is_raid(type))
		graph_set_kind(node, BLKALIGN_KIND_MD);
	else if (!strcmp(type, "dm") || !strcmp(type, "mpath"))
		graph_set_kind(node, BLKALIGN_KIND_DM);
}

/* The parent's kernel name tells the edge where there is no tree (-l, -P). */
static void set_parent(struct import *in, struct blkalign_node *node, const char *const v[LSBLK_COLUMNS])
{
	struct blkalign_node *parent = *v[LSBLK_PARENT] ? import_device(in, v[LSBLK_PARENT]) : NULL;

	if (parent)
		import_lsblk_relate(in, parent, node, v[LSBLK_TYPE], blkalign_node_kind(parent) == BLKALIGN_KIND_LV ? "lvm" : "",
				    v[LSBLK_START]);
}

static void set_content(struct import *in, struct blkalign_node *node, const char *const v[LSBLK_COLUMNS])
{
	struct blkalign_node *content = import_signature(in, v[LSBLK_FSTYPE], node);

	if (!content)
		return;
	import_str(in, content, BLKALIGN_ATTR_MOUNT_POINT, v[LSBLK_MOUNT]);
	if (blkalign_node_kind(content) == BLKALIGN_KIND_CONTENT) {
		import_str(in, content, BLKALIGN_ATTR_FS_UUID, v[LSBLK_UUID]);
		import_str(in, content, BLKALIGN_ATTR_FS_LABEL, v[LSBLK_LABEL]);
	}
}

struct blkalign_node *import_lsblk_row(struct import *in, const char *const v[LSBLK_COLUMNS])
{
	struct blkalign_node *node = import_device(in, v[LSBLK_NAME]);

	if (!node)
		return NULL;
	set_kind(node, v[LSBLK_TYPE]);
	for (unsigned i = 0; i < ARRAY_SIZE(values_of); i++)
		if (*v[LSBLK_VALUES + i])
			set_value(in, node, i, v[LSBLK_VALUES + i]);
	if (*v[LSBLK_KNAME])
		import_same(in, node, import_device(in, v[LSBLK_KNAME]));
	if (is_raid(v[LSBLK_TYPE]) && strcmp(v[LSBLK_TYPE], "md") != 0)
		import_str(in, node, BLKALIGN_ATTR_MD_LEVEL, v[LSBLK_TYPE]);
	if (blkalign_node_kind(node) == BLKALIGN_KIND_PARTITION) {
		import_str(in, node, BLKALIGN_ATTR_PART_TYPE, v[LSBLK_PARTTYPE]);
		if (*v[LSBLK_PARTTYPE])
			import_role(in, node, v[LSBLK_PARTTYPE] + (import_starts(v[LSBLK_PARTTYPE], "0x") ? 2 : 0));
	} else {
		import_str(in, node, BLKALIGN_ATTR_TABLE_TYPE, v[LSBLK_PTTYPE]);
	}
	set_content(in, node, v);
	set_parent(in, node, v);
	return node;
}

void import_lsblk_relate(struct import *in, struct blkalign_node *lower, struct blkalign_node *upper, const char *upper_type,
			 const char *lower_type, const char *start)
{
	uint64_t sectors, bytes = BLKALIGN_UNKNOWN;

	if (!lower || !upper)
		return;
	if (blkalign_node_kind(upper) == BLKALIGN_KIND_DISK) /* no TYPE column, but what lies on something is no disk */
		graph_set_kind(upper, BLKALIGN_KIND_DM);
	if (!import_word_number(start, &sectors) || !u64_mul(sectors, 512, &bytes))
		bytes = BLKALIGN_UNKNOWN;
	if (is_raid(upper_type) || (!*upper_type && blkalign_node_kind(upper) == BLKALIGN_KIND_MD))
		import_member(in, upper, lower, BLKALIGN_UNKNOWN, IMPORT_SLOT_UNKNOWN, NULL);
	else if (!strcmp(upper_type, "lvm") && strcmp(lower_type, "lvm") != 0)
		import_connect_linear(in, upper, import_content(in, BLKALIGN_KIND_PV, "pv", lower, 0), BLKALIGN_UNKNOWN, BLKALIGN_UNKNOWN);
	else if (!strcmp(upper_type, "mpath"))
		import_connect_linear(in, upper, lower, 0, BLKALIGN_UNKNOWN);
	else
		import_connect_linear(in, upper, lower, bytes, BLKALIGN_UNKNOWN);
}

/* --- JSON --- */

static const char *text_of(struct json_object *value)
{
	if (json_object_is_type(value, json_type_array)) /* "mountpoints" */
		value = json_object_array_length(value) ? json_object_array_get_idx(value, 0) : NULL;
	if (!value || json_object_is_type(value, json_type_object) || json_object_is_type(value, json_type_array))
		return "";
	return json_object_get_string(value);
}

static void read_values(struct json_object *device, const char *values[LSBLK_COLUMNS])
{
	for (unsigned i = 0; i < LSBLK_COLUMNS; i++)
		values[i] = "";
	json_object_object_foreach(device, key, value)
	{
		unsigned column = import_lsblk_column(key);

		if (column < LSBLK_COLUMNS && (column != LSBLK_MOUNT || !*values[column]))
			values[column] = text_of(value);
	}
}

struct above {
	struct blkalign_node *node;
	const char *type, *start;
};

/* Depth is bounded by JSON_DEPTH_MAX. `inverse`: the tree was asked for upside down (-s). */
static void read_device(struct import *in, struct json_object *device, const struct above *parent, bool inverse)
{
	const char *values[LSBLK_COLUMNS];
	struct json_object *children;
	struct above self;

	if (!json_object_is_type(device, json_type_object) || in->error)
		return;
	read_values(device, values);
	self = (struct above){ import_lsblk_row(in, values), values[LSBLK_TYPE], values[LSBLK_START] };
	if (!parent)
		inverse = *self.type && strcmp(self.type, "disk") != 0 && strcmp(self.type, "loop") != 0 && strcmp(self.type, "rom") != 0;
	else if (inverse)
		import_lsblk_relate(in, self.node, parent->node, parent->type, self.type, parent->start);
	else
		import_lsblk_relate(in, parent->node, self.node, self.type, parent->type, self.start);
	if (!json_object_object_get_ex(device, "children", &children) || !json_object_is_type(children, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(children); i++)
		read_device(in, json_object_array_get_idx(children, i), &self, inverse);
}

static struct json_object *parse(const char *text, size_t length)
{
	struct json_tokener *tokener = length <= INT32_MAX ? json_tokener_new_ex(JSON_DEPTH_MAX) : NULL;
	struct json_object *root = tokener ? json_tokener_parse_ex(tokener, text, (int)length) : NULL;

	if (tokener)
		json_tokener_free(tokener);
	return root;
}

int import_lsblk(const char *text, size_t length, struct blkalign_graph *graph, struct blkalign_error *reterr)
{
	struct json_object *root = parse(text, length), *devices = NULL;
	struct import in;

	if (!root || !json_object_is_type(root, json_type_object) || !json_object_object_get_ex(root, "blockdevices", &devices) ||
	    !json_object_is_type(devices, json_type_array)) {
		json_object_put(root);
		return BLKALIGN_NOT_THIS;
	}
	import_begin(&in);
	for (size_t i = 0; i < json_object_array_length(devices); i++)
		read_device(&in, json_object_array_get_idx(devices, i), NULL, false);
	json_object_put(root);
	return import_finish(&in, graph, reterr);
}
