/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A node a line, so that two captures can be compared with diff. */
#include <json.h>
#define ZLIB_CONST
#include <zlib.h>

#include "graph/graph.h"
#include "snap/pseudonym.h"
#include "snap/snapshot.h"

typedef struct json_object json;

static void free_json(json **object) { json_object_put(*object); }

/* --- strings: JSON is UTF-8, names from disks are bytes --- */

/* Length of the valid UTF-8 sequence at `s`, 0 when there is none. */
static size_t sequence_length(const unsigned char *s)
{
	size_t length = s[0] < 0x80		      ? 1
			: s[0] >= 0xc2 && s[0] < 0xe0 ? 2
			: s[0] >= 0xe0 && s[0] < 0xf0 ? 3
			: s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						      : 0;

	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

/* Bytes that are no UTF-8 are written as \xNN. */
static json *new_text(const char *text)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };

	if (!text)
		return NULL;
	while (*text) {
		size_t length = sequence_length((const unsigned char *)text);

		if (length)
			strbuf_addn(&out, text, length);
		else
			strbuf_printf(&out, "\\x%02x", (unsigned char)*text);
		text += length ? length : 1;
	}
	return out.failed ? NULL : json_object_new_string(strbuf_text(&out));
}

/* Takes `value` over, also on failure. */
static int put(json *object, const char *key, json *value)
{
	if (!value || json_object_object_add(object, key, value) < 0) {
		json_object_put(value);
		return -ENOMEM;
	}
	return 0;
}

static int put_null(json *object, const char *key) { return json_object_object_add(object, key, NULL) < 0 ? -ENOMEM : 0; }

static int put_bytes(json *object, const char *key, uint64_t bytes)
{
	return bytes == BLKALIGN_UNKNOWN ? put_null(object, key) : put(object, key, json_object_new_uint64(bytes));
}

/* --- one node --- */

static json *new_value(struct pseudonyms *names, const struct blkalign_node *node, enum blkalign_attr attr,
		       const struct blkalign_value *value)
{
	switch (value->type) {
	case BLKALIGN_TYPE_U64:
		return json_object_new_uint64(value->u64);
	case BLKALIGN_TYPE_I64:
		return json_object_new_int64(value->i64);
	case BLKALIGN_TYPE_BOOL:
		return json_object_new_boolean(value->boolean);
	case BLKALIGN_TYPE_STR:
		return new_text(pseudonym_value(names, node, attr));
	}
	return NULL;
}

/* The origin that most values have is said once. */
static enum blkalign_origin usual_origin(const struct blkalign_node *node)
{
	unsigned counts[BLKALIGN_ORIGIN_SNAPSHOT + 1] = { 0 }, best = BLKALIGN_ORIGIN_SNAPSHOT;

	for (unsigned a = 0; a < BLKALIGN_ATTR_COUNT; a++) {
		const struct blkalign_value *value = blkalign_node_value(node, a);

		if (value)
			counts[value->origin]++;
	}
	for (unsigned o = 0; o <= BLKALIGN_ORIGIN_SNAPSHOT; o++)
		best = counts[o] > counts[best] ? o : best;
	return (enum blkalign_origin)best;
}

static int put_attrs(json *object, json *origins, struct pseudonyms *names, const struct blkalign_node *node, enum blkalign_origin usual)
{
	int r = 0;

	for (unsigned a = 0; r == 0 && a < BLKALIGN_ATTR_COUNT; a++) {
		const struct blkalign_value *value = blkalign_node_value(node, a);
		const char *key = blkalign_attr_info(a)->key;

		if (!value)
			continue;
		r = put(object, key, new_value(names, node, a, value));
		if (r == 0 && value->origin != usual)
			r = put(origins, key, json_object_new_string(blkalign_origin_name(value->origin)));
	}
	return r;
}

static json *new_edge(struct pseudonyms *names, const struct blkalign_edge *e)
{
	json *object = json_object_new_object();
	int r = object ? put(object, "node", new_text(pseudonym_node(names, e->lower))) : -ENOMEM;

	if (r == 0)
		r = put_bytes(object, "offset_bytes", e->lower_offset_bytes);
	if (r == 0)
		r = put_bytes(object, "length_bytes", e->length_bytes);
	if (r == 0 && e->upper_offset_bytes)
		r = put_bytes(object, "upper_offset_bytes", e->upper_offset_bytes);
	if (r == 0 && e->segment)
		r = put(object, "segment", json_object_new_uint64(e->segment));
	if (r == 0)
		r = e->slot == BLKALIGN_SLOT_NONE ? put_null(object, "slot") : put(object, "slot", json_object_new_uint64(e->slot));
	if (r == 0 && e->stripes != 1)
		r = put(object, "stripes", json_object_new_uint64(e->stripes));
	if (r == 0 && e->chunk_bytes)
		r = put(object, "chunk_bytes", json_object_new_uint64(e->chunk_bytes));
	if (r == 0 && e->state)
		r = put(object, "state", new_text(e->state));
	if (r < 0) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static int put_edges(json *object, struct pseudonyms *names, const struct blkalign_node *node)
{
	_cleanup_(free_json) json *on = NULL;

	if (!blkalign_node_edges(node))
		return 0;
	on = json_object_new_array();
	if (!on)
		return -ENOMEM;
	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		json *edge = new_edge(names, blkalign_node_edge(node, i));

		if (!edge || json_object_array_add(on, edge) < 0) {
			json_object_put(edge);
			return -ENOMEM;
		}
	}
	return put(object, "on", json_object_get(on));
}

