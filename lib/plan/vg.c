/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A volume group of PVs that belong to none. */
#include <inttypes.h>
#include <stdio.h>

#include "plan/lvm.h"

#define EXTENT_UNIT_BYTES (128 * KIB) /* lvm2: what is no power of two is a multiple of this */
#define EXTENT_MAX_BYTES  (16 * GIB)

static int check_extent(uint64_t extent, uint64_t logical, struct blkalign_error *reterr)
{
	if (extent % 512 || extent > EXTENT_MAX_BYTES || (!is_power_of_2(extent) && extent % EXTENT_UNIT_BYTES))
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN,
					  "an extent of %" PRIu64 " bytes: expected a power of two or a multiple of 128 KiB", extent);
	if (extent < logical)
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN,
					  "an extent of %" PRIu64 " bytes is smaller than the logical block of %" PRIu64 " bytes", extent,
					  logical);
	return 0;
}

static int check_name_free(struct stack *stack, const char *name, struct blkalign_error *reterr)
{
	const char *refusal = lvm2_name_refusal(name, false);

	if (refusal)
		return blkalign_error_set(reterr, -EINVAL, name, BLKALIGN_UNKNOWN, "cannot be the name of a volume group: %s", refusal);
	for (size_t i = 0; i < blkalign_graph_size(stack_graph(stack)); i++) {
		const char *taken = blkalign_node_str(blkalign_graph_node(stack_graph(stack), i), BLKALIGN_ATTR_VG_NAME);

		if (taken && !strcmp(taken, name))
			return blkalign_error_set(reterr, -EEXIST, name, BLKALIGN_UNKNOWN, "there is a volume group of this name already");
	}
	return 0;
}

static int check_unused(const struct group *g, const struct group_pv *pv, struct blkalign_error *reterr)
{
	const char *name = blkalign_node_name(pv->place.node);

	for (unsigned i = 0; i < pv->mda_count; i++)
		if (pv->mdas[i].committed.size_bytes)
			return blkalign_error_set(reterr, -EBUSY, name, BLKALIGN_UNKNOWN, "belongs to a volume group already");
	if (pv->label.extension_flags & 1)
		return blkalign_error_set(reterr, -EBUSY, name, BLKALIGN_UNKNOWN,
					  "is marked as used by a volume group, whose metadata is not on it");
	for (const struct group_pv *other = g->pvs; other < pv; other++)
		if (!strcmp(other->label.pv_id, pv->label.pv_id))
			return blkalign_error_set(reterr, -EINVAL, name, BLKALIGN_UNKNOWN, "bears the same identifier as %s: is it a copy?",
						  blkalign_node_name(other->place.node));
	return 0;
}

/* From the first extent up to the area at the end, or the end. */
static int count_extents(const struct group_pv *pv, uint64_t extent, struct lvm2_pv *ret, struct blkalign_error *reterr)
{
	uint64_t start = pv->label.data.count ? pv->label.data.area[0].offset_bytes : 0, end = pv->place.dev->size_bytes;

	for (unsigned i = 0; i < pv->mda_count; i++)
		if (pv->mdas[i].offset_bytes > start && pv->mdas[i].offset_bytes < end)
			end = pv->mdas[i].offset_bytes;
	if (!start || start >= end || (end - start) / extent == 0)
		return blkalign_error_set(reterr, -ENOSPC, blkalign_node_name(pv->place.node), BLKALIGN_UNKNOWN,
					  "has no room for a single extent of %" PRIu64 " bytes", extent);
	ret->pe_start_bytes = start;
	ret->pe_count = (end - start) / extent;
	ret->size_bytes = pv->label.device_size_bytes;
	if (pv->label.bootloader.count)
		ret->bootloader = pv->label.bootloader.area[0];
	return 0;
}

static const char *path_of(const struct blkalign_node *n)
{
	const char *path = blkalign_node_str(n, BLKALIGN_ATTR_DEVPATH);

	return path ? path : blkalign_node_name(n);
}

static int add_pv(struct group *g, size_t index, uint64_t extent, struct blkalign_error *reterr)
{
	const struct group_pv *at = &g->pvs[index];
	struct lvm2_pv pv = { .device = path_of(at->place.node) };
	char key[24];
	int r = check_unused(g, at, reterr);

	snprintf(key, sizeof(key), "pv%zu", index);
	pv.key = key;
	memcpy(pv.id, at->label.pv_id, sizeof(pv.id));
	if (r >= 0)
		r = count_extents(at, extent, &pv, reterr);
	return r < 0 ? r : lvm2_edit_add_pv(g->edit, &pv);
}

