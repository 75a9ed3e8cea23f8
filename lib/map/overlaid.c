/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of one device that stand in for those of another: a snapshot's exceptions, a cache. Lists may be long, so that they are small and searched. */
#include "map/map.h"

struct overlay {
	struct map_chart chart;
	struct dev *below, *over;
	uint64_t block_bytes;
	struct block_run *runs;
	size_t count;
	const char *note;
};

/* The first run that ends behind `block`. */
static size_t find_run(const struct overlay *o, uint64_t block)
{
	size_t low = 0, high = o->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->runs[middle].block + o->runs[middle].more >= block)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The run, from byte `at` on. */
static void over_run(const struct overlay *o, const struct block_run *run, uint64_t at, struct map_run *ret)
{
	uint64_t within = at - run->block * o->block_bytes;

	*ret = (struct map_run){ o->over, block_run_over(run) * o->block_bytes + within, (run->more + 1) * o->block_bytes - within,
				 o->note };
}

static int overlay_find(struct map_chart *chart, uint64_t at, struct map_run *ret, const char **ret_reason)
{
	const struct overlay *o = (const struct overlay *)chart;
	uint64_t block = o->count ? at / o->block_bytes : 0, end = UINT64_MAX;
	size_t i = find_run(o, block);

	(void)ret_reason;
	if (i < o->count && o->runs[i].block <= block) {
		over_run(o, &o->runs[i], at, ret);
		return 0;
	}
	if (i < o->count)
		end = o->runs[i].block * o->block_bytes;
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

	free(o->runs);
	free(o);
}

static const struct map_chart_ops overlay_ops = { .find = overlay_find, .free = overlay_free };

static bool runs_fit(const struct overlay *o)
{
	for (size_t i = 0; i < o->count; i++) {
		const struct block_run *run = &o->runs[i];
		uint64_t last, end;

		if (i && run->block <= run[-1].block + run[-1].more)
			return false;
		if (!u64_add(run->block, run->more + 1, &last) || !u64_mul(last, o->block_bytes, &end) ||
		    !u64_mul(block_run_over(run) + run->more + 1, o->block_bytes, &end) || end > o->over->size_bytes)
			return false;
	}
	return true;
}

int map_open_overlaid(const char *name, uint64_t size_bytes, struct dev *below, struct dev *over, uint64_t block_bytes,
		      struct block_run *runs, size_t count, const char *note, struct dev **ret_dev)
{
	struct overlay *o = calloc(1, sizeof(*o));

	if (!o) {
		free(runs);
		return -ENOMEM;
	}
	*o = (struct overlay){ { &overlay_ops }, below, over, block_bytes, runs, count, note };
	if (!runs_fit(o)) {
		overlay_free(&o->chart);
		return -EINVAL;
	}
	return map_open_charted(name, size_bytes, &o->chart, ret_dev);
}
