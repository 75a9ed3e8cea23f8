/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the bytes of a volume lie, segment by segment. */
#include "stack/lvm_volumes.h"

int lvm_connect(struct lvm_volumes *v, const struct blkalign_edge *edge)
{
	int r = graph_connect(stack_graph(v->stack), edge);

	if (r == -ELOOP)
		return graph_remark(stack_graph(v->stack), "%s: its metadata puts it on %s, which lies on it or too deep: left out",
				    blkalign_node_name(edge->upper), blkalign_node_name(edge->lower));
	return r;
}

/* Data areas that take turns: how many, and how the kernel divides the segment among them. */
uint32_t lvm_stripes(const struct lvm2_segment *s)
{
	if (s->type == LVM2_STRIPED || s->type == LVM2_RAID0)
		return s->data_areas;
	if (s->type == LVM2_RAID_PARITY)
		return s->data_areas - s->raid->parity;
	return s->type == LVM2_RAID10 ? s->data_areas / s->data_copies : 1;
}

/* Whether byte 0 of the segment is at the beginning of what `ref` names. */
static bool offset_known(const struct lvm2_segment *s, const struct lvm2_ref *ref)
{
	/* With room for a reshape, the raid superblock says where in the image the data begins. */
	if (ref->role == LVM2_ROLE_DATA)
		return s->type != LVM2_VDO_POOL && !s->reshape_extents;
	return ref->role == LVM2_ROLE_ORIGIN && s->type != LVM2_INTEGRITY;
}

/* Volumes that hold bytes of the segment are its slots; the others stand beside. */
static void set_place(const struct lvm2_segment *s, const struct lvm2_ref *ref, struct blkalign_edge *e)
{
	bool beside = true;

	switch (ref->role) {
	case LVM2_ROLE_DATA:
	case LVM2_ROLE_ORIGIN:
		beside = false;
		break;
	case LVM2_ROLE_POOL:
		beside = s->type == LVM2_CACHE || s->type == LVM2_WRITECACHE;
		e->state = beside ? "journal" : NULL;
		break;
	case LVM2_ROLE_COW:
		e->state = "journal";
		break;
	case LVM2_ROLE_METADATA:
	case LVM2_ROLE_LOG:
	case LVM2_ROLE_HISTORY:
		e->state = "metadata";
		break;
	}
	e->slot = beside ? BLKALIGN_SLOT_NONE : ref->slot;
	e->stripes = beside ? 1 : lvm_stripes(s);
	e->chunk_bytes = e->stripes > 1 ? s->stripe_bytes : 0;
}

static int connect_ref(struct lvm_volumes *v, struct blkalign_node *upper, uint32_t number, const struct lvm2_segment *s,
		       const struct lvm2_ref *ref)
{
	const struct lvm_pv *pv = ref->on_pv ? v->pvs[ref->index] : NULL;
	struct blkalign_edge e = {
		.upper = upper,
		.lower = ref->on_pv ? (pv ? pv->node : NULL) : v->nodes[ref->index],
		.upper_offset_bytes = s->start_extent * v->vg->extent_bytes,
		.lower_offset_bytes = BLKALIGN_UNKNOWN,
		.length_bytes = (s->extent_count - s->reshape_extents) * v->vg->extent_bytes,
		.segment = number,
	};

	if (!e.lower || ref->role == LVM2_ROLE_HISTORY)
		return 0;
	set_place(s, ref, &e);
	if (offset_known(s, ref))
		e.lower_offset_bytes = ref->extent * v->vg->extent_bytes + (ref->on_pv ? v->vg->pvs[ref->index].pe_start_bytes : 0);
	if (v->legs && ref->role == LVM2_ROLE_DATA) {
		e.state = v->legs[ref->slot].state;
		if (v->legs[ref->slot].data_offset_bytes != BLKALIGN_UNKNOWN)
			e.lower_offset_bytes = v->legs[ref->slot].data_offset_bytes;
	}
	return lvm_connect(v, &e);
}

int lvm_connect_all(struct lvm_volumes *v, struct blkalign_node *upper, const struct lvm2_lv *lv)
{
	for (uint32_t i = 0; i < lv->segment_count; i++)
		for (uint32_t j = 0; j < lv->segments[i].ref_count; j++) {
			int r = connect_ref(v, upper, i, &lv->segments[i], &lv->segments[i].refs[j]);

			if (r < 0)
				return r;
		}
	return 0;
}
