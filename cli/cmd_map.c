/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"

#define DEPTH_MAX 70U /* the graph's, and some */

struct question {
	const char *const *members;
	size_t member_count;
	const char *name; /* of the node; with --reverse also a member's path */
	uint64_t offset_bytes;
	uint64_t length_bytes;
};

/* OFFSET or OFFSET+LEN. */
static int parse_place(const struct cli_options *o, const char *text, struct question *ret)
{
	const char *plus = strchr(text, '+');
	size_t length = plus ? (size_t)(plus - text) : strlen(text);

	ret->length_bytes = 1;
	if (!cli_parse_bytes(text, length, &ret->offset_bytes) && !(plus && o->reverse) &&
	    (!plus || !cli_parse_bytes(plus + 1, strlen(plus + 1), &ret->length_bytes)))
		return CLI_ALIGNED;
	return cli_say("%s: expected OFFSET%s, e.g. 1M%s or 2048s", cli_safe(text), o->reverse ? "" : " or OFFSET+LENGTH",
		       o->reverse ? "" : ", 4096+64k");
}

/* MEMBER... NODE OFFSET; with --reverse MEMBER... MEMBER OFFSET, or one member that is both. */
static int parse_targets(const struct cli_options *o, struct question *ret)
{
	size_t count = o->target_count;

	if (count < 2 || (count == 2 && !o->reverse)) {
		cli_usage(o, o->reverse ? "map --reverse needs all members, the one that is asked about, and an offset"
					: "map needs the members, the name of a node, and an offset");
		return CLI_FAILED;
	}
	*ret = (struct question){ .members = o->targets, .member_count = count == 2 ? 1 : count - 2, .name = o->targets[count - 2] };
	return parse_place(o, o->targets[count - 1], ret);
}

static int find_node(const struct cli_options *o, const struct blkalign_run *run, const char *name, const struct blkalign_node **ret_node)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);
	struct blkalign_error err = { 0 };

	for (size_t i = 0; o->reverse && i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		const char *path = blkalign_node_str(node, BLKALIGN_ATTR_DEVPATH);

		if (path && !strcmp(path, name)) {
			*ret_node = node;
			return CLI_ALIGNED;
		}
	}
	/* The node was forgotten, and the last member taken for it. */
	if (!o->reverse && !blkalign_graph_find(graph, name) && access(name, F_OK) == 0)
		return cli_usage(
			o, "before the offset map needs the name of a node, and not one more file: an array, volume, partition or disk");
	err.code = blkalign_run_node(run, name, ret_node, &err);
	return err.code < 0 ? cli_fail(&err) : CLI_ALIGNED;
}

/* --- JSON --- */

static struct json_object *piece_json(const struct blkalign_location *at, bool reverse)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "depth", json_object_new_uint64(at->depth));
	json_add(o, "node", at->node ? json_text(blkalign_node_name(at->node)) : NULL);
	json_add(o, "offset_bytes", json_bytes(at->offset_bytes));
	json_add(o, "length_bytes", json_bytes(at->length_bytes));
	if (!reverse)
		json_add(o, "above_offset_bytes", json_bytes(at->above_bytes));
	json_add(o, "role", at->depth ? json_object_new_string(blkalign_role_name(at->role)) : NULL);
	json_add(o, "slot", at->slot == BLKALIGN_SLOT_NONE ? NULL : json_object_new_uint64(at->slot));
	json_add(o, "note", json_text(at->note));
	return o;
}

static int print_json(const struct cli_options *o, const struct blkalign_graph *graph, const struct blkalign_location *found, size_t count)
{
	struct json_object *document = json_document(), *pieces = json_object_new_array();

	json_add(document, "direction", json_object_new_string(o->reverse ? "up" : "down"));
	for (size_t i = 0; i < count; i++)
		json_object_array_add(pieces, piece_json(&found[i], o->reverse));
	json_add(document, "pieces", pieces);
	json_add(document, "remarks", json_remarks(graph));
	json_print(document, false);
	return CLI_ALIGNED;
}

/* --- a table --- */

/* ABOVE is there only where pieces lie on several places. */
enum { NAME, BYTE, SECTOR, LENGTH, ROLE, SLOT, NOTE, ABOVE };

static int headings(struct libscols_table *table, bool above)
{
	static const struct {
		const char *name;
		int flags;
	} all[] = { { "NAME", SCOLS_FL_TREE },
		    { "BYTE", SCOLS_FL_RIGHT },
		    { "SECTOR", SCOLS_FL_RIGHT },
		    { "LENGTH", SCOLS_FL_RIGHT },
		    { "ROLE", 0 },
		    { "SLOT", SCOLS_FL_RIGHT },
		    { "NOTE", 0 },
		    { "OF-BYTE", SCOLS_FL_RIGHT } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) - !above; i++)
		if (!scols_table_new_column(table, all[i].name, 0, all[i].flags))
			return -1;
	return 0;
}

