/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is to be told about an array besides its facts. */
#include <inttypes.h>

#include "stack/md_say.h"

static const char *host(const struct md_member *m) { return blkalign_node_name(m->host); }

static uint32_t list_missing(const struct md_say *s, struct strbuf *text)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < s->a->slots_count; i++) {
		if (s->a->slots[i])
			continue;
		if (missing < 16)
			strbuf_printf(text, "%s%" PRIu32, missing ? ", " : "", i);
		else if (missing == 16)
			strbuf_add(text, ", ...");
		missing++;
	}
	return missing;
}

static int say_missing(const struct md_say *s)
{
	_cleanup_strbuf_ struct strbuf slots = { 0 };
	uint32_t missing = list_missing(s, &slots);
	bool doubtful = s->a->doubtful_bytes && s->g && s->g->parity;
	const char *effect = doubtful ? "what is in doubt cannot be read" : "all of it can be read";

	if (!missing || s->a->rival)
		return 0;
	if (!s->g)
		effect = "no part of it can be read";
	else if (s->a->failed)
		effect = s->forced ? "parts of it cannot be read"
				   : "parts of it cannot be read; with --force, copy and serve give out the others";
	else if (doubtful && s->forced)
		effect = "what is in doubt is computed all the same, and may be wrong";
	return graph_remark(s->graph, "%s: %" PRIu32 " of %" PRIu32 " members %s missing (slot %s): %s", s->array, missing,
			    s->a->slots_count, missing == 1 ? "is" : "are", strbuf_text(&slots), effect);
}

static void add_stripes(struct strbuf *text, uint64_t stripes)
{
	strbuf_printf(text, " of each member (%" PRIu64 " stripe%s)", stripes, stripes == 1 ? "" : "s");
}

/* A crash while data was written. What is computed from redundancy there may be wrong; what members hold themselves is not affected. */
static int say_dirty(const struct md_say *s)
{
	const struct md_array *a = s->a;
	_cleanup_strbuf_ struct strbuf where = { 0 };

	if (!a->dirty || a->rival || !s->g)
		return 0;
	if (a->log_whole && !a->doubtful_bytes)
		return graph_remark(s->graph, "%s: was not stopped cleanly; its partial parity logs are whole, so that nothing is in doubt",
				    s->array);
	if (!a->doubtful_bytes)
		return graph_remark(s->graph, "%s: was not stopped cleanly, but nothing was being written by its bitmap", s->array);
	strbuf_printf(&where, "%" PRIu64 " bytes", a->doubtful_bytes);
	if (s->g->parity)
		add_stripes(&where, a->doubtful_bytes / s->g->chunk_bytes + (a->doubtful_bytes % s->g->chunk_bytes != 0));
	else if (s->g->level == RAID_1)
		strbuf_add(&where, " of each member");
	if (where.failed)
		return -ENOMEM;
	if (s->g->parity && a->degraded)
		return graph_remark(
			s->graph,
			"%s: dirty and degraded: in %s parity may not fit the data, and what the missing members held there would "
			"be computed wrong",
			s->array, strbuf_text(&where));
	if (a->resync_bytes)
		return graph_remark(s->graph, "%s: a resync was interrupted at byte %" PRIu64 "; %s still wait for it", s->array,
				    a->resync_bytes, strbuf_text(&where));
	return graph_remark(s->graph, "%s: was not stopped cleanly: %s wait for a resync", s->array, strbuf_text(&where));
}

static int say_filling(const struct md_say *s)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < s->a->slots_count; i++) {
		const struct md_member *m = s->a->replacers[i] ? s->a->replacers[i] : s->a->slots[i];

		if (m && m->recovery_bytes != UINT64_MAX)
			r = graph_remark(s->graph, "%s: %s of slot %" PRIu32 " is in sync up to byte %" PRIu64 " of its data area",
					 s->array, host(m), i, m->recovery_bytes);
	}
	return r;
}

/*
 * With more members, or where the data is moved by a chunk at least, data is read ahead of where it is written, so that the kernel records its place before it overwrites anything. Otherwise it
 * does so every 10 seconds (drivers/md/raid5.c, reshape_request(), raid5_run()), and mdadm's backup file has to help.
 */
static bool may_be_further(const struct md_member *f)
{
	uint64_t now = f->data_offset_bytes, new = f->new_data_offset_bytes, moved = now < new ? new - now : now - new;

	return f->delta_disks <= 0 && (new == BLKALIGN_UNKNOWN || moved < f->chunk_bytes || moved < f->new_chunk_bytes);
}

static const char further[] =
	", but next to that byte more may have been moved than is recorded; mdadm's backup file has it, if there is one";

static int say_shape(const struct md_say *s)
{
	const struct md_member *f = s->a->freshest;

	if (f->reshaping)
		return graph_remark(s->graph,
				    "%s: a reshape (%" PRIu32 " to %" PRIu32 " members%s) was interrupted at byte %" PRIu64
				    "; it is read in both of its shapes%s",
				    s->array, (uint32_t)((int64_t)f->raid_disks - f->delta_disks), f->raid_disks,
				    f->reshape_backwards ? ", backwards" : "", f->reshape_position_bytes, may_be_further(f) ? further : "");
	if (s->g && s->g->zones_count > 1 && f->level == RAID_0 && f->layout == RAID0_UNRECORDED)
		return graph_remark(
			s->graph,
			"%s: its members differ in size and its superblocks do not record which of the two raid0 layouts was used; where "
			"these disagree it is not read. Kernels before 3.14 wrote the original layout, later ones the alternate one: a "
			"kernel "
			"takes it from raid0.default_layout=1 or 2",
			s->array);
	return 0;
}

static int say_state(const struct md_say *s)
{
	int r = say_dirty(s);

	if (r >= 0)
		r = say_filling(s);
	if (r >= 0)
		r = say_shape(s);
	return r;
}

int md_array_say(struct stack *stack, const struct blkalign_node *node, const struct md_array *a, const struct raid_geometry *g,
		 const char *why_unreadable)
{
	const struct stack_running *running = stack_running(stack);
	struct md_say s = { stack_graph(stack), blkalign_node_name(node), a, g, running && running->force };
	int r = md_say_members(&s);

	if (r >= 0)
		r = say_missing(&s);
	if (r >= 0)
		r = say_state(&s);
	if (r >= 0 && why_unreadable)
		r = graph_remark(s.graph, "%s: cannot be read: %s", s.array, why_unreadable);
	return r;
}
