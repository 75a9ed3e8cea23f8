/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which members there are. Everyone works with a state that does not change; a change makes a new one. Old ones are kept until the array is closed, for there are only as
 * many as members come and go, and map_md_members() may have told them.
 */
#include <stdio.h>

#include "map/md_priv.h"

static void look_at(struct md_state *state, uint32_t n)
{
	state->complete = state->whole = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct map_md_member *m = &state->members[i];

		state->complete &= m->dev && m->valid_bytes == UINT64_MAX;
		state->whole &= state->complete && !m->bad_count;
	}
}

static struct md_state *state_new(const struct md *md, const struct map_md_member *members)
{
	uint32_t n = md->geometry.members;
	struct md_state *state = calloc(1, sizeof(*state) + n * sizeof(*members));

	if (!state)
		return NULL;
	memcpy(state->members, members, n * sizeof(*members));
	look_at(state, n);
	return state;
}

struct md_state *md_state_get(struct md *md)
{
	for (;;) {
		struct md_state *state = atomic_load(&md->state);

		atomic_fetch_add(&state->users, 1);
		if (state == atomic_load(&md->state))
			return state;
		md_state_put(md, state);
	}
}

void md_state_put(struct md *md, struct md_state *state)
{
	if (atomic_fetch_sub(&state->users, 1) != 1 || !atomic_load(&md->draining))
		return;
	pthread_mutex_lock(&md->drain);
	pthread_cond_broadcast(&md->drained);
	pthread_mutex_unlock(&md->drain);
}

/* With `change` held. */
static int publish(struct md *md, uint32_t slot, const struct map_md_member *member)
{
	struct md_state *old = atomic_load(&md->state), *state = state_new(md, old->members);

	if (!state)
		return -ENOMEM;
	state->members[slot] = *member;
	look_at(state, md->geometry.members);
	state->older = old;
	atomic_store(&md->state, state);
	return 0;
}

/* Until nobody uses anything but the newest state. */
static void wait_for_users(struct md *md)
{
	atomic_fetch_add(&md->draining, 1);
	pthread_mutex_lock(&md->drain);
	for (struct md_state *old = atomic_load(&md->state)->older; old; old = old->older)
		while (atomic_load(&old->users))
			pthread_cond_wait(&md->drained, &md->drain);
	pthread_mutex_unlock(&md->drain);
	atomic_fetch_sub(&md->draining, 1);
}

static int copy_bad(struct md *md, struct map_md_member *m)
{
	struct byte_range *bad;

	if (!m->bad_count) {
		m->bad = NULL;
		return 0;
	}
	bad = calloc(m->bad_count, sizeof(*bad));
	if (!bad || vec_push(&md->owned, (void *)bad) < 0) {
		free(bad);
		return -ENOMEM;
	}
	memcpy(bad, m->bad, m->bad_count * sizeof(*bad));
	m->bad = bad;
	return 0;
}

/* What a read error there is called when nothing hides it. */
static int make_reason(struct md *md, uint32_t slot, const struct dev *dev)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	strbuf_printf(&text, "slot %u (%s) could not be read there, and no other member has or makes up for these bytes", slot, dev->name);
	if (text.failed || vec_push(&md->owned, (void *)text.text) < 0)
		return -ENOMEM;
	__atomic_store_n(&md->reasons[slot], text.text, __ATOMIC_RELEASE);
	text.text = NULL;
	return 0;
}

static void note_pages(struct md *md, const struct map_md_member *m)
{
	if (m->dev && md_page_phase(m))
		atomic_store(&md->askew, true);
}

int md_state_init(struct md *md, const struct map_md_member *members)
{
	struct md_state *state;
	int r = 0;

	md->failed = calloc(md->geometry.members, sizeof(struct dev *));
	md->reasons = calloc(md->geometry.members, sizeof(char *));
	state = state_new(md, members);
	atomic_store(&md->state, state);
	if (!md->failed || !md->reasons || !state)
		return -ENOMEM;
	for (uint32_t i = 0; r >= 0 && i < md->geometry.members; i++) {
		note_pages(md, &members[i]);
		r = copy_bad(md, &state->members[i]);
		if (r >= 0 && members[i].dev)
			r = make_reason(md, i, members[i].dev);
	}
	return r;
}

static void failure_done(const struct map_failure *failure)
{
	free((void *)(uintptr_t)failure->member);
	free((void *)(uintptr_t)failure->why);
}

void md_state_done(struct md *md)
{
	struct md_state *state = atomic_load(&md->state);

	while (state) {
		struct md_state *older = state->older;

		free(state);
		state = older;
	}
	for (size_t i = 0; i < md->owned.count; i++)
		free(md->owned.data[i]);
	vec_done(&md->owned);
	for (size_t i = 0; i < md->failures.count; i++)
		failure_done(&md->failures.data[i]);
	vec_done(&md->failures);
	free(atomic_load(&md->first_error));
	free(md->failed);
	free(md->reasons);
}

static bool same_bad(const struct map_md_member *a, const struct map_md_member *b)
{
	if (a->bad_count != b->bad_count)
		return false;
	return !a->bad_count || memcmp(a->bad, b->bad, a->bad_count * sizeof(*a->bad)) == 0;
}

/* A step of a rebuild: known only by more of it being valid. */
static bool grows(const struct map_md_member *old, const struct map_md_member *new)
{
	return old->dev == new->dev && old->data_offset_bytes == new->data_offset_bytes &&
	       old->write_mostly == new->write_mostly &&same_bad(old, new) &&
	       new->valid_bytes != UINT64_MAX &&new->valid_bytes >= old->valid_bytes;
}

