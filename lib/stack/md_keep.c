/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that may be written, and why others may not. What is refused here is what assembly knows; lib/keep refuses what the records say. */
#include <inttypes.h>
#include <stdio.h>

#include "keep/keep.h"
#include "stack/md.h"

struct keeping {
	struct stack *stack;
	const struct blkalign_node *node;
	const struct md_array *a;
	const struct raid_geometry *g;
	char text[512];
};

static bool any_member(const struct md_array *a, bool (*is)(const struct md_member *))
{
	for (size_t i = 0; i < a->count; i++)
		if ((a->members[i]->fate == MD_FATE_USED || a->members[i]->fate == MD_FATE_SPARE) && is(a->members[i]))
			return true;
	return false;
}

static bool has_lockless_bitmap(const struct md_member *m) { return !strcmp(m->bitmap, "lockless"); }
static bool has_damaged_bitmap(const struct md_member *m) { return m->bitmap_damaged; }
static bool is_clustered(const struct md_member *m) { return m->clustered; }
static bool is_replacement(const struct md_member *m) { return m->replacement; }
static bool has_vendor_error(const struct md_member *m) { return m->vendor_error; }

static bool is_unrecorded(const struct keeping *k)
{
	return k->a->freshest->level == RAID_0 && k->a->freshest->layout == RAID0_UNRECORDED && k->g->zones_count > 1;
}

/* raid4 and the like: no byte of data is computed while all that is missing is parity. */
static bool only_parity_is_missing(const struct keeping *k)
{
	for (uint32_t slot = 0; slot < k->g->members; slot++) {
		if (k->a->slots[slot] && k->a->slots[slot]->recovery_bytes == UINT64_MAX)
			continue;
		/* Layouts come round after as many stripes as there are members. */
		for (uint32_t i = 0; i < k->g->members; i++) {
			const struct raid_stripe stripe = raid_stripe_at(k->g, i * k->g->chunk_bytes);

			if (raid_role_at(&stripe, slot) == RAID_ROLE_DATA)
				return false;
		}
	}
	return true;
}

static bool may_compute_wrong(const struct keeping *k)
{
	const struct stack_running *running = stack_running(k->stack);

	return k->g->parity && k->a->degraded && k->a->doubtful_count && !running->force && !only_parity_is_missing(k);
}

