/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thin pools, and the volumes in them: where a block lies is looked up when it is read, since a pool may map more than memory holds. */
#include <inttypes.h>
#include <pthread.h>

#include "format/thin/thin.h"
#include "stack/lvm_special.h"

/* Of a host: each keeps what it read last. */
#define POOLS_MAX 1024U
/* More places than these that cannot be read are all told alike. */
#define REASONS_MAX 64U

struct lvm_thin_pool {
	struct thin_pool meta;
	struct dev *data;      /* borrowed */
	uint64_t data_blocks;  /* that the device has room for */
	bool pending;	       /* the text is one change ahead */
	pthread_mutex_t mutex; /* of `reasons` */
	VEC(char *) reasons;
};

struct thin_chart {
	struct map_chart chart;
	struct lvm_thin_pool *pool; /* borrowed */
	struct dev *origin;	    /* external origin, borrowed; or NULL */
	uint64_t mapping_root;
	uint64_t size_bytes;
};

void lvm_thin_pool_free(struct lvm_thin_pool *pool)
{
	for (size_t i = 0; i < pool->reasons.count; i++)
		free(pool->reasons.data[i]);
	vec_done(&pool->reasons);
	thin_pool_done(&pool->meta);
	pthread_mutex_destroy(&pool->mutex);
	free(pool);
}

/* --- reading --- */

/* Requests carry pointers to reasons, so they stay; equal ones are one. */
static const char *keep_reason(struct lvm_thin_pool *pool, const char *text)
{
	const char *kept = "the pool's metadata is damaged in many places, here too";
	char *copy;

	pthread_mutex_lock(&pool->mutex);
	for (size_t i = 0; i < pool->reasons.count; i++)
		if (!strcmp(pool->reasons.data[i], text)) {
			kept = pool->reasons.data[i];
			goto out;
		}
	copy = pool->reasons.count < REASONS_MAX ? strdup(text) : NULL;
	if (copy && vec_push(&pool->reasons, copy) < 0)
		free(copy);
	else if (copy)
		kept = copy;
out:
	pthread_mutex_unlock(&pool->mutex);
	return kept;
}

static int fail(struct lvm_thin_pool *pool, const struct blkalign_error *err, const char **ret_reason)
{
	char text[512];

	text_join(text, sizeof(text), "where it lies cannot be read: ", err->message, "");
	*ret_reason = keep_reason(pool, text);
	return -EIO;
}

static void unmapped(const struct thin_chart *c, uint64_t at, struct map_run *run)
{
	if (!c->origin || at >= c->origin->size_bytes)
		return;
	run->dev = c->origin;
	run->offset_bytes = at;
	run->note = "in the external origin";
	if (run->length_bytes > c->origin->size_bytes - at)
		run->length_bytes = c->origin->size_bytes - at;
}

static int thin_chart_find(struct map_chart *chart, uint64_t at, struct map_run *ret, const char **ret_reason)
{
	const struct thin_chart *c = (const struct thin_chart *)chart;
	uint64_t block_bytes = c->pool->meta.super.data_block_bytes, within = at % block_bytes;
	struct blkalign_error err;
	struct thin_run run;
	int r = thin_find(&c->pool->meta, c->mapping_root, at / block_bytes, &run, &err);

	if (!u64_mul(run.blocks, block_bytes, &ret->length_bytes) || ret->length_bytes > c->size_bytes)
		ret->length_bytes = c->size_bytes - at;
	else
		ret->length_bytes -= within;
	if (r < 0)
		return fail(c->pool, &err, ret_reason);
	if (!run.mapped) {
		unmapped(c, at, ret);
		return 0;
	}
	if (!range_inside(run.data_block, run.blocks, c->pool->data_blocks)) {
		*ret_reason = "the pool's metadata puts it behind the end of the pool's data";
		return -EIO;
	}
	ret->dev = c->pool->data;
	ret->offset_bytes = run.data_block * block_bytes + within;
	return 0;
}

static void thin_chart_free(struct map_chart *chart) { free(chart); }

static const struct map_chart_ops thin_chart_ops = { .find = thin_chart_find, .free = thin_chart_free };

/* --- pools --- */

