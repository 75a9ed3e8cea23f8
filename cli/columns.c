/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "columns.h"
#include "columns_lvm.h"
#include "json.h"

static const struct {
	const char *key, *heading, *help;
} worked_out[] = {
	[COLUMN_NAME - COLUMN_WORKED_OUT] = { "name", "NAME", "device or content" },
	[COLUMN_KIND - COLUMN_WORKED_OUT] = { "kind", "KIND", "disk, partition, md, pv, lv, crypt, content, ..." },
	[COLUMN_OFFSET - COLUMN_WORKED_OUT] = { "offset", "OFFSET", "where byte 0 lies on the device below" },
	[COLUMN_DISK_OFFSET - COLUMN_WORKED_OUT] = { "disk_offset", "ON-DISK", "where byte 0 lies on the drive at the bottom" },
	[COLUMN_SLOT - COLUMN_WORKED_OUT] = { "slot", "SLOT", "role in the array above" },
	[COLUMN_STATE -
		COLUMN_WORKED_OUT] = { "state", "STATE", "of an array, with the progress of its sync; of a member that is not in sync" },
	[COLUMN_VERDICT - COLUMN_WORKED_OUT] = { "verdict", "ALIGNED", "the judgement on this layer" },
};

static const unsigned usual[] = { COLUMN_NAME,
				  COLUMN_KIND,
				  BLKALIGN_ATTR_SIZE,
				  COLUMN_STATE,
				  COLUMN_OFFSET,
				  BLKALIGN_ATTR_PHYSICAL_BLOCK,
				  BLKALIGN_ATTR_MINIMUM_IO,
				  BLKALIGN_ATTR_OPTIMAL_IO,
				  COLUMN_VERDICT };

const char *column_heading(unsigned id)
{
	if (id >= COLUMN_LVM)
		return lvm_columns[id - COLUMN_LVM].heading;
	return id < BLKALIGN_ATTR_COUNT ? blkalign_attr_info((enum blkalign_attr)id)->heading : worked_out[id - COLUMN_WORKED_OUT].heading;
}

const char *column_key(unsigned id)
{
	if (id >= COLUMN_LVM)
		return lvm_columns[id - COLUMN_LVM].key;
	return id < BLKALIGN_ATTR_COUNT ? blkalign_attr_info((enum blkalign_attr)id)->key : worked_out[id - COLUMN_WORKED_OUT].key;
}

bool column_is_number(unsigned id)
{
	if (id < BLKALIGN_ATTR_COUNT)
		return blkalign_attr_info((enum blkalign_attr)id)->type != BLKALIGN_TYPE_STR;
	if (id >= COLUMN_LVM)
		return lvm_columns[id - COLUMN_LVM].form != LVM_TEXT;
	return id == COLUMN_OFFSET || id == COLUMN_DISK_OFFSET || id == COLUMN_SLOT;
}

/* Our own names first, then those that pvs, vgs and lvs take. */
static unsigned find(const char *name)
{
	unsigned id = blkalign_attr_find(name);
	size_t lvm;

	for (unsigned i = COLUMN_WORKED_OUT; i < COLUMN_LVM; i++)
		if (!strcasecmp(name, column_key(i)) || !strcasecmp(name, column_heading(i)))
			return i;
	if (id != BLKALIGN_ATTR_COUNT)
		return id;
	lvm = lvm_column_find(name);
	if (lvm < lvm_columns_count)
		return COLUMN_LVM + (unsigned)lvm;
	for (id = 0; id < BLKALIGN_ATTR_COUNT && !lvm_is_called(column_key(id), name);)
		id++;
	return id;
}

int columns_parse(const char *argument, struct columns *ret_columns)
{
	struct columns c = { 0 };
	bool adding = !argument || *argument == '+';
	char *copy = strdup(argument ? argument + adding : "");
	int r = copy ? 0 : -ENOMEM;

	for (size_t i = 0; adding && i < sizeof(usual) / sizeof(usual[0]); i++)
		c.ids[c.count++] = usual[i];
	c.usual = c.count;
	for (char *save = NULL, *name = copy ? strtok_r(copy, ",", &save) : NULL; name && !r; name = strtok_r(NULL, ",", &save)) {
		unsigned id = find(name);

		if (id == BLKALIGN_ATTR_COUNT) {
			cli_say("there is no column \"%s\": --list-columns lists them", cli_safe(name));
			r = -EINVAL;
		} else if (c.count < COLUMNS_MAX) {
			c.ids[c.count++] = id;
		}
	}
	free(copy);
	if (!r)
		*ret_columns = c;
	return r;
}

