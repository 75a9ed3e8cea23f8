/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/dmsnap/dmsnap.h"

#define MAGIC		0x70416e53U
#define VERSION		1U
#define SECTOR_BYTES	512U
#define EXCEPTION_BYTES 16U
#define PIECE_BYTES	(64 * KIB)
#define CHUNK_BITS	55U /* of a chunk's number, with chunks of 512 bytes */

struct reading {
	struct dev *dev;
	uint64_t chunks; /* that the store holds */
	uint64_t origin_chunks;
	uint64_t area_chunks; /* an area and the chunks that it tells of */
	uint64_t highest;
	struct dmsnap *snap;
	VEC(struct block_run) found;
	uint8_t piece[PIECE_BYTES];
	struct blkalign_error *reterr;
};

static int refuse(struct blkalign_error *reterr, const struct dev *dev, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EPROTO, dev ? dev->name : NULL, BLKALIGN_UNKNOWN, "snapshot store: %s (%" PRIu64 ")", what,
				  found);
}

int dmsnap_header_decode(const uint8_t header[DMSNAP_HEADER_BYTES], struct dmsnap *ret, struct blkalign_error *reterr)
{
	uint32_t magic = load_le32(header), chunk_sectors512 = load_le32(header + 12);

	*ret = (struct dmsnap){ .fresh = !magic, .valid = !magic || load_le32(header + 4) };
	if (!magic)
		return 0;
	if (magic != MAGIC)
		return BLKALIGN_NOT_THIS;
	if (load_le32(header + 8) != VERSION)
		return refuse(reterr, NULL, "a version that is not known", load_le32(header + 8));
	ret->chunk_bytes = (uint64_t)chunk_sectors512 * SECTOR_BYTES;
	if (!is_power_of_2(chunk_sectors512) || ret->chunk_bytes > DMSNAP_CHUNK_MAX_BYTES)
		return refuse(reterr, NULL, "chunks of an impossible number of sectors", chunk_sectors512);
	return 0;
}

static int add(struct reading *s, uint64_t origin_chunk, uint64_t store_chunk)
{
	if (origin_chunk >= s->origin_chunks)
		return refuse(s->reterr, s->dev, "a copy of a chunk that the origin does not have", origin_chunk);
	/* Chunk 0 is the header; areas follow it, each in front of the chunks it tells of. */
	if (store_chunk >= s->chunks || (store_chunk - 1) % s->area_chunks == 0)
		return refuse(s->reterr, s->dev, "a copy in a chunk that is none for data", store_chunk);
	if (s->highest < store_chunk)
		s->highest = store_chunk;
	/* Each needs a chunk of its own: whether it has one is seen when all are known, but there are not more of them. */
	if (++s->snap->exceptions > s->chunks)
		return refuse(s->reterr, s->dev, "more copies than the store has chunks", s->snap->exceptions);
	if (s->found.count && block_run_append(&s->found.data[s->found.count - 1], origin_chunk, store_chunk))
		return 0;
	return vec_push(&s->found, block_run_of(origin_chunk, store_chunk));
}

/* Part of an area; *ret_end when the list ends in it. */
static int read_piece(struct reading *s, uint64_t at, size_t length, bool *ret_end)
{
	int r = dev_read(s->dev, at, s->piece, length, s->reterr);

	for (size_t i = 0; r == 0 && i < length; i += EXCEPTION_BYTES) {
		uint64_t store_chunk = load_le64(s->piece + i + 8);

		*ret_end = !store_chunk;
		if (*ret_end)
			break;
		r = add(s, load_le64(s->piece + i), store_chunk);
	}
	return r;
}

/* A full area is followed by the next one. */
static int read_areas(struct reading *s)
{
	bool end = false;
	uint64_t chunk_bytes = s->snap->chunk_bytes, last = 1;
	int r = 0;

	for (uint64_t area = 1; r == 0 && !end; area += s->area_chunks) {
		/* Full to the last chunk: there is no room for another area. */
		if (area >= s->chunks)
			break;
		last = area;
		for (uint64_t at = 0; r == 0 && !end && at < chunk_bytes; at += PIECE_BYTES)
			r = read_piece(s, area * chunk_bytes + at, chunk_bytes - at < PIECE_BYTES ? chunk_bytes - at : PIECE_BYTES, &end);
	}
	s->snap->used_chunks = (s->highest > last ? s->highest : last) + 1;
	return r;
}

