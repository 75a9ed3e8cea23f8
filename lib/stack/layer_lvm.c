/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels and texts are collected as devices come by; groups are built when nothing new appears any more. */
#include <inttypes.h>

#include "stack/lvm_special.h"

static void state_free(void *p)
{
	struct lvm_state *s = p;

	for (size_t i = 0; i < s->parts.count; i++)
		dev_close(s->parts.data[i]);
	for (size_t i = 0; i < s->mirrors.count; i++)
		lvm_mirror_guard_free(s->mirrors.data[i]);
	for (size_t i = 0; i < s->thin_pools.count; i++)
		lvm_thin_pool_free(s->thin_pools.data[i]);
	for (size_t i = 0; i < s->groups.count; i++)
		lvm2_vg_free(s->groups.data[i].vg);
	vec_done(&s->mirrors);
	vec_done(&s->thin_pools);
	vec_done(&s->parts);
	vec_done(&s->groups);
	vec_done(&s->pvs);
	free(s);
}

static int get_state(struct stack *stack, struct lvm_state **ret)
{
	void **slot = stack_state(stack, &layer_lvm);

	if (!*slot)
		*slot = calloc(1, sizeof(struct lvm_state));
	*ret = *slot;
	return *slot ? 0 : -ENOMEM;
}

/* BLKALIGN_ABSENT when the host's texts are more than are read; said once. */
static int spend(struct stack *stack, struct lvm_state *state, const struct lvm_pv *pv, const struct lvm2_mda *mda)
{
	int r = 0;

	if (mda->committed.size_bytes <= LVM_TEXTS_MAX - state->texts_bytes) {
		state->texts_bytes += mda->committed.size_bytes;
		return 0;
	}
	if (!state->texts_refused)
		r = graph_remark(stack_graph(stack),
				 "%s: LVM2 metadata: more than %" PRIu64 " MiB of texts in all: further ones are not read",
				 blkalign_node_name(pv->host), LVM_TEXTS_MAX / MIB);
	state->texts_refused = true;
	return r < 0 ? r : BLKALIGN_ABSENT;
}

/* As pvs counts what is free: old and new text are in the ring together, each from a sector on. Checked against what it printed of the golden groups. */
static void note_room(struct lvm_pv *pv, const struct lvm2_mda *mda)
{
	uint64_t half = (mda->size_bytes - 512) / 2, taken = mda->committed.size_bytes + 512, left = 0;

	if (!mda->committed.ignored && taken < half)
		left = round_down_u64(half - taken, 512);
	pv->areas_used += !mda->committed.ignored;
	if (mda->size_bytes < pv->area_size_bytes)
		pv->area_size_bytes = mda->size_bytes;
	if (left < pv->area_free_bytes)
		pv->area_free_bytes = left;
}

/* A damaged area is told and passed over: the same text usually stands on other PVs too. */
static int read_area(struct stack *stack, struct lvm_state *state, struct lvm_pv *pv, const struct lvm2_area *area)
{
	_cleanup_free_ char *text = NULL;
	struct blkalign_error err;
	struct lvm2_mda mda;
	size_t length;
	struct lvm_copy *copy = &pv->copies[pv->copy_count++];
	int r = lvm2_mda_read(pv->dev, area->offset_bytes, &mda, &err);

	*copy = (struct lvm_copy){ .area_bytes = area->offset_bytes, .word = r < 0 ? "damaged" : "torn" };
	if (r >= 0)
		note_room(pv, &mda);
	if (r >= 0)
		r = spend(stack, state, pv, &mda);
	if (r == 0 && mda.precommitted.size_bytes)
		r = graph_remark(stack_graph(stack),
				 "%s: LVM2 metadata area at byte %" PRIu64 ": the writing of a new text did not end; the old one counts",
				 blkalign_node_name(pv->host), area->offset_bytes);
	if (r >= 0 && r != BLKALIGN_ABSENT)
		r = lvm2_text_read(pv->dev, &mda, &text, &length, &err);
	if (r == BLKALIGN_ABSENT) {
		copy->word = mda.committed.ignored ? "ignored" : mda.committed.size_bytes ? "not read" : "empty";
		return 0;
	}
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return graph_remark(stack_graph(stack), "%s: LVM2 metadata area at byte %" PRIu64 ": %s", blkalign_node_name(pv->host),
				    area->offset_bytes, err.message);
	return lvm_note_text(stack, state, pv, &mda, text, length);
}

