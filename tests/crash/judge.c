/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What must be true of a state of the media: doc/promises.md as code. A user assembles the array, reads it, lets it resync, closes it; then members are
 * taken away.
 */
#include "crash.h"

#define ARRAY_MAX_BYTES (512U * 1024U)

struct trial {
	const struct shape *shape;
	const struct history *history;
	size_t moment;
	uint8_t *const *images;
	struct raid_geometry geometry;
	struct dev *devs[MEMBERS_MAX]; /* given to assembly */
	uint8_t *current[MEMBERS_MAX]; /* images of those that it took, by slot */
	uint64_t valid[MEMBERS_MAX];   /* how much of it counts */
	uint32_t missing;	       /* slots without one, or that are not wholly rebuilt */
	struct array array;
	uint64_t sectors;
	uint8_t *first;	 /* contents as first read */
	uint8_t *second; /* and later */
};

static char why[512];

static const char *say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return why;
}

static bool is_mirror(const struct shape *shape) { return shape->level == RAID_1 || shape->level == RAID_10; }

static uint64_t sync_sectors(const struct trial *t)
{
	return (is_mirror(t->shape) ? t->geometry.array_bytes : t->geometry.used_bytes) / SECTOR;
}

static struct raid_place place_of(const struct trial *t, uint64_t sector)
{
	struct raid_place place;

	if (raid_locate(&t->geometry, sector * SECTOR, 0, &place) < 0)
		abort();
	return place;
}

static bool lacks(const struct trial *t, const struct raid_place *place)
{
	return !t->current[place->slot] || place->device_bytes >= t->valid[place->slot] || t->history->holes >> place->slot & 1;
}

/*
 * The write hole: parity levels that miss a member and lose power in a write can lose what the missing member held beside the sectors being written. With a
 * partial parity log only the sectors being written.
 */
static bool may_be_lost(const struct trial *t, uint64_t sector)
{
	const struct shape *shape = t->shape;
	struct raid_place place;
	bool torn;

	if (!shape_has_parity(shape))
		return false;
	place = place_of(t, sector);
	if (!lacks(t, &place))
		return false;
	if (history_in_flight(t->history, sector, t->moment))
		return true;
	/* In another life the log is off, until the array was made whole. */
	if (shape->record == RECORD_PPL && !t->history->holes && !history_reused(t->history))
		return false;
	/* What another life has lost stays lost until it is written; where a member cannot be read meanwhile, with force, even then. */
	torn = t->history->failing || !history_rewritten(t->history, sector, t->moment);
	for (uint64_t other = 0; other < t->sectors; other++)
		if (place_of(t, other).device_bytes / SECTOR == place.device_bytes / SECTOR &&
		    (history_in_flight(t->history, other, t->moment) || (torn && history_torn(t->history, other))))
			return true;
	return false;
}

static const char *judge_contents(const struct trial *t, const uint8_t *contents, const char *when)
{
	for (uint64_t sector = 0; sector < t->sectors; sector++) {
		uint32_t tag = sector_tag(contents + sector * SECTOR, sector);

		if (history_admits(t->history, sector, tag, t->moment) || may_be_lost(t, sector))
			continue;
		if (tag == TAG_GARBAGE)
			return say("%s: sector %llu holds what was never written there", when, (unsigned long long)sector);
		return say("%s: sector %llu holds write %u, which it may not any more or not yet", when, (unsigned long long)sector, tag);
	}
	return NULL;
}

/*
 * With a parity log the array starts by itself. Nobody doubts what was computed, with force, in another life, or what a failed flush has lost. And a member that fails after a
 * power cut, before the resync, leaves what a degraded array would.
 */
static bool may_be_given_out(const struct trial *t)
{
	const struct history *h = t->history;

	return t->shape->record == RECORD_PPL || h->holes || history_reused(h) || (h->failing && h->count && h->ops[0].before);
}

/* Sector by sector, because a part that cannot be read may be a promise kept. */
static const char *read_and_judge(struct trial *t)
{
	for (uint64_t sector = 0; sector < t->sectors; sector++) {
		uint8_t *at = t->second + sector * SECTOR;
		struct raid_place place = place_of(t, sector);
		uint32_t tag;

		if (dev_read(t->array.dev, sector * SECTOR, at, SECTOR, NULL) < 0) {
			if (lacks(t, &place))
				continue;
			return say("sector %llu cannot be read", (unsigned long long)sector);
		}
		tag = sector_tag(at, sector);
		if (!history_admits(t->history, sector, tag, t->moment) && !(may_be_given_out(t) && may_be_lost(t, sector)))
			return say("without force, sector %llu is given out with %s", (unsigned long long)sector,
				   tag == TAG_GARBAGE ? "garbage" : "a write that it may not hold");
	}
	return NULL;
}