static void list_row(const char *heading, const char *key, const char *help)
{
	printf("%-13s %-32s ", heading, key);
	cli_wrap(help, 47);
}

void columns_list(void)
{
	for (unsigned i = COLUMN_WORKED_OUT; i < COLUMN_LVM; i++)
		list_row(column_heading(i), column_key(i), worked_out[i - COLUMN_WORKED_OUT].help);
	for (unsigned i = 0; i < BLKALIGN_ATTR_COUNT; i++)
		list_row(column_heading(i), column_key(i), blkalign_attr_info((enum blkalign_attr)i)->help);
	for (size_t i = 0; i < lvm_columns_count; i++)
		list_row(lvm_columns[i].heading, lvm_columns[i].key, lvm_columns[i].help);
}

static bool ends_with(const char *text, const char *tail)
{
	size_t length = strlen(text), tail_length = strlen(tail);

	return length >= tail_length && !strcmp(text + length - tail_length, tail);
}

static const char *value_text(enum blkalign_attr attr, const struct blkalign_value *v, char *buffer, size_t size)
{
	const char *key = blkalign_attr_info(attr)->key;

	if (!v)
		return "-";
	switch (v->type) {
	case BLKALIGN_TYPE_STR:
		return blkalign_escape(buffer, size, v->str);
	case BLKALIGN_TYPE_BOOL:
		return v->boolean ? "yes" : "no";
	case BLKALIGN_TYPE_I64:
		snprintf(buffer, size, "%" PRId64, v->i64);
		return buffer;
	case BLKALIGN_TYPE_U64:
		break;
	}
	/* A drive's size is read at a glance; offsets and limits are compared, so they stay exact. */
	if (attr == BLKALIGN_ATTR_SIZE || attr == BLKALIGN_ATTR_FS_SIZE)
		return blkalign_format_bytes(buffer, size, v->u64, 1);
	if (ends_with(key, "_bytes"))
		snprintf(buffer, size, "%" PRIu64 "%s", v->u64, v->origin == BLKALIGN_ORIGIN_ASSUMED ? " assumed" : "");
	else
		snprintf(buffer, size, "%" PRIu64, v->u64);
	return buffer;
}

static const char *number(uint64_t value, char *buffer, size_t size)
{
	if (value == BLKALIGN_UNKNOWN)
		return "-";
	snprintf(buffer, size, "%" PRIu64, value);
	return buffer;
}

/* Byte 0 on the first drive it reaches. */
static uint64_t disk_offset(const struct blkalign_node *node)
{
	struct blkalign_place *places = NULL;
	size_t count = 0;
	uint64_t offset = BLKALIGN_UNKNOWN;

	if (blkalign_node_places(node, 0, &places, &count) < 0)
		return BLKALIGN_UNKNOWN;
	for (size_t i = 0; i < count; i++)
		if (blkalign_node_kind(places[i].node) == BLKALIGN_KIND_DISK) {
			offset = places[i].offset_bytes;
			break;
		}
	free(places);
	return offset;
}

/* The edge by which it belongs to an array. */
static const struct blkalign_edge *member_edge(const struct blkalign_node *node)
{
	for (size_t u = 0; u < blkalign_node_uppers(node); u++) {
		const struct blkalign_node *upper = blkalign_node_upper(node, u);

		for (size_t i = 0; i < blkalign_node_edges(upper) && blkalign_node_kind(upper) == BLKALIGN_KIND_MD; i++)
			if (blkalign_node_edge(upper, i)->lower == node)
				return blkalign_node_edge(upper, i);
	}
	return NULL;
}

static uint64_t slot_of(const struct blkalign_node *node)
{
	const struct blkalign_edge *e = member_edge(node);

	return e && e->slot != BLKALIGN_SLOT_NONE ? e->slot : BLKALIGN_UNKNOWN;
}

