/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bitmap is on every member, and each may have been written a moment before or after the others: a bit that is set anywhere counts. The bitmap is
 * written before the superblocks, so that one with fewer events than the array missed something (drivers/md/md-bitmap.c, md_bitmap_read_sb()).
 */
#include "format/mdbitmap/mdbitmap.h"
#include "stack/md.h"

#define PIECE_BYTES (64 * KIB)
#define BITS_MAX    (UINT64_C(16) * MIB * 8) /* mdadm leaves some 100 KiB for a bitmap; a longer one does not count */

/* Bytes of a lockless bitmap (drivers/md/md-llbitmap.c, enum llbitmap_state). */
enum { LOCKLESS_UNWRITTEN = 0, LOCKLESS_CLEAN = 1 };
#define LOCKLESS_SUPER_BYTES 1024U

enum { STATE_STALE = 1 << 1, STATE_WRITE_ERROR = 1 << 2 };

struct reading {
	const struct md_array *a;
	struct mdbitmap head;
	uint8_t *bits; /* NULL until a current one was found */
};

/* The words of an array of the other byte order are stored as that machine had them. */
static bool is_of_array(const struct md_member *m, const uint8_t uuid[16])
{
	uint8_t swapped[16];

	for (unsigned i = 0; i < 16; i++)
		swapped[i] = m->array_uuid[i ^ 3];
	return !memcmp(uuid, m->array_uuid, 16) || !memcmp(uuid, swapped, 16);
}

static bool is_current(const struct reading *r, const struct md_member *m, const struct mdbitmap *b)
{
	if (b->chunks > BITS_MAX || b->version == MDBITMAP_CLUSTERED || (b->version == MDBITMAP_HOST_ENDIAN && m->big_endian))
		return false;
	return is_of_array(m, b->array_uuid) && b->events >= r->a->freshest->events &&
	       !(b->state_flags & (STATE_STALE | STATE_WRITE_ERROR));
}

static void take_bits(struct reading *r, uint64_t first_byte, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		r->bits[first_byte + i] |= data[i];
}

static void take_bytes(struct reading *r, uint64_t first_chunk, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (data[i] != LOCKLESS_UNWRITTEN && data[i] != LOCKLESS_CLEAN)
			r->bits[(first_chunk + i) / 8] |= (uint8_t)(1U << (first_chunk + i) % 8);
}

/* Only a copy that was read whole counts: what cannot be read might be set. */
static bool take(struct reading *r, const struct md_member *m)
{
	bool lockless = r->head.version == MDBITMAP_LOCKLESS;
	uint64_t at = m->bitmap_at_bytes + (lockless ? LOCKLESS_SUPER_BYTES : MDBITMAP_BYTES);
	uint64_t length = lockless ? r->head.chunks : (r->head.chunks + 7) / 8;
	_cleanup_free_ uint8_t *piece = malloc(PIECE_BYTES);

	for (uint64_t done = 0; piece && done < length; done += PIECE_BYTES) {
		size_t part = length - done < PIECE_BYTES ? length - done : PIECE_BYTES;

		if (dev_read(m->records, at + done, piece, part, NULL) < 0)
			return false;
		if (lockless)
			take_bytes(r, done, piece, part);
		else
			take_bits(r, done, piece, part);
	}
	return piece;
}

static int read_copy(struct reading *r, const struct md_member *m, bool *ret_any)
{
	struct mdbitmap b;
	int result = mdbitmap_read(m->records, m->bitmap_at_bytes, &b, NULL);

	if (result != 0)
		return result == -ENOMEM ? result : 0;
	if (!is_current(r, m, &b))
		return 0;
	if (r->bits && (b.version != r->head.version || b.chunk_bytes != r->head.chunk_bytes || b.sync_bytes != r->head.sync_bytes))
		return 0;
	r->head = b;
	if (!r->bits)
		r->bits = calloc(1, (b.chunks + 7) / 8 + 1);
	if (!r->bits)
		return -ENOMEM;
	*ret_any = take(r, m) || *ret_any;
	return 0;
}

static int set_ranges(const struct reading *reading, struct md_bitmap *ret)
{
	_cleanup_free_ struct mdbitmap_range *ranges = NULL;
	struct mdbitmap head = reading->head;
	size_t count;
	int r;

	head.version = MDBITMAP_NORMAL; /* bytes have become bits */
	r = mdbitmap_ranges(&head, reading->bits, 0, &ranges, &count);
	if (r < 0)
		return r;
	ret->ranges = calloc(count + 1, sizeof(*ret->ranges));
	if (!ret->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ret->ranges[i] = (struct byte_range){ ranges[i].offset_bytes, ranges[i].length_bytes };
	ret->count = count;
	ret->counts = true;
	ret->chunk_bytes = head.chunk_bytes;
	ret->covered_bytes = head.sync_bytes;
	return 0;
}

int md_bitmap_read(const struct md_array *a, struct md_bitmap *ret)
{
	struct reading reading = { .a = a };
	bool any = false;
	int r = 0;

	*ret = (struct md_bitmap){ 0 };
	for (uint32_t i = 0; r == 0 && i < a->slots_count; i++)
		if (a->slots[i] && a->slots[i]->bitmap_at_bytes != BLKALIGN_UNKNOWN)
			r = read_copy(&reading, a->slots[i], &any);
	if (r == 0 && any)
		r = set_ranges(&reading, ret);
	free(reading.bits);
	return r;
}