static json *new_node(struct pseudonyms *names, const struct blkalign_node *node)
{
	_cleanup_(free_json) json *object = json_object_new_object(), *origins = json_object_new_object();
	enum blkalign_origin usual = usual_origin(node);
	int r = object && origins ? put(object, "name", new_text(pseudonym_node(names, node))) : -ENOMEM;

	if (r == 0)
		r = put(object, "kind", json_object_new_string(blkalign_kind_name(blkalign_node_kind(node))));
	if (r == 0)
		r = put(object, "origin", json_object_new_string(blkalign_origin_name(usual)));
	if (r == 0)
		r = put_attrs(object, origins, names, node, usual);
	if (r == 0 && json_object_object_length(origins))
		r = put(object, "origins", json_object_get(origins));
	if (r == 0)
		r = put_edges(object, names, node);
	return r == 0 ? json_object_get(object) : NULL;
}

/* --- the file --- */

struct out {
	z_stream z;
	FILE *file;
	bool failed;
};

#define GZIP_WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL	 8 /* zlib's default */

static void deflate_to_file(struct out *out, const char *text, size_t length, int flush)
{
	unsigned char packed[16 * KIB];
	int r = Z_OK;

	out->z.next_in = (const Bytef *)text;
	out->z.avail_in = (uInt)length;
	do {
		size_t room;

		out->z.next_out = packed;
		out->z.avail_out = sizeof(packed);
		r = deflate(&out->z, flush);
		room = sizeof(packed) - out->z.avail_out;
		if (r == Z_STREAM_ERROR || fwrite(packed, 1, room, out->file) != room)
			out->failed = true;
	} while (!out->failed && !out->z.avail_out);
}

static void add_text(struct out *out, const char *text)
{
	if (!out->failed)
		deflate_to_file(out, text, strlen(text), Z_NO_FLUSH);
}

static int add_json(struct out *out, const char *before, json *object)
{
	const char *text = object ? json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE) : NULL;

	if (text) {
		add_text(out, before);
		add_text(out, text);
	}
	json_object_put(object);
	return text ? 0 : -ENOMEM;
}

static int add_all(struct out *out, const struct blkalign_graph *graph, struct pseudonyms *names)
{
	int r;

	add_text(out, "{\"" SNAPSHOT_KEY "\":1,\"source\":");
	r = add_json(out, "", json_object_new_string(blkalign_graph_source(graph)));
	add_text(out, ",\"written_by\":\"blkalign " BLKALIGN_VERSION "\",\"names\":");
	add_text(out, names ? "\"replaced\"" : "\"kept\"");
	add_text(out, ",\"nodes\":[");
	for (size_t i = 0; r == 0 && i < blkalign_graph_size(graph); i++)
		r = add_json(out, i ? ",\n" : "\n", new_node(names, blkalign_graph_node(graph, i)));
	add_text(out, "\n],\"remarks\":[");
	for (size_t i = 0; r == 0 && i < blkalign_graph_remarks(graph); i++) {
		const char *remark = blkalign_graph_remark(graph, i);

		r = add_json(out, i ? ",\n" : "\n", new_text(names ? pseudonym_text(names, remark) : remark));
	}
	add_text(out, "\n]}\n");
	return r;
}

static int write_packed(const struct blkalign_graph *graph, struct pseudonyms *names, FILE *file)
{
	struct out out = { .file = file };
	int r;

	if (deflateInit2(&out.z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	errno = 0;
	r = add_all(&out, graph, names);
	if (r == 0 && !out.failed)
		deflate_to_file(&out, "", 0, Z_FINISH);
	deflateEnd(&out.z);
	if (r == 0 && (out.failed || fflush(file) != 0))
		r = errno ? -errno : -EIO;
	return r;
}

int blkalign_write_snapshot(const struct blkalign_graph *graph, bool keep_names, FILE *file, struct blkalign_error *reterr)
{
	_cleanup_(pseudonyms_freep) struct pseudonyms *names = NULL;
	int r = keep_names ? 0 : pseudonyms_new(graph, &names);

	if (r == 0)
		r = write_packed(graph, names, file);
	if (r < 0)
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "cannot write the snapshot: %s", strerror(-r));
	return 0;
}
