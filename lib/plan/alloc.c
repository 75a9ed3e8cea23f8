/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Free extents, and which of them a volume gets. */
#include "plan/lvm.h"

#define PERIOD_MAX 131072U /* extents until the pattern of stripes repeats: more is as good as never */

static int by_place(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->pv != y->pv)
		return x->pv < y->pv ? -1 : 1;
	return (x->extent > y->extent) - (x->extent < y->extent);
}

static int used_runs(const struct lvm2_vg *vg, runs_t *ret)
{
	for (uint32_t i = 0; i < vg->lv_count; i++)
		for (uint32_t k = 0; k < vg->lvs[i].segment_count; k++) {
			const struct lvm2_segment *s = &vg->lvs[i].segments[k];

			for (uint32_t n = 0; n < s->ref_count; n++)
				if (s->refs[n].on_pv && vec_push(ret, ((struct run){ s->refs[n].index, s->refs[n].extent,
										     lvm2_extents_taken(s, &s->refs[n]) })) < 0)
					return -ENOMEM;
		}
	if (ret->count)
		qsort(ret->data, ret->count, sizeof(*ret->data), by_place);
	return 0;
}

static int add_run(runs_t *runs, uint32_t pv, uint64_t begin, uint64_t end)
{
	return begin < end ? vec_push(runs, ((struct run){ pv, begin, end - begin })) : 0;
}

/* The text was checked: what is used does not overlap, and lies within its PV. */
int free_runs(const struct lvm2_vg *vg, runs_t *ret)
{
	runs_t used = { 0 };
	int r = used_runs(vg, &used);
	size_t at = 0;

	for (uint32_t pv = 0; r >= 0 && pv < vg->pv_count; pv++) {
		uint64_t begin = 0;

		for (; r >= 0 && at < used.count && used.data[at].pv == pv; at++) {
			if (vg->pvs[pv].flags & LVM2_ALLOCATABLE)
				r = add_run(ret, pv, begin, used.data[at].extent);
			begin = used.data[at].extent + used.data[at].count;
		}
		if (r >= 0 && vg->pvs[pv].flags & LVM2_ALLOCATABLE)
			r = add_run(ret, pv, begin, vg->pvs[pv].pe_count);
	}
	vec_done(&used);
	return r;
}

uint64_t runs_total_of(const runs_t *runs, uint32_t pv)
{
	uint64_t total = 0;

	for (size_t i = 0; i < runs->count; i++)
		if (pv == UINT32_MAX || runs->data[i].pv == pv)
			total += runs->data[i].count;
	return total;
}

uint64_t runs_total(const runs_t *runs) { return runs_total_of(runs, UINT32_MAX); }

int runs_take(runs_t *runs, const struct run *taken)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct run *r = &runs->data[i], behind;

		if (r->pv != taken->pv || taken->extent < r->extent || taken->extent >= r->extent + r->count)
			continue;
		behind = (struct run){ r->pv, taken->extent + taken->count, r->extent + r->count - taken->extent - taken->count };
		r->count = taken->extent - r->extent;
		if (!behind.count)
			return 0;
		if (vec_push(runs, behind) < 0)
			return -ENOMEM;
		qsort(runs->data, runs->count, sizeof(*runs->data), by_place);
		return 0;
	}
	return 0;
}

bool on_stripe(const struct group *g, uint32_t pv, uint64_t extent)
{
	uint64_t at = g->vg->pvs[pv].pe_start_bytes + extent * g->vg->extent_bytes;

	return !topo_misalignment(at, g->pvs[pv].grain.stripe_bytes, g->pvs[pv].grain.stripe_first_bytes);
}

/* The first extent of the run from which on `count` fit; with `aligned`, one that begins on a stripe. */
static bool fits(const struct group *g, const struct run *run, uint64_t count, bool aligned, uint64_t *ret_extent)
{
	for (uint64_t skip = 0; skip < PERIOD_MAX && skip + count <= run->count; skip++) {
		*ret_extent = run->extent + skip;
		if (!aligned || on_stripe(g, run->pv, *ret_extent))
			return true;
	}
	return false;
}

static int take_run(runs_t *runs, const struct run *taken, runs_t *out)
{
	int r = vec_push(out, *taken);

	return r < 0 ? r : runs_take(runs, taken);
}

static bool is_of(const struct run *run, uint32_t pv) { return pv == UINT32_MAX || run->pv == pv; }

/* The longest piece that begins on a stripe, so that most of what is in pieces lies as if it were in one; none where there is no stripe. */
static struct run longest_on_stripe(const struct group *g, const runs_t *runs, uint32_t pv)
{
	struct run longest = { 0 };

	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->data[i];
		uint64_t at, left;

		if (!is_of(run, pv) || !g->pvs[run->pv].grain.stripe_bytes || !run->count || !fits(g, run, 1, true, &at))
			continue;
		left = run->extent + run->count - at;
		if (left > longest.count)
			longest = (struct run){ run->pv, at, left };
	}
	return longest;
}

static int take_pieces(const struct group *g, runs_t *runs, uint32_t pv, uint64_t count, runs_t *out)
{
	struct run first = longest_on_stripe(g, runs, pv);
	int r = 0;

	if (first.count) {
		first.count = first.count < count ? first.count : count;
		count -= first.count;
		r = take_run(runs, &first, out);
	}
	for (size_t i = 0; r >= 0 && count && i < runs->count; i++) {
		struct run piece = runs->data[i];

		if (!is_of(&piece, pv) || !piece.count)
			continue;
		piece.count = piece.count < count ? piece.count : count;
		count -= piece.count;
		r = take_run(runs, &piece, out);
	}
	return r;
}

int runs_allocate(const struct group *g, runs_t *runs, uint32_t pv, uint64_t count, runs_t *out)
{
	for (unsigned aligned = 2; aligned-- > 0;)
		for (size_t i = 0; i < runs->count; i++) {
			const struct run *run = &runs->data[i];
			uint64_t extent;

			if (is_of(run, pv) && fits(g, run, count, aligned, &extent))
				return take_run(runs, &(struct run){ run->pv, extent, count }, out);
		}
	return runs_total_of(runs, pv) < count ? -ENOSPC : take_pieces(g, runs, pv, count, out);
}
