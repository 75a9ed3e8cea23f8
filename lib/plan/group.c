/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A volume group as it is: all of its PVs, their areas, and the text that counts. */
#include <inttypes.h>

#include "plan/lvm.h"

void group_done(struct group *g)
{
	lvm2_vg_free(g->vg);
	lvm2_edit_free(g->edit);
	free(g->pvs);
}

int group_read_pv(const struct plan_place *place, struct group_pv *ret, struct blkalign_error *reterr)
{
	struct group_pv pv = { .place = *place };
	int r = lvm2_label_read(place->dev, &pv.label, reterr);

	if (r == BLKALIGN_NOT_THIS)
		return blkalign_error_set(reterr, -ENOENT, blkalign_node_name(place->node), BLKALIGN_UNKNOWN,
					  "is no physical volume; `blkalign create pv` makes it one");
	for (unsigned i = 0; r >= 0 && i < pv.label.metadata.count; i++) {
		r = lvm2_mda_read(place->dev, pv.label.metadata.area[i].offset_bytes, &pv.mdas[i], reterr);
		pv.mda_count++;
	}
	if (r < 0)
		return r;
	*ret = pv;
	return 0;
}

/* --- the PVs of a name --- */

static bool is_pv_of(const struct blkalign_node *n, const char *vg)
{
	const char *name = blkalign_node_kind(n) == BLKALIGN_KIND_PV ? blkalign_node_str(n, BLKALIGN_ATTR_VG_NAME) : NULL;

	return name && !strcmp(name, vg);
}

static int refuse_unknown(const struct stack *stack, const char *name, struct blkalign_error *reterr)
{
	const struct blkalign_graph *graph = stack_graph(stack);
	_cleanup_strbuf_ struct strbuf names = { 0 };
	const char *last = "";

	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(graph, i);
		const char *vg = blkalign_node_kind(n) == BLKALIGN_KIND_PV ? blkalign_node_str(n, BLKALIGN_ATTR_VG_NAME) : NULL;

		if (vg && strcmp(vg, last) != 0)
			strbuf_printf(&names, "%s%s", names.length ? ", " : "", vg);
		last = vg ? vg : last;
	}
	return blkalign_error_set(reterr, -ENOENT, name, BLKALIGN_UNKNOWN, "there is no volume group of this name on what was given%s%s",
				  names.length ? ", which has " : "", strbuf_text(&names));
}

static int collect(struct stack *stack, struct group *g, struct blkalign_error *reterr)
{
	const struct blkalign_graph *graph = stack_graph(stack);
	const char *uuid = NULL;
	int r = 0;

	g->pvs = calloc(blkalign_graph_size(graph) + 1, sizeof(*g->pvs));
	if (!g->pvs)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *n = blkalign_graph_node(graph, i), *host = below(n);
		struct plan_place place = { .node = host, .dev = host ? stack_dev(stack, host) : NULL };
		const char *own = blkalign_node_str(n, BLKALIGN_ATTR_VG_UUID);

		if (!is_pv_of(n, g->name) || !place.dev || !own)
			continue;
		if (uuid && strcmp(uuid, own) != 0)
			return blkalign_error_set(reterr, -EINVAL, g->name, BLKALIGN_UNKNOWN,
						  "two volume groups bear this name; give the devices of one of them only");
		uuid = own;
		r = group_read_pv(&place, &g->pvs[g->count], reterr);
		g->count += r >= 0;
	}
	if (r >= 0 && !g->count)
		return refuse_unknown(stack, g->name, reterr);
	return r;
}

/* --- the text that counts --- */

struct freshest {
	struct lvm2_vg *vg;
	char *text;
	size_t length;
	uint32_t checksum;
	bool contradicted;
};

static void freshest_done(struct freshest *f)
{
	lvm2_vg_free(f->vg);
	free(f->text);
}

