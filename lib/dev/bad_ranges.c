/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dev/dev.h"

struct bad_ranges {
	struct dev dev;
	struct dev *below;
	struct byte_range *ranges; /* ascending, apart from each other */
	size_t count;
};

static size_t first_behind(const struct bad_ranges *b, uint64_t offset_bytes) { return ranges_behind(b->ranges, b->count, offset_bytes); }

static bool touches(const struct bad_ranges *b, const struct dev_request *q)
{
	size_t i = q->op == DEV_READ ? first_behind(b, q->offset_bytes) : b->count;

	return i < b->count && b->ranges[i].offset_bytes < q->offset_bytes + q->length_bytes;
}

/* Runs of good requests stay together. */
static void bad_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct bad_ranges *b = (struct bad_ranges *)dev;

	for (size_t i = 0, end; i < count; i = end) {
		end = i + 1;
		if (touches(b, &requests[i])) {
			requests[i].result = -EIO;
			requests[i].reason = "it is not among what its map file calls finished";
			continue;
		}
		while (end < count && !touches(b, &requests[end]))
			end++;
		for (size_t k = i; k < end; k++)
			requests[k].dev = b->below;
		dev_run(requests + i, end - i, NULL);
		for (size_t k = i; k < end; k++)
			requests[k].dev = dev;
	}
}

/* What cannot be read is no hole, whatever the file below says. */
static int bad_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	const struct bad_ranges *b = (const struct bad_ranges *)dev;
	size_t i = first_behind(b, offset_bytes);
	const struct byte_range *next = i < b->count ? &b->ranges[i] : NULL;
	uint64_t end = next ? (next->offset_bytes <= offset_bytes ? range_end(next) : next->offset_bytes) : UINT64_MAX;

	if (*length_bytes > end - offset_bytes)
		*length_bytes = end - offset_bytes;
	*ret_zero = false;
	return next && next->offset_bytes <= offset_bytes ? 0 : dev_extent(b->below, offset_bytes, length_bytes, ret_zero);
}

static void bad_close(struct dev *dev) { free(((struct bad_ranges *)dev)->ranges); }

static const struct dev_ops bad_ops = { .kind = "bad ranges", .run = bad_run, .extent = bad_extent, .close = bad_close };

static bool ascending(const struct byte_range *ranges, size_t count)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		if (ranges[i].offset_bytes < end || !ranges[i].length_bytes ||
		    !u64_add(ranges[i].offset_bytes, ranges[i].length_bytes, &end))
			return false;
	}
	return true;
}

int dev_open_bad_ranges(struct dev *below, const struct byte_range *bad, size_t count, struct dev **ret_dev)
{
	struct bad_ranges *b;

	if (!ascending(bad, count))
		return -EINVAL;
	b = (struct bad_ranges *)dev_new(sizeof(*b), &bad_ops, below->name, below->size_bytes, below->block_bytes);
	if (b)
		b->ranges = calloc(count + 1, sizeof(*b->ranges));
	if (!b || !b->ranges) {
		dev_close(b ? &b->dev : NULL);
		return -ENOMEM;
	}
	if (count)
		memcpy(b->ranges, bad, count * sizeof(*bad));
	b->count = count;
	b->below = below;
	b->dev.writable = below->writable;
	*ret_dev = &b->dev;
	return 0;
}
