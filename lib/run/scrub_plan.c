/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a repair would do, what speaks against it, and how it begins and ends. */
#include "keep/keep.h"
#include "run/run.h"
#include "run/scrub.h"

#define IMPLAUSIBLE_SHARE 64U /* of each member, named by rows that blame others as well */
#define IMPLAUSIBLE_BYTES (128 * KIB)

/* --- the plan --- */

/* Of the member that is blamed second most. One whose disk was written over is blamed alone. */
static uint64_t second_most(const struct blkalign_scrub *s)
{
	uint64_t blamed[RAID_MEMBERS_MAX] = { 0 }, most = 0, second = 0;

	for (size_t i = 0; i < s->list.items.count; i++) {
		const struct blkalign_scrub_finding *f = &s->list.items.data[i].found;

		if (f->verdict == BLKALIGN_SCRUB_PROVEN && f->slot < RAID_MEMBERS_MAX)
			blamed[f->slot] += f->length_bytes;
	}
	for (uint32_t slot = 0; slot < s->view.geometry->members; slot++) {
		if (blamed[slot] > most) {
			second = most;
			most = blamed[slot];
		} else if (blamed[slot] > second) {
			second = blamed[slot];
		}
	}
	return second;
}

static void add_finding(const struct blkalign_scrub *s, const struct blkalign_scrub_finding *f, bool parity,
			struct blkalign_scrub_plan *plan)
{
	/* A copy that can be read is what readers get, and what a resync would write over the others. */
	bool computable = f->verdict == BLKALIGN_SCRUB_DEGRADED || (f->verdict == BLKALIGN_SCRUB_DOUBTFUL && !s->view.geometry->parity);
	/* Data is not replaced by what doubtful parity makes of it. */
	bool never = f->verdict == BLKALIGN_SCRUB_DOUBTFUL && s->view.geometry->parity && f->array_first_bytes != BLKALIGN_UNKNOWN;

	if (f->kind == BLKALIGN_SCRUB_UNREADABLE && (computable || (parity && !never)))
		plan->unreadable_bytes += f->length_bytes;
	else if (f->kind == BLKALIGN_SCRUB_MISMATCH && f->verdict == BLKALIGN_SCRUB_PROVEN)
		plan->proven_bytes += f->length_bytes;
	else if (f->kind == BLKALIGN_SCRUB_MISMATCH && parity && f->verdict != BLKALIGN_SCRUB_OVERLAP)
		plan->parity_bytes += f->length_bytes;
	else
		plan->left_bytes += f->length_bytes;
	if (parity && f->verdict == BLKALIGN_SCRUB_OUTVOTED && scrub_is_first_copy(&s->view, f))
		plan->outvoted_bytes += f->length_bytes;
}

void blkalign_scrub_plan(const struct blkalign_scrub *s, bool parity, struct blkalign_scrub_plan *ret)
{
	*ret = (struct blkalign_scrub_plan){ 0 };
	for (size_t i = 0; i < s->list.items.count; i++)
		add_finding(s, &s->list.items.data[i].found, parity, ret);
	ret->implausible = second_most(s) > s->walk.total_bytes / IMPLAUSIBLE_SHARE && second_most(s) >= IMPLAUSIBLE_BYTES;
}

/* --- beginning and end --- */

void scrub_repair_done(struct scrub_repair *repair)
{
	if (!repair)
		return;
	for (size_t i = 0; i < repair->owned.count; i++)
		dev_close(repair->owned.data[i]);
	vec_done(&repair->owned);
	vec_done(&repair->wholes);
	dev_undo_close(repair->undo);
	free(repair->logged);
	free(repair);
}

static void set_total(struct blkalign_scrub *s)
{
	for (size_t i = 0; i < s->list.items.count; i++)
		s->repair->total_bytes += s->list.items.data[i].found.length_bytes;
	if (s->list.dropped)
		s->repair->total_bytes = s->walk.total_bytes;
}

int scrub_repair_begin(struct blkalign_scrub *s, const struct blkalign_scrub_repair_options *options, struct blkalign_error *reterr)
{
	struct scrub_repair *repair = calloc(1, sizeof(*repair));
	int r = 0;

	if (!repair)
		return -ENOMEM;
	repair->parity = options->parity;
	repair->force = options->force;
	repair->logged = calloc(s->view.geometry->members, sizeof(*repair->logged));
	s->repair = repair;
	if (!repair->logged)
		r = -ENOMEM;
	set_total(s);
	if (r >= 0 && options->undo_path)
		r = dev_undo_create(options->undo_path, "scrub --repair", &repair->undo, reterr);
	if (r >= 0 && repair->undo)
		r = scrub_open_logged(s, reterr);
	if (r < 0) {
		scrub_repair_done(repair);
		s->repair = NULL;
	}
	return r;
}

static int refuse(const struct blkalign_scrub *s, const struct blkalign_scrub_repair_options *options, struct blkalign_error *reterr)
{
	struct blkalign_scrub_plan plan;
	const char *why = NULL;

	if (s->repair || s->walk.position_bytes < s->walk.total_bytes)
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "the check has not ended");
	if (!blkalign_run_writable(s->run, s->node, &why))
		return blkalign_error_set(reterr, -EROFS, blkalign_node_name(s->node), BLKALIGN_UNKNOWN, "%s",
					  why ? why : "is not open for writing");
	if (!options->undo_path)
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "a repair needs the name of an undo log");
	blkalign_scrub_plan(s, options->parity, &plan);
	if (plan.implausible && !options->force)
		return blkalign_error_set(
			reterr, -EUCLEAN, blkalign_node_name(s->node), BLKALIGN_UNKNOWN,
			"so many rows blame several members that the members are in a wrong order, or the array was created anew "
			"over an old one: a repair would destroy what is left; --force does it all the same");
	return 0;
}

int blkalign_scrub_repair(struct blkalign_scrub *s, const struct blkalign_scrub_repair_options *options, struct blkalign_error *reterr)
{
	int r = refuse(s, options, reterr);

	if (r >= 0)
		r = scrub_repair_begin(s, options, reterr);
	if (r < 0)
		return r;
	s->repair->keep = stack_keep(s->run->stack, s->node);
	s->repair->guard = s->repair->keep ? keep_guard(s->repair->keep) : NULL;
	return 0;
}
