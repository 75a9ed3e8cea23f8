/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keep/keep_priv.h"

#define EVENTS_MAX (UINT64_MAX / 2)

struct map_md_guard *keep_guard(struct keep *keep) { return &keep->guard; }
bool keep_was_dirty(const struct keep *keep) { return keep->was_dirty; }

const struct byte_range *keep_doubtful(const struct keep *keep, size_t *ret_count)
{
	*ret_count = keep->doubtful.count;
	return keep->doubtful.data;
}

static void keep_free(struct keep *keep)
{
	for (size_t i = 0; i < keep->count; i++)
		member_free(keep->members[i]);
	free(keep->members);
	free(keep->present);
	free(keep->name);
	for (size_t i = 0; i < keep->failures.count; i++)
		free((void *)(uintptr_t)keep->failures.data[i].why);
	vec_done(&keep->failures);
	ranges_done(&keep->doubtful);
	ranges_done(&keep->unsynced);
	bits_done(&keep->bits);
	log_done(&keep->log);
	pthread_mutex_destroy(&keep->lock);
	pthread_cond_destroy(&keep->changed);
	free(keep);
}

static struct keep *keep_new(const struct keep_array *array)
{
	struct keep *keep = calloc(1, sizeof(*keep));

	if (!keep)
		return NULL;
	pthread_mutex_init(&keep->lock, NULL);
	pthread_cond_init(&keep->changed, NULL);
	keep->ops = keep_guard_ops;
	keep->guard.ops = &keep->ops;
	keep->geometry = array->geometry;
	keep->unit_bytes = array->geometry->level == RAID_10 ? array->geometry->array_bytes : array->geometry->used_bytes;
	keep->redundant = array->geometry->level >= 1;
	keep->metadata = array->members[array->freshest].metadata;
	keep->kind = record_kind(keep->metadata);
	keep->name = strdup(array->name);
	keep->members = calloc(array->count, sizeof(struct member *));
	keep->present = calloc(array->geometry->members, sizeof(*keep->present));
	if (keep->name && keep->members && keep->present)
		return keep;
	keep_free(keep);
	return NULL;
}

static int refuse(const struct keep *keep, const struct member *m, struct blkalign_error *reterr, const char *why)
{
	return blkalign_error_set(reterr, -ENOTSUP, m->dev->name, m->places[PLACE_SUPER].offset_bytes, "%s cannot be written safely: %s",
				  keep->name, why);
}

/* --- one member after the other --- */

/* Words of 0.90 as the bitmap has them: the text form has the most significant byte first. */
static void bitmap_uuid(struct keep *keep)
{
	bool swap = keep->metadata == KEEP_MD0 && !keep->big_endian;

	for (unsigned i = 0; i < 16; i++)
		keep->bitmap_uuid[i] = keep->array_uuid[swap ? i ^ 3 : i];
}

static int load_member(struct keep *keep, const struct keep_array *array, size_t index, bool writing, struct loaded *loaded,
		       struct blkalign_error *reterr)
{
	const struct keep_member *in = &array->members[index];
	struct member *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	keep->members[index] = m;
	if (keep->count <= index)
		keep->count = index + 1;
	r = member_load(array, in, writing, m, loaded, reterr);
	if (r < 0)
		return r;
	if (index == array->freshest)
		keep->kind->take_array(keep, loaded);
	if (in->metadata != keep->metadata || !keep->kind->same_array(keep, loaded))
		return refuse(keep, m, reterr, "this superblock describes another array than the others do");
	if (m->slot != BLKALIGN_SLOT_NONE && !keep->kind->same_shape(keep, loaded))
		return refuse(keep, m, reterr,
			      "this superblock has another size, chunk or layout than the freshest one; let the kernel assemble it once");
	if (writing && m->events > EVENTS_MAX)
		return refuse(keep, m, reterr, "its event count is so high that it could begin again from 0");
	if (keep->kind->take_own)
		keep->kind->take_own(keep, loaded);
	if (m->slot != BLKALIGN_SLOT_NONE && m->slot >= keep->geometry->members)
		return refuse(keep, m, reterr, "this member was given a slot that the array does not have");
	if (keep->redundant && m->slot != BLKALIGN_SLOT_NONE && m->places[PLACE_DATA].length_bytes < keep->geometry->used_bytes)
		return refuse(keep, m, reterr, "the data area of this member is too small for the array");
	return writing ? member_check_places(keep->name, m, reterr) : 0;
}

