/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pass over the array: what each thread takes, and what they found, collected after each round. */
#include "run/scrub.h"

static bool take_unit(struct blkalign_scrub *s, uint64_t *ret_at, uint64_t *ret_length)
{
	if (!walk_more(&s->walk))
		return false;
	*ret_at = s->walk.next_bytes;
	*ret_length = scrub_unit_bytes(&s->view, *ret_at);
	walk_take(&s->walk, *ret_length);
	return true;
}

static void work(void *context, unsigned number)
{
	struct blkalign_scrub *s = context;
	struct scrub_worker *w = &s->worker[number];
	uint64_t at, length;

	while (!w->error && take_unit(s, &at, &length)) {
		view_read_ahead(&s->view, at, length);
		scrub_unit(w, at, length);
	}
}

static void count_bytes(struct blkalign_scrub *s, const struct scrub_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct blkalign_scrub_finding *f = &items[i].found;

		if (f->kind == BLKALIGN_SCRUB_UNREADABLE)
			s->unreadable_bytes += f->length_bytes;
		else if (f->kind == BLKALIGN_SCRUB_LOST)
			s->lost_bytes += f->length_bytes;
	}
}

static void forget(struct scrub_worker *w) { w->read_bytes = w->mismatch_sectors512 = w->uncompared_bytes = w->found.count = 0; }

static int collect(struct blkalign_scrub *s)
{
	VEC(struct scrub_item) all = { 0 };
	int r = 0;

	for (unsigned i = 0; i < workers_count(s->workers); i++) {
		struct scrub_worker *w = &s->worker[i];

		s->read_bytes += w->read_bytes;
		s->mismatch_sectors512 += w->mismatch_sectors512;
		s->uncompared_bytes += w->uncompared_bytes;
		for (size_t k = 0; r >= 0 && k < w->found.count; k++)
			r = vec_push(&all, w->found.data[k]);
		forget(w);
	}
	count_bytes(s, all.data, all.count);
	if (r >= 0)
		r = scrub_list_add(&s->list, all.data, all.count);
	vec_done(&all);
	return r;
}

/* What a round that failed has found is dropped with it: its units are looked at again by the next step. */
static int failed(struct blkalign_scrub *s, struct blkalign_error *reterr)
{
	int error = 0;

	for (unsigned i = 0; i < workers_count(s->workers); i++) {
		struct scrub_worker *w = &s->worker[i];

		if (w->error && !error) {
			error = w->error;
			if (reterr)
				*reterr = w->why;
		}
		w->error = 0;
		forget(w);
	}
	return error;
}

static bool any_error(const struct blkalign_scrub *s)
{
	for (unsigned i = 0; i < workers_count(s->workers); i++)
		if (s->worker[i].error)
			return true;
	return false;
}

int scrub_round(struct blkalign_scrub *s, struct blkalign_error *reterr)
{
	int r;

	walk_begin_round(&s->walk);
	workers_round(s->workers, work, s);
	if (any_error(s))
		return failed(s, reterr);
	r = collect(s);
	if (r < 0)
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "out of memory");
	walk_end_round(&s->walk);
	return s->walk.position_bytes < s->walk.total_bytes ? 0 : BLKALIGN_SCRUB_DONE;
}
