/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** A write journal in memory, written block by block as the kernel would: pages first, ring_seal() puts the meta block in front of them. */
#ifndef UNIT_R5L_RING_H
#define UNIT_R5L_RING_H

#include "unit.h"

#include "format/r5l/r5l.h"

#define RING_BLOCKS_MAX 64U

static uint8_t ring_bytes[RING_BLOCKS_MAX * R5L_BLOCK_BYTES];
static struct r5l_log ring_log;
static uint64_t ring_meta, ring_page_at; /* blocks */
static uint32_t ring_used;		 /* bytes of the meta block at hand */

static inline uint8_t *ring_block(uint64_t number) { return ring_bytes + number * R5L_BLOCK_BYTES; }

static inline void ring_put(size_t at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		ring_block(ring_meta)[at + i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t ring_after(uint64_t block) { return (block + 1) % (ring_log.ring_bytes / R5L_BLOCK_BYTES); }

static inline void ring_begin(uint64_t block)
{
	ring_meta = block;
	ring_page_at = ring_after(block);
	ring_used = 32;
	memset(ring_block(block), 0, R5L_BLOCK_BYTES);
	ring_put(12, 4, ring_used);
}

static inline void ring_close(void)
{
	dev_close(ring_log.dev);
	ring_log.dev = NULL;
}

/* Empty, of so many blocks. */
static inline void ring_open(uint64_t blocks, uint64_t tail)
{
	ring_close();
	memset(ring_bytes, 0, sizeof(ring_bytes));
	ring_log = (struct r5l_log){ .ring_bytes = blocks * R5L_BLOCK_BYTES, .tail_bytes = tail * R5L_BLOCK_BYTES };
	memset(ring_log.array_uuid, 0xab, sizeof(ring_log.array_uuid));
	assert_int_equal(dev_open_memory("journal", ring_bytes, ring_log.ring_bytes, false, &ring_log.dev), 0);
	ring_begin(tail);
}

static inline void ring_fill(uint8_t byte)
{
	memset(ring_block(ring_page_at), byte, R5L_BLOCK_BYTES);
	ring_put(ring_used, 4, r5l_checksum(r5l_seed(ring_log.array_uuid), ring_block(ring_page_at)));
	ring_used += 4;
	ring_page_at = ring_after(ring_page_at);
}

static inline void ring_head(unsigned type, uint32_t size, uint64_t sector)
{
	ring_put(ring_used, 2, type);
	ring_put(ring_used + 4, 4, size);
	ring_put(ring_used + 8, 8, sector);
	ring_used += 16;
}

/* A page full of `byte`, R5L_DATA or R5L_P. */
static inline void ring_page(enum r5l_kind kind, uint64_t sector, uint8_t byte)
{
	ring_head(kind == R5L_DATA ? 0 : 1, 8, sector);
	ring_fill(byte);
	ring_put(12, 4, ring_used);
}

static inline void ring_parities(uint64_t sector, uint8_t p, uint8_t q)
{
	ring_head(1, 16, sector);
	ring_fill(p);
	ring_fill(q);
	ring_put(12, 4, ring_used);
}

static inline void ring_flush(const uint64_t *sectors, uint32_t count)
{
	ring_put(ring_used, 2, 2);
	ring_put(ring_used + 4, 4, 8 * count);
	for (uint32_t i = 0; i < count; i++)
		ring_put(ring_used + 8 + 8 * i, 8, sectors[i]);
	ring_used += 8 + 8 * count;
	ring_put(12, 4, ring_used);
}

static inline void ring_seal(uint64_t seq)
{
	ring_put(0, 4, 0x6433c509);
	ring_put(8, 1, 1);
	ring_put(16, 8, seq);
	ring_put(24, 8, ring_meta * R5L_BLOCK_BYTES / 512);
	ring_put(4, 4, r5l_meta_checksum(r5l_seed(ring_log.array_uuid), ring_block(ring_meta)));
	ring_begin(ring_page_at);
}

#endif
