/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which members are believed. Event counts decide; one behind is current, because a crash can hit between the superblock writes of one update; what
 * the freshest says about the others outweighs what they say of themselves, because a member that dropped out never learnt of it. Where two halves were
 * in use apart from each other, and where two devices are one member, nothing is guessed.
 */
#include "stack/md.h"

#define RIVALS_MAX 64U /* halves that are tried */

void md_array_done(struct md_array *array)
{
	free(array->slots);
	free(array->replacers);
	free(array->doubtful);
	array->slots = array->replacers = NULL;
	array->doubtful = NULL;
}

/* The role that `by` gives to member `m`; its own word where `by` has no entry for it. */
static struct md_role role_by(const struct md_member *by, const struct md_member *m)
{
	return m->dev_number < by->roles_count ? by->roles[m->dev_number] : m->role;
}

bool md_accuses(const struct md_member *by, const struct md_member *of)
{
	return by != of && by->role.kind == MD_ROLE_SLOT && of->role.kind == MD_ROLE_SLOT && role_by(by, of).kind != MD_ROLE_SLOT;
}

static bool in_sync(const struct md_member *m) { return m->recovery_bytes == UINT64_MAX && !m->replacement; }

/* Of members that are equally fresh, one that no other of them records as failed knows the latest. */
static bool is_accused(struct md_member *const *members, size_t count, const struct md_member *m)
{
	for (size_t i = 0; i < count; i++)
		if (members[i]->events == m->events && md_accuses(members[i], m) && !md_accuses(m, members[i]))
			return true;
	return false;
}

/* A running machine has decided already. */
static bool is_running(const struct md_member *m)
{
	for (size_t i = 0; i < blkalign_node_uppers(m->host); i++)
		if (blkalign_node_kind(blkalign_node_upper(m->host, i)) == BLKALIGN_KIND_MD)
			return true;
	return false;
}

/* Independent of the order of discovery but between members that are alike. */
static bool is_fresher(struct md_member *const *members, size_t count, const struct md_member *x, const struct md_member *y)
{
	bool slot = x->role.kind == MD_ROLE_SLOT, x_accused, y_accused;

	if (slot != (y->role.kind == MD_ROLE_SLOT))
		return slot;
	if (is_running(x) != is_running(y))
		return is_running(x);
	if (x->events != y->events)
		return x->events > y->events;
	x_accused = is_accused(members, count, x);
	y_accused = is_accused(members, count, y);
	if (x_accused != y_accused)
		return y_accused;
	if (in_sync(x) != in_sync(y))
		return in_sync(x);
	return slot && x->role.slot < y->role.slot;
}

/* Of members with a slot the one with most events; of spares only when there is nothing else. */
static struct md_member *find_freshest(struct md_member **members, size_t count)
{
	struct md_member *best = members[0];

	for (size_t i = 1; i < count; i++)
		if (is_fresher(members, count, members[i], best))
			best = members[i];
	return best;
}

static bool is_current(const struct md_array *a, const struct md_member *m)
{
	return m->events >= a->freshest->events || m->events + 1 == a->freshest->events;
}

/* The kernel's comparison (super_1_load(), super_90_load()). */
static bool same_shape(const struct md_member *x, const struct md_member *y)
{
	return x->level == y->level && x->stored_layout == y->stored_layout && x->chunk_bytes == y->chunk_bytes;
}

/* A member with a slot by its own word, and current by its events. */
static enum md_fate judge(const struct md_array *a, const struct md_member *m, struct md_role *role)
{
	const struct md_member *f = a->freshest;
	bool accused = md_accuses(f, m), accuses = md_accuses(m, f);

	if (m == f)
		return MD_FATE_USED;
	if (!same_shape(m, f))
		return MD_FATE_CONTRADICTS;
	/* One behind, it missed the update that took the freshest in; not so when they are equal. */
	if (accuses && (accused || m->events == f->events))
		return MD_FATE_SPLIT;
	if (accused)
		return role->kind == MD_ROLE_FAULTY ? MD_FATE_FAULTY : MD_FATE_REMOVED;
	if (m->events == f->events && role->slot != m->role.slot)
		return MD_FATE_CONTRADICTS;
	return MD_FATE_USED;
}

