/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bitmap in memory: which bits are set, which of them are on the disks, who is writing below them. A bit is set before data is written, and cleared when nobody
 * writes there, the data was flushed after the last write ended, no resync is due and no member lacks the data.
 */
#include "keep/keep_priv.h"

#define CHUNKS_PER_PAGE (UINT64_C(8) * PAGE_BYTES)

void bits_done(struct bits *b)
{
	if (b->in_flight)
		for (uint64_t i = 0; i < b->pages; i++)
			free(b->in_flight[i]);
	free(b->in_flight);
	free(b->area);
	free(b->dirty);
	free(b->set_at);
	free(b->unflushed);
	free(b->sticky);
	*b = (struct bits){ 0 };
}

/* Chunks count from the first bit of the first page, the bytes of the superblock included. */
static uint64_t position(uint64_t chunk) { return UINT64_C(8) * MDBITMAP_BYTES + chunk; }
static uint64_t page_of(uint64_t chunk) { return position(chunk) / CHUNKS_PER_PAGE; }

static bool get(const uint8_t *bits, uint64_t chunk) { return mdbitmap_bit(bits, chunk); }
static void put(uint8_t *bits, uint64_t chunk, bool set)
{
	uint8_t mask = (uint8_t)(1U << chunk % 8);

	bits[chunk / 8] = set ? bits[chunk / 8] | mask : bits[chunk / 8] & (uint8_t)~mask;
}

static uint32_t *counter(const struct bits *b, uint64_t chunk)
{
	uint32_t *page = b->in_flight[page_of(chunk)];

	return page ? &page[position(chunk) % CHUNKS_PER_PAGE] : NULL;
}

/* The chunks that a range touches; false for none. */
static bool chunks_of(const struct bits *b, const struct byte_range *range, uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t end = range->offset_bytes + range->length_bytes;

	if (!range->length_bytes || range->offset_bytes >= b->info.sync_bytes)
		return false;
	if (end > b->info.sync_bytes)
		end = b->info.sync_bytes;
	*ret_first = range->offset_bytes / b->info.chunk_bytes;
	*ret_last = (end - 1) / b->info.chunk_bytes;
	return true;
}

static int make_counters(struct bits *b, const struct byte_range *ranges, size_t count)
{
	uint64_t first, last;

	for (size_t i = 0; i < count; i++) {
		if (!chunks_of(b, &ranges[i], &first, &last))
			continue;
		for (uint64_t page = page_of(first); page <= page_of(last); page++) {
			if (!b->in_flight[page])
				b->in_flight[page] = calloc(CHUNKS_PER_PAGE, sizeof(uint32_t));
			if (!b->in_flight[page])
				return -ENOMEM;
		}
	}
	return 0;
}

static void set_bit(struct bits *b, uint64_t chunk)
{
	uint8_t *bits = b->area + MDBITMAP_BYTES;
	uint64_t page = page_of(chunk);

	if (get(bits, chunk))
		return;
	put(bits, chunk, true);
	b->dirty[page] = true;
	b->set_at[page] = ++b->sequence;
}

int bits_begin(struct bits *b, const struct byte_range *ranges, size_t count, uint64_t *ret_sequence)
{
	uint64_t first, last, sequence = 0;

	*ret_sequence = 0;
	if (!b->present)
		return 0;
	if (make_counters(b, ranges, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!chunks_of(b, &ranges[i], &first, &last))
			continue;
		for (uint64_t chunk = first; chunk <= last; chunk++) {
			uint32_t *in_flight = counter(b, chunk);

			if (in_flight)
				++*in_flight;
			set_bit(b, chunk);
		}
		for (uint64_t page = page_of(first); page <= page_of(last); page++)
			if (sequence < b->set_at[page])
				sequence = b->set_at[page];
	}
	*ret_sequence = sequence;
	return 0;
}

void bits_end(struct bits *b, const struct byte_range *ranges, size_t count, bool complete)
{
	uint64_t first, last;

	for (size_t i = 0; b->present && i < count; i++) {
		if (!chunks_of(b, &ranges[i], &first, &last))
			continue;
		for (uint64_t chunk = first; chunk <= last; chunk++) {
			uint32_t *in_flight = counter(b, chunk);

			if (in_flight && *in_flight)
				--*in_flight;
			put(b->unflushed, chunk, true);
			if (!complete)
				put(b->sticky, chunk, true);
		}
	}
}

void bits_unstick(struct bits *b)
{
	if (b->present)
		memset(b->sticky, 0, (size_t)(b->info.chunks + 7) / 8);
}

bool bits_any(const struct bits *b)
{
	for (uint64_t chunk = 0; b->present && chunk < b->info.chunks; chunk++)
		if (get(b->area + MDBITMAP_BYTES, chunk))
			return true;
	return false;
}

int bits_ranges(const struct bits *b, uint64_t first, struct ranges *ret)
{
	_cleanup_free_ struct mdbitmap_range *found = NULL;
	size_t count = 0;
	int r = mdbitmap_ranges(&b->info, b->area + MDBITMAP_BYTES, first, &found, &count);

	for (size_t i = 0; i < count && r >= 0; i++)
		r = ranges_add(ret, found[i].offset_bytes, found[i].length_bytes);
	return r;
}

