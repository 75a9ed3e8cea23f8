/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "json.h"
#include "report.h"

/* Messages come escaped from the library: not once more. */
static struct json_object *safe(const char *text) { return text ? json_object_new_string(text) : NULL; }

static struct json_object *finding_json(const struct blkalign_finding *f)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "id", json_object_new_string(f->info->id));
	json_add(o, "severity", json_object_new_string(blkalign_severity_name(f->severity)));
	json_add(o, "node", json_text(blkalign_node_name(f->node)));
	json_add(o, "cause", json_text(blkalign_node_name(f->cause)));
	json_add(o, "found_bytes", json_bytes(f->found_bytes));
	json_add(o, "expected_bytes", json_bytes(f->expected_bytes));
	json_add(o, "message", safe(f->message));
	json_add(o, "price", safe(f->price));
	json_add(o, "remedy", safe(f->remedy));
	return o;
}

static struct json_object *layer_json(const struct blkalign_layer *l)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "node", json_text(blkalign_node_name(l->node)));
	json_add(o, "verdict", json_object_new_string(blkalign_verdict_name(l->verdict)));
	json_add(o, "text", safe(l->text));
	return o;
}

void report_json(const char *label, const struct blkalign_graph *graph, const struct blkalign_report *report, bool line)
{
	struct json_object *o = json_document(), *findings = json_object_new_array(), *layers = json_object_new_array();

	if (label)
		json_add(o, "target", json_text(label));
	json_add(o, "source", json_object_new_string(blkalign_graph_source(graph)));
	json_add(o, "verdict", json_object_new_string(blkalign_verdict_name(blkalign_report_verdict(report))));
	for (size_t i = 0; i < blkalign_report_findings(report); i++)
		json_object_array_add(findings, finding_json(blkalign_report_finding(report, i)));
	for (size_t i = 0; i < blkalign_report_layers(report); i++)
		json_object_array_add(layers, layer_json(blkalign_report_layer(report, i)));
	json_add(o, "findings", findings);
	json_add(o, "layers", layers);
	json_add(o, "remarks", json_remarks(graph));
	json_print(o, line);
}