static const char *state_text(const struct blkalign_node *node, char *buffer, size_t size)
{
	const struct blkalign_edge *e = member_edge(node);
	const char *state = blkalign_node_str(node, BLKALIGN_ATTR_MD_STATE);
	uint64_t percent = blkalign_node_u64(node, BLKALIGN_ATTR_MD_SYNC_PERCENT);
	size_t length;

	if (!state)
		return e && e->state && strcmp(e->state, "in_sync") != 0 ? e->state : "-";
	blkalign_escape(buffer, size, state);
	length = strlen(buffer);
	/* An array that a resync is still to begin on has no progress worth a word. */
	if (percent != BLKALIGN_UNKNOWN && strstr(state, "ing"))
		snprintf(buffer + length, size - length, " %" PRIu64 "%%", percent);
	return buffer;
}

/* Layer lines stand in graph order: bisect, since `show` asks for every node. */
static size_t first_layer(const struct blkalign_node *node, const struct blkalign_report *report)
{
	size_t low = 0, high = blkalign_report_layers(report), wanted = blkalign_node_index(node);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (blkalign_node_index(blkalign_report_layer(report, middle)->node) < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum blkalign_verdict column_verdict(const struct blkalign_node *node, const struct blkalign_report *report)
{
	enum blkalign_verdict worst = BLKALIGN_VERDICT_UNKNOWN;

	for (size_t first = first_layer(node, report), i = first; i < blkalign_report_layers(report); i++) {
		const struct blkalign_layer *l = blkalign_report_layer(report, i);

		if (l->node != node)
			break;
		worst = i == first || l->verdict > worst ? l->verdict : worst;
	}
	return worst;
}

static const char *verdict_text(const struct blkalign_node *node, const struct blkalign_report *report)
{
	switch (report ? column_verdict(node, report) : BLKALIGN_VERDICT_UNKNOWN) {
	case BLKALIGN_VERDICT_ALIGNED:
		return "yes";
	case BLKALIGN_VERDICT_WARNING:
		return "partly";
	case BLKALIGN_VERDICT_MISALIGNED:
	case BLKALIGN_VERDICT_AT_RISK:
		return "NO";
	case BLKALIGN_VERDICT_UNKNOWN:
		break;
	}
	return "-";
}

static const struct blkalign_value *attr_value(const struct blkalign_node *node, enum blkalign_attr attr)
{
	const struct blkalign_node *owner = lvm_owner(node, attr);

	return owner ? blkalign_node_value(owner, attr) : NULL;
}

const char *column_text(unsigned id, const struct blkalign_node *node, const struct blkalign_report *report, char *buffer, size_t size)
{
	switch (id) {
	case COLUMN_NAME:
		return blkalign_escape(buffer, size, blkalign_node_name(node));
	case COLUMN_KIND:
		return blkalign_kind_name(blkalign_node_kind(node));
	case COLUMN_OFFSET:
		return number(blkalign_node_edges(node) ? blkalign_node_edge(node, 0)->lower_offset_bytes : BLKALIGN_UNKNOWN, buffer, size);
	case COLUMN_DISK_OFFSET:
		return number(disk_offset(node), buffer, size);
	case COLUMN_SLOT:
		return number(slot_of(node), buffer, size);
	case COLUMN_STATE:
		return state_text(node, buffer, size);
	case COLUMN_VERDICT:
		return verdict_text(node, report);
	default:
		break;
	}
	if (id >= COLUMN_LVM) {
		lvm_column_text(&lvm_columns[id - COLUMN_LVM], node, buffer, size);
		return *buffer ? buffer : "-";
	}
	return value_text((enum blkalign_attr)id, attr_value(node, (enum blkalign_attr)id), buffer, size);
}

struct json_object *column_json(unsigned id, const struct blkalign_node *node, const struct blkalign_report *report)
{
	char buffer[4096];
	const char *text;

	if (id < BLKALIGN_ATTR_COUNT)
		return json_value(attr_value(node, (enum blkalign_attr)id));
	if (id >= COLUMN_LVM && lvm_columns[id - COLUMN_LVM].form != LVM_TEXT)
		return json_bytes(lvm_column_number(&lvm_columns[id - COLUMN_LVM], node));
	text = column_text(id, node, report, buffer, sizeof(buffer));
	if (!strcmp(text, "-"))
		return NULL;
	return column_is_number(id) ? json_object_new_uint64(strtoull(text, NULL, 10)) : json_object_new_string(text);
}
