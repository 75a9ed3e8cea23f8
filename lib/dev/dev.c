/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choke point. Range, state and alignment are decided here once, so that no implementation does it again.
 */
#include <inttypes.h>
#include <stdio.h>

#include "dev/dev_priv.h"

struct dev *dev_new(size_t size, const struct dev_ops *ops, const char *name, uint64_t size_bytes, uint32_t block_bytes)
{
	size_t room = strlen(name) + 1;
	struct dev *dev = calloc(1, size + room);

	if (!dev)
		return NULL;
	dev->name = memcpy((char *)dev + size, name, room);
	dev->ops = ops;
	dev->size_bytes = size_bytes;
	dev->block_bytes = block_bytes;
	dev->leaf_fd = -1;
	return dev;
}

void dev_close(struct dev *dev)
{
	if (!dev)
		return;
	if (dev->ops->close)
		dev->ops->close(dev);
	free(dev);
}

static int refuse(struct dev_request *q)
{
	if (q->op != DEV_READ && !q->dev->writable)
		return -EROFS;
	if (!range_inside(q->offset_bytes, q->length_bytes, q->dev->size_bytes))
		return -ERANGE;
	return flushes_refuse(q);
}

static bool aligned(const struct dev_request *q)
{
	return q->offset_bytes % q->dev->block_bytes == 0 && q->length_bytes % q->dev->block_bytes == 0;
}

/* Whole blocks around the range are read into a bounce buffer. Writes must come aligned: read-modify-write is never silent. */
static void run_unaligned(struct dev_request *q)
{
	uint64_t first = round_down_u64(q->offset_bytes, q->dev->block_bytes);
	uint64_t end = round_up_u64(q->offset_bytes + q->length_bytes, q->dev->block_bytes);
	_cleanup_free_ uint8_t *bounce = NULL;
	struct dev_request whole = *q;

	if (q->op != DEV_READ) {
		q->result = -EINVAL;
		return;
	}
	if (end > q->dev->size_bytes)
		end = q->dev->size_bytes;
	bounce = aligned_alloc(4096, round_up_u64(end - first, 4096));
	if (!bounce) {
		q->result = -ENOMEM;
		return;
	}
	whole.offset_bytes = first;
	whole.length_bytes = end - first;
	whole.buffer = bounce;
	q->dev->ops->run(q->dev, &whole, 1);
	q->result = whole.result;
	q->reason = whole.reason;
	if (!whole.result)
		memcpy(q->buffer, bounce + (q->offset_bytes - first), q->length_bytes);
}

/* Runs of requests on one device go to it together; runs on leaves, also different ones, to one io_uring together. */
static void dispatch_runs(struct dev_request *requests, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		struct dev *dev = requests[i].dev;
		bool leaf = dev->leaf_fd >= 0;

		end = i + 1;
		if (requests[i].result)
			continue;
		if (!aligned(&requests[i])) {
			run_unaligned(&requests[i]);
			continue;
		}
		while (end < count && !requests[end].result && aligned(&requests[end]) &&
		       (leaf ? requests[end].dev->leaf_fd >= 0 : requests[end].dev == dev))
			end++;
		if (leaf)
			uring_run(&requests[i], end - i);
		else
			dev->ops->run(dev, &requests[i], end - i);
	}
}

static void dispatch(struct dev_request *requests, size_t count)
{
	bool flushes = flushes_any(requests, count);

	if (flushes)
		flushes_begin(requests, count);
	dispatch_runs(requests, count);
	if (flushes)
		flushes_end(requests, count);
}

/*
 * A request on a part of a device goes to that device at once, so that a batch on partitions of several disks is one batch on the disks. Whatever the device
 * below would refuse stays, for its part to say it in its own words.
 */
