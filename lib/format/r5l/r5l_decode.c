/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/r5l/r5l.h"
#include "format/r5l/r5l_ondisk.h"

enum payload_type { PAYLOAD_DATA = 0, PAYLOAD_PARITY = 1, PAYLOAD_FLUSH = 2 };
#define PAGE_SECTORS 8U

uint32_t r5l_seed(const uint8_t array_uuid[16]) { return crc32c_raw(UINT32_MAX, array_uuid, 16); }
uint32_t r5l_checksum(uint32_t seed, const void *page) { return crc32c_raw(seed, page, R5L_BLOCK_BYTES); }

uint32_t r5l_meta_checksum(uint32_t seed, const void *block)
{
	static const uint8_t zero[4];
	size_t at = offsetof(struct r5l_meta_ondisk, checksum);
	const uint8_t *p = block;

	seed = crc32c_raw(seed, p, at);
	seed = crc32c_raw(seed, zero, sizeof(zero));
	return crc32c_raw(seed, p + at + sizeof(zero), R5L_BLOCK_BYTES - at - sizeof(zero));
}

static int damaged(struct blkalign_error *reterr, const struct r5l_block *b, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN,
				  "write journal, meta block at byte %" PRIu64 ": %s (%" PRIu64 ")", b->position_bytes, what, found);
}

struct decoding {
	const uint8_t *data;
	size_t at;
	size_t end; /* of what is in use */
	uint64_t ring_bytes;
	struct r5l_block *b;
	struct blkalign_error *reterr;
};

static int add(struct decoding *d, enum r5l_kind kind, uint64_t sector512, uint32_t checksum)
{
	struct r5l_item *item = &d->b->items[d->b->count];

	if (d->b->count == R5L_ITEMS_MAX)
		return damaged(d->reterr, d->b, "more payloads than a block holds", d->b->count);
	if (sector512 % PAGE_SECTORS || !u64_mul(sector512, 512, &item->at_bytes))
		return damaged(d->reterr, d->b, "a payload's place is no page", sector512);
	item->kind = kind;
	item->log_bytes = kind == R5L_FLUSH ? 0 : d->b->next_bytes;
	item->checksum = checksum;
	d->b->count++;
	if (kind != R5L_FLUSH)
		d->b->next_bytes = (d->b->next_bytes + R5L_BLOCK_BYTES) % d->ring_bytes;
	return 0;
}

/* One page; parity of raid6 has two. */
static int decode_pages(struct decoding *d, uint16_t type, uint32_t sectors512, uint64_t location)
{
	uint32_t pages = sectors512 / PAGE_SECTORS;
	int r = 0;

	if (sectors512 % PAGE_SECTORS || !pages || pages > (type == PAYLOAD_PARITY ? 2U : 1U))
		return damaged(d->reterr, d->b, "a payload of another size than a page", sectors512);
	if (d->end - d->at < 4 * (size_t)pages)
		return damaged(d->reterr, d->b, "a payload goes beyond its block", d->at);
	for (uint32_t i = 0; r == 0 && i < pages; i++, d->at += 4)
		r = add(d, type == PAYLOAD_DATA ? R5L_DATA : i ? R5L_Q : R5L_P, location, load_le32(d->data + d->at));
	return r;
}

static int decode_flush(struct decoding *d, uint32_t bytes)
{
	int r = 0;

	if (bytes % 8 || bytes > d->end - d->at)
		return damaged(d->reterr, d->b, "a list of stripes of impossible size", bytes);
	for (uint32_t i = 0; r == 0 && i < bytes / 8; i++, d->at += 8)
		r = add(d, R5L_FLUSH, load_le64(d->data + d->at), 0);
	return r;
}

static int decode_payload(struct decoding *d)
{
	struct r5l_payload_ondisk p;
	size_t head = offsetof(struct r5l_payload_ondisk, location);
	uint16_t type;

	if (d->end - d->at < head)
		return damaged(d->reterr, d->b, "a payload goes beyond its block", d->at);
	memcpy(&p, d->data + d->at, head);
	type = le16_get(p.type);
	d->at += head;
	if (type == PAYLOAD_FLUSH)
		return decode_flush(d, le32_get(p.size));
	if (type > PAYLOAD_FLUSH)
		return damaged(d->reterr, d->b, "an unknown payload", type);
	if (d->end - d->at < sizeof(p) - head)
		return damaged(d->reterr, d->b, "a payload goes beyond its block", d->at);
	memcpy(&p.location, d->data + d->at, sizeof(p) - head);
	d->at += sizeof(p) - head;
	return decode_pages(d, type, le32_get(p.size), le64_get(p.location));
}

int r5l_decode(const void *data, size_t length, uint32_t seed, uint64_t position_bytes, uint64_t ring_bytes, struct r5l_block *ret,
	       struct blkalign_error *reterr)
{
	struct r5l_meta_ondisk m;
	struct decoding d = { .data = data, .at = sizeof(m), .ring_bytes = ring_bytes, .b = ret, .reterr = reterr };
	int r = 0;

	if (length < R5L_BLOCK_BYTES || !ring_bytes)
		return BLKALIGN_NOT_THIS;
	memcpy(&m, data, sizeof(m));
	if (le32_get(m.magic) != R5L_MAGIC || m.version != R5L_VERSION || le64_get(m.position) != position_bytes / 512 ||
	    le32_get(m.checksum) != r5l_meta_checksum(seed, data))
		return BLKALIGN_NOT_THIS;
	ret->seq = le64_get(m.seq);
	ret->position_bytes = position_bytes;
	ret->next_bytes = (position_bytes + R5L_BLOCK_BYTES) % ring_bytes;
	ret->count = 0;
	d.end = le32_get(m.meta_size);
	if (d.end < sizeof(m) || d.end > R5L_BLOCK_BYTES)
		return damaged(reterr, ret, "an impossible size", d.end);
	while (r == 0 && d.at < d.end)
		r = decode_payload(&d);
	return r;
}
