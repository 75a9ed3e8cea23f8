/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device whose bytes lie where somebody else says, who is asked for each read: maps that are too large to be held, or to be read in advance. */
#include "map/batch.h"
#include "map/map.h"

struct charted {
	struct dev dev;
	struct map_chart *chart;
};

static int find(const struct charted *c, uint64_t at, struct map_run *ret, const char **ret_reason)
{
	int r;

	*ret = (struct map_run){ 0 };
	r = c->chart->ops->find(c->chart, at, ret, ret_reason);
	if (r < 0)
		return r;
	/* Nobody is waited for without end, and nothing is read beyond its end. */
	if (!ret->length_bytes || (ret->dev && !range_inside(ret->offset_bytes, ret->length_bytes, ret->dev->size_bytes)))
		return -EIO;
	return 0;
}

/* The last piece grows where the bytes go on on the same device. */
static int add(struct map_batch *b, const struct map_run *run, uint8_t *buffer, size_t parent)
{
	struct dev_request piece = {
		.dev = run->dev, .op = DEV_READ, .offset_bytes = run->offset_bytes, .length_bytes = run->length_bytes, .buffer = buffer
	};
	struct dev_request *last = b->requests.count ? &b->requests.data[b->requests.count - 1] : NULL;

	if (!run->dev) {
		memset(buffer, 0, run->length_bytes);
		return 0;
	}
	if (last && last->dev == run->dev && last->offset_bytes + last->length_bytes == run->offset_bytes &&
	    (uint8_t *)last->buffer + last->length_bytes == buffer && b->parents.data[b->parents.count - 1] == parent) {
		last->length_bytes += run->length_bytes;
		return 0;
	}
	return map_batch_add(b, &piece, parent);
}

static int split(const struct charted *c, struct dev_request *q, size_t parent, struct map_batch *b)
{
	uint64_t at = q->offset_bytes, end = at + q->length_bytes;
	struct map_run run;
	int r = 0;

	for (; r == 0 && at < end; at += run.length_bytes) {
		r = find(c, at, &run, &q->reason);
		if (r < 0)
			return r;
		if (run.length_bytes > end - at)
			run.length_bytes = end - at;
		r = add(b, &run, (uint8_t *)q->buffer + (at - q->offset_bytes), parent);
	}
	return r;
}

/* Reads only: the choke point refuses the rest. */
static void charted_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	const struct charted *c = (const struct charted *)dev;
	struct map_batch b = { 0 };

	for (size_t i = 0; i < count; i++)
		requests[i].result = split(c, &requests[i], i, &b);
	map_batch_run(&b, requests);
}

/* What cannot be told is no zeros; reading it will say why. */
static int charted_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	struct map_run run;

	*ret_zero = false;
	if (find((const struct charted *)dev, offset_bytes, &run, &(const char *){ NULL }) < 0)
		return 0;
	if (*length_bytes > run.length_bytes)
		*length_bytes = run.length_bytes;
	*ret_zero = !run.dev;
	return run.dev ? dev_extent(run.dev, run.offset_bytes, length_bytes, ret_zero) : 0;
}

static void charted_close(struct dev *dev)
{
	struct charted *c = (struct charted *)dev;

	c->chart->ops->free(c->chart);
}

static const struct dev_ops charted_ops = { .kind = "charted", .run = charted_run, .extent = charted_extent, .close = charted_close };

int map_open_charted(const char *name, uint64_t size_bytes, struct map_chart *chart, struct dev **ret_dev)
{
	struct dev *dev = dev_new(sizeof(struct charted), &charted_ops, name, size_bytes, 1);

	if (!dev) {
		chart->ops->free(chart);
		return -ENOMEM;
	}
	((struct charted *)dev)->chart = chart;
	*ret_dev = dev;
	return 0;
}

int map_charted_run(const struct dev *dev, uint64_t at, struct map_run *ret_run, const char **ret_reason)
{
	int r;

	if (dev->ops != &charted_ops)
		return BLKALIGN_NOT_THIS;
	r = find((const struct charted *)dev, at, ret_run, ret_reason);
	if (!ret_run->length_bytes)
		ret_run->length_bytes = 1;
	if (ret_run->length_bytes > dev->size_bytes - at)
		ret_run->length_bytes = dev->size_bytes - at;
	return r;
}
