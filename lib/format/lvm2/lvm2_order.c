/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bottom-up order of volumes made of volumes, by counting (Kahn): linear, without recursion, and what is left over lies on itself.
 */
#include "format/lvm2/lvm2_decode.h"

struct links {
	uint32_t *waiting_for; /* by lv: references to volumes that are not placed yet */
	uint32_t *depth;
	uint32_t *first; /* by lv: where its users begin in `users`; one more at the end */
	uint32_t *users;
};

static void links_done(struct links *l)
{
	free(l->waiting_for);
	free(l->depth);
	free(l->first);
	free(l->users);
}

static bool lies_on(const struct lvm2_ref *ref) { return !ref->on_pv && ref->role != LVM2_ROLE_HISTORY; }

/* Parts of other volumes are not for users to look into; an origin or a pool may be. */
static bool makes_internal(const struct lvm2_ref *ref)
{
	return ref->role == LVM2_ROLE_DATA || ref->role == LVM2_ROLE_METADATA || ref->role == LVM2_ROLE_LOG || ref->role == LVM2_ROLE_COW;
}

/* Arrays without members are NULL, and nothing may be added to NULL: the counts are asked first. */
#define FOR_EACH(type, item, array, count) for (const type *item = (array); (count) && item < (array) + (count); item++)
#define FOR_EACH_REF(vg, lv, segment, ref)                                                                                                 \
	FOR_EACH(struct lvm2_lv, lv, (vg)->lvs, (vg)->lv_count)                                                                            \
	FOR_EACH(struct lvm2_segment, segment, lv->segments, lv->segment_count)                                                            \
	FOR_EACH(struct lvm2_ref, ref, segment->refs, segment->ref_count) if (lies_on(ref))

static int links_make(const struct lvm2_vg *vg, struct links *l)
{
	uint32_t total = 0;

	l->waiting_for = calloc(vg->lv_count, sizeof(uint32_t));
	l->depth = calloc(vg->lv_count, sizeof(uint32_t));
	l->first = calloc((size_t)vg->lv_count + 2, sizeof(uint32_t));
	if (!l->waiting_for || !l->depth || !l->first)
		return -ENOMEM;
	FOR_EACH_REF(vg, lv, s, ref)
	{
		l->waiting_for[lv - vg->lvs]++;
		l->first[ref->index + 2]++;
		total++;
	}
	for (uint32_t i = 0; i < vg->lv_count; i++)
		l->first[i + 2] += l->first[i + 1];
	l->users = calloc((size_t)total + 1, sizeof(uint32_t));
	if (!l->users)
		return -ENOMEM;
	/* first[i + 1] is the running end of i's users while they are filled in, and so becomes the start of i + 1. */
	FOR_EACH_REF(vg, lv, s, ref) l->users[l->first[ref->index + 1]++] = (uint32_t)(lv - vg->lvs);
	return 0;
}

static uint32_t place_all(const struct lvm2_vg *vg, struct links *l, uint32_t *order)
{
	uint32_t placed = 0;

	for (uint32_t i = 0; i < vg->lv_count; i++)
		if (!l->waiting_for[i])
			order[placed++] = i;
	for (uint32_t at = 0; at < placed; at++)
		for (uint32_t u = l->first[order[at]]; u < l->first[order[at] + 1]; u++) {
			uint32_t user = l->users[u];

			if (l->depth[user] < l->depth[order[at]] + 1)
				l->depth[user] = l->depth[order[at]] + 1;
			if (!--l->waiting_for[user])
				order[placed++] = user;
		}
	return placed;
}

static int check_order(const struct lvm2_vg *vg, const struct links *l, uint32_t placed, struct blkalign_error *reterr)
{
	for (uint32_t i = 0; i < vg->lv_count; i++) {
		if (placed < vg->lv_count && l->waiting_for[i])
			return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN,
						  "volume %s/%s lies on itself, directly or through others", vg->name, vg->lvs[i].name);
		if (l->depth[i] > LVM2_VOLUME_DEPTH)
			return blkalign_error_set(reterr, -E2BIG, NULL, BLKALIGN_UNKNOWN,
						  "volume %s/%s is made of volumes more than %u deep", vg->name, vg->lvs[i].name,
						  LVM2_VOLUME_DEPTH);
	}
	return 0;
}

static void mark_internal(struct lvm2_vg *vg)
{
	for (uint32_t i = 0; i < vg->lv_count; i++)
		if (!(vg->lvs[i].flags & LVM2_VISIBLE))
			vg->lvs[i].internal = true;
	FOR_EACH_REF(vg, lv, s, ref) if (makes_internal(ref)) vg->lvs[ref->index].internal = true;
}

int lvm2_order_lvs(struct lvm2_vg *vg, struct blkalign_error *reterr)
{
	_cleanup_(links_done) struct links l = { 0 };
	int r;

	if (!vg->lv_count)
		return 0;
	vg->order = arena_alloc(vg->arena, vg->lv_count * sizeof(*vg->order));
	if (!vg->order)
		return -ENOMEM;
	r = links_make(vg, &l);
	if (r >= 0)
		r = check_order(vg, &l, place_all(vg, &l, vg->order), reterr);
	if (r >= 0)
		mark_internal(vg);
	return r;
}
