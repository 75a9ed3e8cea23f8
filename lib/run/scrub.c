/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public side of a scrub, on an array of an open stack. */
#include "run/run.h"
#include "run/scrub.h"

const char *blkalign_scrub_verdict_name(enum blkalign_scrub_verdict verdict)
{
	static const char *const names[] = {
		[BLKALIGN_SCRUB_PROVEN] = "proven",	    [BLKALIGN_SCRUB_OUTVOTED] = "outvoted",
		[BLKALIGN_SCRUB_ONE_PARITY] = "one_parity", [BLKALIGN_SCRUB_SEVERAL] = "several",
		[BLKALIGN_SCRUB_FEW_BYTES] = "few_bytes",   [BLKALIGN_SCRUB_DOUBTFUL] = "doubtful",
		[BLKALIGN_SCRUB_DEGRADED] = "degraded",	    [BLKALIGN_SCRUB_OVERLAP] = "overlap",
	};

	return (size_t)verdict < ARRAY_SIZE(names) ? names[verdict] : "unknown";
}

/* --- beginning and end --- */

int scrub_start(const struct md_view *view, const struct blkalign_scrub_options *options, struct blkalign_scrub **ret_scrub,
		struct blkalign_error *reterr)
{
	struct blkalign_scrub *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->view = *view;
	walk_init(&s->walk, view_sync_bytes(view), options ? options->rate_bytes : 0);
	s->list.mirror = !view->geometry->parity;
	r = workers_start(options ? options->threads : 0, &s->workers, reterr);
	for (unsigned i = 0; r >= 0 && i < workers_count(s->workers); i++)
		r = scrub_worker_init(&s->worker[i], &s->view);
	if (r < 0) {
		blkalign_scrub_close(s);
		return r;
	}
	*ret_scrub = s;
	return 0;
}

void blkalign_scrub_close(struct blkalign_scrub *s)
{
	if (!s)
		return;
	scrub_repair_done(s->repair);
	for (unsigned i = 0; s->workers && i < workers_count(s->workers); i++)
		scrub_worker_done(&s->worker[i]);
	workers_stop(s->workers);
	vec_done(&s->list.items);
	vec_done(&s->doubtful);
	walk_done(&s->walk);
	free(s);
}

/* The doubtful ranges as they are now: a repair changes them, the verdicts of this pass stay. */
static int copy_doubtful(struct blkalign_scrub *s)
{
	for (uint64_t at = 0, run; at < s->walk.total_bytes; at += run) {
		bool doubtful;

		run = s->walk.total_bytes - at;
		doubtful = map_md_doubtful(s->view.md, at, &run);
		if (doubtful && vec_push(&s->doubtful, ((struct byte_range){ at, run })) < 0)
			return -ENOMEM;
	}
	s->view.doubtful = s->doubtful.data;
	s->view.doubtful_count = s->doubtful.count;
	return 0;
}

static struct scrub_identity identity_of(const struct blkalign_node *node)
{
	const char *uuid = blkalign_node_str(node, BLKALIGN_ATTR_MD_UUID);

	return (struct scrub_identity){
		.uuid = uuid ? uuid : blkalign_node_str(node, BLKALIGN_ATTR_LV_UUID),
		.events = blkalign_node_u64(node, BLKALIGN_ATTR_MD_EVENTS),
		.level = blkalign_node_str(node, BLKALIGN_ATTR_MD_LEVEL),
	};
}

int blkalign_scrub_open(struct blkalign_run *run, const struct blkalign_node *node, const struct blkalign_scrub_options *options,
			struct blkalign_scrub **ret_scrub, struct blkalign_error *reterr)
{
	struct md_view view = { 0 };
	struct blkalign_scrub *s;
	int r = run_md(run, &node, &view, reterr);

	if (r < 0)
		return r;
	if (!view.geometry->parity && raid_copies(view.geometry) < 2)
		return blkalign_error_set(reterr, -ENOTSUP, blkalign_node_name(node), BLKALIGN_UNKNOWN,
					  "%s has no redundancy: there is nothing to compare", raid_level_name(view.geometry->level));
	r = view_refuse_live(&view, reterr);
	if (r >= 0)
		r = scrub_start(&view, options, &s, reterr);
	if (r < 0)
		return r;
	s->run = run;
	s->node = node;
	r = copy_doubtful(s);
	if (r >= 0 && options && options->state) {
		struct scrub_identity identity = identity_of(node);

		r = scrub_state_read(s, &identity, options->state, reterr);
	}
	if (r < 0) {
		blkalign_scrub_close(s);
		return r;
	}
	*ret_scrub = s;
	return 0;
}

/* --- steps --- */

static void tell_progress(const struct blkalign_scrub *s, struct blkalign_scrub_progress *ret)
{
	const struct scrub_repair *repair = s->repair;

	*ret = (struct blkalign_scrub_progress){
		.position_bytes = repair ? repair->position_bytes : s->walk.position_bytes,
		.total_bytes = repair ? repair->total_bytes : s->walk.total_bytes,
		.read_bytes = s->read_bytes,
		.mismatch_sectors512 = s->mismatch_sectors512,
		.unreadable_bytes = s->unreadable_bytes,
		.lost_bytes = s->lost_bytes,
		.uncompared_bytes = s->uncompared_bytes,
		.repaired_bytes = repair ? repair->repaired_bytes : 0,
		.left_bytes = repair ? repair->left_bytes : 0,
		.findings = s->list.items.count + s->list.dropped,
		.repairing = repair != NULL,
	};
}

int blkalign_scrub_step(struct blkalign_scrub *s, struct blkalign_scrub_progress *ret_progress, struct blkalign_error *reterr)
{
	int r;

	if (s->repair)
		r = scrub_repair_step(s, reterr);
	else
		r = s->walk.position_bytes < s->walk.total_bytes ? scrub_round(s, reterr) : BLKALIGN_SCRUB_DONE;
	if (ret_progress)
		tell_progress(s, ret_progress);
	return r;
}

/* --- what it has to say --- */

const struct blkalign_node *blkalign_scrub_node(const struct blkalign_scrub *s) { return s->node; }

const struct blkalign_node *blkalign_scrub_member(const struct blkalign_scrub *s, uint32_t slot, uint64_t *ret_data_offset_bytes)
{
	if (slot >= s->view.geometry->members || !s->view.members[slot].dev)
		return NULL;
	*ret_data_offset_bytes = s->view.members[slot].data_offset_bytes;
	return s->node ? run_md_member(s->node, slot) : NULL;
}

size_t blkalign_scrub_findings(const struct blkalign_scrub *s, bool *ret_complete)
{
	if (ret_complete)
		*ret_complete = !s->list.dropped;
	return s->list.items.count;
}

const struct blkalign_scrub_finding *blkalign_scrub_finding(const struct blkalign_scrub *s, size_t index)
{
	return &s->list.items.data[index].found;
}

int blkalign_scrub_state(const struct blkalign_scrub *s, char **ret_text, struct blkalign_error *reterr)
{
	struct scrub_identity identity = s->node ? identity_of(s->node) : (struct scrub_identity){ 0 };

	if (s->repair)
		return blkalign_error_set(reterr, -EBUSY, NULL, BLKALIGN_UNKNOWN, "a repair has no state: run it again");
	return scrub_state_write(s, &identity, ret_text);
}