/* What only the stripe below can tell: whether every extent, or every n-th, begins on one. */
static int say_extents(struct plan *plan, struct check *c, const struct blkalign_node *node, const struct group_pv *pv, uint64_t extent)
{
	uint64_t stripe = pv->grain.stripe_bytes, start = pv->label.data.area[0].offset_bytes;
	char text[32], better[80] = "";

	if (!stripe || extent % stripe == 0)
		return 0;
	blkalign_format_bytes(text, sizeof(text), stripe, 0);
	if (topo_misalignment(start, gcd_u64(stripe, extent), pv->grain.stripe_first_bytes % gcd_u64(stripe, extent)))
		return plan_say(plan, "%s: no extent begins on a %s stripe of what is below, since the first one does not",
				check_name(c, node), text);
	if (is_power_of_2(stripe) || stripe % EXTENT_UNIT_BYTES == 0)
		snprintf(better, sizeof(better), "; with --extent-size=%" PRIu64 "k every extent would", stripe / KIB);
	return plan_say(plan, "%s: 1 extent in %" PRIu64 " begins on a %s stripe of what is below: volumes are put there%s",
			check_name(c, node), stripe / gcd_u64(stripe, extent), text, better);
}

/* The last step, as lvm2 has it: a PV of a group whose label does not say so is taken for what it is. */
static int mark_used(struct plan *plan, const struct group *g, struct blkalign_error *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < g->count; i++) {
		struct lvm2_label label = g->pvs[i].label;
		uint8_t sector[512];

		label.extension_flags |= 1;
		label.extension_version = 2;
		r = lvm2_label_encode(&label, sector);
		if (r >= 0)
			r = plan_write(plan, &g->pvs[i].place, label.sector * 512, sector, sizeof(sector),
				       "the label: used by a volume group", reterr);
	}
	return r;
}

static int fill(struct plan *plan, const struct plan_facts *facts, struct group *g, const struct plan_place *places, struct lvm2_vg *vg,
		struct blkalign_error *reterr)
{
	uint64_t logical = 0, first = 0;
	int r = lvm2_id_make(vg->id);

	if (r >= 0)
		r = lvm2_edit_new(vg, &g->edit);
	for (size_t i = 0; r >= 0 && i < g->count; i++) {
		struct check *c;
		const struct blkalign_node *judged = plan_judged(facts, places[i].node, &c);

		logical = facts_of(c, judged)->logical_bytes;
		first = i ? first : logical;
		if (logical != first)
			return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(places[i].node), BLKALIGN_UNKNOWN,
						  "has logical blocks of %" PRIu64 " bytes, the others of %" PRIu64
						  ": volumes would span both",
						  logical, first);
		r = check_extent(vg->extent_bytes, logical, reterr);
		if (r >= 0)
			r = group_read_pv(&places[i], &g->pvs[i], reterr);
		if (r >= 0)
			r = plan_grain(c, judged, NULL, &g->pvs[i].grain);
		if (r >= 0)
			r = add_pv(g, i, vg->extent_bytes, reterr);
		if (r >= 0)
			r = say_extents(plan, c, judged, &g->pvs[i], vg->extent_bytes);
	}
	return r;
}

int plan_vg(struct plan *plan, struct stack *stack, const struct plan_facts *facts, const struct plan_place *places, size_t count,
	    const struct plan_vg_options *options, const struct plan_author *author, struct blkalign_error *reterr)
{
	_cleanup_group_ struct group g = { .name = options->name, .count = count };
	struct lvm2_vg vg = { .name = options->name, .extent_bytes = options->extent_bytes ? options->extent_bytes : LVM_EXTENT_DEFAULT };
	char extent[32];
	int r = check_name_free(stack, options->name, reterr);

	if (r < 0)
		return r;
	if (!count || count > LVM2_PVS_MAX)
		return blkalign_error_set(reterr, -EINVAL, options->name, BLKALIGN_UNKNOWN, "%s",
					  count ? "too many physical volumes" : "a volume group needs a physical volume");
	g.pvs = calloc(count, sizeof(*g.pvs));
	r = g.pvs ? fill(plan, facts, &g, places, &vg, reterr) : -ENOMEM;
	if (r >= 0)
		r = group_commit(plan, &g, 1, author, reterr);
	if (r >= 0)
		r = mark_used(plan, &g, reterr);
	if (r < 0)
		return r;
	blkalign_format_bytes(extent, sizeof(extent), vg.extent_bytes, 0);
	return plan_say(plan, "%s: volume group of %zu physical %s, extents of %s", vg.name, count, count == 1 ? "volume" : "volumes",
			extent);
}