static int load_members(struct keep *keep, const struct keep_array *array, bool writing, struct blkalign_error *reterr)
{
	struct loaded *loaded = malloc(sizeof(*loaded));
	int r;

	if (!loaded)
		return -ENOMEM;
	r = load_member(keep, array, array->freshest, writing, loaded, reterr);
	for (size_t i = 0; i < array->count && r >= 0; i++)
		if (i != array->freshest)
			r = load_member(keep, array, i, writing, loaded, reterr);
	free(loaded);
	bitmap_uuid(keep);
	return r;
}

/* --- what they are to each other --- */

/* Of two members with one slot the one marked as replacement steps back; a replacement alone is the slot's member. */
static int settle_slots(struct keep *keep, struct blkalign_error *reterr)
{
	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];
		bool only = true;

		for (size_t k = 0; k < keep->count; k++) {
			const struct member *other = keep->members[k];

			if (k == i)
				continue;
			if (other->number == m->number)
				return refuse(keep, m, reterr, "two members have the same number");
			if (m->slot == BLKALIGN_SLOT_NONE || other->slot != m->slot)
				continue;
			only = false;
			if (!m->replacement && !other->replacement)
				return refuse(keep, m, reterr, "two members have the same slot");
		}
		if (m->replacement && only)
			m->replacement = false;
	}
	return 0;
}

/* A replacement does not get what is written from now on: it starts again. */
static void restart_replacements(struct keep *keep)
{
	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];

		if (!m->replacement || keep->metadata != KEEP_MD1)
			continue;
		md1_put_recovery(m->super, 0);
		md1_put_features(m->super, 0, MD1_RECOVERY_BITMAP);
		m->recovery_bytes = 0;
	}
}

bool has_number(const struct keep *keep, uint32_t number)
{
	for (size_t i = 0; i < keep->count; i++)
		if (keep->members[i]->number == number)
			return true;
	return false;
}

/* Who is listed as working but is not here must not come back with what it had. */
static void settle_absent(struct keep *keep)
{
	if (keep->kind->settle_absent(keep))
		keep->events_needed = keep->events + 2;
}

static int settle_roles(struct keep *keep, struct blkalign_error *reterr)
{
	for (size_t i = 0; i < keep->count; i++) {
		const char *why = keep->kind->settle_role(keep, keep->members[i]);

		if (why)
			return refuse(keep, keep->members[i], reterr, why);
	}
	return 0;
}

static void settle_events(struct keep *keep)
{
	for (size_t i = 0; i < keep->count; i++) {
		struct member *m = keep->members[i];

		if (m->slot == BLKALIGN_SLOT_NONE)
			m->events = 0; /* a spare's count says nothing: it is not written each time */
		else if (keep->events < m->events)
			keep->events = m->events;
	}
}

/* --- what is in doubt --- */

uint64_t found_checkpoint(const struct keep *keep)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < keep->count && keep->redundant; i++)
		if (keep->members[i]->slot != BLKALIGN_SLOT_NONE && keep->members[i]->resync_bytes < least)
			least = keep->members[i]->resync_bytes;
	return least;
}

/* Bits whose chunk ends at the checkpoint or behind it count; while degraded, all: those below may be what the missing member lacks, or not. */
static uint64_t first_chunk(const struct keep *keep, uint64_t checkpoint)
{
	uint64_t chunk_bytes = keep->bits.info.chunk_bytes;

	if (!checkpoint || !whole(keep))
		return 0;
	return (checkpoint - 1) / chunk_bytes;
}

/* Logs that were whole leave nothing in doubt but their own rows, until they are replayed. */
static int find_logged(struct keep *keep, uint64_t checkpoint)
{
	struct replay *replay = &keep->log.replay;
	int r = replay_plan(keep, checkpoint, replay);

	keep->log.replayed = r < 0;
	keep->log.generation = replay->generation;
	if (r >= 0 && !replay->complete)
		return ranges_add(&keep->doubtful, checkpoint, keep->unit_bytes - checkpoint);
	for (size_t i = 0; i < replay->count && r >= 0; i++)
		r = ranges_add(&keep->doubtful, replay->jobs[i].stripe_bytes, keep->geometry->chunk_bytes);
	if (r >= 0)
		ranges_sort(&keep->doubtful);
	return r;
}

