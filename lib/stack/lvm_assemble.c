/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which text is believed, which device is which PV, and when a group is complete enough to be built. */
#include <inttypes.h>
#include <stdio.h>

#include "stack/lvm.h"

/* --- texts --- */

static struct lvm_group *find_group(struct lvm_state *state, const char *id)
{
	for (size_t i = 0; i < state->groups.count; i++)
		if (!strcmp(state->groups.data[i].vg->id, id))
			return &state->groups.data[i];
	return NULL;
}

static struct lvm_group *find_text(struct lvm_state *state, uint32_t checksum, size_t length)
{
	for (size_t i = 0; i < state->groups.count; i++)
		if (state->groups.data[i].checksum == checksum && state->groups.data[i].length == length)
			return &state->groups.data[i];
	return NULL;
}

static void note_on_pv(struct lvm_state *state, struct lvm_pv *pv, const struct lvm_group *g, uint64_t seqno)
{
	if (pv->group != LVM_NO_GROUP && pv->seqno > seqno)
		return;
	pv->group = (size_t)(g - state->groups.data);
	pv->seqno = seqno;
}

/* Takes `fresh`. The freshest text of a group stays; of equals the first, and that there are others is remembered. */
static int keep_text(struct stack *stack, struct lvm_state *state, struct lvm_pv *pv, struct lvm_group fresh)
{
	struct lvm_group *g = find_group(state, fresh.vg->id);
	uint64_t seqno = fresh.vg->seqno;
	int r = 0;

	if (!g) {
		if (vec_push(&state->groups, fresh) < 0) {
			lvm2_vg_free(fresh.vg);
			return -ENOMEM;
		}
		g = &state->groups.data[state->groups.count - 1];
	} else if (g->built) {
		r = graph_remark(stack_graph(stack),
				 "%s: another text of volume group %s, found after the group was put together: sequence number %" PRIu64
				 ", used is %" PRIu64,
				 blkalign_node_name(pv->host), g->vg->name, seqno, g->vg->seqno);
		lvm2_vg_free(fresh.vg);
	} else if (seqno > g->vg->seqno) {
		lvm2_vg_free(g->vg);
		*g = fresh;
	} else {
		g->contradicted = g->contradicted || seqno == g->vg->seqno;
		lvm2_vg_free(fresh.vg);
	}
	note_on_pv(state, pv, g, seqno);
	return r;
}

static bool lists(const struct lvm2_vg *vg, const char *pv_id)
{
	for (uint32_t i = 0; i < vg->pv_count; i++)
		if (!strcmp(vg->pvs[i].id, pv_id))
			return true;
	return false;
}

/* lvm2 writes a text only to PVs that it lists: another one, however fresh it claims to be, is not the group's. */
static int remark_foreign(struct stack *stack, const struct lvm_pv *pv, const struct lvm2_vg *vg)
{
	return graph_remark(stack_graph(stack),
			    "%s: carries a text of volume group %s that does not list it as a physical volume: not believed",
			    blkalign_node_name(pv->host), vg->name);
}

int lvm_note_text(struct stack *stack, struct lvm_state *state, struct lvm_pv *pv, const struct lvm2_mda *mda, const char *text,
		  size_t length)
{
	struct lvm_group fresh = { .checksum = mda->committed.checksum,
				   .length = length,
				   .found_on = blkalign_node_name(pv->host),
				   .area_bytes = mda->offset_bytes };
	const struct lvm_group *known = find_text(state, fresh.checksum, length);
	struct lvm_copy *copy = &pv->copies[pv->copy_count - 1];
	struct blkalign_error err;
	int r;

	copy->checksum = fresh.checksum;
	copy->word = "foreign";
	/* Every PV carries the same text: it is decoded once. */
	if (known && !lists(known->vg, pv->id))
		return remark_foreign(stack, pv, known->vg);
	if (known) {
		copy->seqno = known->vg->seqno;
		copy->word = NULL;
		note_on_pv(state, pv, known, known->vg->seqno);
		return 0;
	}
	r = lvm2_vg_decode(text, length, &fresh.vg, &err);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		copy->word = "torn";
		return graph_remark(stack_graph(stack), "%s: LVM2 %s", blkalign_node_name(pv->host), err.message);
	}
	copy->seqno = fresh.vg->seqno;
	if (lists(fresh.vg, pv->id)) {
		copy->word = NULL;
		return keep_text(stack, state, pv, fresh);
	}
	r = remark_foreign(stack, pv, fresh.vg);
	lvm2_vg_free(fresh.vg);
	return r;
}

/* --- devices --- */

