/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree: drives are roots, what lies on a device is below it. A device on several others (an array, a volume over two PVs) is drawn once, as the
 * child of a group of lines; libsmartcols lets a line be a member of one group only, so where groups would overlap
 * the device hangs below its first drive instead.
 */
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct drawing {
	const struct cli_options *options;
	const struct columns *columns;
	const struct blkalign_graph *graph;
	const struct blkalign_report *report;
	struct libscols_table *table;
	struct libscols_line **lines; /* by node index */
	bool *grouped;		      /* by node index: member of a group already */
};

/* The distinct devices right below, each once. */
static size_t lowers(const struct blkalign_node *node, const struct blkalign_node **ret, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < blkalign_node_edges(node) && count < room; i++) {
		const struct blkalign_node *lower = blkalign_node_edge(node, i)->lower;
		bool seen = false;

		for (size_t k = 0; k < count && !seen; k++)
			seen = ret[k] == lower;
		if (!seen)
			ret[count++] = lower;
	}
	return count;
}

static const char *style_of(const struct drawing *d, const struct blkalign_node *node)
{
	if (!d->options->color || !d->report)
		return NULL;
	switch (column_verdict(node, d->report)) {
	case BLKALIGN_VERDICT_ALIGNED:
		return "green";
	case BLKALIGN_VERDICT_WARNING:
		return "yellow";
	case BLKALIGN_VERDICT_MISALIGNED:
	case BLKALIGN_VERDICT_AT_RISK:
		return "red";
	case BLKALIGN_VERDICT_UNKNOWN:
		break;
	}
	return NULL;
}

static int fill(struct drawing *d, struct libscols_line *line, const struct blkalign_node *node)
{
	char buffer[4096];
	int r = 0;

	for (size_t i = 0; !r && i < d->columns->count; i++)
		r = scols_line_set_data(line, i, column_text(d->columns->ids[i], node, d->report, buffer, sizeof(buffer)));
	if (!r && style_of(d, node))
		r = scols_line_set_color(line, style_of(d, node));
	return r;
}

static bool can_group(const struct drawing *d, const struct blkalign_node *const *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (d->grouped[blkalign_node_index(members[i])] || !d->lines[blkalign_node_index(members[i])])
			return false;
	return count > 1;
}

static int group(struct drawing *d, const struct blkalign_node *const *members, size_t count)
{
	struct libscols_line *first = d->lines[blkalign_node_index(members[0])];
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		d->grouped[blkalign_node_index(members[i])] = true;
		if (i)
			r = scols_table_group_lines(d->table, d->lines[blkalign_node_index(members[i])], first, 0);
	}
	return r;
}

static int draw(struct drawing *d, const struct blkalign_node *node)
{
	const struct blkalign_node *below[256];
	size_t count = lowers(node, below, sizeof(below) / sizeof(below[0]));
	bool grouping = can_group(d, below, count);
	struct libscols_line *parent = count && !grouping ? d->lines[blkalign_node_index(below[0])] : NULL;
	struct libscols_line *line = scols_table_new_line(d->table, parent);
	int r = line ? fill(d, line, node) : -1;

	d->lines[blkalign_node_index(node)] = line;
	if (!r && grouping)
		r = group(d, below, count);
	if (!r && grouping)
		r = scols_line_link_group(line, d->lines[blkalign_node_index(below[0])], 0);
	return r;
}

static int headings(struct drawing *d)
{
	for (size_t i = 0; i < d->columns->count; i++) {
		unsigned id = d->columns->ids[i];
		int flags = id == COLUMN_NAME ? SCOLS_FL_TREE : column_is_number(id) ? SCOLS_FL_RIGHT : 0;

		struct libscols_column *column = scols_table_new_column(d->table, column_heading(id), 0, flags);

		if (!column)
			return -1;
		/* A line for each segment: line feeds are the only control characters that come so far. */
		if (id >= COLUMN_LVM &&
		    (scols_column_set_safechars(column, "\n") || scols_column_set_flags(column, flags | SCOLS_FL_WRAP) ||
		     scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL)))
			return -1;
	}
	return 0;
}

static bool has_values(const struct drawing *d, unsigned id)
{
	char buffer[4096];

	for (size_t i = 0; i < blkalign_graph_size(d->graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(d->graph, i);

		if (blkalign_node_kind(node) != BLKALIGN_KIND_HOST &&
		    strcmp(column_text(id, node, d->report, buffer, sizeof(buffer)), "-") != 0)
			return true;
	}
	return false;
}

static void prune(const struct drawing *d, const struct columns *wanted, struct columns *ret)
{
	*ret = (struct columns){ 0 };
	for (size_t i = 0; i < wanted->count; i++)
		if (i >= wanted->usual || has_values(d, wanted->ids[i]))
			ret->ids[ret->count++] = wanted->ids[i];
}

int table_print(const struct cli_options *o, const struct columns *columns, const struct blkalign_graph *graph,
		const struct blkalign_report *report)
{
	size_t nodes = blkalign_graph_size(graph);
	struct columns pruned;
	struct drawing d = { .options = o, .columns = &pruned, .graph = graph, .report = report };
	int r;

	prune(&d, columns, &pruned);
	d.table = scols_new_table();
	d.lines = calloc(nodes + 1, sizeof(*d.lines));
	d.grouped = calloc(nodes + 1, sizeof(*d.grouped));
	r = d.table && d.lines && d.grouped ? headings(&d) : -1;
	if (!r) {
		scols_table_enable_ascii(d.table, o->ascii);
		scols_table_enable_colors(d.table, o->color);
		scols_table_set_termforce(d.table, SCOLS_TERMFORCE_NEVER);
	}
	for (size_t i = 0; !r && i < nodes; i++)
		if (blkalign_node_kind(blkalign_graph_node(graph, i)) != BLKALIGN_KIND_HOST)
			r = draw(&d, blkalign_graph_node(graph, i));
	if (!r)
		r = scols_print_table(d.table);
	scols_unref_table(d.table);
	free(d.lines);
	free(d.grouped);
	return r ? cli_fail(&(struct blkalign_error){ .message = "cannot draw the table" }) : CLI_ALIGNED;
}
