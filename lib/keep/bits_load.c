/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bitmap as found. A bit counts when any current copy has it: data was written only after it was on all members. A bitmap older than the superblocks was not kept
 * in step: then everything counts.
 */
#include <inttypes.h>

#include "keep/keep_priv.h"

#define FLAG_STALE	 (1U << 1)
#define FLAG_WRITE_ERROR (1U << 2)

static int refuse(const struct keep *keep, const struct member *m, struct blkalign_error *reterr, const char *why)
{
	return blkalign_error_set(reterr, -ENOTSUP, m->records->name, m->places[PLACE_BITMAP].offset_bytes,
				  "%s cannot be written safely: its bitmap %s", keep->name, why);
}

static int check(const struct keep *keep, const struct member *m, const struct mdbitmap *info, struct blkalign_error *reterr)
{
	static const uint8_t none[16];

	if (info->version == MDBITMAP_CLUSTERED || info->nodes > 1)
		return refuse(keep, m, reterr, "is clustered, so that other hosts may be writing");
	if (info->version == MDBITMAP_LOCKLESS)
		return refuse(keep, m, reterr, "is a lockless one, which is not written here");
	if (info->version == MDBITMAP_HOST_ENDIAN && keep->big_endian)
		return refuse(keep, m, reterr, "has the byte order of the machine that made it");
	if (memcmp(info->array_uuid, keep->bitmap_uuid, 16) != 0 && memcmp(info->array_uuid, none, 16) != 0)
		return refuse(keep, m, reterr, "belongs to another array");
	if (info->sync_bytes != keep->unit_bytes)
		return blkalign_error_set(reterr, -ENOTSUP, m->records->name, m->places[PLACE_BITMAP].offset_bytes,
					  "%s cannot be written safely: its bitmap covers %" PRIu64 " bytes instead of %" PRIu64,
					  keep->name, info->sync_bytes, keep->unit_bytes);
	if (info->reserved_bytes && mdbitmap_stored_bytes(info) > info->reserved_bytes)
		return refuse(keep, m, reterr, "is larger than the space reserved for it");
	return 0;
}

