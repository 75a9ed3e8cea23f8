/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A volume: its areas are put somewhere, what would be taken for old contents there is zeroed while nobody owns it yet, and then the text that tells of it is committed. lvm2
 * commits a text with visible metadata volumes in between, zeroes those, and commits again: a cut there leaves them behind. Here is nothing in between.
 */
#include <inttypes.h>
#include <stdio.h>

#include "plan/lv.h"

#define ZERO_BYTES	4096U /* of a volume: where most signatures lie (lvcreate -Z y) */
#define META_ZERO_BYTES 8192U /* superblock and bitmap superblock: the kernel takes zeros for a new volume */

struct making {
	struct plan *plan;
	struct group *group;
	const struct plan_author *author;
	struct shape shape;
	runs_t free;
	runs_t *legs;  /* by leg: where its data lies */
	runs_t *metas; /* by leg: where its metadata lies */
	const char *name;
};

static void making_done(struct making *m)
{
	for (uint32_t i = 0; i < m->shape.legs; i++) {
		if (m->legs)
			vec_done(&m->legs[i]);
		if (m->metas)
			vec_done(&m->metas[i]);
	}
	free(m->legs);
	free(m->metas);
	vec_done(&m->free);
}

/* --- name --- */

static bool taken(const struct lvm2_vg *vg, const char *name)
{
	for (uint32_t i = 0; i < vg->lv_count; i++)
		if (!strcmp(vg->lvs[i].name, name))
			return true;
	return false;
}

static int choose_name(struct making *m, const struct plan_lv_options *o, struct blkalign_error *reterr)
{
	const struct lvm2_vg *vg = m->group->vg;
	const char *refusal = o->name ? lvm2_name_refusal(o->name, true) : NULL;

	m->name = o->name;
	for (unsigned n = 0; !m->name; n++) {
		char text[24];

		snprintf(text, sizeof(text), "lvol%u", n);
		if (taken(vg, text))
			continue;
		m->name = arena_strdup(m->plan->arena, text);
		if (!m->name)
			return -ENOMEM;
	}
	if (refusal)
		return blkalign_error_set(reterr, -EINVAL, m->name, BLKALIGN_UNKNOWN, "cannot be the name of a volume: %s", refusal);
	if (taken(vg, m->name))
		return blkalign_error_set(reterr, -EEXIST, m->name, BLKALIGN_UNKNOWN, "there is a volume of this name in %s already",
					  vg->name);
	return 0;
}

/* --- where --- */

static int no_room(const struct making *m, struct blkalign_error *reterr)
{
	const struct shape *s = &m->shape;
	uint64_t each = s->leg_extents + s->meta_extents;
	uint32_t found = 0;

	for (uint32_t pv = 0; pv < m->group->count; pv++)
		found += runs_total_of(&m->free, pv) >= each;
	if (s->legs == 1)
		return blkalign_error_set(reterr, -ENOSPC, m->group->name, BLKALIGN_UNKNOWN,
					  "%" PRIu64 " extents are free, %" PRIu64 " are needed", runs_total(&m->free), each);
	return blkalign_error_set(reterr, -ENOSPC, m->group->name, BLKALIGN_UNKNOWN,
				  "%" PRIu32 " physical volumes with %" PRIu64 " free extents each are needed, there %s %" PRIu32, s->legs,
				  each, found == 1 ? "is" : "are", found);
}

static uint64_t meta_of(const struct making *m) { return m->shape.meta_extents; }

/* Image first, since it wants a stripe; the metadata takes what is left. Without stripes below the metadata lies in front, as lvm2 has it. */
static int place_leg(struct making *m, uint32_t leg, uint32_t pv)
{
	bool in_front = pv != UINT32_MAX && !m->group->pvs[pv].grain.stripe_bytes;
	int r = 0;

	if (meta_of(m) && in_front)
		r = runs_allocate(m->group, &m->free, pv, meta_of(m), &m->metas[leg]);
	if (r >= 0)
		r = runs_allocate(m->group, &m->free, pv, m->shape.leg_extents, &m->legs[leg]);
	if (r >= 0 && meta_of(m) && !in_front)
		r = runs_allocate(m->group, &m->free, pv, meta_of(m), &m->metas[leg]);
	return r;
}

/* Each leg on a PV of its own, in the order of the group. */
static int place_all(struct making *m, struct blkalign_error *reterr)
{
	const struct shape *s = &m->shape;
	uint32_t leg = 0;
	int r = 0;

	m->legs = calloc(s->legs, sizeof(*m->legs));
	m->metas = calloc(s->legs, sizeof(*m->metas));
	if (!m->legs || !m->metas)
		return -ENOMEM;
	if (s->legs == 1) {
		r = place_leg(m, 0, UINT32_MAX);
		return r == -ENOSPC ? no_room(m, reterr) : r;
	}
	for (uint32_t pv = 0; pv < m->group->count && leg < s->legs; pv++)
		if (runs_total_of(&m->free, pv) >= s->leg_extents + s->meta_extents)
			leg++;
	if (leg < s->legs)
		return no_room(m, reterr);
	leg = 0;
	for (uint32_t pv = 0; r >= 0 && pv < m->group->count && leg < s->legs; pv++)
		if (runs_total_of(&m->free, pv) >= s->leg_extents + s->meta_extents)
			r = place_leg(m, leg++, pv);
	return r;
}

