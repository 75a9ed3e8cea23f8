/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/mdbitmap/mdbitmap.h"
#include "format/mdbitmap/mdbitmap_ondisk.h"

static int damaged(struct blkalign_error *reterr, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN, "md bitmap superblock: %s (%" PRIu64 ")", what, found);
}

static int check(const struct mdbitmap *b, struct blkalign_error *reterr)
{
	if (b->version < MDBITMAP_HOST_ENDIAN || b->version > MDBITMAP_LOCKLESS)
		return damaged(reterr, "unknown version", b->version);
	if (!is_power_of_2(b->chunk_bytes) || b->chunk_bytes < 512)
		return damaged(reterr, "the chunk is no power of two from 512 bytes on", b->chunk_bytes);
	if (b->chunks > MDBITMAP_BITS_MAX)
		return damaged(reterr, "more bits than are read", b->chunks);
	return 0;
}

int mdbitmap_decode(const void *data, size_t length, struct mdbitmap *ret, struct blkalign_error *reterr)
{
	struct mdbitmap b = { 0 };
	struct mdbitmap_ondisk d;
	int r;

	if (length < sizeof(d))
		return BLKALIGN_NOT_THIS;
	memcpy(&d, data, sizeof(d));
	if (le32_get(d.magic) != MDBITMAP_MAGIC)
		return BLKALIGN_NOT_THIS;
	b.version = le32_get(d.version);
	memcpy(b.array_uuid, d.uuid, sizeof(b.array_uuid));
	b.events = le64_get(d.events);
	b.events_cleared = le64_get(d.events_cleared);
	b.state_flags = le32_get(d.state);
	b.chunk_bytes = le32_get(d.chunksize);
	b.daemon_sleep_seconds = le32_get(d.daemon_sleep);
	b.write_behind = le32_get(d.write_behind);
	b.reserved_bytes = (uint64_t)le32_get(d.sectors_reserved) * 512;
	b.nodes = le32_get(d.nodes);
	memcpy(b.cluster_name, d.cluster_name, sizeof(d.cluster_name));
	if (!u64_mul(le64_get(d.sync_size), 512, &b.sync_bytes))
		return damaged(reterr, "the covered size does not fit 64 bits of bytes", le64_get(d.sync_size));
	if (b.chunk_bytes)
		b.chunks = b.sync_bytes / b.chunk_bytes + (b.sync_bytes % b.chunk_bytes != 0);
	r = check(&b, reterr);
	if (r < 0)
		return r;
	*ret = b;
	return 0;
}

int mdbitmap_read(struct dev *dev, uint64_t offset_bytes, struct mdbitmap *ret, struct blkalign_error *reterr)
{
	uint8_t data[MDBITMAP_BYTES];
	int r = dev_read(dev, offset_bytes, data, sizeof(data), reterr);

	return r < 0 ? r : mdbitmap_decode(data, sizeof(data), ret, reterr);
}
