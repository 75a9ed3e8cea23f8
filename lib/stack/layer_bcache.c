/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bcache. A backing device's data can be read in place, as long as the cache holds nothing newer; a cache device's buckets mean nothing
 * without its B-tree, so it has no device. The running bcacheN of a live host is the same node, annotated.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/bcache/bcache.h"
#include "stack/layers.h"

static struct blkalign_node *running(struct stack *stack, const struct blkalign_node *host)
{
	for (size_t i = 0; i < blkalign_node_uppers(host); i++)
		if (blkalign_node_kind(blkalign_node_upper(host, i)) == BLKALIGN_KIND_BCACHE)
			return graph_node(stack_graph(stack), blkalign_node_index(blkalign_node_upper(host, i)));
	return NULL;
}

static int set_attributes(struct blkalign_node *node, const struct bcache_super *s)
{
	char uuid[37];
	int r = graph_set_str(node, BLKALIGN_ATTR_CONTENT, "bcache", BLKALIGN_ORIGIN_ONDISK);

	uuid_format(uuid, s->uuid);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_DATA_OFFSET, s->data_offset_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_FS_BLOCK, s->block_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_FS_UUID, uuid, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && s->label[0])
		r = graph_set_str(node, BLKALIGN_ATTR_FS_LABEL, s->label, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

static int make_node(struct stack *stack, struct blkalign_node *host, struct dev *dev, const struct bcache_super *s, uint64_t length)
{
	struct blkalign_node *node = running(stack, host);
	_cleanup_strbuf_ struct strbuf name = { 0 };
	struct dev *slice = NULL;
	int r = 0;

	strbuf_printf(&name, "bcache:%s", blkalign_node_name(host));
	if (s->role == BCACHE_BACKING)
		r = dev_open_slice(strbuf_text(&name), dev, s->data_offset_bytes, length, &slice);
	if (r >= 0)
		r = node ? stack_set_dev(stack, node, slice) : stack_add(stack, BLKALIGN_KIND_BCACHE, strbuf_text(&name), slice, &node);
	if (r >= 0 && slice && stack_is_writable(stack))
		r = stack_set_read_only(stack, node, "its cache may hold other data than the backing device");
	if (r >= 0)
		r = graph_connect_linear(stack_graph(stack), node, host, s->data_offset_bytes, length);
	if (r >= 0 && !blkalign_node_value(node, BLKALIGN_ATTR_SIZE))
		r = graph_set_u64(node, BLKALIGN_ATTR_SIZE, length, BLKALIGN_ORIGIN_ONDISK);
	return r < 0 ? r : set_attributes(node, s);
}

static int probe(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	struct blkalign_graph *graph = stack_graph(stack);
	const char *name = blkalign_node_name(host);
	struct blkalign_error error = { 0 };
	struct bcache_super s;
	uint64_t length;
	/* bcache on bcache does not occur, and would let a hostile image nest every 8 KiB. */
	int r = blkalign_node_kind(host) == BLKALIGN_KIND_BCACHE ? BLKALIGN_NOT_THIS : bcache_read(dev, &s, &error);

	if (r == BLKALIGN_NOT_THIS)
		return r;
	if (r == 0 && s.data_offset_bytes >= dev->size_bytes)
		r = blkalign_error_set(&error, -EBADMSG, name, BCACHE_SUPER_BYTES,
				       "bcache superblock: the data begins beyond the end of the device");
	if (r < 0) {
		bool damaged = r == -EBADMSG || r == -ENOTSUP; /* what cannot be read is remarked by the last layers */

		r = !damaged ? 0 : graph_remark(graph, "%s: %s", name, error.message);
		return r < 0 ? r : BLKALIGN_NOT_THIS;
	}
	length = dev->size_bytes - s.data_offset_bytes;
	if (s.role == BCACHE_CACHE && (s.buckets * s.bucket_bytes) - s.data_offset_bytes < length)
		length = s.buckets * s.bucket_bytes - s.data_offset_bytes;
	if (s.state == BCACHE_DIRTY) {
		r = graph_remark(graph, "%s: the bcache holds newer data than this backing device", name);
		if (r < 0)
			return r;
	}
	return make_node(stack, host, dev, &s, length);
}

const struct layer layer_bcache = { .name = "bcache", .probe = probe };
