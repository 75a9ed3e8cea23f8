/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One update of the records: bitmap superblocks first, then the superblocks, each flushed (md_update_sb()). Events rise by one with each update, never by more, because
 * a power cut in the middle leaves some members with the old number, and one less is still current.
 */
#include "keep/keep_priv.h"

struct member *member_at(const struct keep *keep, uint32_t slot)
{
	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];

		if (m->slot == slot && !m->failed && !m->replacement)
			return m;
	}
	return NULL;
}

bool whole(const struct keep *keep)
{
	for (uint32_t slot = 0; slot < keep->geometry->members; slot++) {
		const struct member *m = member_at(keep, slot);

		if (!m || !member_is_in_sync(m))
			return false;
	}
	return true;
}

int broken(const struct keep *keep, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EIO, keep->name, BLKALIGN_UNKNOWN,
				  "nothing more is written to this array: too few members are left, or its records could not be written");
}

int enough_members(struct keep *keep, struct blkalign_error *reterr)
{
	for (uint32_t slot = 0; slot < keep->geometry->members; slot++) {
		const struct member *m = member_at(keep, slot);

		keep->present[slot] = m && member_is_in_sync(m);
	}
	if (raid_survives(keep->geometry, keep->present))
		return 0;
	keep->broken = true;
	pthread_cond_broadcast(&keep->changed);
	return blkalign_error_set(reterr, -EIO, keep->name, BLKALIGN_UNKNOWN,
				  "too few members are left after %u failed; nothing more is written to them", keep->lost);
}

static void note_failure(struct keep *keep, const struct member *m, const struct dev_request *failed)
{
	struct blkalign_error err = { 0 };
	struct map_failure failure = { .slot = m->slot, .member = m->dev->name };

	dev_describe(failed, &err);
	failure.why = strdup(err.message);
	if (!failure.why || vec_push(&keep->failures, failure) < 0)
		free((void *)(uintptr_t)failure.why);
	else
		atomic_fetch_add(&keep->failures_count, 1);
}

void member_lost(struct keep *keep, struct member *m, const struct dev_request *failed)
{
	if (m->failed)
		return;
	if (failed)
		note_failure(keep, m, failed);
	m->failed = true;
	keep->lost++;
	keep->kind->list_missing(keep, m);
	/* A member one behind still counts as current: it must fall two behind whatever it may have got. */
	if (keep->events_needed < m->events + 2)
		keep->events_needed = m->events + 2;
}

bool keep_failure(struct keep *keep, size_t index, struct map_failure *ret)
{
	if (index >= atomic_load(&keep->failures_count))
		return false;
	pthread_mutex_lock(&keep->lock);
	*ret = keep->failures.data[index];
	pthread_mutex_unlock(&keep->lock);
	return true;
}

uint64_t records_checkpoint(const struct keep *keep)
{
	uint64_t unit = keep->geometry->chunk_bytes ? keep->geometry->chunk_bytes : 64 * KIB;

	return keep->unsynced.count ? round_down_u64(keep->unsynced.data[0].offset_bytes, unit) : UINT64_MAX;
}

/* --- bringing it to the disks --- */

/*
 * Members that lag one behind go first: after the others they would be two behind. A new one goes last: alone it would be the freshest, and have no data.
 */
static unsigned turn_of(const struct keep *keep, const struct member *m) { return !m->events ? 2 : m->events + 1 == keep->events; }

#define TURNS 3U

/* Superblocks of which several sectors change go one by one, so that a power cut tears one of them at most. */
static int write_supers(struct keep *keep, unsigned turn, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	int r = 0;

	for (size_t i = 0; i < keep->count && r >= 0; i++) {
		struct member *m = keep->members[i];
		size_t changed;

		if (m->failed || m->events >= keep->events || turn_of(keep, m) != turn)
			continue;
		changed = keep->kind->compose(keep, m);
		r = output_add(&out, m, PLACE_SUPER, 0, m->super, (size_t)m->places[PLACE_SUPER].length_bytes);
		m->events = keep->events;
		if (r >= 0 && changed > 512)
			r = output_write(keep, &out, reterr);
	}
	return r < 0 ? r : output_write(keep, &out, reterr);
}

/*
 * A device whose flush failed gives back what it never stored. Superblocks that were read in such a state and are then written on top of would, after a power cut, be two updates
 * apart: too far to be put together again. So they go out once more as they are. Bitmaps do so with the first update, see bits_load().
 */
static int confirm_supers(struct keep *keep, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	_cleanup_free_ uint8_t *copies = aligned_alloc(PAGE_BYTES, keep->count * PAGE_BYTES);
	int r = copies ? 0 : -ENOMEM;

	for (size_t i = 0; i < keep->count && r >= 0; i++) {
		struct member *m = keep->members[i];
		size_t length = (size_t)m->places[PLACE_SUPER].length_bytes;

		if (m->failed || dev_read(m->records, m->places[PLACE_SUPER].offset_bytes, copies + i * PAGE_BYTES, length, NULL) < 0)
			continue;
		r = output_add(&out, m, PLACE_SUPER, 0, copies + i * PAGE_BYTES, length);
		if (r >= 0 && (keep->metadata == KEEP_MD0 || (keep->metadata == KEEP_MD1 && md1_stored_bytes(m->super) > 512)))
			r = output_write(keep, &out, reterr);
	}
	return r < 0 ? r : output_write(keep, &out, reterr);
}

static int update_once(struct keep *keep, struct blkalign_error *reterr)
{
	int r;

	keep->events++;
	r = bits_write(keep, reterr);
	for (unsigned turn = 0; turn < TURNS && r >= 0; turn++)
		r = write_supers(keep, turn, reterr);
	return r;
}

int records_update(struct keep *keep, struct blkalign_error *reterr)
{
	unsigned lost;
	int r = keep->confirmed ? 0 : confirm_supers(keep, reterr);

	keep->confirmed = true;
	do {
		lost = keep->lost;
		if (r >= 0)
			r = enough_members(keep, reterr);
		if (r >= 0)
			r = update_once(keep, reterr);
	} while (r >= 0 && (lost != keep->lost || keep->events < keep->events_needed));
	if (r < 0) {
		keep->broken = true;
		pthread_cond_broadcast(&keep->changed);
	}
	return r;
}

int record_losses(struct keep *keep, unsigned lost, int r, struct blkalign_error *reterr)
{
	int recorded = lost != keep->lost && !keep->broken ? records_update(keep, r < 0 ? NULL : reterr) : 0;

	return r < 0 ? r : recorded;
}

int records_settle(struct keep *keep, struct blkalign_error *reterr)
{
	unsigned lost = keep->lost;
	int r;

	keep->active = false;
	r = members_flush(keep, reterr);
	/* A member lost here has to be seen as lost before anything is cleared or called clean. */
	if (r >= 0 && lost != keep->lost)
		r = records_update(keep, reterr);
	if (r >= 0)
		r = bits_clean(keep, reterr);
	if (r >= 0) {
		keep->say_active = false;
		keep->resynced = false;
		r = records_update(keep, reterr);
	}
	if (r < 0)
		keep->broken = true;
	return r;
}
