/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LUKS containers. They cannot be read further without a key, so the node has no device; a running mapping is the same node, annotated. */
#include <inttypes.h>

#include "format/luks/luks.h"
#include "stack/layers.h"

#define DM_UUID_PREFIX "CRYPT-LUKS"

/* The mapping that the kernel runs on this device, or NULL. */
static struct blkalign_node *running(struct stack *stack, const struct blkalign_node *host)
{
	for (size_t i = 0; i < blkalign_node_uppers(host); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(host, i);
		const char *uuid = blkalign_node_str(upper, BLKALIGN_ATTR_DM_UUID);

		if (uuid && strncmp(uuid, DM_UUID_PREFIX, strlen(DM_UUID_PREFIX)) == 0)
			return graph_node(stack_graph(stack), blkalign_node_index(upper));
	}
	return NULL;
}

static uint64_t payload_length(const struct luks_found *f, uint64_t host_bytes)
{
	if (f->detached)
		return BLKALIGN_UNKNOWN;
	if (f->header.payload_bytes != BLKALIGN_UNKNOWN)
		return f->header.payload_bytes;
	return host_bytes - f->header.payload_offset_bytes;
}

static int set_attributes(struct blkalign_node *node, const struct luks_found *f, uint64_t length_bytes)
{
	const struct luks_header *h = &f->header;
	int r = graph_set_u64(node, BLKALIGN_ATTR_LUKS_VERSION, h->version, BLKALIGN_ORIGIN_ONDISK);

	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_LUKS_SECTOR, h->sector_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && !f->detached)
		r = graph_set_u64(node, BLKALIGN_ATTR_LUKS_OFFSET, h->payload_offset_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && h->uuid[0])
		r = graph_set_str(node, BLKALIGN_ATTR_LUKS_UUID, h->uuid, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && h->label[0])
		r = graph_set_str(node, BLKALIGN_ATTR_FS_LABEL, h->label, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && length_bytes != BLKALIGN_UNKNOWN && !blkalign_node_value(node, BLKALIGN_ATTR_SIZE))
		r = graph_set_u64(node, BLKALIGN_ATTR_SIZE, length_bytes, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

static int remark_oddities(struct stack *stack, const char *name, const struct luks_found *f, uint64_t host_bytes)
{
	const struct luks_header *h = &f->header;
	int r = 0;

	if (f->primary != LUKS_COPY_OK || (h->version == 2 && f->secondary != LUKS_COPY_OK))
		r = graph_remark(stack_graph(stack), "%s: LUKS2 header copies: primary %s, secondary %s", name,
				 luks_copy_state_name(f->primary), luks_copy_state_name(f->secondary));
	if (r >= 0 && f->detached && !h->payload_offset_bytes)
		r = graph_remark(stack_graph(stack), "%s: detached LUKS header: the encrypted data lies on another device", name);
	else if (r >= 0 && f->detached)
		r = graph_remark(stack_graph(stack),
				 "%s: the LUKS payload begins at byte %" PRIu64 ", and the device ends at byte %" PRIu64
				 ": a backup of the header, a detached header, or a device that was cut off",
				 name, h->payload_offset_bytes, host_bytes);
	if (r >= 0 && !f->detached && h->payload_bytes != BLKALIGN_UNKNOWN &&
	    !range_inside(h->payload_offset_bytes, h->payload_bytes, host_bytes))
		r = graph_remark(stack_graph(stack), "%s: the LUKS payload ends beyond the end of the device", name);
	if (r >= 0 && h->segments > 1)
		r = graph_remark(stack_graph(stack), "%s: LUKS2 re-encryption is under way", name);
	return r;
}

static int probe(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	struct blkalign_graph *graph = stack_graph(stack);
	struct blkalign_error error = { 0 };
	struct blkalign_node *node = running(stack, host);
	struct luks_found f;
	uint64_t length;
	int r = luks_read(dev, &f, &error);

	if (r == BLKALIGN_NOT_THIS || r == -ENOMEM)
		return r;
	if (r < 0) {
		bool damaged = r == -EBADMSG || r == -ENOTSUP; /* what cannot be read is remarked by the last layers */

		r = !damaged ? 0 : graph_remark(graph, "%s: %s", blkalign_node_name(host), error.message);
		return r < 0 ? r : BLKALIGN_NOT_THIS;
	}
	length = payload_length(&f, dev->size_bytes);
	if (!node) {
		r = stack_add_content(stack, BLKALIGN_KIND_CRYPT, "luks", host, &node);
		if (r >= 0)
			r = graph_set_str(node, BLKALIGN_ATTR_CONTENT, "crypto_LUKS", BLKALIGN_ORIGIN_ONDISK);
	}
	if (r >= 0)
		r = graph_connect_linear(graph, node, host, f.detached ? BLKALIGN_UNKNOWN : f.header.payload_offset_bytes, length);
	if (r >= 0)
		r = set_attributes(node, &f, length);
	return r < 0 ? r : remark_oddities(stack, blkalign_node_name(host), &f, dev->size_bytes);
}

const struct layer layer_luks = { .name = "luks", .probe = probe };
