/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "draw.h"
#include "json.h"
#include "metadata.h"
#include "table.h"

struct show {
	struct columns columns;
	bool lines;
	size_t graphs;
};

/* What was asked for with -o, by the names of the columns. */
static struct json_object *columns_json(const struct show *s, const struct blkalign_node *node)
{
	struct json_object *o = json_object_new_object();

	for (size_t i = s->columns.usual; i < s->columns.count; i++)
		json_object_object_add(o, column_key(s->columns.ids[i]), column_json(s->columns.ids[i], node, NULL));
	return o;
}

static struct json_object *graph_json(const struct show *s, const char *label, const struct blkalign_graph *graph)
{
	struct json_object *o = json_document(), *nodes = json_object_new_array();

	if (label)
		json_add(o, "target", json_text(label));
	json_add(o, "source", json_object_new_string(blkalign_graph_source(graph)));
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		struct json_object *n = json_node(node);

		if (s->columns.count > s->columns.usual)
			json_add(n, "columns", columns_json(s, node));
		json_object_array_add(nodes, n);
	}
	json_add(o, "nodes", nodes);
	json_add(o, "remarks", json_remarks(graph));
	return o;
}

static int table(const struct cli_options *o, struct show *s, const char *label, const struct blkalign_graph *graph,
		 const struct blkalign_report *report)
{
	int status;

	if (s->graphs++)
		putchar('\n');
	if (label && s->lines)
		printf("%s%s%s\n", cli_style(o, CLI_BOLD), cli_safe(label), cli_style(o, CLI_PLAIN));
	status = table_print(o, &s->columns, graph, report);
	if (status == CLI_ALIGNED)
		cli_notes(o, stdout, graph, 0);
	return status;
}

/* A file holds one graph: with several targets that stand alone, the first is drawn and the next meets a file that exists. */
static int draw(const struct cli_options *o, const struct blkalign_graph *graph, const struct blkalign_report *report)
{
	int status = o->svg ? draw_file(o->svg, false, graph, report) : CLI_ALIGNED;

	if (o->html && status == CLI_ALIGNED)
		status = draw_file(o->html, true, graph, report);
	return status;
}

static int show_graph(const struct cli_options *o, const char *label, struct blkalign_graph *graph, void *data)
{
	struct show *s = data;
	struct blkalign_report *report = NULL;
	struct blkalign_error err = { 0 };
	int status, r;

	if (o->json) {
		json_print(graph_json(s, label, graph), s->lines);
		return CLI_ALIGNED;
	}
	r = blkalign_check(graph, &report, &err);
	if (r < 0) {
		err.code = r;
		return cli_fail(&err);
	}
	status = o->svg || o->html ? draw(o, graph, report) : table(o, s, label, graph, report);
	blkalign_report_free(report);
	return status;
}

int cmd_show(const struct cli_options *o)
{
	struct show s = { .lines = o->target_count > 1 };

	if (o->list_columns) {
		columns_list();
		return CLI_ALIGNED;
	}
	if (o->metadata)
		return show_metadata(o);
	if (o->node)
		return cli_usage(o, "--node goes with --metadata");
	if (columns_parse(o->columns, &s.columns))
		return CLI_FAILED;
	return cli_each_graph(o, show_graph, &s);
}
