/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All requests of one batch become one batch below, whatever they are split into, so that the leaves see them at once. */
#include "map/known.h"
#include "map/map.h"

#define RUNS_MAX 65536U /* chunks that one question about contents looks at */

struct segment {
	uint64_t start_bytes;
	uint64_t end_bytes;
	uint64_t chunk_bytes;
	struct map_area *areas;
	size_t area_count;
};

/* In one piece of memory with its arrays: a volume group may have ten thousand. */
struct segments {
	struct dev dev;
	struct segment *segments;
	size_t count;
	struct map_area *areas; /* of all segments */
	size_t area_count;
};

/* Requests to devices below, and by place the one each is part of. */
struct batch {
	VEC(struct dev_request) requests;
	VEC(size_t) parents;
};

static const struct segment *find_segment(const struct segments *s, uint64_t offset_bytes)
{
	size_t low = 0, high = s->count - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (offset_bytes < s->segments[middle].end_bytes)
			high = middle;
		else
			low = middle + 1;
	}
	return &s->segments[low];
}

/* Where byte `at` of the segment lies, and how far the bytes behind it stay together. */
static const struct map_area *find_area(const struct segment *seg, uint64_t at, uint64_t *ret_offset, uint64_t *ret_run)
{
	const struct map_area *area = seg->areas;
	uint64_t chunk, within;

	*ret_run = seg->end_bytes - seg->start_bytes - at;
	*ret_offset = at;
	if (seg->area_count > 1) {
		chunk = at / seg->chunk_bytes;
		within = at % seg->chunk_bytes;
		area = &seg->areas[chunk % seg->area_count];
		*ret_offset = chunk / seg->area_count * seg->chunk_bytes + within;
		*ret_run = seg->chunk_bytes - within;
	}
	*ret_offset += area->offset_bytes;
	return area;
}

static int add_piece(struct batch *batch, const struct dev_request *q, size_t parent)
{
	if (vec_push(&batch->parents, parent) < 0)
		return -ENOMEM;
	return vec_push(&batch->requests, *q);
}

/* Once to each device below. */
static int split_flush(const struct segments *s, size_t parent, struct batch *batch)
{
	size_t first = batch->requests.count;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->area_count; i++) {
		struct dev_request flush = { .dev = s->areas[i].dev, .op = DEV_FLUSH };
		bool there = !flush.dev;

		for (size_t k = first; k < batch->requests.count; k++)
			there |= batch->requests.data[k].dev == flush.dev;
		if (!there)
			r = add_piece(batch, &flush, parent);
	}
	return r;
}

static int split(const struct segments *s, struct dev_request *q, size_t parent, struct batch *batch)
{
	uint64_t at = q->offset_bytes, end = at + q->length_bytes;

	while (at < end) {
		const struct segment *seg = find_segment(s, at);
		struct dev_request piece = { .op = q->op, .buffer = (uint8_t *)q->buffer + (at - q->offset_bytes) };
		const struct map_area *area;
		uint64_t run = seg->end_bytes - at;

		area = seg->area_count ? find_area(seg, at - seg->start_bytes, &piece.offset_bytes, &run) : NULL;
		if (run > end - at)
			run = end - at;
		piece.length_bytes = (size_t)run;
		if (!area) {
			memset(piece.buffer, 0, run);
		} else if (!area->dev) {
			q->reason = area->missing_because;
			return -EIO;
		} else {
			piece.dev = area->dev;
			if (add_piece(batch, &piece, parent) < 0)
				return -ENOMEM;
		}
		at += run;
	}
	return 0;
}

static void hand_back(const struct dev_request *piece, struct dev_request *q)
{
	if (!piece->result || q->result)
		return;
	q->result = piece->result;
	q->reason = piece->reason;
	if (piece->result == -ERANGE) {
		q->result = -EIO;
		q->reason = "the device below ends before this byte";
	}
}

static void segments_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	const struct segments *s = (const struct segments *)dev;
	struct batch batch = { 0 };

	for (size_t i = 0; i < count; i++)
		requests[i].result = requests[i].op == DEV_FLUSH ? split_flush(s, i, &batch) : split(s, &requests[i], i, &batch);
	dev_run(batch.requests.data, batch.requests.count, NULL);
	for (size_t i = 0; i < batch.requests.count; i++)
		hand_back(&batch.requests.data[i], &requests[batch.parents.data[i]]);
	vec_done(&batch.requests);
	vec_done(&batch.parents);
}

static void segments_close(struct dev *dev)
{
	struct segments *s = (struct segments *)dev;

	for (size_t i = 0; i < s->area_count; i++)
		free((void *)(uintptr_t)s->areas[i].missing_because);
}

static const struct dev *segments_part_of(const struct dev *dev, uint64_t *ret_offset_bytes)
{
	const struct segments *s = (const struct segments *)dev;

	if (s->count != 1 || s->area_count != 1)
		return NULL;
	*ret_offset_bytes = s->areas[0].offset_bytes;
	return s->areas[0].dev;
}

