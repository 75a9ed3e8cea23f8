/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names first, segments second: a segment may name a volume that comes later in the text. */
#include <inttypes.h>

#include "format/lvm2/lvm2_decode.h"

static int by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct lvm2_segment *)a)->start_extent, y = ((const struct lvm2_segment *)b)->start_extent;

	return (x > y) - (x < y);
}

static int check_gaps(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_lv *lv)
{
	uint64_t next = 0, data = 0;

	if (lv->segment_count > 1)
		qsort(lv->segments, lv->segment_count, sizeof(*lv->segments), by_start);
	for (uint32_t i = 0; i < lv->segment_count; i++) {
		const struct lvm2_segment *s = &lv->segments[i];

		if (s->start_extent != next)
			return LVM2_REFUSE(d, section, "a segment of \"%s\" begins at extent %" PRIu64 ", expected %" PRIu64, lv->name,
					   s->start_extent, next);
		next += s->extent_count;
		data += s->extent_count - s->reshape_extents;
	}
	lv->extents = next;
	if (next > UINT32_MAX || !u64_mul(data, d->vg->extent_bytes, &lv->size_bytes))
		return LVM2_REFUSE(d, section, "\"%s\" reaches beyond 2^32 extents or 2^64 bytes", lv->name);
	return 0;
}

/* As lvm2 does, every section of a volume is taken as a segment. */
static int decode_segments(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_lv *lv)
{
	uint64_t stated = 0;
	uint32_t count = 0;
	int r = lvm2_get_number(d, section, "segment_count", LVM2_SEGMENTS_MAX, &stated);

	if (r < 0)
		return r;
	for (const struct lvm2_node *n = section->first; n; n = n->next)
		count += n->kind == LVM2_SECTION;
	if (count != stated || !count)
		return LVM2_REFUSE(d, section, "\"%s\" says that it has %" PRIu64 " segments, and has %" PRIu32, lv->name, stated, count);
	d->segments += count;
	if (d->segments > LVM2_SEGMENTS_MAX)
		return lvm2_text_error(d->reterr, -E2BIG, d->text, section->offset, "more than %u segments in all", LVM2_SEGMENTS_MAX);
	lv->segments = arena_alloc(d->vg->arena, count * sizeof(*lv->segments));
	if (!lv->segments)
		return -ENOMEM;
	for (const struct lvm2_node *n = section->first; n; n = n->next) {
		if (n->kind != LVM2_SECTION)
			continue;
		r = lvm2_decode_segment(d, n, &lv->segments[lv->segment_count]);
		if (r < 0)
			return r;
		lv->segment_count++;
	}
	return check_gaps(d, section, lv);
}

static int decode_names(struct lvm2_decoder *d, const struct lvm2_node *section)
{
	for (const struct lvm2_node *n = section->first; n; n = n->next) {
		uint32_t index = (uint32_t)d->lvs.count;
		int r = lvm2_copy_name(d, n, &d->vg->lvs[index].name);

		if (r < 0)
			return r;
		d->lvs.names[d->lvs.count++] = (struct lvm2_name){ { d->vg->lvs[index].name, n->key_length }, index };
	}
	lvm2_names_sort(&d->lvs);
	return 0;
}

/* What no reader needs to find the data. */
static int decode_origin(struct lvm2_decoder *d, const struct lvm2_node *section, struct lvm2_lv *lv)
{
	int r = lvm2_copy_strings(d, section, "tags", &lv->tags);

	if (r >= 0)
		r = lvm2_copy_string(d, section, "allocation_policy", &lv->allocation);
	if (r >= 0)
		r = lvm2_copy_string(d, section, "creation_host", &lv->created_on);
	lv->created_unix = lvm2_any_number(section, "creation_time");
	return r;
}

int lvm2_decode_lvs(struct lvm2_decoder *d, const struct lvm2_node *section)
{
	struct lvm2_vg *vg = d->vg;
	struct lvm2_lv *lv;
	int r;

	vg->lvs = arena_alloc(vg->arena, vg->lv_count * sizeof(*vg->lvs));
	d->lvs.names = arena_alloc(vg->arena, vg->lv_count * sizeof(*d->lvs.names));
	if (!vg->lvs || !d->lvs.names)
		return -ENOMEM;
	r = decode_names(d, section);
	if (r < 0)
		return r;
	lv = vg->lvs;
	for (const struct lvm2_node *n = section->first; n; n = n->next, lv++) {
		r = lvm2_get_id(d, n, lv->id);
		if (r >= 0)
			r = lvm2_get_flags(d, n, LVM2_FLAGS_LV, &lv->flags);
		if (r >= 0)
			r = decode_origin(d, n, lv);
		if (r >= 0)
			r = decode_segments(d, n, lv);
		if (r < 0)
			return r;
	}
	return 0;
}
