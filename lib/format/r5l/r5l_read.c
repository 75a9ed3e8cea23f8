/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk along the ring (drivers/md/raid5-cache.c, r5c_recovery_flush_log()). */
#include <inttypes.h>

#include "format/r5l/r5l.h"

static int begin(const struct r5l_log *log, struct r5l_cursor *c, struct blkalign_error *reterr)
{
	if (log->ring_bytes < 2 * (uint64_t)R5L_BLOCK_BYTES || log->ring_bytes % R5L_BLOCK_BYTES || log->tail_bytes % R5L_BLOCK_BYTES ||
	    log->tail_bytes >= log->ring_bytes || log->offset_bytes > UINT64_MAX - log->ring_bytes)
		return blkalign_error_set(reterr, -EINVAL, log->dev->name, log->offset_bytes,
					  "a write journal of %" PRIu64 " bytes with its tail at %" PRIu64 " is not possible",
					  log->ring_bytes, log->tail_bytes);
	c->begun = true;
	c->position_bytes = log->tail_bytes;
	return 0;
}

/* Torn pages end the log: nothing behind them was acknowledged. */
static int check_pages(const struct r5l_log *log, uint32_t seed, const struct r5l_block *b, struct blkalign_error *reterr)
{
	uint8_t page[R5L_BLOCK_BYTES];

	for (uint32_t i = 0; i < b->count; i++) {
		const struct r5l_item *item = &b->items[i];
		int r;

		if (item->kind == R5L_FLUSH)
			continue;
		r = dev_read(log->dev, log->offset_bytes + item->log_bytes, page, sizeof(page), reterr);
		if (r < 0)
			return r;
		if (r5l_checksum(seed, page) != item->checksum)
			return BLKALIGN_NOT_THIS;
	}
	return 0;
}

static uint64_t pages(const struct r5l_block *b)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < b->count; i++)
		count += b->items[i].kind != R5L_FLUSH;
	return count;
}

int r5l_next(const struct r5l_log *log, struct r5l_cursor *cursor, struct r5l_block *ret, struct blkalign_error *reterr)
{
	uint32_t seed = r5l_seed(log->array_uuid);
	uint8_t data[R5L_BLOCK_BYTES];
	struct r5l_cursor c = *cursor;
	bool first = !c.begun;
	int r = first ? begin(log, &c, reterr) : 0;

	if (r == 0)
		r = dev_read(log->dev, log->offset_bytes + c.position_bytes, data, sizeof(data), reterr);
	if (r == 0)
		r = r5l_decode(data, sizeof(data), seed, c.position_bytes, log->ring_bytes, ret, reterr);
	if (r != 0)
		return r;
	if (!first && ret->seq != c.seq)
		return BLKALIGN_NOT_THIS;
	/* A log that is longer than its ring has overwritten its own beginning. */
	c.walked_bytes += (1 + pages(ret)) * R5L_BLOCK_BYTES;
	if (c.walked_bytes > log->ring_bytes)
		return BLKALIGN_NOT_THIS;
	r = check_pages(log, seed, ret, reterr);
	if (r != 0)
		return r;
	c.seq = ret->seq + 1;
	c.position_bytes = ret->next_bytes;
	*cursor = c;
	return 0;
}
