/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of one device that stand in for those of another: a snapshot's exceptions, a cache. Lists may be long, so that they are small and searched. */
#include "map/map.h"

struct overlay {
	struct map_chart chart;
	struct dev *below, *over;
	uint64_t block_bytes;
	struct map_block *blocks;
	size_t count;
	const char *note;
};

/* The first listed block that is `block` or higher. */
static size_t find_block(const struct overlay *o, uint64_t block)
{
	size_t low = 0, high = o->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->blocks[middle].block >= block)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Neighbours that are neighbours on the other device too. */
static void over_run(const struct overlay *o, size_t i, uint64_t within, struct map_run *ret)
{
	const struct map_block *first = &o->blocks[i];
	size_t n = 1;

	while (i + n < o->count && first[n].block == first->block + n && first[n].over_block == first->over_block + n)
		n++;
	*ret = (struct map_run){ o->over, first->over_block * o->block_bytes + within, n * o->block_bytes - within, o->note };
}

static int overlay_find(struct map_chart *chart, uint64_t at, struct map_run *ret, const char **ret_reason)
{
	const struct overlay *o = (const struct overlay *)chart;
	uint64_t block = o->count ? at / o->block_bytes : 0, end = UINT64_MAX;
	size_t i = find_block(o, block);

	(void)ret_reason;
	if (i < o->count && o->blocks[i].block == block) {
		over_run(o, i, at % o->block_bytes, ret);
		return 0;
	}
	if (i < o->count)
		end = o->blocks[i].block * o->block_bytes;
	if (at >= o->below->size_bytes) {
		*ret = (struct map_run){ .length_bytes = end - at };
		return 0;
	}
	if (end > o->below->size_bytes)
		end = o->below->size_bytes;
	*ret = (struct map_run){ .dev = o->below, .offset_bytes = at, .length_bytes = end - at };
	return 0;
}

static void overlay_free(struct map_chart *chart)
{
	struct overlay *o = (struct overlay *)chart;

	free(o->blocks);
	free(o);
}

static const struct map_chart_ops overlay_ops = { .find = overlay_find, .free = overlay_free };

static bool blocks_fit(const struct overlay *o)
{
	for (size_t i = 0; i < o->count; i++) {
		const struct map_block *b = &o->blocks[i];
		uint64_t at, end;

		if (i && b->block <= b[-1].block)
			return false;
		if (!u64_mul(b->block, o->block_bytes, &at) || !u64_mul(b->over_block, o->block_bytes, &at) ||
		    !u64_add(at, o->block_bytes, &end) || end > o->over->size_bytes)
			return false;
	}
	return true;
}

int map_open_overlaid(const char *name, uint64_t size_bytes, struct dev *below, struct dev *over, uint64_t block_bytes,
		      struct map_block *blocks, size_t count, const char *note, struct dev **ret_dev)
{
	struct overlay *o = calloc(1, sizeof(*o));

	if (!o) {
		free(blocks);
		return -ENOMEM;
	}
	*o = (struct overlay){ { &overlay_ops }, below, over, block_bytes, blocks, count, note };
	if (!blocks_fit(o)) {
		overlay_free(&o->chart);
		return -EINVAL;
	}
	return map_open_charted(name, size_bytes, &o->chart, ret_dev);
}
