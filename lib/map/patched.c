/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device with some of its bytes replaced: what a log would write to it, without writing. */
#include "map/batch.h"
#include "map/map.h"

struct patched {
	struct dev dev;
	struct dev *below;
	struct map_patch *patches;
	size_t count;
};

/* The first patch that ends behind `at`. */
static size_t find(const struct patched *p, uint64_t at)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->patches[middle].range.offset_bytes + p->patches[middle].range.length_bytes > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int add_read(struct map_batch *b, struct dev *dev, uint64_t offset, void *buffer, uint64_t length, size_t parent)
{
	struct dev_request q = { .dev = dev, .op = DEV_READ, .offset_bytes = offset, .length_bytes = length, .buffer = buffer };

	return map_batch_add(b, &q, parent);
}

static int split(const struct patched *p, const struct dev_request *q, size_t parent, struct map_batch *b)
{
	uint64_t at = q->offset_bytes, end = at + q->length_bytes;
	uint8_t *buffer = q->buffer;
	int r = 0;

	for (size_t i = find(p, at); r == 0 && at < end; i++) {
		/* Behind the last patch there is one that nothing reaches. */
		const struct map_patch *patch = &p->patches[i];
		uint64_t begin = patch->range.offset_bytes, stop = begin < end ? begin : end, run;

		if (at < stop) {
			run = stop - at;
			r = add_read(b, p->below, at, buffer, run, parent);
			at += run;
			buffer += run;
		}
		if (r < 0 || at >= end)
			break;
		stop = begin + patch->range.length_bytes;
		run = (stop < end ? stop : end) - at;
		if (patch->dev)
			r = add_read(b, patch->dev, patch->dev_offset_bytes + (at - begin), buffer, run, parent);
		else
			memcpy(buffer, patch->data + (at - begin), run);
		at += run;
		buffer += run;
	}
	return r;
}

/* Reads only: the choke point refuses the rest. */
static void patched_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	const struct patched *p = (const struct patched *)dev;
	struct map_batch b = { 0 };

	for (size_t i = 0; i < count; i++)
		requests[i].result = split(p, &requests[i], i, &b);
	map_batch_run(&b, requests);
}

static void patched_close(struct dev *dev)
{
	struct patched *p = (struct patched *)dev;

	for (size_t i = 0; i < p->count; i++)
		free((void *)(uintptr_t)p->patches[i].data);
	free(p->patches);
}

static const struct dev_ops patched_ops = { .kind = "patched", .run = patched_run, .close = patched_close };

static int copy_patch(const struct patched *p, const struct map_patch *from, struct map_patch *to)
{
	uint64_t end;
	uint8_t *data;

	if (!u64_add(from->range.offset_bytes, from->range.length_bytes, &end) || end > p->dev.size_bytes || !from->range.length_bytes ||
	    !from->dev == !from->data)
		return -EINVAL;
	if (p->count &&
	    p->patches[p->count - 1].range.offset_bytes + p->patches[p->count - 1].range.length_bytes > from->range.offset_bytes)
		return -EINVAL;
	*to = *from;
	if (from->dev)
		return range_inside(from->dev_offset_bytes, from->range.length_bytes, from->dev->size_bytes) ? 0 : -EINVAL;
	data = malloc(from->range.length_bytes);
	if (!data)
		return -ENOMEM;
	memcpy(data, from->data, from->range.length_bytes);
	to->data = data;
	return 0;
}

int map_open_patched(struct dev *below, const struct map_patch *patches, size_t count, struct dev **ret_dev)
{
	_cleanup_dev_ struct dev *dev = dev_new(sizeof(struct patched), &patched_ops, below->name, below->size_bytes, 1);
	struct patched *p = (struct patched *)dev;

	if (!p)
		return -ENOMEM;
	p->below = below;
	p->patches = calloc(count + 1, sizeof(*p->patches));
	if (!p->patches)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int r = copy_patch(p, &patches[i], &p->patches[p->count]);

		if (r < 0)
			return r;
		p->count++;
	}
	p->patches[count].range.offset_bytes = UINT64_MAX;
	*ret_dev = dev;
	dev = NULL;
	return 0;
}

struct dev *map_patched_below(const struct dev *dev, uint64_t at, uint64_t *run_bytes, bool *ret_patched)
{
	const struct patched *p = (const struct patched *)dev;
	const struct byte_range *range;
	uint64_t edge;

	if (dev->ops != &patched_ops)
		return NULL;
	range = &p->patches[find(p, at)].range;
	edge = range->offset_bytes;
	*ret_patched = edge <= at;
	edge += *ret_patched ? range->length_bytes : 0;
	if (*run_bytes > edge - at)
		*run_bytes = edge - at;
	return p->below;
}
