/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/dmsnap/dmsnap.h"

#define MAGIC		0x70416e53U
#define VERSION		1U
#define SECTOR_BYTES	512U
#define EXCEPTION_BYTES 16U
#define PIECE_BYTES	(64 * KIB)

struct reading {
	struct dev *dev;
	uint64_t chunks; /* that the store holds */
	uint64_t origin_chunks;
	uint64_t area_chunks; /* an area and the chunks that it tells of */
	uint64_t highest;
	struct dmsnap *snap;
	VEC(struct dmsnap_exception) found;
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
	return vec_push(&s->found, ((struct dmsnap_exception){ origin_chunk, store_chunk }));
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

static int by_origin(const void *a, const void *b)
{
	const struct dmsnap_exception *x = a, *y = b;

	return (x->origin_chunk > y->origin_chunk) - (x->origin_chunk < y->origin_chunk);
}

static int by_store(const void *a, const void *b)
{
	const struct dmsnap_exception *x = a, *y = b;

	return (x->store_chunk > y->store_chunk) - (x->store_chunk < y->store_chunk);
}

/* A chunk is copied once, to a place of its own. */
static int check_apart(struct reading *s)
{
	struct dmsnap_exception *list = s->found.data;

	if (!s->found.count)
		return 0;
	qsort(list, s->found.count, sizeof(*list), by_store);
	for (size_t i = 1; i < s->found.count; i++)
		if (list[i].store_chunk == list[i - 1].store_chunk)
			return refuse(s->reterr, s->dev, "two chunks are said to be copied to chunk", list[i].store_chunk);
	qsort(list, s->found.count, sizeof(*list), by_origin);
	for (size_t i = 1; i < s->found.count; i++)
		if (list[i].origin_chunk == list[i - 1].origin_chunk)
			return refuse(s->reterr, s->dev, "two copies of one chunk of the origin", list[i].origin_chunk);
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
	s->snap->exceptions = s->found.data;
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
	free(snap->exceptions);
	*snap = (struct dmsnap){ 0 };
}
