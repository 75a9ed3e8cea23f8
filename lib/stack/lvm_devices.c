/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices of volumes: what a plain read can follow is made here, the rest handed to who knows. */
#include "stack/lvm_special.h"

struct map_area lvm_area_of(const struct lvm_volumes *v, const struct lvm2_ref *ref, bool *whole)
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

/* Internal volumes and pools are parts: what stands above them decides, and what their bytes look like says nothing. */
static int keep_part(struct lvm_volumes *v, struct dev *dev)
{
	int r = vec_push(&v->state->parts, dev);

	if (r < 0)
		dev_close(dev);
	return r;
}

static int add_area(struct lvm_volumes *v, struct map_area area, size_t *count)
{
	(*count)++;
	return vec_push(&v->areas, area);
}

/* The volume that is opened. */
struct opening {
	const struct lvm2_lv *lv;
	const struct blkalign_node *node;
	const char *name; /* of the device */
};

static int add_mirror(struct lvm_volumes *v, const struct opening *o, const struct lvm2_segment *s, size_t *count, bool *whole)
{
	struct map_area area = { .missing_because = "no leg of the mirror is there" };
	int r = lvm_open_mirror(v, o->lv, s, o->node, &area.dev, whole);

	if (r >= 0 && area.dev)
		r = keep_part(v, area.dev);
	return r < 0 ? r : add_area(v, area, count);
}

/* 0, BLKALIGN_ABSENT when the segment's bytes are not to be had by a plain read, or -ENOMEM. */
static int add_areas(struct lvm_volumes *v, const struct opening *o, const struct lvm2_segment *s, size_t *count, bool *whole)
{
	int r = 0;

	switch (s->type) {
	case LVM2_STRIPED:
	case LVM2_RAID0:
		for (uint32_t i = 0; r >= 0 && i < s->ref_count; i++)
			if (s->refs[i].role == LVM2_ROLE_DATA)
				r = add_area(v, lvm_area_of(v, &s->refs[i], whole), count);
		return r;
	case LVM2_MIRROR:
		return add_mirror(v, o, s, count, whole);
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

static int open_device(struct lvm_volumes *v, const struct opening *o, struct dev **ret_dev, bool *ret_whole)
{
	const struct lvm2_lv *lv = o->lv;
	bool whole = true, any = false;

	v->segments.count = v->areas.count = 0;
	for (uint32_t i = 0; i < lv->segment_count; i++) {
		const struct lvm2_segment *s = &lv->segments[i];
		struct map_segment m = { .length_bytes = s->extent_count * v->vg->extent_bytes, .chunk_bytes = s->stripe_bytes };
		int r = add_areas(v, o, s, &m.area_count, &whole);

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
	return map_open_segments(o->name, v->segments.data, v->segments.count, ret_dev);
}

/* --- volumes whose bytes are looked up --- */

struct dev *lvm_role_dev(const struct lvm_volumes *v, const struct lvm2_segment *segment, enum lvm2_role role, bool *ret_whole)
{
	const struct lvm2_ref *ref = lvm_find_ref(segment, role);

	*ret_whole = *ret_whole && ref && v->whole[ref->index];
	return ref ? v->devs[ref->index] : NULL;
}

int lvm_cannot_read(const struct lvm_volumes *v, const struct blkalign_node *node, const char *why)
{
	return graph_remark(stack_graph(v->stack), "%s: cannot be read: %s", blkalign_node_name(node), why);
}

bool lvm_is_forced(const struct lvm_volumes *v)
{
	const struct stack_running *running = stack_running(v->stack);

	return running && running->force;
}

/* Why volumes of a type are not read at all; NULL for the others. */
static const char *unread_because(enum lvm2_segment_type type)
{
	if (type == LVM2_WRITECACHE)
		return "its newest blocks may be in its writecache, whose records are not understood; activate it with lvm2";
	if (type == LVM2_INTEGRITY)
		return "its blocks lie among checksums (dm-integrity), which are not understood; activate it with lvm2";
	if (type == LVM2_VDO || type == LVM2_VDO_POOL)
		return "its blocks are compressed and shared by VDO, which is not understood; activate it with lvm2";
	return type == LVM2_UNKNOWN ? "volumes of its type are not understood" : NULL;
}

/* lvm2 gives these one segment. */
static int open_volume(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev, bool *ret_whole)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	enum lvm2_segment_type type = lv->segment_count == 1 ? lv->segments[0].type : LVM2_STRIPED;
	char name[2 * LVM2_NAME_MAX + 16];

	*ret_whole = true;
	if (type == LVM2_THIN_POOL)
		return lvm_open_thin_pool(v, index, node, ret_dev, ret_whole);
	if (type == LVM2_THIN)
		return lvm_open_thin(v, index, node, ret_dev, ret_whole);
	if (type == LVM2_SNAPSHOT)
		return lvm_open_snapshot(v, index, node, ret_dev, ret_whole);
	if (type == LVM2_CACHE_POOL)
		return lvm_open_cache_pool(v, index, node, ret_dev, ret_whole);
	if (type == LVM2_CACHE)
		return lvm_open_cache(v, index, node, ret_dev, ret_whole);
	if (lvm_is_raid(lv))
		return lvm_open_raid(v, index, node, ret_dev);
	if (unread_because(type))
		return lvm_cannot_read(v, node, unread_because(type));
	/* The kernel's name for an origin's own bytes. */
	text_join(name, sizeof(name), blkalign_node_name(node), v->merging[index] ? "-real" : "", "");
	return open_device(v, &(struct opening){ lv, node, name }, ret_dev, ret_whole);
}

/* --- giving devices to nodes --- */

/* What nothing may be written to can be written over. */
static int lay_over(struct lvm_volumes *v, struct dev **dev)
{
	struct blkalign_error err = { 0 };
	struct dev *below = *dev;
	int r = stack_own(v->stack, below);

	*dev = NULL;
	if (r >= 0)
		r = dev_open_cow(below, dev, &err);
	if (r < 0 && r != -ENOMEM)
		r = graph_remark(stack_graph(v->stack), "%s: cannot be written over: %s", below->name, err.message);
	return r;
}

int lvm_give_device(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev *dev)
{
	const char *why = lvm_write_refusal(v, index);
	int r = 0;

	if (lvm_is_laid_over(v, index)) {
		r = lay_over(v, &dev);
		why = NULL;
	}
	if (r >= 0 && dev)
		r = stack_set_dev(v->stack, node, dev);
	return r >= 0 && why && stack_is_writable(v->stack) ? stack_set_read_only(v->stack, node, why) : r;
}

static bool is_part(const struct lvm2_lv *lv)
{
	return lv->internal || lv->segments[0].type == LVM2_THIN_POOL || lv->segments[0].type == LVM2_CACHE_POOL;
}

int lvm_set_device(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node)
{
	struct dev *dev = stack_dev(v->stack, node);
	int r;

	if (dev) {
		v->devs[index] = dev;
		v->whole[index] = true;
		return 0;
	}
	r = open_volume(v, index, node, &dev, &v->whole[index]);
	v->whole[index] = v->whole[index] && dev;
	if (!dev)
		return r;
	if (v->merging[index])
		v->bare[index] = dev;
	else
		v->devs[index] = dev;
	if (v->merging[index] || is_part(&v->vg->lvs[index]))
		return r < 0 ? (keep_part(v, dev), r) : keep_part(v, dev);
	return r < 0 ? (dev_close(dev), r) : lvm_give_device(v, index, node, dev);
}
