/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two maps of the same members: one below the place where the reshape was stopped, the other from there on. */
#include "map/batch.h"
#include "map/map.h"

struct reshaping {
	struct dev dev;
	struct dev *low, *high;
	uint64_t position_bytes;
};

static int add_part(struct map_batch *b, const struct dev_request *q, size_t parent, struct dev *below, uint64_t begin, uint64_t end)
{
	struct dev_request part = *q;

	if (begin >= end)
		return 0;
	part.dev = below;
	part.offset_bytes = begin;
	part.length_bytes = (size_t)(end - begin);
	part.buffer = (uint8_t *)q->buffer + (begin - q->offset_bytes);
	return map_batch_add(b, &part, parent);
}

static int split(const struct reshaping *s, const struct dev_request *q, size_t parent, struct map_batch *b)
{
	uint64_t end = q->offset_bytes + q->length_bytes, middle = s->position_bytes;
	int r;

	if (middle < q->offset_bytes)
		middle = q->offset_bytes;
	if (middle > end)
		middle = end;
	r = add_part(b, q, parent, s->low, q->offset_bytes, middle);
	return r < 0 ? r : add_part(b, q, parent, s->high, middle, end);
}

static void reshaping_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	const struct reshaping *s = (const struct reshaping *)dev;
	struct map_batch b = { 0 };

	for (size_t i = 0; i < count; i++)
		requests[i].result = split(s, &requests[i], i, &b);
	map_batch_run(&b, requests);
}

static const struct dev_ops reshaping_ops = { .kind = "reshaping", .run = reshaping_run };

int map_open_reshaping(const char *name, struct dev *low, struct dev *high, uint64_t position_bytes, uint64_t size_bytes,
		       struct dev **ret_dev)
{
	struct reshaping *s;

	if ((position_bytes && low->size_bytes < (position_bytes < size_bytes ? position_bytes : size_bytes)) ||
	    (position_bytes < size_bytes && high->size_bytes < size_bytes))
		return -ERANGE;
	s = (struct reshaping *)dev_new(sizeof(*s), &reshaping_ops, name, size_bytes, 1);
	if (!s)
		return -ENOMEM;
	s->low = low;
	s->high = high;
	s->position_bytes = position_bytes;
	*ret_dev = &s->dev;
	return 0;
}

struct dev *map_reshaping_half(const struct dev *dev, uint64_t at, uint64_t *run_bytes)
{
	const struct reshaping *s = (const struct reshaping *)dev;

	if (dev->ops != &reshaping_ops)
		return NULL;
	if (at >= s->position_bytes)
		return s->high;
	if (*run_bytes > s->position_bytes - at)
		*run_bytes = s->position_bytes - at;
	return s->low;
}
