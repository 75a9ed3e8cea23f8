/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/r5l/r5l.h"
#include "fuzz.h"

#define RING (8 * R5L_BLOCK_BYTES)

static const uint8_t uuid[16];

/* Position and checksum are made right, so that the fields behind them are reached. */
static void mend(uint8_t *block, uint64_t position_bytes)
{
	uint32_t sum;

	for (unsigned i = 0; i < 8; i++)
		block[24 + i] = (uint8_t)(position_bytes / 512 >> 8 * i);
	sum = r5l_meta_checksum(r5l_seed(uuid), block);
	for (unsigned i = 0; i < 4; i++)
		block[4 + i] = (uint8_t)(sum >> 8 * i);
}

static void check(const struct r5l_block *b)
{
	if (b->count > R5L_ITEMS_MAX || b->next_bytes >= RING || b->next_bytes % R5L_BLOCK_BYTES)
		abort();
	for (uint32_t i = 0; i < b->count; i++)
		if (b->items[i].at_bytes % R5L_BLOCK_BYTES || b->items[i].log_bytes > RING - R5L_BLOCK_BYTES)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t ring[RING];
	static struct r5l_block block;
	struct r5l_log log = { .ring_bytes = RING };
	struct r5l_cursor cursor = { 0 };
	unsigned steps = 0;

	memset(ring, 0, sizeof(ring));
	memcpy(ring, data, size < sizeof(ring) ? size : sizeof(ring));
	for (uint64_t at = 0; at < RING; at += R5L_BLOCK_BYTES)
		mend(ring + at, at);
	if (r5l_decode(ring, sizeof(ring), r5l_seed(uuid), 0, RING, &block, NULL) == 0)
		check(&block);
	if (dev_open_memory("log", ring, sizeof(ring), false, &log.dev) < 0)
		return 0;
	while (r5l_next(&log, &cursor, &block, NULL) == 0) {
		check(&block);
		if (++steps > RING / R5L_BLOCK_BYTES)
			abort();
	}
	dev_close(log.dev);
	return 0;
}
