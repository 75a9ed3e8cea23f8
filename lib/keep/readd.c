/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A former member, and what it lacks. The bitmap has a bit for every chunk that was written since the member left, as long as bits were not cleared meanwhile: its events tell (md.c,
 * super_1_validate(); md-bitmap.c, events_cleared). The kernel stops there. Here the member's own bitmap counts as well: what was written to it alone, by a host that had
 * only this member, has bits in it too. But where it was in use without one of those that are here, bits may have been cleared since: then it needs everything.
 */
#include "keep/keep_priv.h"

#define FLAG_STALE	 (1U << 1)
#define FLAG_WRITE_ERROR (1U << 2)

/* By its own superblock all who are here now were there when it left. */
static bool knows_all(const struct keep *keep, const struct loaded *loaded)
{
	for (size_t i = 0; i < keep->count; i++)
		if (member_is_in_sync(keep->members[i]) && !keep->kind->knows(loaded, keep->members[i]))
			return false;
	return true;
}

/* It was in sync when it left, has its data where it will be, all of it, and left after bits were cleared last. */
static bool may_come_back(const struct keep *keep, const struct member *m, const struct member *template)
{
	return m->features & MD1_BITMAP && !(m->features & MD1_BAD_BLOCKS) && m->recovery_bytes == UINT64_MAX && !m->replacement &&
	       m->places[PLACE_DATA].offset_bytes == template->places[PLACE_DATA].offset_bytes &&
	       m->places[PLACE_DATA].length_bytes >= keep->geometry->used_bytes && m->events >= keep->bits.events_cleared &&
	       m->events <= keep->events;
}

/* The bits of its own bitmap, when that was kept in step with its superblock, and never had bits cleared that the array's still had. */
static bool add_own_bits(const struct keep *keep, const struct member *m, uint8_t *area, uint8_t *buffer)
{
	const struct bits *b = &keep->bits;
	struct mdbitmap info;

	if (dev_read(m->records, m->places[PLACE_BITMAP].offset_bytes, buffer, (size_t)b->stored_bytes, NULL) < 0 ||
	    mdbitmap_decode(buffer, (size_t)b->stored_bytes, &info, NULL) != 0)
		return false;
	if (memcmp(info.array_uuid, b->info.array_uuid, 16) != 0 || info.version != b->info.version || info.chunks != b->info.chunks ||
	    info.chunk_bytes != b->info.chunk_bytes || info.events < m->events || info.events_cleared > b->events_cleared ||
	    info.state_flags & (FLAG_STALE | FLAG_WRITE_ERROR))
		return false;
	for (uint64_t i = MDBITMAP_BYTES; i < b->stored_bytes; i++)
		area[i] |= buffer[i];
	return true;
}

static int find_ranges(const struct keep *keep, const struct member *m, struct byte_range **ret_ranges, size_t *ret_count)
{
	const struct bits *b = &keep->bits;
	_cleanup_free_ uint8_t *area = malloc((size_t)b->stored_bytes);
	_cleanup_free_ uint8_t *buffer = malloc((size_t)b->stored_bytes);
	_cleanup_free_ struct mdbitmap_range *found = NULL;
	size_t count = 0;
	int r;

	if (!area || !buffer)
		return -ENOMEM;
	memcpy(area, b->area, (size_t)b->stored_bytes);
	if (!add_own_bits(keep, m, area, buffer))
		return BLKALIGN_ABSENT;
	r = mdbitmap_ranges(&b->info, area + MDBITMAP_BYTES, 0, &found, &count);
	if (r < 0)
		return r;
	*ret_ranges = calloc(count ? count : 1, sizeof(**ret_ranges));
	if (!*ret_ranges)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		(*ret_ranges)[i] = (struct byte_range){ found[i].offset_bytes, found[i].length_bytes };
	*ret_count = count;
	return 0;
}

static int lacking(struct keep *keep, struct dev *dev, struct dev *meta, uint32_t slot, struct byte_range **ret_ranges, size_t *ret_count)
{
	const struct keep_array array = { .name = keep->name, .geometry = keep->geometry };
	const struct member *template = template_of(keep);
	struct keep_member in = { .dev = dev, .metadata = keep->metadata, .slot = slot, .meta = meta };
	struct loaded *loaded = calloc(1, sizeof(*loaded));
	struct member m = { 0 };
	int r = loaded ? BLKALIGN_ABSENT : -ENOMEM;

	if (loaded && template && keep->bits.present) {
		in.super_bytes = keep->kind->super_place(template, meta ? meta : dev);
		if (in.super_bytes != UINT64_MAX && member_load(&array, &in, false, &m, loaded, NULL) == 0 &&
		    keep->kind->had_slot(keep, loaded, slot) && knows_all(keep, loaded) && may_come_back(keep, &m, template))
			r = find_ranges(keep, &m, ret_ranges, ret_count);
	}
	free(m.super);
	free(loaded);
	return r;
}

int keep_lacking(struct keep *keep, struct dev *dev, struct dev *meta, uint32_t slot, struct byte_range **ret_ranges, size_t *ret_count)
{
	int r;

	pthread_mutex_lock(&keep->lock);
	r = keep->broken ? BLKALIGN_ABSENT : lacking(keep, dev, meta, slot, ret_ranges, ret_count);
	pthread_mutex_unlock(&keep->lock);
	return r;
}
