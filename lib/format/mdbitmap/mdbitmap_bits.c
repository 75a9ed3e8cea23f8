/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/mdbitmap/mdbitmap.h"
#include "format/mdbitmap/mdbitmap_ondisk.h"

uint64_t mdbitmap_stored_bytes(const struct mdbitmap *bitmap)
{
	return bitmap->version == MDBITMAP_LOCKLESS ? 1024 + bitmap->chunks : MDBITMAP_BYTES + (bitmap->chunks + 7) / 8;
}

/* Next chunk from `chunk` on whose bit is `set`, or `end`. Whole bytes that cannot hold it are passed at once. */
static uint64_t next(const uint8_t *bits, uint64_t chunk, uint64_t end, bool set)
{
	uint8_t skip = set ? 0 : 0xff;

	while (chunk < end) {
		if (chunk % 8 == 0 && bits[chunk / 8] == skip)
			chunk += 8;
		else if (mdbitmap_bit(bits, chunk) == set)
			return chunk;
		else
			chunk++;
	}
	return end;
}

/* Runs of set bits; runs that are less than `apart` bits from each other count as one. `ret` NULL: only count them. */
static size_t runs(const struct mdbitmap *b, const uint8_t *bits, uint64_t first, uint64_t apart, struct mdbitmap_range *ret)
{
	uint64_t begin = next(bits, first, b->chunks, true);
	size_t count = 0;

	while (begin < b->chunks) {
		uint64_t end = next(bits, begin, b->chunks, false), more;

		while ((more = next(bits, end, b->chunks, true)) < b->chunks && more - end < apart)
			end = next(bits, more, b->chunks, false);
		if (ret) {
			uint64_t end_bytes = end < b->chunks ? end * b->chunk_bytes : b->sync_bytes;

			ret[count] = (struct mdbitmap_range){ begin * b->chunk_bytes, end_bytes - begin * b->chunk_bytes };
		}
		count++;
		begin = more;
	}
	return count;
}

int mdbitmap_ranges(const struct mdbitmap *bitmap, const uint8_t *bits, uint64_t first, struct mdbitmap_range **ret_ranges,
		    size_t *ret_count)
{
	uint64_t apart = 1;
	size_t count = runs(bitmap, bits, first, apart, NULL);
	struct mdbitmap_range *ranges;

	while (count > MDBITMAP_RANGES_MAX) {
		apart *= 2;
		count = runs(bitmap, bits, first, apart, NULL);
	}
	ranges = count ? calloc(count, sizeof(*ranges)) : NULL;
	if (count && !ranges)
		return -ENOMEM;
	if (count)
		runs(bitmap, bits, first, apart, ranges);
	*ret_ranges = ranges;
	*ret_count = count;
	return 0;
}

void mdbitmap_put_events(void *raw, uint64_t events, uint64_t events_cleared)
{
	struct mdbitmap_ondisk *d = raw;

	store_le(&d->events, sizeof(d->events), events);
	store_le(&d->events_cleared, sizeof(d->events_cleared), events_cleared);
}

void mdbitmap_put_flags(void *raw, uint32_t state_flags)
{
	struct mdbitmap_ondisk *d = raw;

	store_le(&d->state, sizeof(d->state), state_flags);
}

void mdbitmap_encode(const struct mdbitmap *b, void *raw)
{
	struct mdbitmap_ondisk *d = raw;

	memset(d, 0, sizeof(*d));
	store_le(&d->magic, sizeof(d->magic), MDBITMAP_MAGIC);
	store_le(&d->version, sizeof(d->version), MDBITMAP_NORMAL);
	memcpy(d->uuid, b->array_uuid, sizeof(d->uuid));
	store_le(&d->sync_size, sizeof(d->sync_size), b->sync_bytes / 512);
	store_le(&d->chunksize, sizeof(d->chunksize), b->chunk_bytes);
	store_le(&d->daemon_sleep, sizeof(d->daemon_sleep), b->daemon_sleep_seconds);
	mdbitmap_put_events(raw, b->events, b->events_cleared);
	mdbitmap_put_flags(raw, b->state_flags);
}