/* --- as text --- */

static const char *pv_key(const struct making *m, uint32_t pv) { return m->group->vg->pvs[pv].key; }

/* lvm2: validate_lv_name and vg_validate; device mapper names have both, and more. */
#define NAMES_BETWEEN 3U

static int add_volume(struct making *m, const char *name, bool visible, const struct lvm2_new_segment *segments, size_t count,
		      struct blkalign_error *reterr)
{
	struct lvm2_new_lv lv = { .name = name,
				  .visible = visible,
				  .created_unix = m->author->unix_time,
				  .created_on = m->author->host,
				  .segments = segments,
				  .segment_count = (uint32_t)count };
	int r = lvm2_id_make(lv.id);

	if (strlen(m->group->name) + strlen(name) + NAMES_BETWEEN >= LVM2_NAME_MAX)
		return blkalign_error_set(reterr, -EINVAL, name, BLKALIGN_UNKNOWN,
					  "is too long a name beside that of the group: together they may have %u characters",
					  LVM2_NAME_MAX - NAMES_BETWEEN - 1);
	return r < 0 ? r : lvm2_edit_add_lv(m->group->edit, &lv);
}

/* Areas side by side, cut where any of them is; one area: linear. */
static int add_striped(struct making *m, const char *name, bool visible, const runs_t *areas, uint32_t count, uint64_t stripe_bytes,
		       struct blkalign_error *reterr)
{
	VEC(struct lvm2_new_segment) segments = { 0 };
	size_t index[LVM2_STRIPES_MAX] = { 0 };
	uint64_t within[LVM2_STRIPES_MAX] = { 0 }, start = 0;
	int r = 0;

	while (r >= 0 && index[0] < areas[0].count) {
		struct lvm2_new_area *list = arena_alloc(m->plan->arena, count * sizeof(*list));
		uint64_t length = UINT64_MAX;

		for (uint32_t i = 0; i < count; i++) {
			uint64_t left = areas[i].data[index[i]].count - within[i];

			length = left < length ? left : length;
		}
		for (uint32_t i = 0; list && i < count; i++) {
			const struct run *run = &areas[i].data[index[i]];

			list[i] = (struct lvm2_new_area){ pv_key(m, run->pv), run->extent + within[i] };
			within[i] += length;
			if (within[i] == run->count) {
				index[i]++;
				within[i] = 0;
			}
		}
		r = list ? vec_push(&segments, ((struct lvm2_new_segment){ .type = "striped",
									   .start_extent = start,
									   .extent_count = length * count,
									   .stripe_bytes = count > 1 ? stripe_bytes : 0,
									   .areas = list,
									   .area_count = count }))
			 : -ENOMEM;
		start += length * count;
	}
	if (r >= 0)
		r = add_volume(m, name, visible, segments.data, segments.count, reterr);
	vec_done(&segments);
	return r;
}

static int add_parts(struct making *m, struct lvm2_new_area *parts, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->shape.legs; i++) {
		r = add_striped(m, parts[2 * i + 1].name, false, &m->legs[i], 1, 0, reterr);
		if (r >= 0)
			r = add_striped(m, parts[2 * i].name, false, &m->metas[i], 1, 0, reterr);
	}
	return r;
}

/* The volume comes first, then image and metadata of each leg, as lvm2 has them. */
static int add_raid(struct making *m, struct blkalign_error *reterr)
{
	const struct shape *s = &m->shape;
	struct lvm2_new_area *parts = arena_alloc(m->plan->arena, 2 * (size_t)s->legs * sizeof(*parts));
	const struct lvm2_new_segment segment = { .type = s->type,
						  .extent_count = s->extents,
						  .stripe_bytes = s->stripe_bytes,
						  .region_bytes = s->region_bytes,
						  .data_copies = s->copies,
						  .areas = parts,
						  .area_count = 2 * s->legs };
	int r = parts ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < s->legs; i++) {
		parts[2 * i].name = arena_printf(m->plan->arena, "%s_rmeta_%zu", m->name, i);
		parts[2 * i + 1].name = arena_printf(m->plan->arena, "%s_rimage_%zu", m->name, i);
		r = parts[2 * i].name && parts[2 * i + 1].name ? 0 : -ENOMEM;
	}
	if (r >= 0)
		r = add_volume(m, m->name, true, &segment, 1, reterr);
	return r < 0 ? r : add_parts(m, parts, reterr);
}

/* --- zeros, and words --- */

static uint64_t byte_of(const struct making *m, const struct run *run)
{
	return m->group->vg->pvs[run->pv].pe_start_bytes + run->extent * m->group->vg->extent_bytes;
}