static int percent(struct blkalign_node *node, enum blkalign_attr attr, const struct pdata_map *map)
{
	uint64_t hundredfold;

	if (!map->blocks || map->allocated > map->blocks || !u64_mul(map->allocated, 100, &hundredfold))
		return 0;
	return graph_set_u64(node, attr, hundredfold / map->blocks, BLKALIGN_ORIGIN_ONDISK);
}

static int describe_pool(struct blkalign_node *node, const struct lvm2_segment *s, const struct thin_superblock *sb)
{
	uint64_t used;
	int r = graph_set_bool(node, BLKALIGN_ATTR_POOL_NEEDS_CHECK, sb->needs_check, BLKALIGN_ORIGIN_ONDISK);

	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_POOL_BLOCK, sb->data_block_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_POOL_TRANSACTION, sb->transaction_id, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_POOL_TRANSACTION_TEXT, s->transaction_id, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && u64_mul(sb->data.allocated, sb->data_block_bytes, &used))
		r = graph_set_u64(node, BLKALIGN_ATTR_POOL_USED, used, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = percent(node, BLKALIGN_ATTR_POOL_USED_PERCENT, &sb->data);
	if (r >= 0)
		r = percent(node, BLKALIGN_ATTR_POOL_METADATA_PERCENT, &sb->metadata);
	return r;
}

/* The text is written first, then the pool is told: one change ahead is the moment between. */
static bool in_step(const struct lvm2_segment *s, const struct thin_superblock *sb, bool *ret_pending)
{
	*ret_pending = sb->transaction_id != UINT64_MAX && s->transaction_id == sb->transaction_id + 1;
	return *ret_pending || s->transaction_id == sb->transaction_id;
}

static int refuse_out_of_step(const struct lvm_volumes *v, const struct blkalign_node *node, const struct lvm2_segment *s,
			      const struct thin_superblock *sb)
{
	return graph_remark(stack_graph(v->stack),
			    "%s: its metadata is at transaction %" PRIu64 ", but the volume group's text at %" PRIu64
			    ": one of them is of another time, and which blocks are whose may be wrong: not read without force",
			    blkalign_node_name(node), sb->transaction_id, s->transaction_id);
}

static int remark_pool(const struct lvm_volumes *v, const struct blkalign_node *node, const struct lvm_thin_pool *pool)
{
	const struct thin_superblock *sb = &pool->meta.super;
	uint64_t counted = sb->data.allocated;
	struct blkalign_error err;
	int r = pdata_map_count(pool->meta.pdata, &sb->data, &counted, &err);

	if (r == -EBADMSG || r == -EPROTO)
		r = graph_remark(stack_graph(v->stack), "%s: the map of used blocks cannot be read: %s", blkalign_node_name(node),
				 err.message);
	if (r >= 0 && counted != sb->data.allocated)
		r = graph_remark(stack_graph(v->stack),
				 "%s: %" PRIu64 " blocks are in use by the pool's superblock, %" PRIu64 " by its map of used blocks",
				 blkalign_node_name(node), sb->data.allocated, counted);
	if (r >= 0 && sb->data.blocks > pool->data_blocks)
		r = graph_remark(stack_graph(v->stack),
				 "%s: the pool's metadata tells of %" PRIu64 " blocks, its data has room for %" PRIu64,
				 blkalign_node_name(node), sb->data.blocks, pool->data_blocks);
	return r == -ENOMEM ? r : 0;
}

/* 0 with *ret NULL when it cannot be used. */
static int read_pool(struct lvm_volumes *v, struct blkalign_node *node, const struct lvm2_segment *s, struct dev *meta, struct dev *data,
		     struct lvm_thin_pool **ret)
{
	struct lvm_thin_pool *pool = calloc(1, sizeof(*pool));
	struct blkalign_error err = { 0 };
	int r = pool ? -pthread_mutex_init(&pool->mutex, NULL) : -ENOMEM;

	*ret = NULL;
	if (r < 0) {
		free(pool);
		return r;
	}
	pool->data = data;
	if (vec_push(&v->state->thin_pools, pool) < 0) {
		lvm_thin_pool_free(pool);
		return -ENOMEM;
	}
	r = thin_pool_read(meta, &pool->meta, &err);
	if (r)
		return r == -ENOMEM ? r : lvm_cannot_read(v, node, r < 0 ? err.message : "its metadata volume holds no thin pool metadata");
	pool->data_blocks = data->size_bytes / pool->meta.super.data_block_bytes;
	r = describe_pool(node, s, &pool->meta.super);
	if (r >= 0)
		r = remark_pool(v, node, pool);
	if (r >= 0 && !in_step(s, &pool->meta.super, &pool->pending)) {
		r = refuse_out_of_step(v, node, s, &pool->meta.super);
		if (!lvm_is_forced(v))
			return r;
	}
	*ret = pool;
	return r;
}

