/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lies on a device before it becomes a member: looked at as any image is, by the layers that know formats. */
#include "run/rebuild.h"
#include "run/run.h"

static void say(struct strbuf *text, const char *what) { strbuf_printf(text, "%s%s", text->length ? ", " : "", what); }

static void say_upper(struct strbuf *text, const struct blkalign_node *node)
{
	const char *content = blkalign_node_str(node, BLKALIGN_ATTR_CONTENT);
	const char *name = blkalign_node_str(node, BLKALIGN_ATTR_MD_NAME);

	if (blkalign_node_kind(node) == BLKALIGN_KIND_MD) {
		say(text, "a member of md array ");
		strbuf_add(text, name && *name ? name : blkalign_node_name(node));
	} else if (content) {
		say(text, content);
	} else {
		say(text, blkalign_kind_name(blkalign_node_kind(node)));
	}
}

/* Containers, damaged superblocks: what is no content by itself, but somebody's. */
static void say_remark(struct strbuf *text, const char *remark, const char *name)
{
	size_t length = strlen(name);

	if (!strncmp(remark, name, length) && !strncmp(remark + length, ": ", 2))
		remark += length + 2;
	strbuf_printf(text, "something that %s", remark);
}

/* The device itself is the first node. */
static void describe(const struct blkalign_graph *graph, struct strbuf *text)
{
	const struct blkalign_node *disk = blkalign_graph_node(graph, 0);
	const char *table = blkalign_node_str(disk, BLKALIGN_ATTR_TABLE_TYPE);
	const char *content = blkalign_node_str(disk, BLKALIGN_ATTR_CONTENT);

	if (table)
		strbuf_printf(text, "a partition table (%s)", table);
	if (content)
		say(text, content);
	for (size_t i = 0; i < blkalign_node_uppers(disk); i++)
		if (!table || blkalign_node_kind(blkalign_node_upper(disk, i)) != BLKALIGN_KIND_PARTITION)
			say_upper(text, blkalign_node_upper(disk, i));
	for (size_t i = 0; !text->length && i < blkalign_graph_remarks(graph); i++)
		say_remark(text, blkalign_graph_remark(graph, i), blkalign_node_name(disk));
}

/* By a superblock of its own: a disk with the member in one of its partitions holds more than that. */
static bool holds_array(const struct blkalign_graph *graph, const char *uuid)
{
	const struct blkalign_node *disk = blkalign_graph_node(graph, 0);

	for (size_t i = 0; uuid && i < blkalign_node_uppers(disk); i++) {
		const struct blkalign_node *node = blkalign_node_upper(disk, i);
		const char *its = blkalign_node_str(node, BLKALIGN_ATTR_MD_UUID);

		if (blkalign_node_kind(node) == BLKALIGN_KIND_MD && its && !strcmp(its, uuid))
			return true;
	}
	return false;
}

static int is_blank(const char *path, uint64_t *ret_size_bytes, bool *ret_blank, struct blkalign_error *reterr)
{
	struct dev_hole hole = { .fd = -1 };
	struct dev *dev;
	int r = dev_open_file(path, &dev, reterr);

	if (r < 0)
		return r;
	*ret_size_bytes = dev->size_bytes;
	*ret_blank = dev_is_hole(dev, &hole);
	dev_close(dev);
	return 0;
}

int rebuild_look(const struct blkalign_source_options *options, const char *path, const char *array_uuid, struct rebuild_candidate *ret,
		 struct blkalign_error *reterr)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct blkalign_graph *graph;
	bool blank;
	int r;

	*ret = (struct rebuild_candidate){ 0 };
	r = is_blank(path, &ret->size_bytes, &blank, reterr);
	if (r < 0 || blank)
		return r;
	r = blkalign_read_images(options, &path, 1, &graph, reterr);
	if (r < 0)
		return r;
	ret->same_array = holds_array(graph, array_uuid);
	describe(graph, &text);
	if (text.length)
		ret->found = strdup(strbuf_text(&text));
	blkalign_graph_free(graph);
	return text.failed || (text.length && !ret->found) ? -ENOMEM : 0;
}