/* Damaged areas are passed over: they get the new text. */
static int consider(const struct group *g, const struct group_pv *pv, const struct lvm2_mda *mda, struct freshest *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_lvm2_vg_ struct lvm2_vg *vg = NULL;
	size_t length;
	int r = lvm2_text_read(pv->place.dev, mda, &text, &length, NULL);

	if (r == 0)
		r = lvm2_vg_decode(text, length, &vg, NULL);
	if (r == -ENOMEM)
		return r;
	if (r != 0 || strcmp(vg->name, g->name) != 0)
		return 0;
	if (f->vg && vg->seqno == f->vg->seqno && mda->committed.checksum != f->checksum)
		f->contradicted = true;
	if (f->vg && vg->seqno <= f->vg->seqno)
		return 0;
	freshest_done(f);
	*f = (struct freshest){ .vg = vg, .text = text, .length = length, .checksum = mda->committed.checksum };
	vg = NULL;
	text = NULL;
	return 0;
}

static int choose_text(struct group *g, struct blkalign_error *reterr)
{
	_cleanup_(freshest_done) struct freshest f = { 0 };
	const char *refusal;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < g->count; i++)
		for (unsigned k = 0; r >= 0 && k < g->pvs[i].mda_count; k++)
			r = consider(g, &g->pvs[i], &g->pvs[i].mdas[k], &f);
	if (r < 0)
		return r;
	if (!f.vg)
		return blkalign_error_set(reterr, -ENOENT, g->name, BLKALIGN_UNKNOWN, "no metadata of the volume group can be read");
	refusal = f.contradicted ? "different texts of its volume group claim to be the newest" : stack_vg_refusal(f.vg);
	if (refusal)
		return blkalign_error_set(reterr, -EBUSY, g->name, BLKALIGN_UNKNOWN, "is not changed: %s", refusal);
	r = lvm2_edit_open(f.text, f.length, &g->edit, reterr);
	if (r < 0)
		return r;
	g->vg = f.vg;
	f.vg = NULL;
	return 0;
}

/* --- put in order --- */

static int find_pv(const struct group *g, const struct lvm2_pv *pv, size_t *ret, struct blkalign_error *reterr)
{
	size_t found = 0;
	char id[LVM2_ID_TEXT];

	for (size_t i = 0; i < g->count; i++)
		if (!strcmp(g->pvs[i].label.pv_id, pv->id)) {
			*ret = i;
			found++;
		}
	lvm2_id_format(id, pv->id);
	if (found == 1 && !(pv->flags & LVM2_MISSING))
		return 0;
	return blkalign_error_set(reterr, -ENODEV, g->name, BLKALIGN_UNKNOWN,
				  "physical volume %s (last seen as %s) is %s: a group is changed whole or not at all", id,
				  pv->device ? pv->device : "an unknown device", found > 1 ? "there twice" : "missing");
}

static int sort_pvs(struct group *g, const struct plan_facts *facts, struct blkalign_error *reterr)
{
	struct group_pv *sorted = g->vg ? calloc((size_t)g->vg->pv_count + 1, sizeof(*sorted)) : NULL;
	int r = sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < g->vg->pv_count; i++) {
		const struct lvm2_pv *pv = &g->vg->pvs[i];
		const struct blkalign_node *judged;
		struct check *c;
		size_t at = 0;

		r = find_pv(g, pv, &at, reterr);
		if (r >= 0 && !range_inside(pv->pe_start_bytes, pv->pe_count * g->vg->extent_bytes, g->pvs[at].place.dev->size_bytes))
			r = blkalign_error_set(reterr, -ERANGE, blkalign_node_name(g->pvs[at].place.node), pv->pe_start_bytes,
					       "the extents of volume group %s reach behind the end of the device", g->name);
		if (r < 0)
			break;
		sorted[i] = g->pvs[at];
		judged = plan_judged(facts, sorted[i].place.node, &c);
		r = plan_grain(c, judged, NULL, &sorted[i].grain);
	}
	free(g->pvs);
	g->pvs = sorted;
	g->count = sorted ? g->vg->pv_count : 0;
	return r;
}

int group_open(struct stack *stack, const struct plan_facts *facts, const char *name, struct group *ret, struct blkalign_error *reterr)
{
	struct group g = { .name = name };
	int r = collect(stack, &g, reterr);

	if (r >= 0)
		r = choose_text(&g, reterr);
	if (r >= 0)
		r = sort_pvs(&g, facts, reterr);
	if (r < 0) {
		group_done(&g);
		return r;
	}
	*ret = g;
	return 0;
}