int lvm_open_thin_pool(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	const struct lvm2_segment *s = &lv->segments[0];
	struct dev *data = lvm_role_dev(v, s, LVM2_ROLE_DATA, ret_whole), *meta = lvm_role_dev(v, s, LVM2_ROLE_METADATA, ret_whole);
	struct map_area area = { .dev = data };
	const struct map_segment segment = { .length_bytes = lv->size_bytes, .areas = &area, .area_count = 1 };
	struct lvm_thin_pool *pool;
	int r;

	if (v->state->thin_pools.count == POOLS_MAX)
		return lvm_cannot_read(v, node, "there are more thin pools than are read of one host");
	if (!data || !meta)
		return lvm_cannot_read(v, node, data ? "its metadata volume cannot be read" : "its data volume cannot be read");
	r = map_open_segments(blkalign_node_name(node), &segment, 1, ret_dev);
	if (r == 0)
		r = read_pool(v, node, s, meta, *ret_dev, &pool);
	if (r == 0)
		v->thin_pools[index] = pool;
	return r == -EINVAL ? lvm_cannot_read(v, node, "its data volume does not fit it") : r;
}

/* --- volumes --- */

static const struct lvm2_ref *pool_ref(const struct lvm2_segment *s) { return lvm_find_ref(s, LVM2_ROLE_POOL); }

static int open_mapped(const struct lvm_volumes *v, const struct blkalign_node *node, const struct thin_chart *chart, struct dev **ret_dev)
{
	struct thin_chart *c = malloc(sizeof(*c));

	(void)v;
	if (!c)
		return -ENOMEM;
	*c = *chart;
	return map_open_charted(blkalign_node_name(node), c->size_bytes, &c->chart, ret_dev);
}

/* A volume that the pool has not been told of yet is empty. */
static int open_empty(const struct blkalign_node *node, uint64_t size_bytes, struct dev **ret_dev)
{
	const struct map_segment zeros = { .length_bytes = size_bytes };

	return map_open_segments(blkalign_node_name(node), &zeros, 1, ret_dev);
}

int lvm_open_thin(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	const struct lvm2_segment *s = &lv->segments[0];
	const struct lvm2_ref *ref = pool_ref(s);
	struct thin_chart chart = { .chart.ops = &thin_chart_ops, .size_bytes = lv->size_bytes };
	struct thin_device device;
	struct blkalign_error err = { 0 };
	uint64_t mapped;
	int r;

	chart.pool = ref && !ref->on_pv ? v->thin_pools[ref->index] : NULL;
	if (!chart.pool)
		return lvm_cannot_read(v, node, "its pool cannot be read");
	*ret_whole = v->whole[ref->index];
	if (lvm_find_ref(s, LVM2_ROLE_ORIGIN)) {
		chart.origin = lvm_role_dev(v, s, LVM2_ROLE_ORIGIN, ret_whole);
		if (!chart.origin)
			return lvm_cannot_read(v, node, "its external origin cannot be read");
	}
	r = thin_find_device(&chart.pool->meta, s->device_id, &device, &err);
	if (r == BLKALIGN_ABSENT)
		return chart.pool->pending && !chart.origin ? open_empty(node, lv->size_bytes, ret_dev)
							    : lvm_cannot_read(v, node, "its pool's metadata does not know it");
	if (r < 0)
		return r == -ENOMEM ? r : lvm_cannot_read(v, node, err.message);
	chart.mapping_root = device.mapping_root;
	if (u64_mul(device.mapped_blocks, chart.pool->meta.super.data_block_bytes, &mapped))
		r = graph_set_u64(node, BLKALIGN_ATTR_THIN_MAPPED, mapped, BLKALIGN_ORIGIN_ONDISK);
	return r < 0 ? r : open_mapped(v, node, &chart, ret_dev);
}
