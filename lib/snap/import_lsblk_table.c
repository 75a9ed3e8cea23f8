/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lsblk's tree as text: plain, -t, -f, -o with any columns, -s. The place of a name in its column tells what it lies on. */
#include <stdio.h>
#include <strings.h>

#include "snap/import_priv.h"

static bool heading(struct import *in, const char *line)
{
	static const char *const pairs[] = { NULL };
	struct import_fields f;
	size_t known = 0;

	if (!import_starts(line, "NAME ") && !import_starts(line, "KNAME "))
		return false;
	import_split(&f, line, "");
	for (size_t i = 0; i < f.count; i++)
		known += import_lsblk_column(f.at[i]) < LSBLK_COLUMNS;
	if (known < 2)
		return false;
	import_heading(in, NULL);
	import_table_learn(&in->state.lsblk.table, line, pairs);
	return true;
}

static bool is_base(const char *type) { return !*type || !strcmp(type, "disk") || !strcmp(type, "loop") || !strcmp(type, "rom"); }

static void relate(struct import *in, struct blkalign_node *node, size_t depth, const char *type, const char *start)
{
	struct blkalign_node *parent;

	if (depth == 0) {
		in->state.lsblk.inverse = !is_base(type);
		return;
	}
	parent = in->state.lsblk.parents[depth - 1];
	if (in->state.lsblk.inverse)
		import_lsblk_relate(in, node, parent, in->state.lsblk.types[depth - 1], type, "");
	else
		import_lsblk_relate(in, parent, node, type, in->state.lsblk.types[depth - 1], start);
}

static void read_cells(struct import *in, const char *line, struct import_fields *store, const char *values[LSBLK_COLUMNS])
{
	const char *cells[IMPORT_FIELDS_MAX];
	const struct import_table *t = &in->state.lsblk.table;

	for (unsigned i = 0; i < LSBLK_COLUMNS; i++)
		values[i] = "";
	import_table_row(t, line, store, cells);
	for (size_t i = 0; i < t->count; i++) {
		unsigned column = import_lsblk_column(t->heading[i]);

		if (column < LSBLK_COLUMNS)
			values[column] = cells[i];
	}
}

/* A long name stands alone, and its cells follow on the next line. */
static void name_row(struct import *in, const struct import_fields *store, const char *values[LSBLK_COLUMNS], size_t *depth)
{
	if (!*values[LSBLK_NAME] && in->state.lsblk.lone[0]) {
		values[LSBLK_NAME] = in->state.lsblk.lone;
		*depth = in->state.lsblk.depth;
		return;
	}
	if (!*values[LSBLK_NAME])
		values[LSBLK_NAME] = values[LSBLK_KNAME];
	in->state.lsblk.lone[0] = '\0';
	if (store->count == 1)
		snprintf(in->state.lsblk.lone, sizeof(in->state.lsblk.lone), "%s", values[LSBLK_NAME]);
}

static bool row(struct import *in, const char *line)
{
	char plain[IMPORT_LINE_MAX];
	const char *values[LSBLK_COLUMNS];
	struct import_fields store;
	struct blkalign_node *node;
	size_t branches = strspn(line, "|`- "), depth = branches / 2; /* each level is two columns wide */

	/* The branches are blanked out, so that they are no words of their own. */
	snprintf(plain, sizeof(plain), "%s", line);
	memset(plain, ' ', branches);
	if (!plain[branches])
		return false;
	read_cells(in, plain, &store, values);
	name_row(in, &store, values, &depth);
	if (!*values[LSBLK_NAME] || depth >= GRAPH_DEPTH_MAX || depth > in->state.lsblk.depth + 1)
		return false;
	node = import_lsblk_row(in, values);
	if (!node)
		return false;
	relate(in, node, depth, values[LSBLK_TYPE], values[LSBLK_START]);
	in->state.lsblk.parents[depth] = node;
	in->state.lsblk.depth = depth;
	snprintf(in->state.lsblk.types[depth], sizeof(in->state.lsblk.types[0]), "%s", values[LSBLK_TYPE]);
	return true;
}

static bool line(struct import *in, const char *line, bool going_on)
{
	return heading(in, line) || (going_on && in->state.lsblk.table.count && row(in, line));
}

const struct import_reader import_reader_lsblk_table = { "lsblk", line };
