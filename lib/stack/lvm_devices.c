/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Volumes that a plain read can follow: linear, striped, raid0, and one copy of a mirror. */
#include "stack/lvm_volumes.h"

static struct map_area area_of(const struct lvm_volumes *v, const struct lvm2_ref *ref, bool *whole)
{
	struct map_area a = { .offset_bytes = ref->extent * v->vg->extent_bytes };

	if (!ref->on_pv) {
		a.dev = v->devs[ref->index];
		a.missing_because = "a volume below cannot be read";
		*whole = *whole && v->whole[ref->index];
		return a;
	}
	a.offset_bytes += v->vg->pvs[ref->index].pe_start_bytes;
	a.dev = v->pvs[ref->index] ? v->pvs[ref->index]->dev : NULL;
	a.missing_because = "a physical volume is missing";
	*whole = *whole && a.dev;
	return a;
}

/* The first copy that is all there and not being rebuilt. */
static const struct lvm2_ref *choose_leg(const struct lvm_volumes *v, const struct lvm2_segment *s)
{
	for (uint32_t i = 0; i < s->ref_count; i++) {
		const struct lvm2_ref *ref = &s->refs[i];
		bool whole = true;

		if (ref->role != LVM2_ROLE_DATA || (!ref->on_pv && (v->vg->lvs[ref->index].flags & LVM2_REBUILD)))
			continue;
		if (area_of(v, ref, &whole).dev && whole)
			return ref;
	}
	return NULL;
}

static int add_area(struct lvm_volumes *v, struct map_area area, size_t *count)
{
	(*count)++;
	return vec_push(&v->areas, area);
}

/* 0, BLKALIGN_ABSENT when the segment's bytes are not to be had by a plain read, or -ENOMEM. */
static int add_areas(struct lvm_volumes *v, const struct lvm2_segment *s, size_t *count, bool *whole)
{
	const struct lvm2_ref *leg;
	int r = 0;

	switch (s->type) {
	case LVM2_STRIPED:
	case LVM2_RAID0:
		for (uint32_t i = 0; r >= 0 && i < s->ref_count; i++)
			if (s->refs[i].role == LVM2_ROLE_DATA)
				r = add_area(v, area_of(v, &s->refs[i], whole), count);
		return r;
	case LVM2_MIRROR:
		leg = choose_leg(v, s);
		return leg ? add_area(v, area_of(v, leg, whole), count) : BLKALIGN_ABSENT;
	case LVM2_ERROR:
		*whole = false;
		return add_area(v, (struct map_area){ .missing_because = "the volume has an error segment here" }, count);
	case LVM2_ZERO:
		return 0;
	case LVM2_RAID1:
	case LVM2_RAID_PARITY:
	case LVM2_RAID10:
	case LVM2_SNAPSHOT:
	case LVM2_THIN_POOL:
	case LVM2_THIN:
	case LVM2_CACHE_POOL:
	case LVM2_CACHE:
	case LVM2_WRITECACHE:
	case LVM2_INTEGRITY:
	case LVM2_VDO_POOL:
	case LVM2_VDO:
	case LVM2_UNKNOWN:
		break;
	}
	return BLKALIGN_ABSENT;
}

/* `areas` moves while it grows: the segments point into it only when all are there. */
static void point_segments(struct lvm_volumes *v)
{
	size_t at = 0;

	for (size_t i = 0; i < v->segments.count; i++) {
		v->segments.data[i].areas = v->areas.data ? v->areas.data + at : NULL;
		at += v->segments.data[i].area_count;
	}
}

static int open_device(struct lvm_volumes *v, const struct lvm2_lv *lv, const char *name, struct dev **ret_dev, bool *ret_whole)
{
	bool whole = true, any = false;

	v->segments.count = v->areas.count = 0;
	for (uint32_t i = 0; i < lv->segment_count; i++) {
		const struct lvm2_segment *s = &lv->segments[i];
		struct map_segment m = { .length_bytes = s->extent_count * v->vg->extent_bytes, .chunk_bytes = s->stripe_bytes };
		int r = add_areas(v, s, &m.area_count, &whole);

		if (r)
			return r < 0 ? r : 0;
		if (vec_push(&v->segments, m) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < v->areas.count; i++)
		any = any || v->areas.data[i].dev;
	if (!any)
		return 0;
	point_segments(v);
	*ret_whole = whole;
	return map_open_segments(name, v->segments.data, v->segments.count, ret_dev);
}

/* Internal volumes are parts: what stands above them decides. */
static int give_device(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev *dev)
{
	const char *why = lvm_write_refusal(v, index);
	int r = stack_set_dev(v->stack, node, dev);

	return r >= 0 && why && stack_is_writable(v->stack) ? stack_set_read_only(v->stack, node, why) : r;
}

/* Parts of other volumes are read through only: what their bytes look like says nothing. */
int lvm_set_device(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node)
{
	struct dev *dev = stack_dev(v->stack, node);
	int r;

	if (v->merging[index])
		return 0;
	if (dev) {
		v->devs[index] = dev;
		v->whole[index] = true;
		return 0;
	}
	if (lvm_is_raid(&v->vg->lvs[index]))
		r = lvm_open_raid(v, index, node, &dev);
	else
		r = open_device(v, &v->vg->lvs[index], blkalign_node_name(node), &dev, &v->whole[index]);
	if (r < 0 || !dev)
		return r;
	v->devs[index] = dev;
	if (!v->vg->lvs[index].internal)
		return give_device(v, index, node, dev);
	if (vec_push(&v->state->parts, dev) < 0) {
		dev_close(dev);
		return -ENOMEM;
	}
	return 0;
}