static void descend(struct dev_request *q)
{
	while (!q->result && q->dev->leaf_fd < 0 && q->dev->ops->part_of && aligned(q)) {
		struct dev_request below = *q;
		uint64_t step = 0;

		below.dev = (struct dev *)(uintptr_t)q->dev->ops->part_of(q->dev, &step);
		if (!below.dev || !u64_add(q->offset_bytes, step, &below.offset_bytes) || refuse(&below))
			return;
		q->dev = below.dev;
		q->offset_bytes = below.offset_bytes;
	}
}

static bool any_part(const struct dev_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (requests[i].dev->leaf_fd < 0 && requests[i].dev->ops->part_of)
			return true;
	return false;
}

/* What was asked, while the requests are lent to other devices. */
struct asked {
	struct dev *dev;
	uint64_t offset_bytes;
};

static void dispatch_below(struct dev_request *requests, size_t count, struct asked *asked)
{
	for (size_t i = 0; i < count; i++) {
		asked[i] = (struct asked){ requests[i].dev, requests[i].offset_bytes };
		descend(&requests[i]);
	}
	dispatch(requests, count);
	for (size_t i = 0; i < count; i++) {
		requests[i].dev = asked[i].dev;
		requests[i].offset_bytes = asked[i].offset_bytes;
	}
}

/* Without memory the parts hand their requests on themselves. */
static void dispatch_parts(struct dev_request *requests, size_t count)
{
	struct asked few[32], *asked = count <= ARRAY_SIZE(few) ? few : malloc(count * sizeof(*asked));

	if (asked)
		dispatch_below(requests, count, asked);
	else
		dispatch(requests, count);
	if (asked != few)
		free(asked);
}

static const char *const op_names[] = { [DEV_READ] = "read", [DEV_WRITE] = "write", [DEV_FLUSH] = "flush" };

int dev_describe(const struct dev_request *q, struct blkalign_error *reterr)
{
	if (q->result == -ERANGE)
		return blkalign_error_set(reterr, q->result, q->dev->name, q->offset_bytes,
					  "%s of %zu bytes at byte %" PRIu64 " goes beyond the end of the device at byte %" PRIu64,
					  op_names[q->op], q->length_bytes, q->offset_bytes, q->dev->size_bytes);
	return blkalign_error_set(reterr, q->result, q->dev->name, q->offset_bytes, "%s of %zu bytes at byte %" PRIu64 " failed: %s",
				  op_names[q->op], q->length_bytes, q->offset_bytes, q->reason ? q->reason : strerror(-q->result));
}

int dev_run(struct dev_request *requests, size_t count, struct blkalign_error *reterr)
{
	for (size_t i = 0; i < count; i++) {
		requests[i].reason = NULL;
		requests[i].result = refuse(&requests[i]);
	}
	if (any_part(requests, count))
		dispatch_parts(requests, count);
	else
		dispatch(requests, count);
	for (size_t i = 0; i < count; i++)
		if (requests[i].result)
			return dev_describe(&requests[i], reterr);
	return 0;
}

int dev_read(struct dev *dev, uint64_t offset_bytes, void *buffer, size_t length_bytes, struct blkalign_error *reterr)
{
	struct dev_request q = { .dev = dev, .op = DEV_READ, .offset_bytes = offset_bytes, .length_bytes = length_bytes, .buffer = buffer };

	return dev_run(&q, 1, reterr);
}

int dev_write(struct dev *dev, uint64_t offset_bytes, const void *buffer, size_t length_bytes, struct blkalign_error *reterr)
{
	struct dev_request q = { .dev = dev, .op = DEV_WRITE, .offset_bytes = offset_bytes, .length_bytes = length_bytes };

	memcpy(&q.buffer, &buffer, sizeof(q.buffer)); /* a write only reads it */
	return dev_run(&q, 1, reterr);
}

int dev_flush(struct dev *dev, struct blkalign_error *reterr)
{
	struct dev_request q = { .dev = dev, .op = DEV_FLUSH };

	return dev_run(&q, 1, reterr);
}
