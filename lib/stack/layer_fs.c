/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File systems, swap and pool members whose geometry is understood. */
#include <inttypes.h>

#include "format/btrfs/btrfs.h"
#include "format/ext/ext.h"
#include "format/fat/fat.h"
#include "format/ntfs/ntfs.h"
#include "format/swap/swap.h"
#include "format/xfs/xfs.h"
#include "format/zfs/zfs.h"
#include "stack/layers.h"

/*
 * When several match, the first is believed. mkfs overwrites the other formats' signatures where they would be found first, so a second one is what an
 * earlier use left behind; FAT, which has no signature of its own, and ZFS, whose labels survive most mkfs, come last.
 */
static const struct fsgeom_format *const formats[] = {
	&xfs_format, &ext_format, &btrfs_format, &ntfs_format, &swap_format, &fat_format, &zfs_format,
};

/* Clusters below any drive's physical block share one however they start: that is the cluster size's fault, not the offset's. */
static uint64_t data_offset(const struct fsgeom *g) { return g->block_bytes < 4 * KIB ? BLKALIGN_UNKNOWN : g->data_offset_bytes; }

static int set_numbers(struct blkalign_node *node, const struct fsgeom *g)
{
	const struct {
		enum blkalign_attr attr;
		uint64_t value;
	} numbers[] = {
		{ BLKALIGN_ATTR_FS_SIZE, g->size_bytes },
		{ BLKALIGN_ATTR_FS_BLOCK, g->block_bytes },
		{ BLKALIGN_ATTR_FS_SECTOR, g->sector_bytes },
		{ BLKALIGN_ATTR_FS_STRIDE, g->stride_bytes },
		{ BLKALIGN_ATTR_FS_STRIPE, g->stripe_bytes },
		{ BLKALIGN_ATTR_FS_LOG_STRIDE, g->log_stride_bytes },
		{ BLKALIGN_ATTR_FS_HIDDEN_SECTORS, g->hidden_sectors },
		{ BLKALIGN_ATTR_DATA_OFFSET, data_offset(g) },
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].value != BLKALIGN_UNKNOWN)
			r = graph_set_u64(node, numbers[i].attr, numbers[i].value, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

static int set_texts(struct blkalign_node *node, const struct fsgeom *g)
{
	int r = 0;

	if (*g->uuid)
		r = graph_set_str(node, BLKALIGN_ATTR_FS_UUID, g->uuid, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && *g->label)
		r = graph_set_str(node, BLKALIGN_ATTR_FS_LABEL, g->label, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

/* What resize tools and mounts fail on. A ZFS size is worked out from the pool's, not stored. */
static int remark_cut_off(struct stack *stack, const struct blkalign_node *host, const struct dev *dev, const struct fsgeom *g)
{
	if (g->size_bytes == BLKALIGN_UNKNOWN || g->size_bytes <= dev->size_bytes || strcmp(g->type, "zfs_member") == 0)
		return 0;
	return graph_remark(stack_graph(stack),
			    "%s: its %s is %" PRIu64 " bytes long, and the device ends at byte %" PRIu64
			    ": the device was cut off or made smaller",
			    blkalign_node_name(host), g->type, g->size_bytes, dev->size_bytes);
}

/* The node is as large as what is used of the device: a file system may be smaller, and one that believes itself larger was cut off. */
static int set_size(struct blkalign_node *node, struct blkalign_node *host, const struct dev *dev, const struct fsgeom *g)
{
	uint64_t size = g->size_bytes < dev->size_bytes ? g->size_bytes : dev->size_bytes;
	int r = graph_set_u64(node, BLKALIGN_ATTR_SIZE, size, BLKALIGN_ORIGIN_COMPUTED);

	return r < 0 ? r : graph_connect_linear(graph_of(node), node, host, 0, size);
}

static int add_content(struct stack *stack, struct blkalign_node *host, const struct dev *dev, const struct fsgeom_result *result)
{
	const struct fsgeom *g = &result->geom;
	struct blkalign_node *node;
	int r = stack_add_content(stack, BLKALIGN_KIND_CONTENT, g->type, host, &node);

	if (r >= 0)
		r = set_size(node, host, dev, g);
	if (r >= 0)
		r = set_numbers(node, g);
	if (r >= 0)
		r = set_texts(node, g);
	if (r >= 0)
		r = remark_cut_off(stack, host, dev, g);
	if (r >= 0 && *g->note)
		r = graph_remark(stack_graph(stack), "%s: %s", blkalign_node_name(node), g->note);
	return r;
}

/* Copies that were damaged, and signatures besides the one that is believed. */
static int add_remarks(struct stack *stack, const struct blkalign_node *host, const struct fsgeom_result *results,
		       const struct fsgeom_result *best)
{
	struct blkalign_graph *graph = stack_graph(stack);
	const char *name = blkalign_node_name(host);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(formats); i++) {
		const struct fsgeom_result *result = &results[i];

		if (result->primary.code == -EBADMSG || (result->primary.code < 0 && result->outcome == 0))
			r = graph_remark(graph, "%s: %s%s", name, result->primary.message,
					 result->outcome == 0 ? "; a copy was used instead" : "");
		if (r >= 0 && result != best && result->outcome == 0)
			r = graph_remark(graph, "%s: also carries a %s signature, probably of an earlier use; %s is believed", name,
					 result->geom.type, best->geom.type);
	}
	return r;
}

/* One sentence for the device, not one per format. */
static int remark_unreadable(struct stack *stack, const struct blkalign_node *host, const struct fsgeom_result *results)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (results[i].outcome < 0 && results[i].outcome != -EBADMSG)
			return graph_remark(stack_graph(stack), "%s: whether a file system lies on it is not known: %s",
					    blkalign_node_name(host), results[i].primary.message);
	return 0;
}

static int fs_probe(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	_cleanup_free_ struct fsgeom_result *results = calloc(ARRAY_SIZE(formats), sizeof(*results));
	const struct fsgeom_result *best = NULL;
	int r;

	if (!results)
		return -ENOMEM;
	r = fsgeom_probe(dev, formats, ARRAY_SIZE(formats), results);
	for (size_t i = ARRAY_SIZE(formats); r >= 0 && i-- > 0;)
		if (results[i].outcome == 0)
			best = &results[i];
	if (r >= 0)
		r = add_remarks(stack, host, results, best);
	if (r >= 0)
		r = best ? add_content(stack, host, dev, best) : remark_unreadable(stack, host, results);
	if (r < 0)
		return r;
	return best ? 0 : BLKALIGN_NOT_THIS;
}

const struct layer layer_fs = { .name = "fs", .probe = fs_probe };
