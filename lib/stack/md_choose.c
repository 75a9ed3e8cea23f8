/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which members are believed. Event counts decide; one behind is current, because a crash can hit between the superblock writes of one update; what
 * the freshest says about the others outweighs what they say of themselves, because a member that dropped out never learnt of it.
 */
#include "stack/md.h"

void md_array_done(struct md_array *array)
{
	free(array->slots);
	free(array->replacers);
	array->slots = array->replacers = NULL;
}

/* Of members with a slot the one with most events; of spares only when there is nothing else. */
static struct md_member *find_freshest(struct md_member **members, size_t count)
{
	struct md_member *best = members[0];

	for (size_t i = 1; i < count; i++) {
		bool slot = members[i]->role.kind == MD_ROLE_SLOT, best_slot = best->role.kind == MD_ROLE_SLOT;

		if (slot > best_slot || (slot == best_slot && members[i]->events > best->events))
			best = members[i];
	}
	return best;
}

static bool current(const struct md_array *a, const struct md_member *m)
{
	return m->events >= a->freshest->events || m->events + 1 == a->freshest->events;
}

/* The role that `by` gives to member `m`; its own word where `by` has no entry for it. */
static struct md_role role_by(const struct md_member *by, const struct md_member *m)
{
	return m->dev_number < by->roles_count ? by->roles[m->dev_number] : m->role;
}

/* It believes that the freshest member failed: both were written to apart from each other. */
static bool split(const struct md_array *a, const struct md_member *m)
{
	return m->role.kind == MD_ROLE_SLOT && a->freshest->role.kind == MD_ROLE_SLOT && role_by(m, a->freshest).kind != MD_ROLE_SLOT;
}

static const char *const stale_state = "stale";

static void settle(struct md_array *a, struct md_member *m, const struct md_role *role)
{
	struct md_member **place;

	if (role->kind == MD_ROLE_JOURNAL || role->kind == MD_ROLE_FAULTY) {
		m->state = role->kind == MD_ROLE_JOURNAL ? "journal" : "faulty";
		return;
	}
	if (role->kind == MD_ROLE_SPARE || role->slot >= a->slots_count) {
		m->state = "spare";
		return;
	}
	place = m->replacement ? &a->replacers[role->slot] : &a->slots[role->slot];
	if (*place) {
		m->state = stale_state; /* a second one for the slot: md_array_say() tells */
		return;
	}
	*place = m;
	m->slot = role->slot;
	m->state = m->replacement ? "replacement" : m->recovery_bytes != UINT64_MAX ? "rebuilding" : "in_sync";
}

static void place_member(struct md_array *a, struct md_member *m)
{
	struct md_role role = role_by(a->freshest, m);

	m->slot = BLKALIGN_SLOT_NONE;
	if (m->role.kind == MD_ROLE_SPARE && role.kind == MD_ROLE_SLOT)
		role = m->role; /* a spare's own word: it was not written when the others took its number for a slot */
	if (m->role.kind == MD_ROLE_SLOT && (!current(a, m) || (m != a->freshest && split(a, m)))) {
		m->state = stale_state;
		return;
	}
	settle(a, m, &role);
}

static void sum_up(struct md_array *a)
{
	a->resync_bytes = UINT64_MAX;
	for (uint32_t i = 0; i < a->slots_count; i++) {
		const struct md_member *m = a->slots[i], *replacer = a->replacers[i];

		a->degraded += !m || m->recovery_bytes != UINT64_MAX;
		a->missing += !m && !replacer;
		a->rebuilding = a->rebuilding || (m && m->recovery_bytes != UINT64_MAX) || replacer;
		if (m && m->level > 0 && m->resync_bytes < a->resync_bytes)
			a->resync_bytes = m->resync_bytes;
	}
	a->dirty = a->resync_bytes != UINT64_MAX;
}

int md_choose(struct md_member **members, size_t count, struct md_array *ret)
{
	struct md_array a = { .members = members, .count = count, .freshest = find_freshest(members, count) };

	a.slots_count = a.freshest->raid_disks;
	if (a.freshest->reshaping && a.freshest->delta_disks < 0)
		a.slots_count += (uint32_t)-a.freshest->delta_disks;
	a.slots = calloc(a.slots_count, sizeof(struct md_member *));
	a.replacers = calloc(a.slots_count, sizeof(struct md_member *));
	if (!a.slots || !a.replacers) {
		md_array_done(&a);
		return -ENOMEM;
	}
	/* Higher events first: of two for one slot the newer one stays, of equals the first found. */
	place_member(&a, a.freshest);
	for (unsigned behind = 0; behind < 2; behind++)
		for (size_t i = 0; i < count; i++)
			if (members[i] != a.freshest && (members[i]->events >= a.freshest->events) == !behind)
				place_member(&a, members[i]);
	sum_up(&a);
	*ret = a;
	return 0;
}

bool md_array_complete(const struct md_array *a)
{
	for (uint32_t i = 0; i < a->slots_count; i++)
		if (!a->slots[i])
			return false;
	return true;
}

/* linear and raid0 go as far as each member does; their superblocks say nothing about absent ones. */
static int component_sizes(const struct md_array *a, uint64_t *ret, struct blkalign_error *reterr)
{
	const struct md_member *f = a->freshest;

	for (uint32_t i = 0; i < f->raid_disks; i++) {
		if (f->level != RAID_LINEAR && f->level != RAID_0)
			ret[i] = f->component_bytes;
		else if (a->slots[i])
			ret[i] = a->slots[i]->data_bytes;
		else
			return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN,
						  "the size of the missing member of slot %u is not recorded", i);
	}
	return 0;
}

int md_array_geometry(const struct md_array *a, struct raid_geometry *ret, struct blkalign_error *reterr)
{
	const struct md_member *f = a->freshest;
	uint64_t sizes[RAID_MEMBERS_MAX];
	struct raid_shape shape = {
		.level = f->reshaping ? f->new_level : f->level,
		.layout = f->reshaping ? f->new_layout : f->layout,
		.chunk_bytes = f->reshaping ? f->new_chunk_bytes : f->chunk_bytes,
		.members = f->raid_disks,
		.component_bytes = sizes,
	};
	int r = f->raid_disks <= RAID_MEMBERS_MAX ? component_sizes(a, sizes, reterr) : -EINVAL;

	return r < 0 ? r : raid_geometry_init(ret, &shape, reterr);
}
