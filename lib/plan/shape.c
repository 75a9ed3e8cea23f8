/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes and counts as lvcreate chooses them: tools/lvcreate.c, lib/metadata/lv_manip.c, mirror.c (adjusted_mirror_region_size), raid_manip.c (raid_rmeta_extents). */
#include <inttypes.h>

#include "plan/lv.h"

#define STRIPE_DEFAULT_BYTES (64 * KIB)
#define STRIPE_MIN_BYTES     (4 * KIB)
#define REGION_DEFAULT_BYTES (2 * MIB)
#define REGIONS_MAX	     (UINT64_C(1) << 21) /* the kernel's limit for the bitmap of a raid volume */
#define META_BLOCK_BYTES     4096U
#define EXTENTS_MAX	     UINT32_MAX

static const struct type {
	const char *name;
	const char *text; /* in the metadata */
	uint32_t stripes_min;
	uint32_t stripes_default;
	uint32_t parity;
	bool striped, mirrored, raid;
} types[] = {
	{ "linear", "striped", 1, 1, 0, false, false, false }, { "striped", "striped", 2, 0, 0, true, false, false },
	{ "raid1", "raid1", 1, 1, 0, false, true, true },      { "raid4", "raid4", 2, 2, 1, true, false, true },
	{ "raid5", "raid5", 2, 2, 1, true, false, true },      { "raid6", "raid6", 3, 3, 2, true, false, true },
	{ "raid10", "raid10", 2, 2, 0, true, true, true },
};

#define REFUSE(o, ...) blkalign_error_set(reterr, -EINVAL, (o)->vg, BLKALIGN_UNKNOWN, __VA_ARGS__)

