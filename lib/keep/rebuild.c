/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A member that takes the place of one that is missing. Its superblock is a copy of another's with its own identity, and goes to the disk before the others list it; from
 * then on it is a member like the others, in sync up to its recovery offset (super_1_sync()). 0.90 has no such offset: there it is a spare
 * until the end.
 */
#include <inttypes.h>

#include "keep/keep_priv.h"

struct member *template_of(const struct keep *keep)
{
	struct member *best = NULL;

	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];

		if (member_is_in_sync(m) && (!best || m->events > best->events))
			best = m;
	}
	return best;
}

/* A place that keeps its distance from the superblock; before byte 0 it ends up beyond any device, and is refused. */
static struct place moved(const struct member *template, enum place_kind kind, uint64_t super_bytes)
{
	const struct place *p = &template->places[kind];
	uint64_t distance = p->offset_bytes - template->places[PLACE_SUPER].offset_bytes;

	return p->length_bytes ? (struct place){ super_bytes + distance, p->length_bytes } : (struct place){ 0 };
}

/* Up to the end of the device, or as far from a superblock at the end as on the template. */
static uint64_t data_room(const struct keep *keep, const struct member *template, const struct dev *dev, uint64_t super_bytes)
{
	const struct place *data = &template->places[PLACE_DATA], *super = &template->places[PLACE_SUPER];
	uint64_t end = round_down_u64(dev->size_bytes, 512);

	if (keep->metadata == KEEP_DMRAID)
		return end > data->offset_bytes ? end - data->offset_bytes : 0;
	if (keep->metadata == KEEP_MD0)
		end = super_bytes;
	else if (super->offset_bytes > data->offset_bytes)
		end = super_bytes - (super->offset_bytes - data->offset_bytes - data->length_bytes);
	return end > data->offset_bytes && end <= dev->size_bytes ? end - data->offset_bytes : 0;
}

static int place_all(struct keep *keep, const struct member *template, struct member *m, struct blkalign_error *reterr)
{
	uint64_t super_bytes = keep->kind->super_place(template, m->records), room;

	room = super_bytes == UINT64_MAX ? 0 : data_room(keep, template, m->dev, super_bytes);
	if (room < keep->geometry->used_bytes)
		return blkalign_error_set(reterr, -ENOSPC, m->dev->name, BLKALIGN_UNKNOWN,
					  "too small for a member of %s: %" PRIu64 " bytes of data are needed, and %" PRIu64 " fit",
					  keep->name, keep->geometry->used_bytes, room);
	m->places[PLACE_SUPER] = (struct place){ super_bytes, template->places[PLACE_SUPER].length_bytes };
	m->places[PLACE_BITMAP] = moved(template, PLACE_BITMAP, super_bytes);
	m->places[PLACE_LOG] = moved(template, PLACE_LOG, super_bytes);
	m->places[PLACE_BAD_BLOCKS] = moved(template, PLACE_BAD_BLOCKS, super_bytes);
	m->places[PLACE_DATA] = (struct place){ template->places[PLACE_DATA].offset_bytes, room };
	if (keep->metadata == KEEP_MD0)
		m->places[PLACE_DATA].length_bytes = template->places[PLACE_DATA].length_bytes;
	return member_check_places(keep->name, m, reterr);
}

/* --- the new member --- */

/* What the superblock will point at comes first. */
static int write_areas(struct keep *keep, struct member *m, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	uint64_t length = m->places[PLACE_BAD_BLOCKS].length_bytes;
	_cleanup_free_ uint8_t *list = NULL;
	int r = 0;

	if (m->places[PLACE_LOG].length_bytes)
		r = log_empty(keep, m, reterr);
	if (r < 0 || !length)
		return r;
	list = aligned_alloc(PAGE_BYTES, round_up_u64(length, PAGE_BYTES));
	r = list ? md1_badblocks_encode(NULL, 0, 0, list, (size_t)length) : -ENOMEM;
	if (r >= 0)
		r = output_add(&out, m, PLACE_BAD_BLOCKS, 0, list, (size_t)length);
	return r < 0 ? r : output_write(keep, &out, reterr);
}

static int failed(const struct keep *keep, const struct member *m, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EIO, m->dev->name, BLKALIGN_UNKNOWN,
				  "the new member of %s failed a write or flush of its records; it is listed as faulty", keep->name);
}

/* The spare that `dev` is so far gives its number and identity to the new member. */
static struct member *take_spare(struct keep *keep, const struct dev *dev)
{
	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];

		if (m->dev != dev || m->slot != BLKALIGN_SLOT_NONE || m->failed)
			continue;
		memmove(&keep->members[i], &keep->members[i + 1], (keep->count - i - 1) * sizeof(struct member *));
		keep->count--;
		return m;
	}
	return NULL;
}

static int join(struct keep *keep, struct member *m, const struct member *spare, struct blkalign_error *reterr)
{
	struct member *template = template_of(keep);
	int r;

	if (!template)
		return broken(keep, reterr);
	m->number = spare ? spare->number : keep->kind->free_number(keep, m);
	if (m->number == UINT32_MAX)
		return blkalign_error_set(reterr, -ENOSPC, keep->name, BLKALIGN_UNKNOWN, "the superblocks have no free entry for a member");
	r = place_all(keep, template, m, reterr);
	memcpy(m->super, template->super, PAGE_BYTES);
	if (r >= 0)
		r = keep->kind->make_super(keep, m, spare);
	if (r < 0)
		return r;
	keep->members[keep->count++] = m;
	r = write_areas(keep, m, reterr);
	keep->bits.everywhere = true;
	if (r >= 0)
		r = records_update(keep, reterr);
	return r >= 0 && m->failed ? failed(keep, m, reterr) : r;
}