/* True when `upper` lies over the same bytes as `lower`, with something in between: an array over its member, a multipath map over its path. */
static int lies_over(const struct blkalign_node *upper, const struct blkalign_node *lower, bool *ret)
{
	_cleanup_free_ struct blkalign_place *up = NULL, *low = NULL;
	const struct blkalign_node *bottom = lower;
	size_t up_count, low_count;
	int r = blkalign_node_places(upper, 0, &up, &up_count);

	if (r >= 0)
		r = blkalign_node_places(lower, 0, &low, &low_count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < low_count; i++)
		if (!blkalign_node_edges(low[i].node))
			bottom = low[i].node;
	*ret = false;
	for (size_t i = 0; i < up_count && up_count > low_count; i++)
		*ret = *ret || up[i].node == lower || up[i].node == bottom;
	return 0;
}

static int lies_over_all(const struct lvm_state *state, const struct lvm_pv *upper, bool *ret)
{
	*ret = true;
	for (size_t i = 0; *ret && i < state->pvs.count; i++) {
		const struct lvm_pv *other = &state->pvs.data[i];
		int r = 0;

		if (other != upper && !strcmp(other->id, upper->id))
			r = lies_over(upper->host, other->host, ret);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Several devices with one PV id are clones, or lie over each other. In the second case the uppermost is the PV, as for the kernel; of clones none is
 * taken, since nothing says which holds the data.
 */
static int choose_pv(struct stack *stack, const struct lvm_state *state, const char *id, const struct lvm_pv **ret)
{
	const struct lvm_pv *first = NULL, *second = NULL;

	*ret = NULL;
	for (size_t i = 0; i < state->pvs.count; i++) {
		const struct lvm_pv *pv = &state->pvs.data[i];
		bool uppermost = false;
		int r = strcmp(pv->id, id) ? 0 : lies_over_all(state, pv, &uppermost);

		if (r < 0)
			return r;
		if (uppermost)
			*ret = pv;
		if (strcmp(pv->id, id) != 0)
			continue;
		second = first && !second ? pv : second;
		first = first ? first : pv;
	}
	if (*ret || !second)
		return 0;
	return graph_remark(stack_graph(stack), "%s and %s bear the same physical volume id: neither is used",
			    blkalign_node_name(first->host), blkalign_node_name(second->host));
}

static bool found(const struct lvm_state *state, const char *id)
{
	for (size_t i = 0; i < state->pvs.count; i++)
		if (!strcmp(state->pvs.data[i].id, id))
			return true;
	return false;
}

static bool complete(const struct lvm_state *state, const struct lvm2_vg *vg)
{
	for (uint32_t i = 0; i < vg->pv_count; i++)
		if (!found(state, vg->pvs[i].id))
			return false;
	return true;
}

/* --- building --- */

void lvm_group_words(const struct lvm2_vg *vg, bool partial, char ret[64])
{
	const struct {
		bool on;
		const char *word;
	} words[] = {
		{ vg->flags & LVM2_EXPORTED, "exported" },
		{ partial, "partial" },
		{ vg->flags & LVM2_CLUSTERED, "clustered" },
		{ (vg->flags & LVM2_SHARED) || vg->lock_type, "shared" },
	};
	size_t length = 0;

	ret[0] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].on)
			length += (size_t)snprintf(ret + length, 64 - length, "%s%s", length ? "," : "", words[i].word);
}