/* What is in pieces, as with small extents, in all of them. */
static int zero_start(struct making *m, const runs_t *runs, uint64_t bytes, const char *reason, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && bytes && i < runs->count; i++) {
		const struct run *run = &runs->data[i];
		uint64_t room = run->count * m->group->vg->extent_bytes, length = bytes < room ? bytes : room;

		r = plan_write(m->plan, &m->group->pvs[run->pv].place, byte_of(m, run), NULL, length, reason, reterr);
		bytes -= length;
	}
	return r;
}

/* Of a striped volume only the first area holds the beginning; of raid types every image may. */
static int zero_all(struct making *m, struct blkalign_error *reterr)
{
	uint32_t images = m->shape.raid ? m->shape.legs : 1;
	int r = 0;

	plan_flush(m->plan);
	for (uint32_t i = 0; r >= 0 && i < images; i++) {
		if (m->shape.meta_extents)
			r = zero_start(m, &m->metas[i], META_ZERO_BYTES, "zero the metadata of a raid image: it was never started", reterr);
		if (r >= 0)
			r = zero_start(m, &m->legs[i], ZERO_BYTES, "zero the beginning of the new volume", reterr);
	}
	return r;
}

/* Said in any case when it matters: a stripe is there and is missed. */
static int say_leg(struct making *m, const runs_t *runs)
{
	const struct run *first = &runs->data[0];
	const struct group_pv *pv;
	char stripe[32], node[256], pieces[48] = "";

	if (!runs->count)
		return 0;
	pv = &m->group->pvs[first->pv];
	blkalign_escape(node, sizeof(node), blkalign_node_name(pv->place.node));
	blkalign_format_bytes(stripe, sizeof(stripe), pv->grain.stripe_bytes, 0);
	if (runs->count > 1)
		snprintf(pieces, sizeof(pieces), ", in %zu pieces", runs->count);
	if (!on_stripe(m->group, first->pv, first->extent))
		return plan_say(m->plan,
				"%s/%s: from extent %" PRIu64 " of %s (byte %" PRIu64
				")%s: no free extent that leaves room enough begins on a stripe of %s",
				m->group->name, m->name, first->extent, node, byte_of(m, first), pieces, stripe);
	return plan_explain(m->plan, "%s/%s: from extent %" PRIu64 " of %s (byte %" PRIu64 ")%s%s%s", m->group->name, m->name,
			    first->extent, node, byte_of(m, first), pieces, pv->grain.stripe_bytes ? ", on a stripe of " : "",
			    pv->grain.stripe_bytes ? stripe : "");
}

static int say_all(struct making *m, const struct plan_lv_options *o)
{
	const struct shape *s = &m->shape;
	uint64_t bytes = s->extents * m->group->vg->extent_bytes;
	char size[32];
	int r = 0;

	blkalign_format_bytes(size, sizeof(size), bytes, 0);
	if (o->size_bytes && bytes != o->size_bytes)
		r = plan_say(m->plan, "%s/%s: size rounded up to %s: %" PRIu64 " extents%s", m->group->name, m->name, size, s->extents,
			     s->stripes > 1 ? ", a multiple of the stripes" : "");
	for (uint32_t i = 0; r >= 0 && i < s->legs; i++)
		r = say_leg(m, &m->legs[i]);
	return r < 0 ? r
		     : plan_say(m->plan, "%s/%s: %s, %s, %" PRIu32 " %s", m->group->name, m->name,
				s->raid	      ? s->type
				: s->legs > 1 ? "striped"
					      : "linear",
				size, s->legs, s->legs == 1 ? "area" : "areas");
}

/* --- all of it --- */

static int make(struct making *m, const struct plan_lv_options *o, struct blkalign_error *reterr)
{
	int r = choose_name(m, o, reterr);

	if (r >= 0)
		r = free_runs(m->group->vg, &m->free);
	if (r >= 0)
		r = shape_choose(m->group, &m->free, o, &m->shape, reterr);
	if (r >= 0)
		r = place_all(m, reterr);
	if (r >= 0)
		r = m->shape.raid ? add_raid(m, reterr)
				  : add_striped(m, m->name, true, m->legs, m->shape.legs, m->shape.stripe_bytes, reterr);
	if (r >= 0)
		r = zero_all(m, reterr);
	if (r >= 0)
		r = group_commit(m->plan, m->group, m->group->vg->seqno + 1, m->author, reterr);
	return r < 0 ? r : say_all(m, o);
}

int plan_lv(struct plan *plan, struct stack *stack, const struct plan_facts *facts, const struct plan_lv_options *options,
	    const struct plan_author *author, const char **ret_name, struct blkalign_error *reterr)
{
	_cleanup_group_ struct group g = { 0 };
	_cleanup_(making_done) struct making m = { .plan = plan, .group = &g, .author = author };
	int r = group_open(stack, facts, options->vg, &g, reterr);

	if (r >= 0)
		r = make(&m, options, reterr);
	if (r < 0)
		return r;
	*ret_name = arena_printf(plan->arena, "%s/%s", g.name, m.name);
	return *ret_name ? 0 : -ENOMEM;
}
