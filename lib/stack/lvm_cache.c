/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cached volumes: the origin, with the blocks that the cache holds. Those that are not dirty are equal on both; after an unclean shutdown nobody knows which. */
#include <inttypes.h>

#include "format/dmcache/dmcache.h"
#include "stack/lvm_special.h"

#define NOTE_CACHED "in the cache"

struct cached {
	struct blkalign_node *node;
	struct dev *origin, *data, *metadata;
	uint64_t size_bytes;
	uint64_t data_bytes; /* of the cache, whether it can be read or not */
	bool writes_through; /* the origin lacks nothing, unless blocks are marked as dirty from another mode before */
};

/* A pool's device gives the cached blocks, as its data volume does. */
int lvm_open_cache_pool(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	struct map_area area = { .dev = lvm_role_dev(v, &lv->segments[0], LVM2_ROLE_DATA, ret_whole) };
	const struct map_segment segment = { .length_bytes = lv->size_bytes, .areas = &area, .area_count = 1 };
	int r;

	if (!area.dev)
		return 0;
	r = map_open_segments(blkalign_node_name(node), &segment, 1, ret_dev);
	return r == -EINVAL ? lvm_cannot_read(v, node, "its data volume does not fit it") : r;
}

/* --- finding the parts --- */

static int slice(struct lvm_volumes *v, struct dev *below, const struct lvm2_area *area, struct dev **ret)
{
	int r = dev_open_slice(below->name, below, area->offset_bytes, area->size_bytes, ret);

	if (r == -ERANGE)
		return 0;
	if (r >= 0 && vec_push(&v->state->parts, *ret) < 0) {
		dev_close(*ret);
		r = -ENOMEM;
	}
	return r;
}

/* Data and metadata side by side in one volume. */
static int find_in_volume(struct lvm_volumes *v, const struct lvm2_segment *s, const struct lvm2_ref *pool, struct cached *c)
{
	struct dev *dev = v->devs[pool->index];
	int r = dev ? slice(v, dev, &s->cache_metadata, &c->metadata) : 0;

	c->data_bytes = s->cache_data.size_bytes;
	return dev && r >= 0 ? slice(v, dev, &s->cache_data, &c->data) : r;
}

static int find_parts(struct lvm_volumes *v, const struct lvm2_segment *s, struct cached *c, bool *whole)
{
	const struct lvm2_ref *pool = lvm_find_ref(s, LVM2_ROLE_POOL);
	const struct lvm2_lv *lv = &v->vg->lvs[pool->index];

	c->origin = lvm_role_dev(v, s, LVM2_ROLE_ORIGIN, whole);
	c->writes_through = s->writes_through || lv->segments[0].writes_through;
	*whole = *whole && v->whole[pool->index];
	if (s->cache_data.size_bytes)
		return find_in_volume(v, s, pool, c);
	if (lv->segments[0].type != LVM2_CACHE_POOL)
		return 0;
	c->data = v->devs[pool->index];
	c->data_bytes = lv->size_bytes;
	c->metadata = lvm_role_dev(v, &lv->segments[0], LVM2_ROLE_METADATA, whole);
	return 0;
}

/* --- reading --- */

static int describe(struct blkalign_node *node, const struct dmcache *cache, uint64_t dirty)
{
	int r = graph_set_bool(node, BLKALIGN_ATTR_CACHE_UNCLEAN, !cache->super.clean, BLKALIGN_ORIGIN_ONDISK);

	if (r >= 0)
		r = graph_set_bool(node, BLKALIGN_ATTR_POOL_NEEDS_CHECK, cache->super.needs_check, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_POOL_BLOCK, cache->super.block_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_CACHE_DIRTY, dirty * cache->super.block_bytes, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

/* Without the cache's data the origin is all there is, and enough when it lacks nothing. */
static int open_cached(struct lvm_volumes *v, const struct cached *c, struct dmcache *cache, struct dev **ret_dev)
{
	size_t count = c->data ? cache->count : 0, runs_count = 0;
	struct block_run *runs;
	/* Which blocks are dirty is not told after an unclean shutdown: of a cache that writes through none is. */
	uint64_t dirty = c->writes_through && !cache->super.clean ? 0 : cache->dirty;
	int r = describe(c->node, cache, dirty);

	if (r >= 0 && !c->data && dirty)
		return lvm_cannot_read(v, c->node,
				       cache->super.clean ? "the cache's data volume cannot be read, and has blocks that the origin lacks"
							  : "the cache's data volume cannot be read, and was not shut down cleanly: nobody "
							    "knows what the origin lacks");
	runs = r >= 0 ? malloc((count + 1) * sizeof(*runs)) : NULL;
	if (!runs)
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct dmcache_mapping *m = &cache->mappings[i];

		if (!runs_count || !block_run_append(&runs[runs_count - 1], m->origin_block, m->cache_block))
			runs[runs_count++] = block_run_of(m->origin_block, m->cache_block);
	}
	r = map_open_overlaid(blkalign_node_name(c->node), c->size_bytes, c->origin, c->data, cache->super.block_bytes, runs, runs_count,
			      NOTE_CACHED, ret_dev);
	return r == -EINVAL ? lvm_cannot_read(v, c->node, "the cache does not fit its origin") : r;
}

/* Why the cache is of no use. The origin alone is the volume when whatever was written went there as well. */
static int without_cache(struct lvm_volumes *v, const struct cached *c, const char *why, struct dev **ret_dev)
{
	struct map_area area = { .dev = c->origin };
	const struct map_segment segment = { .length_bytes = c->size_bytes, .areas = &area, .area_count = 1 };
	int r;

	if (!c->writes_through)
		return lvm_cannot_read(v, c->node, why);
	r = graph_remark(stack_graph(v->stack), "%s: its cache is left out: %s; it writes through, so that the origin has all",
			 blkalign_node_name(c->node), why);
	if (r >= 0)
		r = map_open_segments(blkalign_node_name(c->node), &segment, 1, ret_dev);
	return r == -EINVAL ? lvm_cannot_read(v, c->node, "its origin is smaller than the volume") : r;
}

int lvm_open_cache(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	struct cached c = { .node = node, .size_bytes = lv->size_bytes };
	struct blkalign_error err = { 0 };
	struct dmcache cache;
	int r = find_parts(v, &lv->segments[0], &c, ret_whole);

	if (r < 0)
		return r;
	if (!c.origin)
		return lvm_cannot_read(v, node, "its origin cannot be read");
	if (!c.metadata)
		return without_cache(v, &c,
				     c.writes_through ? "its metadata cannot be read"
						      : "the cache's metadata cannot be read, which tells what the origin lacks",
				     ret_dev);
	r = dmcache_read(c.metadata, lv->size_bytes, c.data_bytes, &cache, &err);
	if (r == BLKALIGN_NOT_THIS)
		r = without_cache(v, &c, "the cache's metadata volume holds no cache metadata", ret_dev);
	else if (r < 0 && r != -ENOMEM)
		r = without_cache(v, &c, err.message, ret_dev);
	else if (r == 0)
		r = open_cached(v, &c, &cache, ret_dev);
	dmcache_done(&cache);
	return r;
}
