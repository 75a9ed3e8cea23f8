/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gathering facts: nodes, values, edges, messages. Nothing is resolved here; import_finish.c does that when all has been read. */
#include <ctype.h>
#include <stdio.h>

#include "snap/import_priv.h"

#define REMARKS_MAX 100U

void import_begin(struct import *in)
{
	memset(in, 0, sizeof(*in));
	in->graph = graph_new("import");
	in->groups = graph_new("groups");
	if (!in->graph || !in->groups)
		in->error = -ENOMEM;
}

static void failed(struct import *in, int r)
{
	if (r < 0 && !in->error)
		in->error = r;
}

struct blkalign_node *import_node(struct import *in, enum blkalign_kind kind, const char *name)
{
	struct blkalign_node *node = NULL;

	if (in->error)
		return NULL;
	node = graph_find(in->graph, name);
	if (!node)
		failed(in, graph_add(in->graph, kind, name, &node));
	return node;
}

struct blkalign_node *import_current(struct import *in)
{
	if (in->node)
		return in->node;
	return in->prompt_node ? in->prompt_node : import_node(in, BLKALIGN_KIND_DISK, "disk");
}

/* --- values --- */

void import_u64(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, uint64_t value)
{
	if (in->error || !node || value == BLKALIGN_UNKNOWN)
		return;
	failed(in, graph_set_u64(node, attr, value, BLKALIGN_ORIGIN_TOOL));
	in->facts++;
}

void import_i64(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, int64_t value)
{
	if (in->error || !node)
		return;
	failed(in, graph_set_i64(node, attr, value, BLKALIGN_ORIGIN_TOOL));
	in->facts++;
}

void import_bool(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, bool value)
{
	if (in->error || !node)
		return;
	failed(in, graph_set_bool(node, attr, value, BLKALIGN_ORIGIN_TOOL));
	in->facts++;
}

void import_str(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, const char *value)
{
	char copy[512];
	size_t n;
	const char *before;

	if (in->error || !node)
		return;
	value += strspn(value, " ");
	n = strnlen(value, sizeof(copy) - 1);
	while (n && value[n - 1] == ' ')
		n--;
	if (!n)
		return;
	memcpy(copy, value, n);
	copy[n] = '\0';
	in->facts++;
	before = blkalign_node_str(node, attr);
	if (!before || strcmp(before, copy) != 0)
		failed(in, graph_set_str(node, attr, copy, BLKALIGN_ORIGIN_TOOL));
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

void import_message(struct import *in, struct blkalign_node *node, enum blkalign_attr attr, const char *line)
{
	const char *before;
	const char *joined;

	if (!node && !in->error)
		failed(in, graph_host(in->graph, &node));
	if (in->error || !node)
		return;
	line += strspn(line, " ");
	in->facts++;
	before = blkalign_node_str(node, attr);
	if (before && (strstr(before, line) || count_lines(before) >= IMPORT_MESSAGES_MAX))
		return;
	joined = arena_printf(graph_arena(in->graph), "%s%s%.512s", before ? before : "", before ? "\n" : "", line);
	failed(in, joined ? graph_set_str(node, attr, joined, BLKALIGN_ORIGIN_TOOL) : -ENOMEM);
}

bool import_keys(struct import *in, struct blkalign_node *node, const struct import_key *keys, size_t count, const char *line)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = import_value(line, keys[i].key);
		uint64_t number;

		if (!text)
			continue;
		if (keys[i].how == IMPORT_TEXT)
			import_str(in, node, keys[i].attr, text);
		else if (!import_number(&text, &number))
			return true;
		else if (keys[i].how == IMPORT_FLAG)
			import_bool(in, node, keys[i].attr, number != 0);
		else if (keys[i].how == IMPORT_PLUS_ONE ? u64_add(number, 1, &number) : u64_mul(number, keys[i].unit, &number))
			import_u64(in, node, keys[i].attr, number);
		return true;
	}
	return false;
}

