/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One update of the records: bitmap superblocks first, then the superblocks, each flushed (md_update_sb()). Events rise by one with each update, never by more, because
 * a power cut in the middle leaves some members with the old number, and one less is still current.
 */
#include <time.h>

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

static void list_as_missing(struct keep *keep, const struct member *m)
{
	if (keep->metadata == KEEP_MD1) {
		if (m->number < keep->roles_count)
			keep->roles[m->number] = MD1_ROLE_FAULTY;
		return;
	}
	keep->disks[m->number] = (struct md0_disk){ 0 };
	if (m->number < keep->geometry->members)
		keep->disks[m->number] =
			(struct md0_disk){ .number = m->number, .raid_disk = m->number, .state = MD0_DISK_FAULTY | MD0_DISK_REMOVED };
}

void member_lost(struct keep *keep, struct member *m)
{
	if (m->failed)
		return;
	m->failed = true;
	keep->lost++;
	list_as_missing(keep, m);
	/* A member one behind still counts as current: it must fall two behind whatever it may have got. */
	if (keep->events_needed < m->events + 2)
		keep->events_needed = m->events + 2;
}

uint64_t records_checkpoint(const struct keep *keep)
{
	uint64_t unit = keep->geometry->chunk_bytes ? keep->geometry->chunk_bytes : 64 * KIB;

	return keep->unsynced.count ? round_down_u64(keep->unsynced.data[0].offset_bytes, unit) : UINT64_MAX;
}

/* --- what a superblock says --- */

static void compose_v1(struct keep *keep, struct member *m, uint64_t resync_bytes, uint64_t now)
{
	md1_put_state(m->super, keep->events, resync_bytes, now);
	/* Entries that the freshest does not have are nobody's. */
	for (uint32_t i = 0; md1_put_role(m->super, i, i < keep->roles_count ? keep->roles[i] : MD1_ROLE_SPARE); i++)
		;
	md1_seal(m->super);
}

static void count_v0(const struct keep *keep, struct md0_counts *ret)
{
	*ret = (struct md0_counts){ 0 };
	for (size_t i = 0; i < keep->count; i++) {
		ret->present += !keep->members[i]->failed;
		ret->active += member_is_in_sync(keep->members[i]);
	}
	ret->spare = ret->present - ret->active;
	for (uint32_t i = 0; i < keep->geometry->members && i < MD0_DISKS_MAX; i++)
		ret->failed += keep->disks[i].state & MD0_DISK_FAULTY ? 1 : 0;
}

static void compose_v0(struct keep *keep, struct member *m, uint64_t resync_bytes, uint64_t now)
{
	struct md0_counts counts;

	md0_put_state(m->super, keep->big_endian, keep->events, resync_bytes, now);
	for (uint32_t i = 0; i < MD0_DISKS_MAX; i++)
		md0_put_disk(m->super, keep->big_endian, i, &keep->disks[i]);
	md0_put_disk(m->super, keep->big_endian, MD0_SELF, &keep->disks[m->number]);
	count_v0(keep, &counts);
	md0_put_counts(m->super, keep->big_endian, &counts);
	md0_seal(m->super, keep->big_endian);
}

static void compose(struct keep *keep, struct member *m)
{
	uint64_t resync_bytes = keep->say_active ? 0 : records_checkpoint(keep), now = (uint64_t)time(NULL);

	if (keep->metadata == KEEP_MD1)
		compose_v1(keep, m, resync_bytes, now);
	else
		compose_v0(keep, m, resync_bytes, now);
}

/* --- bringing it to the disks --- */

/* Bytes of the superblock that go out changed, from its start on. Of 0.90 that is a sector, until the table of disks changes. */
static size_t compose_and_measure(struct keep *keep, struct member *m)
{
	uint8_t before[MD0_BYTES];

	memcpy(before, m->super, sizeof(before));
	compose(keep, m);
	if (keep->metadata == KEEP_MD1)
		return md1_stored_bytes(m->super);
	return memcmp(before + 512, m->super + 512, sizeof(before) - 512) ? MD0_BYTES : 512;
}

/*
 * Members that lag one behind go first: after the others they would be two behind. Superblocks of which several sectors change go one by one, so that a power cut tears one of
 * them at most.
 */
static int write_supers(struct keep *keep, bool lagging, struct blkalign_error *reterr)
{
	_cleanup_output_ struct output out = { 0 };
	int r = 0;

	for (size_t i = 0; i < keep->count && r >= 0; i++) {
		struct member *m = keep->members[i];
		size_t changed;

		if (m->failed || m->events >= keep->events || (m->events + 1 < keep->events) != lagging)
			continue;
		changed = compose_and_measure(keep, m);
		r = output_add(&out, m, PLACE_SUPER, 0, m->super, (size_t)m->places[PLACE_SUPER].length_bytes);
		m->events = keep->events;
		if (r >= 0 && changed > 512)
			r = output_write(keep, &out, reterr);
	}
	return r < 0 ? r : output_write(keep, &out, reterr);
}

static int update_once(struct keep *keep, struct blkalign_error *reterr)
{
	int r;

	keep->events++;
	r = bits_write(keep, reterr);
	if (r >= 0)
		r = write_supers(keep, true, reterr);
	if (r >= 0)
		r = write_supers(keep, false, reterr);
	return r;
}

int records_update(struct keep *keep, struct blkalign_error *reterr)
{
	unsigned lost;
	int r;

	do {
		lost = keep->lost;
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