static int set_number(struct libscols_line *line, size_t column, uint64_t number, bool known)
{
	char text[24] = "-";

	if (known)
		snprintf(text, sizeof(text), "%" PRIu64, number);
	return scols_line_set_data(line, column, text);
}

static int fill(struct libscols_line *line, const struct blkalign_location *at, bool above)
{
	bool known = at->offset_bytes != BLKALIGN_UNKNOWN;
	int r = scols_line_set_data(line, NAME,
				    at->node			       ? cli_safe(blkalign_node_name(at->node))
				    : at->role == BLKALIGN_ROLE_UNUSED ? "(nowhere)"
								       : "(missing)");

	if (!r)
		r = set_number(line, BYTE, at->offset_bytes, known);
	if (!r)
		r = set_number(line, SECTOR, at->offset_bytes / 512, known && at->offset_bytes % 512 == 0);
	if (!r)
		r = set_number(line, LENGTH, at->length_bytes, true);
	if (!r)
		r = scols_line_set_data(line, ROLE, at->depth ? blkalign_role_name(at->role) : "");
	if (!r)
		r = set_number(line, SLOT, at->slot, at->slot != BLKALIGN_SLOT_NONE);
	if (!r)
		r = scols_line_set_data(line, NOTE, at->note ? at->note : "");
	return r || !above ? r : set_number(line, ABOVE, at->above_bytes, true);
}

/* Whether a piece above begins elsewhere. */
static bool several(const struct blkalign_location *found, size_t count)
{
	uint64_t begin[DEPTH_MAX] = { 0 };

	for (size_t i = 0; i < count; i++) {
		uint32_t depth = found[i].depth;

		if (depth >= DEPTH_MAX || (depth && found[i].above_bytes != begin[depth - 1]))
			return true;
		begin[depth] = found[i].offset_bytes;
	}
	return false;
}

static int fill_table(struct libscols_table *table, const struct blkalign_location *found, size_t count, bool several_places)
{
	struct libscols_line *above[DEPTH_MAX] = { NULL };
	int r = headings(table, several_places);

	for (size_t i = 0; !r && i < count; i++) {
		uint32_t depth = found[i].depth;
		struct libscols_line *line = depth < DEPTH_MAX ? scols_table_new_line(table, depth ? above[depth - 1] : NULL) : NULL;

		r = line ? fill(line, &found[i], several_places) : -1;
		if (!r)
			above[depth] = line;
	}
	return r;
}

static int print_table(const struct cli_options *o, const struct blkalign_location *found, size_t count)
{
	struct libscols_table *table = scols_new_table();
	int r = table ? 0 : -1;

	if (!r) {
		scols_table_enable_ascii(table, o->ascii);
		scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
		r = fill_table(table, found, count, !o->reverse && several(found, count));
	}
	if (!r)
		r = scols_print_table(table);
	scols_unref_table(table);
	return r ? cli_fail(&(struct blkalign_error){ .message = "cannot draw the table" }) : CLI_ALIGNED;
}

static int answer(const struct cli_options *o, struct blkalign_run *run, const struct question *q)
{
	const struct blkalign_node *node = NULL;
	struct blkalign_location *found = NULL;
	struct blkalign_error err = { 0 };
	size_t count = 0;
	int status;

	if (!o->json)
		cli_notes(o, stderr, blkalign_run_graph(run), 0);
	status = find_node(o, run, q->name, &node);

	if (status != CLI_ALIGNED)
		return status;
	err.code = o->reverse ? blkalign_locate_upward(run, node, q->offset_bytes, &found, &count, &err)
			      : blkalign_locate(run, node, q->offset_bytes, q->length_bytes, &found, &count, &err);
	if (err.code < 0)
		return cli_fail(&err);
	status = o->json ? print_json(o, blkalign_run_graph(run), found, count) : print_table(o, found, count);
	free(found);
	return status;
}

int cmd_map(const struct cli_options *o)
{
	const struct blkalign_run_options options = { .source = o->source };
	struct blkalign_run *run = NULL;
	struct blkalign_error err = { 0 };
	struct question q = { 0 };
	int status = parse_targets(o, &q);

	if (status != CLI_ALIGNED)
		return status;
	err.code = blkalign_run_open(&options, q.members, q.member_count, &run, &err);
	if (err.code < 0)
		return cli_fail(&err);
	status = answer(o, run, &q);
	err.code = blkalign_run_close(run, &err);
	return err.code < 0 ? cli_fail(&err) : status;
}
