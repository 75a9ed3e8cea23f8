/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Snapshots may be written by hand and may be hostile: every key and value is checked, and what is wrong is said so that it can be mended. */
#include <assert.h>
#include <stdio.h>

#include "snap/snap.h"
#include "snap/snapshot_priv.h"

static void free_json(json **object) { json_object_put(*object); }
static void free_tokener(struct json_tokener **tokener) { json_tokener_free(*tokener); }

/* --- telling what is wrong --- */

int snapshot_bad(const struct snapshot_in *in, const char *format, ...)
{
	char text[400], node[100];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!in->node)
		return blkalign_error_set(in->reterr, -EBADMSG, in->where, BLKALIGN_UNKNOWN, "%s", text);
	snprintf(node, sizeof(node), "%s", in->node);
	return blkalign_error_set(in->reterr, -EBADMSG, in->where, BLKALIGN_UNKNOWN, "node %zu (\"%s\"): %s", in->number, node, text);
}

int snapshot_wrong_type(const struct snapshot_in *in, const char *key, json *value, const char *expected)
{
	return snapshot_bad(in, "\"%.60s\" must be %s, but is %.60s", key, expected, json_object_to_json_string(value));
}

int snapshot_unknown_key(const struct snapshot_in *in, const char *key, const char *where)
{
	return snapshot_bad(in, "there is no key \"%.60s\" %s; is it misspelt? (keys that begin with \"x-\" are passed over)", key, where);
}

bool snapshot_is_extension(const char *key) { return !strncmp(key, "x-", 2); }

/* --- attributes by key --- */

static size_t key_hash(const char *key)
{
	uint32_t h = 2166136261U; /* FNV-1a */

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619U;
	return (h ^ h >> 16) % SNAPSHOT_KEYS_ROOM;
}

static size_t key_slot(const struct snapshot_in *in, const char *key)
{
	size_t i = key_hash(key);

	while (in->keys[i] && strcmp(blkalign_attr_info(in->keys[i] - 1U)->key, key) != 0)
		i = (i + 1) % SNAPSHOT_KEYS_ROOM;
	return i;
}

static void keys_init(struct snapshot_in *in)
{
	for (unsigned a = 0; a < BLKALIGN_ATTR_COUNT; a++)
		in->keys[key_slot(in, blkalign_attr_info(a)->key)] = (uint16_t)(a + 1);
}

static enum blkalign_attr attr_of(const struct snapshot_in *in, const char *key)
{
	uint16_t found = in->keys[key_slot(in, key)];

	return found ? (enum blkalign_attr)(found - 1) : BLKALIGN_ATTR_COUNT;
}

/* --- values --- */

/* json-c cuts what does not fit to the largest value, which stands for unknown and is not allowed either. */
int snapshot_u64(const struct snapshot_in *in, const char *key, json *value, uint64_t *ret)
{
	if (!json_object_is_type(value, json_type_int))
		return snapshot_wrong_type(in, key, value, "a whole number");
	if (json_object_get_int64(value) < 0 || json_object_get_uint64(value) == UINT64_MAX)
		return snapshot_wrong_type(in, key, value, "a number from 0 to 18446744073709551614");
	*ret = json_object_get_uint64(value);
	return 0;
}

static int get_i64(const struct snapshot_in *in, const char *key, json *value, int64_t *ret)
{
	if (!json_object_is_type(value, json_type_int))
		return snapshot_wrong_type(in, key, value, "a whole number");
	*ret = json_object_get_int64(value);
	if (*ret == INT64_MAX || *ret == INT64_MIN)
		return snapshot_wrong_type(in, key, value, "a number of less than 64 bits");
	return 0;
}