static void put(struct md_array *a, struct md_member *m, uint32_t slot)
{
	struct md_member **place;

	if (slot >= a->slots_count) {
		m->fate = MD_FATE_SPARE;
		return;
	}
	place = m->replacement ? &a->replacers[slot] : &a->slots[slot];
	m->fate = *place ? MD_FATE_DOUBLED : MD_FATE_USED;
	m->slot = slot;
	if (!*place)
		*place = m;
}

static void place_member(struct md_array *a, struct md_member *m)
{
	struct md_role role = role_by(a->freshest, m);

	m->slot = BLKALIGN_SLOT_NONE;
	switch (m->role.kind) {
	case MD_ROLE_FAULTY:
		m->fate = MD_FATE_FAULTY;
		return;
	case MD_ROLE_SPARE: /* also where the others took its number for a slot: it was not written then */
		m->fate = MD_FATE_SPARE;
		return;
	case MD_ROLE_JOURNAL:
		m->fate = is_current(a, m) ? MD_FATE_SPARE : MD_FATE_BEHIND;
		if (m->fate == MD_FATE_SPARE && !a->journal)
			a->journal = m;
		return;
	case MD_ROLE_SLOT:
		break;
	}
	m->fate = is_current(a, m) ? judge(a, m, &role) : MD_FATE_BEHIND;
	if (m->fate == MD_FATE_USED)
		put(a, m, m == a->freshest ? m->role.slot : role.slot);
}

static int place_all(struct md_array *a, struct md_member *freshest)
{
	a->freshest = freshest;
	a->journal = NULL;
	a->slots_count = freshest->raid_disks;
	if (freshest->reshaping && freshest->delta_disks < 0)
		a->slots_count += (uint32_t)-freshest->delta_disks;
	free(a->slots);
	free(a->replacers);
	a->slots = calloc(a->slots_count, sizeof(struct md_member *));
	a->replacers = calloc(a->slots_count, sizeof(struct md_member *));
	if (!a->slots || !a->replacers)
		return -ENOMEM;
	for (size_t i = 0; i < a->count; i++)
		place_member(a, a->members[i]);
	return 0;
}

/* --- two halves --- */

/* Members that a freshest of `m` would leave with enough for an array. */
static int could_be_freshest(struct md_array *a, struct md_member *m, bool *ret)
{
	struct md_array other = { .members = a->members, .count = a->count };
	int r = place_all(&other, m);

	if (r >= 0)
		r = md_array_survives(&other, ret);
	md_array_done(&other);
	return r;
}

/* Fates are those of the last call of place_all(), so what is looked at is collected before. */
static int find_rival(struct md_array *a, struct md_member **ret_rival)
{
	VEC(struct md_member *) split = { 0 };
	int r = 0;

	*ret_rival = NULL;
	for (size_t i = 0; r >= 0 && i < a->count; i++)
		if (a->members[i]->fate == MD_FATE_SPLIT)
			r = vec_push(&split, a->members[i]);
	for (size_t i = 0; r >= 0 && !*ret_rival && i < split.count && i < RIVALS_MAX; i++) {
		bool could = false;

		r = could_be_freshest(a, split.data[i], &could);
		if (could)
			*ret_rival = split.data[i];
	}
	vec_done(&split);
	return r;
}

/* Of two halves the one that is an array. When both are, `rival` stays set. */
static int choose_half(struct md_array *a)
{
	struct md_member *first = a->freshest, *rival;
	bool survives;
	int r = find_rival(a, &rival);

	if (r >= 0)
		r = place_all(a, first);
	if (r < 0 || !rival)
		return r;
	r = md_array_survives(a, &survives);
	if (r < 0)
		return r;
	if (!survives)
		return place_all(a, rival);
	a->rival = rival;
	return 0;
}

/* --- two devices that are one member --- */