static const struct type *find_type(const struct plan_lv_options *o)
{
	bool mirrored = o->mirrors != UINT32_MAX && o->mirrors, striped = o->stripes > 1;
	const char *name = o->type ? o->type : mirrored ? striped ? "raid10" : "raid1" : striped ? "striped" : "linear";

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

static int count_areas(const struct plan_lv_options *o, const struct type *t, struct shape *s, struct blkalign_error *reterr)
{
	uint32_t mirrors = o->mirrors == UINT32_MAX ? t->mirrored : o->mirrors;

	s->type = t->text;
	s->raid = t->raid;
	s->stripes = o->stripes ? o->stripes : t->stripes_default;
	if (s->stripes < t->stripes_min)
		return REFUSE(o, "type %s needs --stripes=N of at least %" PRIu32 " that hold data", t->name, t->stripes_min);
	if (!t->striped && s->stripes > 1)
		return REFUSE(o, "type %s has no stripes", t->name);
	if (!t->mirrored && mirrors)
		return REFUSE(o, "type %s has no mirrors", t->name);
	if (t->mirrored && !mirrors)
		return REFUSE(o, "type %s needs --mirrors=N of at least 1", t->name);
	if (s->stripes > LVM2_STRIPES_MAX / 2 || mirrors >= LVM2_STRIPES_MAX / 2 ||
	    s->stripes * (mirrors + 1) + t->parity > LVM2_STRIPES_MAX / 2)
		return REFUSE(o, "more than %u areas", LVM2_STRIPES_MAX / 2);
	s->legs = s->stripes * (mirrors + 1) + t->parity;
	s->copies = t->mirrored && t->striped ? mirrors + 1 : 0;
	return 0;
}

static int check_units(const struct group *g, const struct plan_lv_options *o, const struct type *t, struct shape *s,
		       struct blkalign_error *reterr)
{
	if (o->stripe_bytes && !t->striped)
		return REFUSE(o, "type %s has no stripes", t->name);
	if (o->region_bytes && !t->raid)
		return REFUSE(o, "type %s has no regions", t->name);
	s->stripe_bytes = !t->striped ? 0 : o->stripe_bytes ? o->stripe_bytes : STRIPE_DEFAULT_BYTES;
	if (s->stripe_bytes > g->vg->extent_bytes && !o->stripe_bytes)
		s->stripe_bytes = g->vg->extent_bytes;
	if (t->striped && (!is_power_of_2(s->stripe_bytes) || s->stripe_bytes < STRIPE_MIN_BYTES || s->stripe_bytes > g->vg->extent_bytes))
		return REFUSE(o,
			      "a stripe size of %" PRIu64 " bytes: expected a power of two from 4 KiB up to the extent's %" PRIu64 " bytes",
			      s->stripe_bytes, g->vg->extent_bytes);
	s->region_bytes = !t->raid ? 0 : o->region_bytes ? o->region_bytes : REGION_DEFAULT_BYTES;
	if (t->raid && (!is_power_of_2(s->region_bytes) || s->region_bytes < META_BLOCK_BYTES || s->region_bytes < s->stripe_bytes))
		return REFUSE(o, "a region size of %" PRIu64 " bytes: expected a power of two, at least 4 KiB and the stripe size",
			      s->region_bytes);
	return 0;
}

/* A power of two that divides the volume, not more regions than the kernel takes, and not below a stripe. */
static void fit_region(const struct group *g, struct shape *s)
{
	uint64_t extent = g->vg->extent_bytes, whole = extent & -extent;

	for (uint64_t n = s->extents; n % 2 == 0 && whole < s->region_bytes; n /= 2)
		whole *= 2;

	while (s->region_bytes > whole && s->region_bytes / 2 >= s->stripe_bytes && s->region_bytes > META_BLOCK_BYTES)
		s->region_bytes /= 2;
	while (s->leg_extents > REGIONS_MAX * s->region_bytes / extent)
		s->region_bytes *= 2;
}

/* Both superblocks and a byte for eight regions. */
static void count_metadata(const struct group *g, struct shape *s)
{
	uint64_t regions, bytes;

	s->leg_extents = s->extents / s->stripes;
	s->meta_extents = 0;
	if (!s->raid || !s->extents)
		return;
	fit_region(g, s);
	regions = s->leg_extents * g->vg->extent_bytes / s->region_bytes;
	bytes = UINT64_C(2) * META_BLOCK_BYTES + (regions + 7) / 8;
	s->meta_extents = (bytes + g->vg->extent_bytes - 1) / g->vg->extent_bytes;
}

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* The longest legs that as many PVs as there are legs can hold. */
static int largest(const struct group *g, const runs_t *free, struct shape *s, uint64_t *ret_extents)
{
	_cleanup_free_ uint64_t *of = calloc(g->count + 1, sizeof(*of));
	uint64_t room;

	if (!of)
		return -ENOMEM;
	*ret_extents = runs_total(free);
	if (s->legs == 1)
		return 0;
	for (size_t i = 0; i < g->count; i++)
		of[i] = runs_total_of(free, (uint32_t)i);
	qsort(of, g->count, sizeof(*of), descending);
	room = s->legs <= g->count ? of[s->legs - 1] : 0;
	s->extents = room * s->stripes;
	count_metadata(g, s);
	*ret_extents = room > s->meta_extents ? (room - s->meta_extents) * s->stripes : 0;
	return 0;
}

/*
 * As lvcreate(8) has it, a percentage is an upper limit for the physical extents that are taken, those of copies, parity and metadata among them: what does not fit is left out.
 */
static int count_share(const struct group *g, const runs_t *free, const struct plan_lv_options *o, struct shape *s, uint64_t all,
		       uint64_t *ret_wanted)
{
	uint64_t share = (o->percent == PLAN_PERCENT_VG ? all : runs_total(free)) * o->extents / 100, each = share / s->legs, most;
	int r = largest(g, free, s, &most);

	if (r < 0)
		return r;
	s->extents = each * s->stripes;
	count_metadata(g, s);
	*ret_wanted = s->raid ? (each > s->meta_extents ? each - s->meta_extents : 0) * s->stripes : round_up_u64(share, s->stripes);
	most = round_down_u64(most, s->stripes);
	*ret_wanted = *ret_wanted < most ? *ret_wanted : most;
	return 0;
}

static int count_extents(const struct group *g, const runs_t *free, const struct plan_lv_options *o, struct shape *s,
			 struct blkalign_error *reterr)
{
	uint64_t extent = g->vg->extent_bytes, all = 0, wanted = o->extents;
	int r = 0;

	if (!o->size_bytes && !o->extents)
		return REFUSE(o, "how large? --size=BYTES, or --extents=N, N%%FREE, N%%VG or N%%PVS");
	for (uint32_t i = 0; i < g->vg->pv_count; i++)
		all += g->vg->pvs[i].pe_count;
	if (o->size_bytes)
		wanted = o->size_bytes / extent + (o->size_bytes % extent > 0);
	else if (o->percent != PLAN_EXTENTS)
		r = o->extents > 100 ? -EINVAL : count_share(g, free, o, s, all, &wanted);
	if (r < 0)
		return r;
	if (wanted > all || !wanted)
		return blkalign_error_set(reterr, -ENOSPC, o->vg, BLKALIGN_UNKNOWN,
					  "there is no room for %" PRIu64 " extents: the group has %" PRIu64 ", of which %" PRIu64
					  " are free",
					  wanted ? wanted : 1, all, runs_total(free));
	s->extents = round_up_u64(wanted, s->stripes);
	if (s->extents > EXTENTS_MAX)
		return REFUSE(o, "a volume of more than %" PRIu32 " extents", EXTENTS_MAX);
	count_metadata(g, s);
	return 0;
}

int shape_choose(const struct group *g, const runs_t *free, const struct plan_lv_options *o, struct shape *ret,
		 struct blkalign_error *reterr)
{
	const struct type *t = find_type(o);
	struct shape s = { 0 };
	int r;

	if (!t)
		return REFUSE(o, "type %s: expected linear, striped, raid1, raid4, raid5, raid6 or raid10", o->type);
	r = count_areas(o, t, &s, reterr);
	if (r >= 0)
		r = check_units(g, o, t, &s, reterr);
	if (r >= 0)
		r = count_extents(g, free, o, &s, reterr);
	*ret = s;
	return r;
}
