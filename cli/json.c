/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add_ex(object, key, value, JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_KEY_IS_CONSTANT);
}

struct json_object *json_document(void)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "version", json_object_new_int(CLI_JSON_VERSION));
	return o;
}

struct json_object *json_text(const char *raw)
{
	size_t room = raw ? 4 * strlen(raw) + 1 : 0;
	char *safe = raw ? malloc(room) : NULL;
	struct json_object *o = NULL;

	if (safe)
		o = json_object_new_string(blkalign_escape(safe, room, raw));
	free(safe);
	return o;
}

struct json_object *json_bytes(uint64_t bytes) { return bytes == BLKALIGN_UNKNOWN ? NULL : json_object_new_uint64(bytes); }

struct json_object *json_value(const struct blkalign_value *value)
{
	if (!value)
		return NULL;
	switch (value->type) {
	case BLKALIGN_TYPE_U64:
		return json_object_new_uint64(value->u64);
	case BLKALIGN_TYPE_I64:
		return json_object_new_int64(value->i64);
	case BLKALIGN_TYPE_BOOL:
		return json_object_new_boolean(value->boolean);
	case BLKALIGN_TYPE_STR:
		break;
	}
	return json_text(value->str);
}

static struct json_object *edge(const struct blkalign_edge *e)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "node", json_text(blkalign_node_name(e->lower)));
	json_add(o, "offset_bytes", json_bytes(e->lower_offset_bytes));
	json_add(o, "length_bytes", json_bytes(e->length_bytes));
	json_add(o, "upper_offset_bytes", json_bytes(e->upper_offset_bytes));
	json_add(o, "segment", json_object_new_uint64(e->segment));
	json_add(o, "slot", e->slot == BLKALIGN_SLOT_NONE ? NULL : json_object_new_uint64(e->slot));
	if (e->stripes > 1) {
		json_add(o, "stripes", json_object_new_uint64(e->stripes));
		json_add(o, "chunk_bytes", json_bytes(e->chunk_bytes));
	}
	if (e->state)
		json_add(o, "state", json_text(e->state));
	return o;
}

/* Said of every device, known or not: that a value is unknown is worth knowing. */
static bool is_basic(enum blkalign_attr attr)
{
	return attr == BLKALIGN_ATTR_SIZE || attr == BLKALIGN_ATTR_LOGICAL_BLOCK || attr == BLKALIGN_ATTR_PHYSICAL_BLOCK ||
	       attr == BLKALIGN_ATTR_MINIMUM_IO || attr == BLKALIGN_ATTR_OPTIMAL_IO || attr == BLKALIGN_ATTR_ALIGNMENT_OFFSET;
}

struct json_object *json_node(const struct blkalign_node *node)
{
	struct json_object *o = json_object_new_object(), *origins = json_object_new_object(), *on = json_object_new_array();
	bool device = blkalign_node_kind(node) != BLKALIGN_KIND_HOST;

	json_add(o, "name", json_text(blkalign_node_name(node)));
	json_add(o, "kind", json_object_new_string(blkalign_kind_name(blkalign_node_kind(node))));
	for (unsigned i = 0; i < BLKALIGN_ATTR_COUNT; i++) {
		const struct blkalign_value *v = blkalign_node_value(node, (enum blkalign_attr)i);
		const char *key = blkalign_attr_info((enum blkalign_attr)i)->key;

		if (v || (device && is_basic((enum blkalign_attr)i)))
			json_add(o, key, json_value(v));
		if (v)
			json_add(origins, key, json_object_new_string(blkalign_origin_name(v->origin)));
	}
	for (size_t i = 0; i < blkalign_node_edges(node); i++)
		json_object_array_add(on, edge(blkalign_node_edge(node, i)));
	json_add(o, "origins", origins);
	json_add(o, "on", on);
	return o;
}

struct json_object *json_remarks(const struct blkalign_graph *graph)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < blkalign_graph_remarks(graph); i++)
		json_object_array_add(list, json_text(blkalign_graph_remark(graph, i)));
	return list;
}

void json_print(struct json_object *document, bool line)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE | (line ? JSON_C_TO_STRING_PLAIN : JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);

	puts(json_object_to_json_string_ext(document, flags));
	json_object_put(document);
}