static uint64_t key_of(const struct block_run *run, bool by_store) { return by_store ? block_run_over(run) : run->block; }

static bool ascends(const struct block_run *list, size_t count, bool by_store)
{
	for (size_t i = 1; i < count; i++)
		if (key_of(&list[i], by_store) < key_of(&list[i - 1], by_store))
			return false;
	return true;
}

/* Bit by bit: in place, where qsort() would take as much memory again, and in linear time whatever they are. */
static void sort(struct block_run *list, size_t count, bool by_store, unsigned bits)
{
	size_t zeros = 0, end = count;

	if (count < 2 || !bits)
		return;
	while (zeros < end) {
		struct block_run first = list[zeros];

		if (!(key_of(&first, by_store) >> (bits - 1) & 1)) {
			zeros++;
			continue;
		}
		list[zeros] = list[--end];
		list[end] = first;
	}
	sort(list, zeros, by_store, bits - 1);
	sort(list + zeros, count - zeros, by_store, bits - 1);
}

/* Stores are filled from the beginning, so that they are mostly in that order already. */
static void order(struct block_run *list, size_t count, bool by_store)
{
	if (!ascends(list, count, by_store))
		sort(list, count, by_store, CHUNK_BITS);
}

/* A chunk is copied once, to a place of its own. */
static int check_apart(struct reading *s)
{
	struct block_run *list = s->found.data;

	order(list, s->found.count, true);
	for (size_t i = 1; i < s->found.count; i++)
		if (list[i].over_block <= block_run_over(&list[i - 1]) + list[i - 1].more)
			return refuse(s->reterr, s->dev, "two chunks are said to be copied to chunk", block_run_over(&list[i]));
	order(list, s->found.count, false);
	for (size_t i = 1; i < s->found.count; i++)
		if (list[i].block <= list[i - 1].block + list[i - 1].more)
			return refuse(s->reterr, s->dev, "two copies of one chunk of the origin", list[i].block);
	return 0;
}

static int read_exceptions(struct reading *s, uint64_t origin_bytes)
{
	uint64_t chunk_bytes = s->snap->chunk_bytes;
	int r;

	s->chunks = s->dev->size_bytes / chunk_bytes;
	s->origin_chunks = origin_bytes / chunk_bytes + (origin_bytes % chunk_bytes != 0);
	s->area_chunks = chunk_bytes / EXCEPTION_BYTES + 1;
	r = read_areas(s);
	if (r == 0)
		r = check_apart(s);
	if (r < 0) {
		vec_done(&s->found);
		return r;
	}
	s->snap->runs = s->found.data;
	s->snap->count = s->found.count;
	return 0;
}

int dmsnap_read(struct dev *dev, uint64_t origin_bytes, struct dmsnap *ret, struct blkalign_error *reterr)
{
	_cleanup_free_ struct reading *s = calloc(1, sizeof(*s));
	uint8_t header[DMSNAP_HEADER_BYTES];
	int r = s ? 0 : -ENOMEM;

	*ret = (struct dmsnap){ 0 };
	if (r == 0 && dev->size_bytes < DMSNAP_HEADER_BYTES)
		return BLKALIGN_NOT_THIS;
	if (r == 0)
		r = dev_read(dev, 0, header, sizeof(header), reterr);
	if (r == 0)
		r = dmsnap_header_decode(header, ret, reterr);
	if (r || ret->fresh || !ret->valid)
		return r;
	s->dev = dev;
	s->snap = ret;
	s->reterr = reterr;
	return read_exceptions(s, origin_bytes);
}

void dmsnap_done(struct dmsnap *snap)
{
	free(snap->runs);
	*snap = (struct dmsnap){ 0 };
}
