/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dev/dev.h"

struct slice {
	struct dev dev;
	struct dev *below;
	uint64_t offset_bytes;
};

static void slice_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct slice *s = (struct slice *)dev;

	/* The requests are lent to the device below: shifted there, and shifted back. */
	for (size_t i = 0; i < count; i++) {
		requests[i].dev = s->below;
		requests[i].offset_bytes += s->offset_bytes;
	}
	dev_run(requests, count, NULL);
	for (size_t i = 0; i < count; i++) {
		requests[i].dev = dev;
		requests[i].offset_bytes -= s->offset_bytes;
	}
}

static const struct dev *slice_part_of(const struct dev *dev, uint64_t *ret_offset_bytes)
{
	const struct slice *s = (const struct slice *)dev;

	*ret_offset_bytes = s->offset_bytes;
	return s->below;
}

static int slice_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	const struct slice *s = (const struct slice *)dev;

	return dev_extent(s->below, s->offset_bytes + offset_bytes, length_bytes, ret_zero);
}

static const struct dev_ops slice_ops = { .kind = "slice", .run = slice_run, .part_of = slice_part_of, .extent = slice_extent };

int dev_open_slice(const char *name, struct dev *below, uint64_t offset_bytes, uint64_t size_bytes, struct dev **ret_dev)
{
	struct slice *s;

	if (!range_inside(offset_bytes, size_bytes, below->size_bytes))
		return -ERANGE;
	s = (struct slice *)dev_new(sizeof(*s), &slice_ops, name, size_bytes, 1);
	if (!s)
		return -ENOMEM;
	s->below = below;
	s->offset_bytes = offset_bytes;
	s->dev.writable = below->writable;
	if (offset_bytes % below->block_bytes == 0)
		s->dev.block_bytes = below->block_bytes;
	*ret_dev = &s->dev;
	return 0;
}