static int set_member(struct md *md, uint32_t slot, const struct map_md_member *member)
{
	struct map_md_member *now = &atomic_load(&md->state)->members[slot], copy = *member;
	int r;

	if (member->dev && member->dev == md->failed[slot])
		return -EIO;
	if (member->dev && md->guard && !member->dev->writable)
		return -EROFS;
	if (grows(now, member)) {
		__atomic_store_n(&now->valid_bytes, member->valid_bytes, __ATOMIC_RELEASE);
		return 0;
	}
	note_pages(md, &copy);
	r = copy_bad(md, &copy);
	if (r >= 0 && copy.dev && copy.dev != now->dev)
		r = make_reason(md, slot, copy.dev);
	return r < 0 ? r : publish(md, slot, &copy);
}

int map_md_set_member(struct dev *dev, uint32_t slot, const struct map_md_member *member)
{
	struct md *md = (struct md *)dev;
	int r;

	if (slot >= md->geometry.members)
		return -EINVAL;
	pthread_mutex_lock(&md->change);
	r = set_member(md, slot, member);
	pthread_mutex_unlock(&md->change);
	if (r >= 0)
		wait_for_users(md);
	return r;
}

static bool survives_without(const struct md *md, const struct md_state *state, const struct md_failure *failed)
{
	uint32_t n = md->geometry.members;
	_cleanup_free_ bool *present = calloc(n, sizeof(*present));

	if (!present)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct map_md_member *m = &state->members[i];

		present[i] = m->dev && m->dev != failed[i].dev && md_valid_bytes(m) >= md->geometry.used_bytes;
	}
	return md_redundant(md) && raid_survives(&md->geometry, present);
}

/* With `change` held. To be told, no more: without memory the number is all there is. */
static void note_failed(struct md *md, uint32_t slot, const char *name, const char *why)
{
	struct map_failure failure = { .slot = slot, .member = strdup(name), .why = strdup(why) };

	if (!failure.member || !failure.why || vec_push(&md->failures, failure) < 0)
		failure_done(&failure);
}

/*
 * First it is read no more, then the guard records it, and only then writes leave it out: a write that left it out earlier might be acknowledged, and lost with the
 * power, before anyone knew that the member lacks it.
 */
static int fail_one(struct md *md, uint32_t slot, const char *why)
{
	struct map_md_member member = atomic_load(&md->state)->members[slot];
	int r;

	member.valid_bytes = 0;
	r = publish(md, slot, &member);
	if (r >= 0)
		r = md->guard->ops->fail(md->guard, slot, NULL);
	if (r < 0) {
		atomic_store(&md->broken, "that a member failed could not be recorded on the others");
		return r;
	}
	md->failed[slot] = member.dev;
	note_failed(md, slot, member.dev->name, why);
	member = (struct map_md_member){ .dev = NULL };
	atomic_fetch_add(&md->failed_members, 1);
	return publish(md, slot, &member);
}

int md_note_failure(const struct md *md, struct md_failure **failed, uint32_t slot, const struct dev_request *request)
{
	struct blkalign_error err = { 0 };

	if (!*failed)
		*failed = calloc(md->geometry.members, sizeof(**failed));
	if (!*failed)
		return -ENOMEM;
	if ((*failed)[slot].dev)
		return 0;
	(*failed)[slot].dev = request->dev;
	dev_describe(request, &err);
	text_join((*failed)[slot].why, sizeof((*failed)[slot].why), err.message, "", "");
	return 0;
}

int md_fail(struct md *md, const struct md_failure *failed)
{
	int r = 0;

	pthread_mutex_lock(&md->change);
	if (!survives_without(md, atomic_load(&md->state), failed))
		r = -EIO;
	for (uint32_t slot = 0; r >= 0 && slot < md->geometry.members; slot++)
		/* Another thread may have failed it, or it was replaced. */
		if (failed[slot].dev && atomic_load(&md->state)->members[slot].dev == failed[slot].dev)
			r = fail_one(md, slot, failed[slot].why);
	if (r >= 0 && atomic_load(&md->broken))
		r = -EIO;
	pthread_mutex_unlock(&md->change);
	return r;
}

const struct map_md_member *map_md_members(const struct dev *dev, const struct raid_geometry **ret_geometry)
{
	const struct md *md = (const struct md *)dev;

	if (!md_is_md(dev))
		return NULL;
	if (ret_geometry)
		*ret_geometry = &md->geometry;
	return atomic_load(&md->state)->members;
}

void map_md_events(struct dev *dev, struct map_md_events *ret)
{
	struct md *md = (struct md *)dev;

	*ret = (struct map_md_events){
		.computed_bytes = atomic_load(&md->computed_bytes),
		.read_errors = atomic_load(&md->read_errors),
		.rewritten_bytes = atomic_load(&md->rewritten_bytes),
		.failed_members = atomic_load(&md->failed_members),
		.first_error = atomic_load(&md->first_error),
	};
}

bool map_md_failure(struct dev *dev, size_t index, struct map_failure *ret)
{
	struct md *md = (struct md *)dev;
	bool found;

	if (index >= atomic_load(&md->failed_members))
		return false;
	pthread_mutex_lock(&md->change);
	found = index < md->failures.count;
	if (found)
		*ret = md->failures.data[index];
	pthread_mutex_unlock(&md->change);
	return found;
}

void md_note_read_error(struct md *md, const struct dev_request *request)
{
	struct blkalign_error err = { 0 };
	char *none = NULL, *text = NULL;

	if (dev_error_is_ours(request->result) || atomic_load(&md->first_error))
		return;
	dev_describe(request, &err);
	if (asprintf(&text, "%s: %s", err.where, err.message) < 0)
		return;
	if (!atomic_compare_exchange_strong(&md->first_error, &none, text))
		free(text);
}