/* NULL when nothing speaks against it. */
static const char *refusal(const struct keeping *k)
{
	const struct md_array *a = k->a;
	const struct {
		bool on;
		const char *why;
	} reasons[] = {
		{ a->rival, "two halves of it were in use apart from each other" },
		{ !k->g, "its shape is not known" },
		{ a->failed, "too many of its members are missing" },
		{ a->doubled, "two devices claim to be the same member; give only one of them" },
		{ a->freshest->reshaping, "a reshape was interrupted; let the kernel finish it first" },
		{ a->freshest->journal, "it has a write journal, which may hold data that is nowhere else" },
		{ any_member(a, is_clustered), "it is clustered: other hosts may be writing to it" },
		{ any_member(a, has_lockless_bitmap), "its bitmap is of the lockless kind, which is not kept here" },
		{ any_member(a, has_damaged_bitmap), "its write-intent bitmap cannot be read" },
		{ any_member(a, is_replacement), "a replacement was being filled; leave that device out, or let the kernel finish" },
		{ any_member(a, has_vendor_error), "a vendor's error bit is set in its records" },
		{ k->g && is_unrecorded(k), "its raid0 layout is not recorded, so that bytes could go to the wrong place" },
		{ k->g && may_compute_wrong(k), "it is dirty and degraded: what the missing members held may be computed wrong, and "
						"writing would settle that (--force)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].on)
			return reasons[i].why;
	return NULL;
}

/*
 * Of two halves the one that is an array was taken, but the other was written to last: who writes to this one parts them for good. Whoever means that leaves the other out.
 */
static const char *newer_half(struct keeping *k)
{
	const struct md_array *a = k->a;

	for (size_t i = 0; i < a->count; i++) {
		const struct md_member *m = a->members[i];

		if (m->fate == MD_FATE_USED || m->fate == MD_FATE_SPARE || m->fate == MD_FATE_DOUBLED || m->events <= a->freshest->events)
			continue;
		snprintf(k->text, sizeof(k->text),
			 "%s, which too few members go with, has more events (%" PRIu64 ") than those that are used (%" PRIu64
			 "), and may have what was written last: give the others of its half, or leave it out to write to this half",
			 blkalign_node_name(m->host), m->events, a->freshest->events);
		return k->text;
	}
	return NULL;
}

/* In their slots, and spares. */
static bool is_given(const struct md_member *m)
{
	return m->fate == MD_FATE_USED || (m->fate == MD_FATE_SPARE && m->role.kind == MD_ROLE_SPARE);
}

/* What lies below may be read-only for a reason of its own. */
static const char *member_refusal(struct keeping *k)
{
	for (size_t i = 0; i < k->a->count; i++) {
		const struct md_member *m = k->a->members[i];
		const char *why = stack_read_only_because(k->stack, m->host);

		if (!is_given(m) || m->dev->writable)
			continue;
		return text_join(k->text, sizeof(k->text), blkalign_node_name(m->host),
				 " is read-only: ", why ? why : "what it lies on is");
	}
	return NULL;
}

static enum keep_metadata metadata_of(const struct md_member *m)
{
	if (!strcmp(m->metadata, MD_METADATA_DMRAID))
		return KEEP_DMRAID;
	return strcmp(m->metadata, "0.90") != 0 ? KEEP_MD1 : KEEP_MD0;
}

int md_list_keep_members(const struct md_array *a, struct keep_member **ret_members, struct keep_array *ret)
{
	struct keep_member *members = calloc(a->count, sizeof(*members));

	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < a->count; i++) {
		const struct md_member *m = a->members[i];

		if (!is_given(m))
			continue;
		if (m == a->freshest)
			ret->freshest = ret->count;
		members[ret->count++] = (struct keep_member){
			.dev = m->dev,
			.metadata = metadata_of(m),
			.super_bytes = m->super_bytes,
			.slot = m->slot,
			.meta = m->records != m->dev ? m->records : NULL,
			.fresh_region_bytes = m->fresh_region_bytes,
		};
	}
	ret->members = *ret_members = members;
	return 0;
}

static int open_keep(struct keeping *k, const struct raid_geometry *geometry, struct keep **ret_keep, struct blkalign_error *reterr)
{
	_cleanup_free_ struct keep_member *members = NULL;
	struct keep_array array = { .name = blkalign_node_name(k->node), .geometry = geometry };
	int r = md_list_keep_members(k->a, &members, &array);

	if (r >= 0)
		r = keep_open(&array, ret_keep, reterr);
	/*
	 * What the logs complete is wanted now where it would be computed with, as the kernel does it at its start: with the first write it would come too late for what a rebuild
	 * has made from the parity before. Also of logs that are not whole.
	 */
	if (r >= 0 && k->a->degraded) {
		r = keep_replay(*ret_keep, reterr);
		if (r < 0)
			keep_abandon(*ret_keep);
	}
	return r;
}

static int keep_array(struct keeping *k)
{
	struct raid_geometry *geometry = calloc(1, sizeof(*geometry));
	struct blkalign_error err = { 0 };
	struct keep *keep = NULL;
	int r = geometry ? md_array_geometry(k->a, MD_SHAPE_NEW, geometry, &err) : -ENOMEM;

	if (r >= 0)
		r = open_keep(k, geometry, &keep, &err);
	if (r >= 0)
		return stack_set_keep(k->stack, k->node, keep, geometry);
	if (geometry)
		raid_geometry_done(geometry);
	free(geometry);
	return r == -ENOMEM ? r : stack_set_read_only(k->stack, k->node, err.message);
}

int md_array_keep(struct stack *stack, const struct blkalign_node *node, const struct md_array *a, const struct raid_geometry *g)
{
	struct keeping k = { .stack = stack, .node = node, .a = a, .g = g };
	const char *why;

	if (!stack_is_writable(stack))
		return 0;
	why = refusal(&k);
	if (!why)
		why = newer_half(&k);
	if (!why)
		why = member_refusal(&k);
	return why ? stack_set_read_only(stack, node, why) : keep_array(&k);
}