static int describe_pv(const struct lvm2_vg *vg, const struct lvm2_pv *pv, const struct lvm_pv *at, const char *words)
{
	char id[LVM2_ID_TEXT];
	int r = graph_set_u64(at->node, BLKALIGN_ATTR_PE_START, pv->pe_start_bytes, BLKALIGN_ORIGIN_ONDISK);

	lvm2_id_format(id, vg->id);
	if (r >= 0)
		r = graph_set_u64(at->node, BLKALIGN_ATTR_PE_COUNT, pv->pe_count, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(at->node, BLKALIGN_ATTR_EXTENT, vg->extent_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(at->node, BLKALIGN_ATTR_VG_NAME, vg->name, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(at->node, BLKALIGN_ATTR_VG_UUID, id, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(at->node, BLKALIGN_ATTR_VG_SEQNO, vg->seqno, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && *words)
		r = graph_set_str(at->node, BLKALIGN_ATTR_VG_STATE, words, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

/* What does not fit the device is still shown: that is what people look for. */
static int remark_pv(struct blkalign_graph *graph, const struct lvm2_vg *vg, const struct lvm2_pv *pv, const struct lvm_pv *at)
{
	const char *host = blkalign_node_name(at->host);
	uint64_t end = pv->pe_start_bytes + pv->pe_count * vg->extent_bytes;
	int r = 0;

	if (end > at->dev->size_bytes)
		r = graph_remark(graph,
				 "%s: the extents of volume group %s end at byte %" PRIu64 ", behind the device's end at byte %" PRIu64,
				 host, vg->name, end, at->dev->size_bytes);
	if (r >= 0 && pv->pe_count && pv->pe_start_bytes < at->metadata_end_bytes)
		r = graph_remark(graph, "%s: the first extent at byte %" PRIu64 " lies in the metadata area, which ends at byte %" PRIu64,
				 host, pv->pe_start_bytes, at->metadata_end_bytes);
	return r;
}

/* PVs whose own text is older, and PVs that the freshest text does not list any more. */
static int remark_outdated(struct stack *stack, struct lvm_state *state, const struct lvm_group *g)
{
	size_t index = (size_t)(g - state->groups.data);

	for (size_t i = 0; i < state->pvs.count; i++) {
		const struct lvm_pv *pv = &state->pvs.data[i];
		bool listed = false;
		int r = 0;

		if (pv->group != index)
			continue;
		for (uint32_t j = 0; j < g->vg->pv_count; j++)
			listed = listed || !strcmp(g->vg->pvs[j].id, pv->id);
		if (!listed)
			r = graph_remark(stack_graph(stack),
					 "%s: carries a text of volume group %s, which does not list it as a physical volume",
					 blkalign_node_name(pv->host), g->vg->name);
		if (r >= 0 && pv->seqno < g->vg->seqno)
			r = graph_remark(stack_graph(stack),
					 "%s: its text of volume group %s is outdated: sequence number %" PRIu64
					 ", the freshest is %" PRIu64 " on %s",
					 blkalign_node_name(pv->host), g->vg->name, pv->seqno, g->vg->seqno, g->found_on);
		if (r < 0)
			return r;
	}
	return 0;
}

static int remark_group(struct stack *stack, struct lvm_state *state, const struct lvm_group *g)
{
	int r = remark_outdated(stack, state, g);

	if (r >= 0 && g->contradicted)
		r = graph_remark(stack_graph(stack),
				 "volume group %s: different texts bear the sequence number %" PRIu64 "; the one on %s is used",
				 g->vg->name, g->vg->seqno, g->found_on);
	for (size_t i = 0; r >= 0 && i < state->groups.count; i++) {
		const struct lvm_group *other = &state->groups.data[i];

		if (other != g && other->built && !strcmp(other->vg->name, g->vg->name))
			r = graph_remark(stack_graph(stack),
					 "two volume groups are named %s: the volumes of that on %s are told apart by a number",
					 g->vg->name, g->found_on);
	}
	return r;
}

static int resolve_pvs(struct stack *stack, struct lvm_state *state, const struct lvm2_vg *vg, const struct lvm_pv **pvs, bool *ret_partial)
{
	*ret_partial = false;
	for (uint32_t i = 0; i < vg->pv_count; i++) {
		char id[LVM2_ID_TEXT];
		int r = choose_pv(stack, state, vg->pvs[i].id, &pvs[i]);

		if (r >= 0 && !pvs[i]) {
			*ret_partial = true;
			lvm2_id_format(id, vg->pvs[i].id);
			r = graph_remark(stack_graph(stack), "volume group %s: physical volume %s (last seen as %s) is missing", vg->name,
					 id, vg->pvs[i].device ? vg->pvs[i].device : "an unknown device");
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static int build(struct stack *stack, struct lvm_state *state, struct lvm_group *g)
{
	const struct lvm2_vg *vg = g->vg;
	_cleanup_free_ const struct lvm_pv **pvs = calloc((size_t)vg->pv_count + 1, sizeof(*pvs));
	char words[64];
	bool partial;
	int r = pvs ? resolve_pvs(stack, state, vg, pvs, &partial) : -ENOMEM;

	g->built = true;
	if (r < 0)
		return r;
	lvm_group_words(vg, partial, words);
	for (uint32_t i = 0; r >= 0 && i < vg->pv_count; i++) {
		if (pvs[i])
			r = describe_pv(vg, &vg->pvs[i], pvs[i], words);
		if (r >= 0 && pvs[i])
			r = remark_pv(stack_graph(stack), vg, &vg->pvs[i], pvs[i]);
	}
	if (r >= 0)
		r = lvm_describe_group(g, pvs);
	if (r >= 0)
		r = remark_group(stack, state, g);
	return r < 0 ? r : lvm_add_volumes(stack, state, vg, pvs);
}

int lvm_assemble(struct stack *stack, struct lvm_state *state, bool *ret_progress)
{
	for (size_t i = 0; i < state->groups.count; i++) {
		struct lvm_group *g = &state->groups.data[i];
		size_t graph_size = blkalign_graph_size(stack_graph(stack));
		int r;

		if (g->built)
			continue;
		*ret_progress = true;
		/* A PV may lie on an array or volume that another layer makes in this very round: wait until a round brings nothing. */
		if (!complete(state, g->vg) && (!g->waited || g->graph_size != graph_size)) {
			g->waited = true;
			g->graph_size = graph_size;
			continue;
		}
		r = build(stack, state, g);
		if (r < 0)
			return r;
	}
	return 0;
}
