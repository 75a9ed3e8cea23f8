/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where areas may lie. Sorting finds overlaps in O(n log n) also where every extent is claimed a million times. */
#include <inttypes.h>

#include "format/lvm2/lvm2_decode.h"

struct claim {
	uint32_t lv;	/* whose it is */
	uint32_t index; /* of the PV or volume that it is on */
	bool on_pv;
	uint64_t extent;
	uint64_t count;
};
typedef VEC(struct claim) claims_t;

uint64_t lvm2_extents_taken(const struct lvm2_segment *s, const struct lvm2_ref *ref)
{
	uint64_t areas, extents = s->extent_count, room = 0;

	if (ref->role != LVM2_ROLE_DATA)
		return 0;
	if (s->type == LVM2_MIRROR || s->type == LVM2_RAID1)
		areas = 1;
	else if (s->type == LVM2_STRIPED || s->type == LVM2_RAID0 || s->type == LVM2_RAID10)
		areas = s->data_areas;
	else if (s->type == LVM2_RAID_PARITY)
		areas = s->data_areas - s->raid->parity;
	else
		return 0;
	if (s->type == LVM2_RAID10) {
		room = s->reshape_extents / s->data_areas;
		extents = (extents - s->reshape_extents) * s->data_copies;
	}
	return room + extents / areas + (extents % areas > 0);
}

/* What is used whole, by one alone: parts of pools and caches, a raid image's metadata, a snapshot's store. Origins and thin pools have many users, a mirror's log one in each segment. */
static bool is_claimed_whole(const struct lvm2_segment *s, const struct lvm2_ref *ref)
{
	if (ref->role == LVM2_ROLE_DATA || ref->role == LVM2_ROLE_METADATA || ref->role == LVM2_ROLE_COW)
		return true;
	return s->type == LVM2_CACHE && (ref->role == LVM2_ROLE_ORIGIN || ref->role == LVM2_ROLE_POOL);
}

static int check_ref(const struct lvm2_vg *vg, const struct lvm2_lv *lv, const struct lvm2_segment *s, const struct lvm2_ref *ref,
		     claims_t *claims, struct blkalign_error *reterr)
{
	uint64_t count = lvm2_extents_taken(s, ref);
	uint64_t room = ref->on_pv ? vg->pvs[ref->index].pe_count : vg->lvs[ref->index].extents;

	if (!range_inside(ref->extent, count, room))
		return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN,
					  "volume %s/%s takes %" PRIu64 " extents from extent %" PRIu64 " of %s, which has %" PRIu64,
					  vg->name, lv->name, count, ref->extent,
					  ref->on_pv ? vg->pvs[ref->index].key : vg->lvs[ref->index].name, room);
	if (!count && !is_claimed_whole(s, ref))
		return 0;
	return vec_push(claims, ((struct claim){ .lv = (uint32_t)(lv - vg->lvs),
						 .index = ref->index,
						 .on_pv = ref->on_pv,
						 .extent = ref->extent,
						 .count = count ? count : room }));
}

static int by_place(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->on_pv != y->on_pv)
		return x->on_pv ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->extent > y->extent) - (x->extent < y->extent);
}

static bool is_ascending(const claims_t *claims)
{
	for (size_t i = 1; i < claims->count; i++)
		if (by_place(&claims->data[i - 1], &claims->data[i]) > 0)
			return false;
	return true;
}

static int check_overlap(const struct lvm2_vg *vg, claims_t *claims, struct blkalign_error *reterr)
{
	/* Mostly they are in order: volumes are listed as they were made. */
	if (claims->count && !is_ascending(claims))
		qsort(claims->data, claims->count, sizeof(*claims->data), by_place);
	for (size_t i = 1; i < claims->count; i++) {
		const struct claim *a = &claims->data[i - 1], *b = &claims->data[i];

		if (a->on_pv == b->on_pv && a->index == b->index && b->extent < a->extent + a->count)
			return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN,
						  "volumes %s/%s and %s/%s both claim extent %" PRIu64 " of %s", vg->name,
						  vg->lvs[a->lv].name, vg->name, vg->lvs[b->lv].name, b->extent,
						  a->on_pv ? vg->pvs[a->index].key : vg->lvs[a->index].name);
	}
	return 0;
}

static int check_lv(const struct lvm2_vg *vg, const struct lvm2_lv *lv, claims_t *claims, struct blkalign_error *reterr)
{
	for (uint32_t i = 0; i < lv->segment_count; i++)
		for (uint32_t j = 0; j < lv->segments[i].ref_count; j++) {
			int r = check_ref(vg, lv, &lv->segments[i], &lv->segments[i].refs[j], claims, reterr);

			if (r < 0)
				return r;
		}
	return 0;
}

int lvm2_check_bounds(struct lvm2_vg *vg, struct blkalign_error *reterr)
{
	claims_t claims = { 0 };
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < vg->lv_count; i++)
		r = check_lv(vg, &vg->lvs[i], &claims, reterr);
	if (r >= 0)
		r = check_overlap(vg, &claims, reterr);
	vec_done(&claims);
	return r;
}