void import_rounded(struct import *in, const struct blkalign_node *node, const char *what, const char *text, const char *option)
{
	if (in->error || !node || blkalign_graph_remarks(in->graph) >= REMARKS_MAX)
		return;
	failed(in, graph_remark(in->graph, "%s of %s is not known: %s is rounded; print it with %s", what, blkalign_node_name(node), text,
				option));
}

/* --- edges --- */

void import_connect(struct import *in, const struct blkalign_edge *edge)
{
	if (in->error || !edge->upper || !edge->lower || edge->upper == edge->lower)
		return;
	failed(in, in->links.count < GRAPH_EDGES_MAX ? vec_push(&in->links, ((struct import_link){ *edge, in->links.count })) : -E2BIG);
	in->facts++;
}

void import_connect_linear(struct import *in, struct blkalign_node *upper, struct blkalign_node *lower, uint64_t lower_offset_bytes,
			   uint64_t length_bytes)
{
	import_connect(in, &(struct blkalign_edge){ .upper = upper,
						    .lower = lower,
						    .lower_offset_bytes = lower_offset_bytes,
						    .length_bytes = length_bytes,
						    .stripes = 1 });
}

void import_member(struct import *in, struct blkalign_node *array, struct blkalign_node *member, uint64_t data_offset_bytes, uint32_t slot,
		   const char *state)
{
	import_connect(in, &(struct blkalign_edge){ .upper = array,
						    .lower = member,
						    .lower_offset_bytes = data_offset_bytes,
						    .length_bytes = BLKALIGN_UNKNOWN,
						    .stripes = 1,
						    .slot = slot,
						    .state = state });
}

void import_same(struct import *in, struct blkalign_node *a, struct blkalign_node *b)
{
	if (in->error || !a || !b || a == b)
		return;
	failed(in, vec_push(&in->same, ((struct import_pair){ a, b })));
}

struct blkalign_node *import_mentioned(struct import *in, const char *line)
{
	const char *p = strstr(line, "/dev/");
	char name[IMPORT_NAME_MAX];

	if (!p)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " ,;)\"'"), p);
	return import_device(in, name);
}

/* --- contents --- */

struct blkalign_node *import_content(struct import *in, enum blkalign_kind kind, const char *what, struct blkalign_node *device,
				     uint64_t offset_bytes)
{
	char name[2 * IMPORT_NAME_MAX];
	struct blkalign_node *node;

	if (in->error || !device)
		return NULL;
	snprintf(name, sizeof(name), "%.64s:%s", what, blkalign_node_name(device));
	node = import_node(in, kind, name);
	import_connect_linear(in, node, device, offset_bytes, BLKALIGN_UNKNOWN);
	if (kind == BLKALIGN_KIND_CONTENT)
		import_str(in, node, BLKALIGN_ATTR_CONTENT, what);
	return node;
}

struct blkalign_node *import_signature(struct import *in, const char *type, struct blkalign_node *device)
{
	if (!*type || strstr(type, "raid_member") || strstr(type, "mpath_member"))
		return NULL;
	if (!strcmp(type, "LVM2_member"))
		return import_content(in, BLKALIGN_KIND_PV, "pv", device, 0);
	if (!strcmp(type, "crypto_LUKS"))
		return import_content(in, BLKALIGN_KIND_CRYPT, "luks", device, BLKALIGN_UNKNOWN);
	return import_content(in, BLKALIGN_KIND_CONTENT, type, device, 0);
}

struct blkalign_node *import_partition(struct import *in, struct blkalign_node *disk, const char *name, uint64_t start_bytes,
				       uint64_t size_bytes)
{
	struct blkalign_node *node = import_node(in, BLKALIGN_KIND_PARTITION, name);
	size_t n = strlen(name);
	uint64_t number;

	if (!node || !disk)
		return node;
	graph_set_kind(node, BLKALIGN_KIND_PARTITION);
	import_connect_linear(in, node, disk, start_bytes, size_bytes);
	import_u64(in, node, BLKALIGN_ATTR_SIZE, size_bytes);
	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	if (import_word_number(name + n, &number))
		import_u64(in, node, BLKALIGN_ATTR_PART_NUMBER, number);
	return node;
}