static int describe_pv(const struct lvm_pv *pv, const struct lvm2_label *label)
{
	char id[LVM2_ID_TEXT];
	int r = graph_set_str(pv->node, BLKALIGN_ATTR_CONTENT, "LVM2_member", BLKALIGN_ORIGIN_ONDISK);

	lvm2_id_format(id, label->pv_id);
	if (r >= 0)
		r = graph_set_str(pv->node, BLKALIGN_ATTR_PV_UUID, id, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && label->data.count)
		r = graph_set_u64(pv->node, BLKALIGN_ATTR_PE_START, label->data.area[0].offset_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(pv->node, BLKALIGN_ATTR_SIZE, pv->dev->size_bytes, BLKALIGN_ORIGIN_COMPUTED);
	return r;
}

static int add_pv(struct stack *stack, struct lvm_state *state, struct blkalign_node *host, struct dev *dev, const struct lvm2_label *label)
{
	struct lvm_pv pv = { .host = host,
			     .dev = dev,
			     .group = LVM_NO_GROUP,
			     .area_size_bytes = label->metadata.count ? BLKALIGN_UNKNOWN : 0,
			     .area_free_bytes = label->metadata.count ? BLKALIGN_UNKNOWN : 0,
			     .in_use = label->extension_flags & 1 };
	int r = stack_add_content(stack, BLKALIGN_KIND_PV, "pv", host, &pv.node);

	memcpy(pv.id, label->pv_id, sizeof(pv.id));
	if (r >= 0)
		r = describe_pv(&pv, label);
	if (r >= 0 && label->another)
		r = graph_remark(stack_graph(stack), "%s: holds a second LVM2 label that says something else; the first counts",
				 blkalign_node_name(host));
	for (unsigned i = 0; r >= 0 && i < label->metadata.count; i++) {
		const struct lvm2_area *a = &label->metadata.area[i];

		/* An area behind the data, at the end of the device, has nothing to do with where the data may begin. */
		if ((!label->data.count || a->offset_bytes < label->data.area[0].offset_bytes) &&
		    range_inside(a->offset_bytes, a->size_bytes, dev->size_bytes) &&
		    pv.metadata_end_bytes < a->offset_bytes + a->size_bytes)
			pv.metadata_end_bytes = a->offset_bytes + a->size_bytes;
		r = read_area(stack, state, &pv, a);
	}
	if (label->bootloader.count)
		pv.bootloader = label->bootloader.area[0];
	if (r >= 0)
		r = lvm_describe_label(&pv);
	return r < 0 ? r : vec_push(&state->pvs, pv);
}

/*
 * A label whose every metadata area is gone: mkfs and the like leave the label's sector alone, so something newer may lie there. It is told, and
 * nothing is built on it.
 */
static bool is_leftover(struct dev *dev, const struct lvm2_label *label, struct blkalign_error *ret_why)
{
	struct lvm2_mda mda;

	for (unsigned i = 0; i < label->metadata.count; i++)
		if (lvm2_mda_read(dev, label->metadata.area[i].offset_bytes, &mda, ret_why) >= 0)
			return false;
	return label->metadata.count > 0;
}

static int remark_leftover(struct stack *stack, const struct blkalign_node *host, const struct lvm2_label *label, const char *why)
{
	char id[LVM2_ID_TEXT];
	int r;

	lvm2_id_format(id, label->pv_id);
	r = graph_remark(stack_graph(stack),
			 "%s: LVM2 label of PV %s without its metadata area: %s; the label is left over or the PV damaged",
			 blkalign_node_name(host), id, why);
	return r < 0 ? r : BLKALIGN_NOT_THIS;
}

static int probe(struct stack *stack, struct blkalign_node *host, struct dev *dev)
{
	struct blkalign_error err;
	struct lvm_state *state;
	struct lvm2_label label;
	int r = lvm2_label_read(dev, &label, &err);

	/* A device that cannot be read is told by the last layers. */
	if (r == -EBADMSG || r == -EPROTO || r == -E2BIG) {
		r = graph_remark(stack_graph(stack), "%s: LVM2 label: %s", blkalign_node_name(host), err.message);
		return r < 0 ? r : BLKALIGN_NOT_THIS;
	}
	if (r)
		return r == -ENOMEM ? r : BLKALIGN_NOT_THIS;
	if (is_leftover(dev, &label, &err))
		return remark_leftover(stack, host, &label, err.message);
	r = get_state(stack, &state);
	return r < 0 ? r : add_pv(stack, state, host, dev, &label);
}

bool stack_vg_text(struct stack *stack, const char *vg_id, struct stack_vg_text *ret)
{
	const struct lvm_state *s = *stack_state(stack, &layer_lvm);

	for (size_t i = 0; s && i < s->groups.count; i++) {
		const struct lvm_group *g = &s->groups.data[i];

		if (strcmp(g->vg->id, vg_id) != 0)
			continue;
		*ret = (struct stack_vg_text){
			.on = g->found_on, .area_bytes = g->area_bytes, .seqno = g->vg->seqno, .checksum = g->checksum
		};
		return true;
	}
	return false;
}

static int assemble(struct stack *stack, bool *ret_progress)
{
	struct lvm_state *state = *stack_state(stack, &layer_lvm);

	return state ? lvm_assemble(stack, state, ret_progress) : 0;
}

const struct layer layer_lvm = { .name = "lvm", .probe = probe, .assemble = assemble, .done = state_free };