static int allocate(struct bits *b)
{
	size_t chunk_bytes = (size_t)(b->info.chunks + 7) / 8;

	b->stored_bytes = mdbitmap_stored_bytes(&b->info);
	b->pages = (b->stored_bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	b->area = aligned_alloc(PAGE_BYTES, (size_t)b->pages * PAGE_BYTES);
	b->dirty = calloc((size_t)b->pages, sizeof(*b->dirty));
	b->set_at = calloc((size_t)b->pages, sizeof(*b->set_at));
	b->in_flight = calloc((size_t)b->pages, sizeof(uint32_t *));
	b->unflushed = calloc(1, chunk_bytes ? chunk_bytes : 1);
	b->sticky = calloc(1, chunk_bytes ? chunk_bytes : 1);
	if (!b->area || !b->dirty || !b->set_at || !b->in_flight || !b->unflushed || !b->sticky)
		return -ENOMEM;
	memset(b->area, 0, (size_t)b->pages * PAGE_BYTES);
	return 0;
}

/* The space that a bitmap of this size takes on each member, checked against all else there. */
static int place(struct keep *keep, struct blkalign_error *reterr)
{
	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];
		int r;

		if (m->slot == BLKALIGN_SLOT_NONE) {
			m->places[PLACE_BITMAP] = (struct place){ 0 };
			continue;
		}
		if (!m->places[PLACE_BITMAP].length_bytes)
			return refuse(keep, m, reterr, "is not on this member");
		m->places[PLACE_BITMAP].length_bytes = round_up_u64(keep->bits.stored_bytes, member_block_bytes(m));
		r = member_check_places(keep->name, m, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Add the bits of one member's copy. True in *ret_current when it was kept in step. */
static int merge(struct keep *keep, struct member *m, uint8_t *buffer, bool *ret_current, struct blkalign_error *reterr)
{
	struct bits *b = &keep->bits;
	struct mdbitmap info;
	int r = dev_read(m->records, m->places[PLACE_BITMAP].offset_bytes, buffer, (size_t)b->stored_bytes, reterr);

	*ret_current = false;
	if (r < 0)
		return r;
	if (mdbitmap_decode(buffer, (size_t)b->stored_bytes, &info, NULL) != 0 || check(keep, m, &info, NULL) < 0 ||
	    info.chunks != b->info.chunks || info.chunk_bytes != b->info.chunk_bytes || info.events < keep->events ||
	    info.state_flags & (FLAG_STALE | FLAG_WRITE_ERROR))
		return 0;
	*ret_current = true;
	for (uint64_t i = MDBITMAP_BYTES; i < b->stored_bytes; i++)
		b->area[i] |= buffer[i];
	return 0;
}

static int read_all(struct keep *keep, size_t freshest, struct blkalign_error *reterr)
{
	_cleanup_free_ uint8_t *buffer = malloc((size_t)keep->bits.pages * PAGE_BYTES);
	struct bits *b = &keep->bits;
	bool any = false, current;
	int r;

	if (!buffer)
		return -ENOMEM;
	/* With what lies behind the last bit: it stays as it is. */
	r = dev_read(keep->members[freshest]->records, keep->members[freshest]->places[PLACE_BITMAP].offset_bytes, b->area,
		     (size_t)keep->members[freshest]->places[PLACE_BITMAP].length_bytes, reterr);
	for (size_t i = 0; i < keep->count && r >= 0; i++) {
		struct member *m = keep->members[i];

		/* Who is being rebuilt may have a copy from before. It gets ours. */
		if (m->slot == BLKALIGN_SLOT_NONE || (!member_is_in_sync(m) && i != freshest))
			continue;
		r = merge(keep, m, buffer, &current, reterr);
		any = any || current;
	}
	if (r < 0)
		return r;
	if (!any) {
		memset(b->area + MDBITMAP_BYTES, 0xff, (size_t)(b->info.chunks + 7) / 8);
		mdbitmap_put_flags(b->area, b->info.state_flags & ~FLAG_STALE);
	}
	/* Also where all copies are the same: what was read may be in a cache only, of a device whose flush failed. */
	b->everywhere = true;
	return 0;
}

/* Of an array that never was in sync: all bits are set. */
static int begin_fresh(struct keep *keep, const struct member *m, struct blkalign_error *reterr)
{
	struct bits *b = &keep->bits;
	int r;

	b->info = (struct mdbitmap){ .version = MDBITMAP_NORMAL,
				     .sync_bytes = keep->unit_bytes,
				     .chunk_bytes = m->fresh_region_bytes,
				     .chunks = keep->unit_bytes / m->fresh_region_bytes + (keep->unit_bytes % m->fresh_region_bytes != 0),
				     .daemon_sleep_seconds = 5 };
	if (b->info.chunks > MDBITMAP_BITS_MAX)
		return refuse(keep, m, reterr, "would need more bits than are kept");
	r = allocate(b);
	if (r >= 0)
		r = place(keep, reterr);
	if (r < 0)
		return r;
	memset(b->area, 0xff, (size_t)b->pages * PAGE_BYTES);
	mdbitmap_encode(&b->info, b->area);
	b->everywhere = true;
	b->present = true;
	return 0;
}

int bits_load(struct keep *keep, size_t freshest, struct blkalign_error *reterr)
{
	struct member *m = keep->members[freshest];
	struct bits *b = &keep->bits;
	int r;

	if (!(m->features & MD1_BITMAP))
		return 0;
	if (m->fresh_region_bytes)
		return begin_fresh(keep, m, reterr);
	r = mdbitmap_read(m->records, m->places[PLACE_BITMAP].offset_bytes, &b->info, reterr);
	if (r > 0)
		return refuse(keep, m, reterr, "is not where the superblock says that it is");
	if (r >= 0)
		r = check(keep, m, &b->info, reterr);
	if (r >= 0)
		r = allocate(b);
	if (r >= 0)
		r = place(keep, reterr);
	if (r >= 0)
		r = read_all(keep, freshest, reterr);
	if (r < 0)
		return r;
	b->events_cleared = b->info.events_cleared;
	b->present = true;
	return 0;
}