/* A replay, resync or rebuild was built on what a failed flush has lost. */
static bool built_on_loss(const struct trial *t, uint64_t sync_sector)
{
	if (!history_reused(t->history))
		return false;
	for (uint64_t sector = 0; sector < t->sectors; sector++)
		if (history_in_flight(t->history, sector, t->moment) &&
		    (is_mirror(t->shape) ? sector : place_of(t, sector).device_bytes / SECTOR) == sync_sector)
			return true;
	return false;
}

/* Where nobody doubts it, redundancy must fit as it stands. */
static const char *judge_trusted(const struct trial *t, const struct byte_range *doubtful, size_t count)
{
	size_t i = 0;

	for (uint64_t sector = 0; sector < sync_sectors(t); sector++) {
		const char *fault;

		while (i < count && doubtful[i].offset_bytes + doubtful[i].length_bytes <= sector * SECTOR)
			i++;
		if (i < count && doubtful[i].offset_bytes <= sector * SECTOR)
			continue;
		fault = redundancy_fault(t->shape, &t->geometry, t->current, t->valid, sector);
		if (fault && !built_on_loss(t, sector))
			return say("%s at sync sector %llu, which the records call clean", fault, (unsigned long long)sector);
	}
	return NULL;
}

static int open_array(struct trial *t, bool writable, bool force, struct blkalign_error *err)
{
	return array_open(t->devs, t->shape->members, writable, force, &t->array, err);
}

static const char *close_array(struct trial *t)
{
	struct blkalign_error err = { 0 };

	return array_close(&t->array, &err) < 0 ? say("closing failed: %s", err.message) : NULL;
}

/* A degraded parity array: what can be had without force is right, and the write is refused or right. */
static const char *judge_unforced(struct trial *t)
{
	struct blkalign_error err = { 0 };
	const char *fault;

	if (open_array(t, false, false, &err) < 0)
		return NULL; /* refused */
	fault = read_and_judge(t);
	array_kill(&t->array);
	return fault;
}

static const char *judge_recovery(struct trial *t, bool force)
{
	struct blkalign_error err = { 0 };
	const struct byte_range *doubtful;
	const char *fault = NULL;
	size_t count;

	if (open_array(t, true, force, &err) < 0)
		return say("cannot be opened for writing: %s", err.message);
	doubtful = keep_doubtful(t->array.keep, &count);
	if (t->shape->record != RECORD_PPL)
		fault = judge_trusted(t, doubtful, count);
	if (!fault && dev_read(t->array.dev, 0, t->first, t->sectors * SECTOR, &err) < 0)
		fault = say("cannot be read: %s", err.message);
	if (!fault)
		fault = judge_contents(t, t->first, "after the cut");
	if (!fault && array_resync(&t->array, &err) < 0)
		fault = say("resync failed: %s", err.message);
	if (fault) {
		array_kill(&t->array);
		return fault;
	}
	return close_array(t);
}

/* Open once more, as it is now, and compare. */
static const char *judge_again(struct trial *t, const char *when)
{
	struct blkalign_error err = { 0 };
	const char *fault = NULL;

	if (open_array(t, false, false, &err) < 0)
		return say("%s: cannot be opened: %s", when, err.message);
	if (dev_read(t->array.dev, 0, t->second, t->sectors * SECTOR, &err) < 0)
		fault = say("%s: cannot be read: %s", when, err.message);
	else if (memcmp(t->first, t->second, t->sectors * SECTOR) != 0)
		fault = say("%s: the contents are not those before", when);
	array_kill(&t->array);
	return fault;
}

static const char *judge_without(struct trial *t, uint32_t first, uint32_t second)
{
	struct dev *kept[MEMBERS_MAX];
	bool present[MEMBERS_MAX];
	const char *fault = NULL;
	char when[64];

	/* Stale members go as well: without the others nothing says that they are. */
	memcpy(kept, t->devs, sizeof(kept));
	for (uint32_t slot = 0; slot < t->shape->members; slot++) {
		present[slot] = slot != first && slot != second && !(t->missing >> slot & 1);
		if (!present[slot])
			t->devs[slot] = NULL;
	}
	snprintf(when, sizeof(when), "without members %u and %u", first, second);
	if (raid_survives(&t->geometry, present))
		fault = judge_again(t, when);
	memcpy(t->devs, kept, sizeof(kept));
	return fault;
}