static bool is_same_device(const struct md_member *x, const struct md_member *y)
{
	static const uint8_t none[16];

	return x != y && memcmp(x->device_uuid, none, sizeof(none)) != 0 && !memcmp(x->device_uuid, y->device_uuid, sizeof(none));
}

static bool is_doubled(const struct md_array *a, const struct md_member *used)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct md_member *m = a->members[i];

		if (m->fate == MD_FATE_DOUBLED && m->slot == used->slot && m->replacement == used->replacement)
			return true;
		if (m->fate == MD_FATE_USED && is_same_device(used, m))
			return true;
	}
	return false;
}

/* None of them is used where the others can do without: a copy may be older than its events tell, or have holes. */
static int drop_doubled(struct md_array *a)
{
	VEC(struct md_member *) used = { 0 };
	bool survives;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < a->slots_count; i++)
		if (a->slots[i] && is_doubled(a, a->slots[i]))
			r = vec_push(&used, a->slots[i]);
	for (size_t i = 0; i < used.count; i++)
		a->slots[used.data[i]->slot] = NULL;
	a->doubled = (uint32_t)used.count;
	if (r >= 0 && used.count)
		r = md_array_survives(a, &survives);
	for (size_t i = 0; r >= 0 && i < used.count; i++) {
		if (survives && a->resync_bytes == UINT64_MAX)
			used.data[i]->fate = MD_FATE_DOUBLED;
		else
			a->slots[used.data[i]->slot] = used.data[i];
	}
	vec_done(&used);
	return r;
}

/* --- what comes of it --- */

static void note_state(struct md_member *m)
{
	static const char *const states[] = {
		[MD_FATE_BEHIND] = "stale", [MD_FATE_SPARE] = "spare",	 [MD_FATE_FAULTY] = "faulty",	  [MD_FATE_REMOVED] = "stale",
		[MD_FATE_SPLIT] = "stale",  [MD_FATE_DOUBLED] = "stale", [MD_FATE_CONTRADICTS] = "stale",
	};

	if (m->fate == MD_FATE_USED) {
		m->state = m->replacement ? "replacement" : m->recovery_bytes != UINT64_MAX ? "rebuilding" : "in_sync";
		return;
	}
	m->state = m->fate == MD_FATE_SPARE && m->role.kind == MD_ROLE_JOURNAL ? "journal" : states[m->fate];
	m->slot = BLKALIGN_SLOT_NONE;
}

static void find_dirt(struct md_array *a)
{
	a->resync_bytes = UINT64_MAX;
	for (uint32_t i = 0; i < a->slots_count; i++)
		if (a->slots[i] && a->slots[i]->level > 0 && a->slots[i]->resync_bytes < a->resync_bytes)
			a->resync_bytes = a->slots[i]->resync_bytes;
	a->dirty = a->resync_bytes != UINT64_MAX;
}

static void count_slots(struct md_array *a)
{
	for (uint32_t i = 0; i < a->slots_count; i++) {
		const struct md_member *m = a->slots[i], *replacer = a->replacers[i];

		a->degraded += !m || m->recovery_bytes != UINT64_MAX;
		a->missing += !m && !replacer;
		a->rebuilding = a->rebuilding || (m && m->recovery_bytes != UINT64_MAX) || replacer;
	}
}

static int choose(struct md_array *a)
{
	bool survives = false;
	int r = place_all(a, find_freshest(a->members, a->count));

	if (r >= 0)
		r = choose_half(a);
	if (r < 0)
		return r;
	find_dirt(a);
	r = drop_doubled(a);
	if (r >= 0)
		r = md_array_survives(a, &survives);
	if (r < 0)
		return r;
	a->failed = !survives;
	count_slots(a);
	for (size_t i = 0; i < a->count; i++)
		note_state(a->members[i]);
	return 0;
}

int md_choose(struct md_member **members, size_t count, struct md_array *ret)
{
	struct md_array a = { .members = members, .count = count, .bitmap_dirty_bytes = BLKALIGN_UNKNOWN };
	int r = choose(&a);

	if (r < 0) {
		md_array_done(&a);
		return r;
	}
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