static int find_doubtful(struct keep *keep)
{
	uint64_t checkpoint = found_checkpoint(keep);
	int r;

	keep->log.replayed = true;
	keep->found_resync_bytes = checkpoint;
	if (keep->kind->bits_tell_dirt && !keep->ran_degraded && bits_any(&keep->bits))
		checkpoint = 0;
	keep->was_dirty = checkpoint < keep->unit_bytes;
	if (!keep->was_dirty)
		return 0;
	if (keep->log.present)
		r = find_logged(keep, checkpoint);
	else if (keep->bits.present)
		r = bits_ranges(&keep->bits, first_chunk(keep, checkpoint), &keep->doubtful);
	else
		r = ranges_add(&keep->doubtful, checkpoint, keep->unit_bytes - checkpoint);
	return r < 0 ? r : ranges_copy(&keep->unsynced, &keep->doubtful);
}

int keep_load(const struct keep_array *array, bool writing, struct keep **ret_keep, struct blkalign_error *reterr)
{
	struct keep *keep;
	int r;

	if (array->freshest >= array->count)
		return blkalign_error_set(reterr, -EINVAL, array->name, BLKALIGN_UNKNOWN, "none of its members speaks for the array");
	keep = keep_new(array);
	if (!keep)
		return -ENOMEM;
	r = load_members(keep, array, writing, reterr);
	if (r >= 0)
		r = settle_slots(keep, reterr);
	if (r < 0) {
		keep_free(keep);
		return r;
	}
	log_load(keep, array->freshest);
	*ret_keep = keep;
	return 0;
}

static int settle(struct keep *keep, size_t freshest, struct blkalign_error *reterr)
{
	int r = settle_roles(keep, reterr);

	if (r >= 0)
		r = log_check(keep, reterr);
	if (r < 0)
		return r;
	settle_events(keep);
	settle_absent(keep);
	if (enough_members(keep, NULL) < 0)
		return refuse(keep, keep->members[freshest], reterr, "too many members are missing");
	r = bits_load(keep, freshest, reterr);
	if (r >= 0)
		r = find_doubtful(keep);
	restart_replacements(keep);
	if (!keep->log.present)
		keep->ops.log = NULL;
	return r;
}

int keep_open(const struct keep_array *array, struct keep **ret_keep, struct blkalign_error *reterr)
{
	struct keep *keep = NULL;
	int r;

	if (raid_overlaps_itself(array->geometry))
		return blkalign_error_set(reterr, -ENOTSUP, array->name, BLKALIGN_UNKNOWN,
					  "%s cannot be written safely: its raid10 layout puts copies of different data in one place",
					  array->name);
	r = keep_load(array, true, &keep, reterr);
	if (r < 0 || !keep)
		return r;
	r = settle(keep, array->freshest, reterr);
	if (r < 0) {
		keep_free(keep);
		return r;
	}
	*ret_keep = keep;
	return 0;
}

int keep_replay(struct keep *keep, struct blkalign_error *reterr)
{
	int r = 0;

	pthread_mutex_lock(&keep->lock);
	io_take(keep);
	if (keep->broken)
		r = broken(keep, reterr);
	else if (!keep->log.replayed)
		r = replay_write(keep, reterr);
	if (r >= 0 && keep->resynced && !keep->in_flight)
		r = records_settle(keep, reterr);
	io_give(keep);
	pthread_mutex_unlock(&keep->lock);
	return r;
}

/* --- the end --- */

void keep_abandon(struct keep *keep)
{
	if (keep)
		keep_free(keep);
}

int keep_settle(struct keep *keep, struct blkalign_error *reterr)
{
	int r = 0;

	pthread_mutex_lock(&keep->lock);
	io_take(keep);
	if (keep->broken)
		r = broken(keep, reterr);
	else if (keep->in_flight)
		r = blkalign_error_set(reterr, -EBUSY, keep->name, BLKALIGN_UNKNOWN,
				       "closed while something is being written; it stays dirty");
	else if (keep->active || keep->resynced)
		r = records_settle(keep, reterr);
	io_give(keep);
	pthread_mutex_unlock(&keep->lock);
	return r;
}

int keep_close(struct keep *keep, struct blkalign_error *reterr)
{
	int r = keep_settle(keep, reterr);

	keep_free(keep);
	return r;
}