static const char *judge_losses(struct trial *t)
{
	const char *fault = NULL;

	/* What a failed flush has lost may be lost even then. */
	if (history_reused(t->history))
		return NULL;
	for (uint32_t first = 0; first < t->shape->members && !fault; first++)
		for (uint32_t second = first; second < t->shape->members && !fault; second++)
			fault = judge_without(t, first, second);
	return fault;
}

/* Which members assembly takes: one that failed before the cut is stale and stays out. */
static const char *find_members(struct trial *t)
{
	struct blkalign_error err = { 0 };
	const struct map_md_member *members;
	const struct raid_geometry *g;

	if (open_array(t, false, false, &err) < 0 && open_array(t, false, true, &err) < 0)
		return say("cannot be assembled: %s", err.message);
	members = map_md_members(t->array.dev, &g);
	for (uint32_t slot = 0; slot < t->shape->members; slot++) {
		t->current[slot] = members[slot].dev ? t->images[slot] : NULL;
		t->valid[slot] = members[slot].dev ? members[slot].valid_bytes : 0;
		t->missing |= (uint32_t)(t->valid[slot] < g->used_bytes) << slot;
	}
	array_kill(&t->array);
	return NULL;
}

/* What a rebuild still has to do: a member without a place in the array begins anew. */
static const char *rebuild(struct trial *t)
{
	uint32_t slot = t->history->target;
	struct dev *target = t->current[slot] ? NULL : t->devs[slot];
	struct blkalign_error err = { 0 };

	if (target)
		t->devs[slot] = NULL;
	if (open_array(t, true, false, &err) < 0)
		return say("cannot be opened to be rebuilt: %s", err.message);
	if (array_rebuild(&t->array, target, slot, NULL, NULL, &err) < 0) {
		array_kill(&t->array);
		return say("cannot be rebuilt: %s", err.message);
	}
	if (target)
		t->devs[slot] = target;
	return close_array(t);
}

static const char *judge_rebuild(struct trial *t)
{
	const char *fault;

	if (history_reused(t->history) || t->history->target == RAID_SLOT_NONE || !(t->missing >> t->history->target & 1))
		return NULL;
	fault = rebuild(t);
	t->missing = 0;
	if (!fault)
		fault = find_members(t);
	if (!fault && t->missing >> t->history->target & 1)
		fault = say("member %u was rebuilt, and is none", t->history->target);
	if (!fault)
		fault = judge_trusted(t, NULL, 0);
	return fault ? fault : judge_again(t, "after the rebuild");
}

/* A close that succeeded has left nothing in doubt. */
static const char *judge_clean(struct trial *t)
{
	struct blkalign_error err = { 0 };
	bool dirty;

	if (open_array(t, true, false, &err) < 0)
		return say("after the resync: cannot be opened for writing: %s", err.message);
	dirty = keep_was_dirty(t->array.keep);
	array_kill(&t->array);
	return dirty ? say("resynced and closed, and still called dirty") : NULL;
}

static const char *judge_all(struct trial *t, bool thorough)
{
	const char *fault = find_members(t);
	uint32_t target = t->history->target;
	bool force = t->missing && shape_has_parity(t->shape);

	if (!fault && target != RAID_SLOT_NONE && t->missing >> target & 1 && history_has(t->history, OP_REBUILD, t->moment) &&
	    !t->history->failing)
		fault = say("member %u was rebuilt, and is none", target);
	if (!fault && force)
		fault = judge_unforced(t);
	if (!fault)
		fault = judge_recovery(t, force);
	if (!fault)
		fault = judge_trusted(t, NULL, 0);
	if (!fault)
		fault = judge_again(t, "after the resync");
	if (!fault && thorough)
		fault = judge_clean(t);
	if (!fault && thorough)
		fault = judge_losses(t);
	if (!fault && thorough)
		fault = judge_rebuild(t);
	if (!fault && thorough)
		fault = judge_losses(t);
	return fault;
}

const char *judge(const struct shape *shape, const struct history *history, size_t moment, uint8_t *const *images, bool thorough)
{
	static uint8_t first[ARRAY_MAX_BYTES], second[ARRAY_MAX_BYTES];
	struct trial t = { .shape = shape, .history = history, .moment = moment, .images = images, .first = first, .second = second };
	const char *fault;

	shape_geometry(shape, &t.geometry);
	t.sectors = t.geometry.array_bytes / SECTOR;
	for (uint32_t slot = 0; slot < shape->members; slot++)
		if (images[slot] && dev_open_memory("member", images[slot], shape_member_bytes(shape), true, &t.devs[slot]) < 0)
			abort();
	fault = judge_all(&t, thorough);
	for (uint32_t slot = 0; slot < shape->members; slot++)
		dev_close(t.devs[slot]);
	raid_geometry_done(&t.geometry);
	return fault;
}
