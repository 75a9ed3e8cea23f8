/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cutting requests into pieces that fit memory, and pieces into groups. */
#include "map/md_priv.h"

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

struct md_span md_span(const struct md *md, const struct dev_request *q, uint64_t stripe)
{
	uint64_t chunk = md->geometry.chunk_bytes, stripe_bytes = chunk * md->data_members;
	struct md_span span = { .start_bytes = stripe * stripe_bytes };
	uint64_t begin = q->offset_bytes > span.start_bytes ? q->offset_bytes - span.start_bytes : 0;
	uint64_t end = min_u64(q->offset_bytes + q->length_bytes - span.start_bytes, stripe_bytes);

	span.first = (uint32_t)(begin / chunk);
	span.from = begin % chunk;
	span.last = (uint32_t)((end - 1) / chunk);
	span.to = (end - 1) % chunk + 1;
	return span;
}

static bool is_full(const struct md *md, const struct md_span *span)
{
	return span->first == 0 && span->from == 0 && span->last == md->data_members - 1 && span->to == md->geometry.chunk_bytes;
}

/* The rows that are touched are one run, or two when the request is the end of one chunk and the beginning of the next. */
static uint64_t rows_end(const struct md *md, const struct md_span *span, uint64_t *row)
{
	uint64_t chunk = md->geometry.chunk_bytes;

	if (span->first == span->last) {
		if (*row < span->from)
			*row = span->from;
		return span->to;
	}
	if (span->last - span->first > 1 || span->to >= span->from)
		return chunk;
	if (*row < span->to)
		return span->to;
	if (*row < span->from)
		*row = span->from;
	return chunk;
}

static size_t scratch_for(const struct md *md, uint64_t rows, bool full, enum dev_op op)
{
	uint64_t lanes = full && op == DEV_WRITE ? 2 : (uint64_t)md->geometry.members + 1;

	return (size_t)((rows + MD_ALIGN) * lanes + 4 * ((uint64_t)md->geometry.members + 2) * sizeof(void *));
}

static bool next_rows(struct md *md, struct md_cursor *c, struct dev_request *q, struct md_piece *ret)
{
	uint64_t chunk = md->geometry.chunk_bytes, stripe_bytes = chunk * md->data_members;
	uint64_t stripe = q->offset_bytes / stripe_bytes + c->done_bytes / stripe_bytes, row = c->row, end, slice;
	struct md_span span;
	bool full;

	if (stripe * stripe_bytes >= q->offset_bytes + q->length_bytes)
		return false;
	span = md_span(md, q, stripe);
	full = is_full(md, &span);
	end = rows_end(md, &span, &row);
	slice = full && c->op == DEV_WRITE ? MD_SCRATCH_BYTES / 2 : md->slice_bytes;
	if (row < end && end - row > slice)
		end = round_down_u64(row + slice, MD_UNIT_BYTES);
	c->row = end;
	if (end >= chunk || (span.first == span.last && end >= span.to)) {
		c->row = 0;
		c->done_bytes += stripe_bytes;
	}
	*ret = (struct md_piece){ .request = q, .range = { stripe * chunk + row, end - row }, .full = full };
	ret->scratch_bytes = scratch_for(md, end - row, full, c->op);
	return true;
}

static bool next_bytes(struct md_cursor *c, struct dev_request *q, struct md_piece *ret)
{
	uint64_t length = min_u64(q->length_bytes - c->done_bytes, MD_PIECE_BYTES);

	if (!length)
		return false;
	*ret = (struct md_piece){ .request = q, .range = { q->offset_bytes + c->done_bytes, length } };
	c->done_bytes += length;
	return true;
}

bool md_next_piece(struct md *md, struct md_cursor *c, struct md_piece *ret)
{
	for (; c->index < c->count; c->index++, c->done_bytes = c->row = 0) {
		struct dev_request *q = &c->requests[c->index];

		if (q->op != c->op || q->result || !q->length_bytes)
			continue;
		if (md_has_parity(md) ? next_rows(md, c, q, ret) : next_bytes(c, q, ret))
			return true;
	}
	return false;
}

struct md_piece md_piece_at(const struct md *md, struct dev_request *q, uint64_t array_bytes, uint64_t length)
{
	struct md_piece piece = { .request = q, .range = { array_bytes, length } };

	if (md_has_parity(md)) {
		uint64_t chunk = md->geometry.chunk_bytes;

		piece.range.offset_bytes = array_bytes / (chunk * md->data_members) * chunk + array_bytes % chunk;
		piece.scratch_bytes = scratch_for(md, length, false, DEV_READ);
	}
	return piece;
}

/* Two writes to one place must not be in one group: each would compute parity without the other. */
static bool overlaps(const struct md_batch *b, const struct md_piece *piece)
{
	const struct byte_range *range = &piece->range;

	if (piece->request->op != DEV_WRITE || range->offset_bytes >= b->group_end)
		return false;
	for (size_t i = b->pieces.count; i-- > 0;) {
		const struct byte_range *other = &b->pieces.data[i].range;

		if (range->offset_bytes < other->offset_bytes + other->length_bytes &&
		    other->offset_bytes < range->offset_bytes + range->length_bytes)
			return true;
	}
	return false;
}

/* What the guard takes in one log of one member: see map_md_guard_ops. */
static bool log_is_full(const struct md_batch *b, const struct md_piece *piece)
{
	uint64_t rows = piece->full ? 0 : piece->range.length_bytes;

	if (!b->md->has_log || piece->request->op != DEV_WRITE)
		return false;
	return b->pieces.count >= MAP_MD_LOG_PARTIALS / 3 || b->partial_bytes + rows > MAP_MD_LOG_BYTES;
}

int md_add_piece(struct md_batch *b, const struct md_piece *piece, void (*run)(struct md_batch *b))
{
	uint64_t end = piece->range.offset_bytes + piece->range.length_bytes;
	uint64_t bytes = piece->range.length_bytes * (md_has_parity(b->md) ? b->md->data_members : 1);
	bool full = b->pieces.count >= MD_PIECES_MAX || b->scratch_bytes + piece->scratch_bytes > MD_SCRATCH_BYTES ||
		    b->group_bytes + bytes > MD_GROUP_BYTES || log_is_full(b, piece);

	if (b->pieces.count && (full || overlaps(b, piece))) {
		run(b);
		md_batch_next(b);
	}
	b->group_bytes += bytes;
	b->scratch_bytes += piece->scratch_bytes;
	b->partial_bytes += piece->full ? 0 : piece->range.length_bytes;
	if (b->group_end < end)
		b->group_end = end;
	return vec_push(&b->pieces, *piece);
}