/* --- writing --- */

/* Bytes of a page that belong to the bitmap on this member; the last one may be cut. */
static size_t page_bytes(const struct member *m, uint64_t page)
{
	uint64_t rest = m->places[PLACE_BITMAP].length_bytes - page * PAGE_BYTES;

	return rest < PAGE_BYTES ? (size_t)rest : PAGE_BYTES;
}

static int add_page(struct keep *keep, struct output *out, uint64_t page, const uint8_t *copy)
{
	int r = 0;

	for (size_t i = 0; i < keep->count && r >= 0; i++) {
		struct member *m = keep->members[i];

		if (!m->failed && m->places[PLACE_BITMAP].length_bytes > page * PAGE_BYTES)
			r = output_add(out, m, PLACE_BITMAP, page * PAGE_BYTES, copy, page_bytes(m, page));
	}
	return r;
}

/* The superblock in page 0 always says what the superblocks say, or are about to. */
static void put_superblock(struct keep *keep)
{
	struct bits *b = &keep->bits;

	if (whole(keep))
		b->events_cleared = keep->events;
	mdbitmap_put_events(b->area, keep->events, b->events_cleared);
}

int bits_write(struct keep *keep, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	_cleanup_free_ uint8_t *copies = NULL;
	struct bits *b = &keep->bits;
	uint64_t pages = 0, at = 0, sequence = b->sequence;
	int r = 0;

	if (!b->present)
		return 0;
	b->dirty[0] = true;
	for (uint64_t page = 0; page < b->pages; page++)
		pages += b->dirty[page] || b->everywhere;
	/* Others set bits while these are written: they get the next write. */
	copies = aligned_alloc(PAGE_BYTES, (size_t)pages * PAGE_BYTES);
	if (!copies)
		return -ENOMEM;
	put_superblock(keep);
	for (uint64_t page = 0; page < b->pages && r >= 0; page++) {
		if (!b->dirty[page] && !b->everywhere)
			continue;
		memcpy(copies + at * PAGE_BYTES, b->area + page * PAGE_BYTES, PAGE_BYTES);
		r = add_page(keep, &out, page, copies + at * PAGE_BYTES);
		at++;
	}
	if (r < 0)
		return r;
	memset(b->dirty, 0, (size_t)b->pages * sizeof(*b->dirty));
	r = output_write(keep, &out, reterr);
	b->everywhere = r < 0;
	if (r < 0)
		return r;
	if (b->durable < sequence)
		b->durable = sequence;
	return 0;
}

int bits_commit(struct keep *keep, uint64_t sequence, struct blkalign_error *reterr)
{
	struct bits *b = &keep->bits;
	int r = 0;

	while (r >= 0 && !keep->broken && b->durable < sequence) {
		unsigned lost = keep->lost;

		if (keep->io_busy) {
			pthread_cond_wait(&keep->changed, &keep->lock);
			continue;
		}
		keep->io_busy = true;
		r = bits_write(keep, reterr);
		r = record_losses(keep, lost, r, reterr);
		io_give(keep);
	}
	return r >= 0 && keep->broken ? broken(keep, reterr) : r;
}

/* --- clearing --- */

/* Whether a resync of the chunk is due; `at` goes along with ascending chunks. */
static bool resync_due(const struct keep *keep, uint64_t chunk, size_t *at)
{
	const struct ranges *r = &keep->unsynced;
	uint64_t begin = chunk * keep->bits.info.chunk_bytes, end = begin + keep->bits.info.chunk_bytes;

	while (*at < r->count && r->data[*at].offset_bytes + r->data[*at].length_bytes <= begin)
		++*at;
	return *at < r->count && r->data[*at].offset_bytes < end;
}

static bool idle(const struct bits *b, uint64_t chunk)
{
	const uint32_t *in_flight = counter(b, chunk);

	return !in_flight || !*in_flight;
}

/* What ended before now is covered by the flush that follows. */
static void expect_flush(struct bits *b)
{
	for (uint64_t chunk = 0; chunk < b->info.chunks; chunk++) {
		if (chunk % 8 == 0 && !b->unflushed[chunk / 8])
			chunk += 7;
		else if (get(b->unflushed, chunk) && idle(b, chunk))
			put(b->unflushed, chunk, false);
	}
}

int bits_clean(struct keep *keep, struct blkalign_error *reterr)
{
	struct bits *b = &keep->bits;
	uint8_t *bits;
	size_t at = 0;
	int r;

	if (!b->present || !whole(keep))
		return 0;
	expect_flush(b);
	r = members_flush(keep, reterr);
	if (r < 0 || !whole(keep))
		return r;
	bits = b->area + MDBITMAP_BYTES;
	for (uint64_t chunk = 0; chunk < b->info.chunks; chunk++) {
		if (chunk % 8 == 0 && !bits[chunk / 8]) {
			chunk += 7;
		} else if (get(bits, chunk) && idle(b, chunk) && !get(b->unflushed, chunk) && !get(b->sticky, chunk) &&
			   !resync_due(keep, chunk, &at)) {
			put(bits, chunk, false);
			b->dirty[page_of(chunk)] = true;
		}
	}
	return 0;
}