int snapshot_text(const struct snapshot_in *in, const char *key, json *value, const char **ret)
{
	if (!json_object_is_type(value, json_type_string))
		return snapshot_wrong_type(in, key, value, "a text in quotes");
	if (strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
		return snapshot_bad(in, "\"%.60s\" holds a NUL character", key);
	*ret = json_object_get_string(value);
	return 0;
}

static int set_attr(const struct snapshot_in *in, struct blkalign_node *node, enum blkalign_attr attr, json *value,
		    enum blkalign_origin origin)
{
	const struct blkalign_attr_info *info = blkalign_attr_info(attr);
	const char *text = NULL;
	uint64_t u64 = 0;
	int64_t i64 = 0;
	int r;

	switch (info->type) {
	case BLKALIGN_TYPE_U64:
		r = snapshot_u64(in, info->key, value, &u64);
		return r < 0 ? r : graph_set_u64(node, attr, u64, origin);
	case BLKALIGN_TYPE_I64:
		r = get_i64(in, info->key, value, &i64);
		return r < 0 ? r : graph_set_i64(node, attr, i64, origin);
	case BLKALIGN_TYPE_STR:
		r = snapshot_text(in, info->key, value, &text);
		return r < 0 ? r : graph_set_str(node, attr, text, origin);
	case BLKALIGN_TYPE_BOOL:
		if (!json_object_is_type(value, json_type_boolean))
			return snapshot_wrong_type(in, info->key, value, "true or false");
		return graph_set_bool(node, attr, json_object_get_boolean(value), origin);
	}
	return -EINVAL;
}

/* --- nodes --- */

static int get_origin(const struct snapshot_in *in, const char *key, json *value, enum blkalign_origin *ret)
{
	const char *name = NULL;
	int r = snapshot_text(in, key, value, &name);

	if (r == 0 && blkalign_origin_parse(name, ret) < 0)
		return snapshot_bad(in, "\"%.60s\": there is no origin \"%.60s\"", key, name);
	return r;
}

static bool is_structural(const char *key)
{
	return !strcmp(key, "name") || !strcmp(key, "kind") || !strcmp(key, "origin") || !strcmp(key, "origins") || !strcmp(key, "on");
}

static int set_attrs(const struct snapshot_in *in, struct blkalign_node *node, json *object, enum blkalign_origin origin)
{
	int r = 0;

	json_object_object_foreach(object, key, value)
	{
		enum blkalign_attr attr = attr_of(in, key);

		if (attr == BLKALIGN_ATTR_COUNT && !is_structural(key) && !snapshot_is_extension(key))
			return snapshot_unknown_key(in, key, "in a node");
		if (attr == BLKALIGN_ATTR_COUNT || !value)
			continue;
		r = set_attr(in, node, attr, value, origin);
		if (r < 0)
			return r;
	}
	return r;
}

/* The exceptions from the node's usual origin: the values are set once more. */
static int set_origins(const struct snapshot_in *in, struct blkalign_node *node, json *object, json *origins)
{
	if (!json_object_is_type(origins, json_type_object))
		return snapshot_wrong_type(in, "origins", origins, "an object of key and origin");
	json_object_object_foreach(origins, key, value)
	{
		enum blkalign_attr attr = attr_of(in, key);
		enum blkalign_origin origin = BLKALIGN_ORIGIN_SNAPSHOT;
		json *held = NULL;
		int r;

		if (attr == BLKALIGN_ATTR_COUNT)
			return snapshot_unknown_key(in, key, "in \"origins\"");
		r = get_origin(in, key, value, &origin);
		if (r == 0 && json_object_object_get_ex(object, key, &held) && held)
			r = set_attr(in, node, attr, held, origin);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_node(struct snapshot_in *in, json *object)
{
	json *name = NULL, *kind = NULL, *origin = NULL, *origins = NULL;
	enum blkalign_origin usual = BLKALIGN_ORIGIN_SNAPSHOT;
	const char *text = NULL, *kind_text = NULL;
	struct blkalign_node *node = NULL;
	enum blkalign_kind number;
	int r;

	if (!json_object_is_type(object, json_type_object))
		return snapshot_bad(in, "\"nodes\" must hold objects");
	json_object_object_get_ex(object, "name", &name);
	json_object_object_get_ex(object, "kind", &kind);
	r = snapshot_text(in, "name", name, &text);
	in->node = text ? text : "";
	if (r == 0)
		r = snapshot_text(in, "kind", kind, &kind_text);
	if (r < 0)
		return r;
	assert(text && kind_text);
	if (!text[0] || blkalign_graph_find(in->graph, text))
		return snapshot_bad(in, text[0] ? "there are two nodes of this name" : "the name is empty");
	if (blkalign_kind_parse(kind_text, &number) < 0)
		return snapshot_bad(in, "there is no kind \"%.60s\"", kind_text);
	if (json_object_object_get_ex(object, "origin", &origin))
		r = get_origin(in, "origin", origin, &usual);
	if (r == 0)
		r = graph_add(in->graph, number, text, &node);
	if (r == 0)
		r = set_attrs(in, node, object, usual);
	if (r == 0 && json_object_object_get_ex(object, "origins", &origins))
		r = set_origins(in, node, object, origins);
	return r;
}

/* --- the whole --- */

static int add_nodes(struct snapshot_in *in, json *nodes)
{
	size_t count = nodes && json_object_is_type(nodes, json_type_array) ? json_object_array_length(nodes) : 0;
	int r = 0;

	if (!nodes || !json_object_is_type(nodes, json_type_array))
		return snapshot_bad(in, "\"nodes\" must be a list");
	for (size_t i = 0; r == 0 && i < count; i++) {
		in->node = "";
		in->number = i + 1;
		r = add_node(in, json_object_array_get_idx(nodes, i));
	}
	if (r == 0)
		r = snapshot_connect(in, nodes);
	in->node = NULL;
	return r;
}

static int add_remarks(const struct snapshot_in *in, json *remarks)
{
	int r = 0;

	if (!remarks)
		return 0;
	if (!json_object_is_type(remarks, json_type_array))
		return snapshot_wrong_type(in, "remarks", remarks, "a list");
	for (size_t i = 0; r == 0 && i < json_object_array_length(remarks); i++) {
		const char *text = NULL;

		r = snapshot_text(in, "remarks", json_object_array_get_idx(remarks, i), &text);
		if (r == 0)
			r = graph_remark(in->graph, "%s", text);
	}
	return r;
}

static int check_version(const struct snapshot_in *in, json *version)
{
	int r;
	uint64_t number = 0;

	if (!version)
		return snapshot_bad(in, "is no snapshot: the key \"" SNAPSHOT_KEY "\" is missing");
	r = snapshot_u64(in, SNAPSHOT_KEY, version, &number);
	if (r < 0 || number == SNAPSHOT_VERSION)
		return r;
	return blkalign_error_set(in->reterr, -ENOTSUP, in->where, BLKALIGN_UNKNOWN,
				  "is a snapshot of format version %ju; this version of blkalign reads version %d", (uintmax_t)number,
				  SNAPSHOT_VERSION);
}

static int check_keys(const struct snapshot_in *in, json *root)
{
	static const char *const keys[] = { SNAPSHOT_KEY, "source", "written_by", "names", "nodes", "remarks" };

	json_object_object_foreach(root, key, value)
	{
		bool known = snapshot_is_extension(key);

		(void)value;
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			known = known || !strcmp(keys[i], key);
		if (!known)
			return snapshot_unknown_key(in, key, "in a snapshot");
	}
	return 0;
}

static int read_root(struct snapshot_in *in, json *root)
{
	json *version = NULL, *nodes = NULL, *remarks = NULL;
	int r;

	if (!json_object_is_type(root, json_type_object))
		return snapshot_bad(in, "is no snapshot: the text is no JSON object");
	json_object_object_get_ex(root, SNAPSHOT_KEY, &version);
	json_object_object_get_ex(root, "nodes", &nodes);
	json_object_object_get_ex(root, "remarks", &remarks);
	r = check_version(in, version);
	if (r == 0)
		r = check_keys(in, root);
	if (r == 0)
		r = add_nodes(in, nodes);
	if (r == 0)
		r = add_remarks(in, remarks);
	return r == 0 ? graph_sort(in->graph) : r;
}

static unsigned line_of(const char *text, size_t offset)
{
	unsigned line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text[i] == '\n';
	return line;
}

/* About what json-c takes: a table for each object or list, a member or value for each comma. Three bytes of text may cost 700 of memory. */
static bool is_affordable(const char *text, size_t length)
{
	uint64_t cost = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '{' || text[i] == '[')
			cost += 800;
		else if (text[i] == ',')
			cost += 128;
	}
	return cost <= SNAPSHOT_MEMORY_MAX;
}

static int parse(const struct snapshot_in *in, const char *text, size_t length, json **ret_root)
{
	_cleanup_(free_tokener) struct json_tokener *tokener = json_tokener_new_ex(SNAPSHOT_DEPTH_MAX);
	size_t end;

	if (!tokener)
		return -ENOMEM;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	if (length > INT32_MAX || !is_affordable(text, length))
		return blkalign_error_set(in->reterr, -E2BIG, in->where, BLKALIGN_UNKNOWN,
					  "is too large: reading it would take more than %u MiB of memory",
					  (unsigned)(SNAPSHOT_MEMORY_MAX / MIB));
	*ret_root = json_tokener_parse_ex(tokener, text, (int)length);
	end = json_tokener_get_parse_end(tokener);
	if (json_tokener_get_error(tokener) != json_tokener_success)
		return blkalign_error_set(in->reterr, -EBADMSG, in->where, end, "line %u is no valid JSON: %s", line_of(text, end),
					  json_tokener_error_desc(json_tokener_get_error(tokener)));
	return 0;
}

int snapshot_decode(const char *where, const char *text, size_t length, struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	_cleanup_graph_ struct blkalign_graph *graph = graph_new("snapshot");
	_cleanup_(free_json) json *root = NULL;
	struct snapshot_in in = { .where = where, .graph = graph, .reterr = reterr };
	int r;

	if (!graph)
		return -ENOMEM;
	keys_init(&in);
	r = parse(&in, text, length, &root);
	if (r < 0)
		return r;
	r = read_root(&in, root);
	if (r == -E2BIG)
		return blkalign_error_set(reterr, r, where, BLKALIGN_UNKNOWN, "holds more than %u nodes or %u edges", GRAPH_NODES_MAX,
					  GRAPH_EDGES_MAX);
	if (r < 0)
		return r;
	*ret_graph = graph;
	graph = NULL;
	return 0;
}

int blkalign_read_snapshot(const struct blkalign_source_options *options, const char *path, struct blkalign_graph **ret_graph,
			   struct blkalign_error *reterr)
{
	struct snap_probe probe;
	const struct snap_reader *reader;
	int r = snap_probe(path, &probe, reterr);

	if (r < 0)
		return r;
	reader = snap_recognise(&probe);
	if (!reader)
		return blkalign_error_set(reterr, -EBADMSG, path, BLKALIGN_UNKNOWN,
					  "is no snapshot, and no output of another tool that blkalign reads");
	return reader->read(options, &path, 1, ret_graph, reterr);
}

/* --- the row of the table --- */

/* The key may stand behind others, but is expected among the first bytes. */
static bool recognise(const struct snap_probe *probe)
{
	const char *start = probe->head + strspn(probe->head, " \t\r\n");

	return *start == '{' && strstr(start, "\"" SNAPSHOT_KEY "\"");
}

static int read_one(const struct blkalign_source_options *options, const char *const *paths, size_t count,
		    struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 0;
	int r = snap_read_text(paths[0], &text, &length, reterr);

	(void)options;
	(void)count;
	return r < 0 ? r : snapshot_decode(paths[0], text, length, ret_graph, reterr);
}

const struct snap_reader snapshot_reader = { .name = "snapshot", .recognise = recognise, .read = read_one };
