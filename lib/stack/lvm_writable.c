/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Volumes that may be written: those that nothing else reads, and whose bytes lie in one place, in as many as are all written, or in a RAID volume, whose records are kept. */
#include "stack/lvm_volumes.h"

static bool is_doubled(const struct lvm_volumes *v, const char *id)
{
	unsigned found = 0;

	for (size_t i = 0; i < v->state->pvs.count; i++)
		found += !strcmp(v->state->pvs.data[i].id, id);
	return found > 1;
}

static bool is_contradicted(const struct lvm_volumes *v)
{
	for (size_t i = 0; i < v->state->groups.count; i++)
		if (v->state->groups.data[i].vg == v->vg)
			return v->state->groups.data[i].contradicted;
	return false;
}

const char *stack_vg_refusal(const struct lvm2_vg *vg)
{
	if (vg->flags & LVM2_EXPORTED)
		return "its volume group is exported";
	if (vg->flags & (LVM2_CLUSTERED | LVM2_SHARED) || vg->lock_type)
		return "its volume group is shared with other hosts";
	if (vg->system_id && *vg->system_id)
		return "its volume group belongs to another system";
	return NULL;
}

static const char *group_refusal(const struct lvm_volumes *v)
{
	const struct stack_running *running = stack_running(v->stack);
	const struct lvm2_vg *vg = v->vg;
	const char *refusal = stack_vg_refusal(vg);

	/* Whose the group is does not matter to an overlay. */
	if (refusal && !(running && running->cow))
		return refusal;
	if (running && running->changed_group && !strcmp(running->changed_group, vg->name))
		return "its volume group is being changed";
	if (is_contradicted(v))
		return "different texts of its volume group claim to be the newest";
	for (uint32_t i = 0; i < vg->pv_count; i++)
		if (is_doubled(v, vg->pvs[i].id))
			return "two devices bear the identifier of one of its physical volumes";
	return NULL;
}

int lvm_find_referenced(struct lvm_volumes *v)
{
	v->referenced = calloc(v->vg->lv_count, sizeof(*v->referenced));
	if (!v->referenced)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->vg->lv_count; i++)
		for (uint32_t k = 0; k < v->vg->lvs[i].segment_count; k++)
			for (uint32_t n = 0; n < v->vg->lvs[i].segments[k].ref_count; n++)
				if (!v->vg->lvs[i].segments[k].refs[n].on_pv)
					v->referenced[v->vg->lvs[i].segments[k].refs[n].index] = true;
	v->group_refusal = group_refusal(v);
	return 0;
}

static bool has_type(const struct lvm2_lv *lv, enum lvm2_segment_type type)
{
	for (uint32_t i = 0; i < lv->segment_count; i++)
		if (lv->segments[i].type == type)
			return true;
	return false;
}

static bool is_plain(const struct lvm2_lv *lv)
{
	for (uint32_t i = 0; i < lv->segment_count; i++)
		if (lv->segments[i].type != LVM2_STRIPED && lv->segments[i].type != LVM2_RAID0 && lv->segments[i].type != LVM2_MIRROR)
			return false;
	return true;
}

/* lvm2 lets pvmove's mirror take the place of what it moves, and lays no other plain volume on one. */
static bool is_being_moved(const struct lvm_volumes *v, const struct lvm2_lv *lv)
{
	for (uint32_t i = 0; i < lv->segment_count; i++)
		for (uint32_t k = 0; lv->segments[i].type == LVM2_STRIPED && k < lv->segments[i].ref_count; k++)
			if (!lv->segments[i].refs[k].on_pv && has_type(&v->vg->lvs[lv->segments[i].refs[k].index], LVM2_MIRROR))
				return true;
	return false;
}

const char *lvm_write_refusal(const struct lvm_volumes *v, uint32_t index)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];

	if (v->group_refusal)
		return v->group_refusal;
	if (!(lv->flags & LVM2_WRITE))
		return "the volume is set to read-only";
	if (has_type(lv, LVM2_THIN))
		return "thin volumes are only read: a write would have to take blocks from the pool";
	if (has_type(lv, LVM2_SNAPSHOT))
		return "snapshots are only read: a write would have to go to the store";
	if (has_type(lv, LVM2_CACHE))
		return "cached volumes are only read: the cache would have to follow";
	if (v->merging[index])
		return "a snapshot is being merged into it";
	if (v->referenced[index])
		return "other volumes, such as snapshots, are built on it and would have to follow";
	if (is_being_moved(v, lv))
		return "pvmove is moving it: a write would have to go to both places";
	if (!is_plain(lv) && !lvm_is_raid(lv))
		return "volumes of this type are only read";
	if (has_type(lv, LVM2_MIRROR) && v->devs[index] && !v->devs[index]->writable)
		return "a leg of the mirror or its log is missing, or cannot be written";
	return NULL;
}

bool lvm_is_laid_over(const struct lvm_volumes *v, uint32_t index)
{
	const struct stack_running *running = stack_running(v->stack);
	const struct lvm2_lv *lv = &v->vg->lvs[index];

	return running && running->cow && !v->group_refusal && (lv->flags & LVM2_WRITE) && lvm_write_refusal(v, index) &&
	       (!lvm_is_raid(lv) || v->referenced[index]);
}