static int check(const struct keep *keep, const struct dev *dev, const struct dev *meta, uint32_t slot, struct blkalign_error *reterr)
{
	if (keep->broken)
		return broken(keep, reterr);
	if (!keep->redundant || slot >= keep->geometry->members || member_at(keep, slot))
		return blkalign_error_set(reterr, -EINVAL, keep->name, BLKALIGN_UNKNOWN, "no member is missing in slot %u", slot);
	if ((keep->metadata == KEEP_DMRAID) != (meta != NULL))
		return blkalign_error_set(reterr, -EINVAL, dev->name, BLKALIGN_UNKNOWN, "the records of this kind of member lie elsewhere");
	if (!dev->writable || (meta && !meta->writable))
		return blkalign_error_set(reterr, -EROFS, dev->name, BLKALIGN_UNKNOWN, "opened for reading only");
	for (size_t i = 0; i < keep->count; i++)
		if (keep->members[i]->dev == dev && (keep->members[i]->slot != BLKALIGN_SLOT_NONE || keep->members[i]->failed))
			return blkalign_error_set(reterr, -EINVAL, dev->name, BLKALIGN_UNKNOWN, "this is a member of %s already",
						  keep->name);
	return 0;
}

static int add(struct keep *keep, struct dev *dev, struct dev *meta, uint32_t slot, struct member **ret, struct blkalign_error *reterr)
{
	struct member **members = reallocarray(keep->members, keep->count + 1, sizeof(struct member *)), *m, *spare;
	size_t count = keep->count;
	int r;

	if (!members)
		return -ENOMEM;
	keep->members = members;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = (struct member){ .dev = dev, .records = meta ? meta : dev, .slot = slot, .super = aligned_alloc(PAGE_BYTES, PAGE_BYTES) };
	spare = take_spare(keep, dev);
	r = m->super ? join(keep, m, spare, reterr) : -ENOMEM;
	*ret = m;
	if (keep->count == count - (spare != NULL)) { /* it did not join */
		member_free(m);
		if (spare)
			keep->members[keep->count++] = spare;
	} else {
		member_free(spare);
	}
	return r;
}

int keep_add_member(struct keep *keep, struct dev *dev, struct dev *meta, uint32_t slot, uint64_t *ret_data_offset_bytes,
		    struct blkalign_error *reterr)
{
	struct member *m = NULL;
	int r;

	pthread_mutex_lock(&keep->lock);
	io_take(keep);
	r = check(keep, dev, meta, slot, reterr);
	if (r >= 0)
		r = add(keep, dev, meta, slot, &m, reterr);
	if (r >= 0)
		*ret_data_offset_bytes = m->places[PLACE_DATA].offset_bytes;
	io_give(keep);
	pthread_mutex_unlock(&keep->lock);
	return r;
}

/* --- how far it is rebuilt --- */

static int record_checkpoint(struct keep *keep, struct member *m, uint64_t recovered_bytes, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	uint64_t unit = keep->geometry->chunk_bytes ? keep->geometry->chunk_bytes : 64 * KIB;
	unsigned lost = keep->lost;
	int r;

	m->recovery_bytes = round_down_u64(recovered_bytes, unit);
	if (!keep->kind->put_recovery(keep, m))
		return 0;
	r = output_add(&out, m, PLACE_SUPER, 0, m->super, (size_t)m->places[PLACE_SUPER].length_bytes);
	if (r >= 0)
		r = output_write(keep, &out, reterr);
	return r >= 0 && lost != keep->lost ? records_update(keep, reterr) : r;
}

static int record_end(struct keep *keep, struct member *m, struct blkalign_error *reterr)
{
	int r = 0;

	m->recovery_bytes = UINT64_MAX;
	keep->kind->end_recovery(keep, m);
	if (whole(keep)) {
		bits_unstick(&keep->bits);
		r = bits_clean(keep, reterr);
	}
	return r < 0 ? r : records_update(keep, reterr);
}

int keep_recovered(struct keep *keep, uint32_t slot, uint64_t recovered_bytes, struct blkalign_error *reterr)
{
	struct member *m;
	int r = 0;

	pthread_mutex_lock(&keep->lock);
	io_take(keep);
	m = member_at(keep, slot);
	if (keep->broken)
		r = broken(keep, reterr);
	else if (!m)
		r = blkalign_error_set(reterr, -EIO, keep->name, BLKALIGN_UNKNOWN, "the member in slot %u failed while it was rebuilt",
				       slot);
	else if (m->recovery_bytes != UINT64_MAX && recovered_bytes != UINT64_MAX)
		r = record_checkpoint(keep, m, recovered_bytes, reterr);
	else if (m->recovery_bytes != UINT64_MAX)
		r = record_end(keep, m, reterr);
	if (r >= 0 && m && m->failed)
		r = failed(keep, m, reterr);
	io_give(keep);
	pthread_mutex_unlock(&keep->lock);
	return r;
}