/* Chunks that lie on several areas in turn, as long as they are alike. */
static int striped_extent(const struct segment *seg, uint64_t at, uint64_t *length_bytes, bool *ret_zero)
{
	_cleanup_free_ struct known *known = calloc(seg->area_count, sizeof(*known));
	uint64_t done = 0, run, offset;

	if (!known)
		return -ENOMEM;
	for (unsigned runs = 0; done < *length_bytes && runs < RUNS_MAX; done += run, runs++) {
		const struct map_area *area = find_area(seg, at + done, &offset, &run);
		bool zero = area->dev && known_ask(&known[area - seg->areas], area->dev, offset, &run);

		if (done && zero != *ret_zero)
			break;
		*ret_zero = zero;
	}
	if (*length_bytes > done)
		*length_bytes = done;
	return 0;
}

static int segments_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	const struct segments *s = (const struct segments *)dev;
	const struct segment *seg = find_segment(s, offset_bytes);
	uint64_t at = offset_bytes - seg->start_bytes, run = seg->end_bytes - offset_bytes, offset;
	const struct map_area *area;

	if (*length_bytes > run)
		*length_bytes = run;
	if (seg->area_count > 1)
		return striped_extent(seg, at, length_bytes, ret_zero);
	area = seg->area_count ? find_area(seg, at, &offset, &run) : NULL;
	*ret_zero = !area;
	return area && area->dev ? dev_extent(area->dev, offset, length_bytes, ret_zero) : 0;
}

static const struct dev_ops segments_ops = {
	.kind = "segments",
	.run = segments_run,
	.part_of = segments_part_of,
	.extent = segments_extent,
	.close = segments_close,
};

static int add_areas(struct segments *s, const struct map_segment *from, struct segment *to)
{
	to->areas = &s->areas[s->area_count];
	to->area_count = from->area_count;
	for (size_t i = 0; i < from->area_count; i++) {
		struct map_area *a = &s->areas[s->area_count++];
		const char *reason = from->areas[i].missing_because;
		uint64_t end;

		*a = from->areas[i];
		a->missing_because = NULL;
		if (!u64_add(a->offset_bytes, from->length_bytes, &end))
			return -EINVAL;
		if (a->dev)
			continue;
		a->missing_because = strdup(reason ? reason : "a device below is missing");
		if (!a->missing_because)
			return -ENOMEM;
	}
	return 0;
}

static int add_segment(struct segments *s, const struct map_segment *from)
{
	struct segment *to = &s->segments[s->count++];
	uint64_t row;

	if (from->area_count > 1 && (!u64_mul(from->chunk_bytes, from->area_count, &row) || !row || from->length_bytes % row))
		return -EINVAL;
	to->start_bytes = s->dev.size_bytes;
	to->chunk_bytes = from->chunk_bytes;
	if (!u64_add(s->dev.size_bytes, from->length_bytes, &to->end_bytes))
		return -EINVAL;
	s->dev.size_bytes = to->end_bytes;
	return add_areas(s, from, to);
}

/* Where one area is missing, or reads as zeros only, writing would lose something. */
static bool is_writable(const struct segments *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->segments[i].area_count)
			return false;
	for (size_t i = 0; i < s->area_count; i++)
		if (!s->areas[i].dev || !s->areas[i].dev->writable)
			return false;
	return s->count > 0;
}

static uint32_t largest_block(const struct segments *s)
{
	uint32_t block_bytes = 1;

	for (size_t i = 0; i < s->area_count; i++)
		if (s->areas[i].dev && s->areas[i].dev->block_bytes > block_bytes)
			block_bytes = s->areas[i].dev->block_bytes;
	return block_bytes;
}

static struct dev *new_segments(const char *name, size_t count, size_t areas)
{
	size_t size = sizeof(struct segments) + count * sizeof(struct segment) + areas * sizeof(struct map_area);
	struct segments *s = (struct segments *)dev_new(size, &segments_ops, name, 0, 1);

	if (!s)
		return NULL;
	s->segments = (struct segment *)(s + 1);
	s->areas = (struct map_area *)(s->segments + count);
	return &s->dev;
}

int map_open_segments(const char *name, const struct map_segment *segments, size_t count, struct dev **ret_dev)
{
	_cleanup_dev_ struct dev *dev = NULL;
	struct segments *s;
	size_t areas = 0;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		areas += segments[i].area_count;
	dev = new_segments(name, count, areas);
	if (!dev)
		return -ENOMEM;
	s = (struct segments *)dev;
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = add_segment(s, &segments[i]);
	if (r < 0)
		return r;
	dev->writable = is_writable(s);
	dev->block_bytes = largest_block(s);
	*ret_dev = dev;
	dev = NULL;
	return 0;
}

bool map_segment_of(const struct dev *dev, size_t index, struct map_segment *ret_segment)
{
	const struct segments *s = (const struct segments *)dev;

	if (dev->ops != &segments_ops || index >= s->count)
		return false;
	*ret_segment = (struct map_segment){ .length_bytes = s->segments[index].end_bytes - s->segments[index].start_bytes,
					     .chunk_bytes = s->segments[index].chunk_bytes,
					     .areas = s->segments[index].areas,
					     .area_count = s->segments[index].area_count };
	return true;
}
