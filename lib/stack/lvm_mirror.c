/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mirrors of the old kind: a segment is a raid1 array without superblocks. In regions that the log does not call equal only the first leg counts, which the kernel copies to the others
 * at the next activation; without a log on disk it does so everywhere.
 *
 * While one is written, its log must not call a region equal: bits are cleared before, durably, and stay cleared. That costs the kernel a resync of these regions, and needs nothing to be
 * done at the end.
 */
#include <pthread.h>

#include "format/dmlog/dmlog.h"
#include "stack/lvm_special.h"

#define SECTOR_BYTES 512U

struct lvm_mirror_guard {
	struct map_md_guard guard;
	struct dev *log; /* borrowed; NULL: the log is in the kernel's memory */
	struct dmlog bits;
	uint64_t region_bytes;
	pthread_mutex_t mutex; /* of `bits` */
};

/* --- writing --- */

static void clear(struct dmlog *log, uint64_t region) { log->in_sync[region / 8] &= (uint8_t) ~(1U << region % 8); }

/* The sector of the log that tells of `region`. */
static int write_sector(struct lvm_mirror_guard *g, uint64_t region, struct blkalign_error *reterr)
{
	uint64_t bytes = g->bits.regions / 8 + (g->bits.regions % 8 != 0), at = round_down_u64(region / 8, SECTOR_BYTES);
	uint8_t sector[SECTOR_BYTES];
	int r = dev_read(g->log, DMLOG_BITS_OFFSET + at, sector, sizeof(sector), reterr);

	if (r < 0)
		return r;
	memcpy(sector, g->bits.in_sync + at, bytes - at < SECTOR_BYTES ? bytes - at : SECTOR_BYTES);
	return dev_write(g->log, DMLOG_BITS_OFFSET + at, sector, sizeof(sector), reterr);
}

static int clear_range(struct lvm_mirror_guard *g, const struct byte_range *range, bool *changed, struct blkalign_error *reterr)
{
	uint64_t last = (range_end(range) - 1) / g->region_bytes;
	int r = 0;

	for (uint64_t region = range->offset_bytes / g->region_bytes; r == 0 && region <= last; region++) {
		if (!dmlog_in_sync(&g->bits, region))
			continue;
		clear(&g->bits, region);
		*changed = true;
		r = write_sector(g, region, reterr);
	}
	return r;
}

static int mirror_begin(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, struct blkalign_error *reterr)
{
	struct lvm_mirror_guard *g = (struct lvm_mirror_guard *)guard;
	bool changed = false;
	int r = 0;

	if (!g->log)
		return 0;
	pthread_mutex_lock(&g->mutex);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = clear_range(g, &ranges[i], &changed, reterr);
	/* Others wait: their regions may be among these. */
	if (r == 0 && changed)
		r = dev_flush(g->log, reterr);
	pthread_mutex_unlock(&g->mutex);
	return r;
}

static void mirror_end(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, bool complete)
{
	(void)guard, (void)ranges, (void)count, (void)complete;
}

/* There is no place that says so: the write fails, and what it left is resynced from the first leg. */
static int mirror_fail(struct map_md_guard *guard, uint32_t slot, struct blkalign_error *reterr)
{
	(void)guard;
	return blkalign_error_set(reterr, -EIO, NULL, BLKALIGN_UNKNOWN, "leg %u of the mirror failed, which cannot be recorded",
				  (unsigned)slot);
}

static void mirror_doubt(struct map_md_guard *guard, const struct byte_range *ranges, size_t count)
{
	(void)guard, (void)ranges, (void)count;
}

static uint64_t mirror_flushing(struct map_md_guard *guard)
{
	(void)guard;
	return 0;
}

static int mirror_flushed(struct map_md_guard *guard, uint64_t mark)
{
	(void)guard, (void)mark;
	return 0;
}

static const struct map_md_guard_ops mirror_ops = { .begin = mirror_begin,
						    .end = mirror_end,
						    .fail = mirror_fail,
						    .doubt = mirror_doubt,
						    .flushing = mirror_flushing,
						    .flushed = mirror_flushed };

void lvm_mirror_guard_free(struct lvm_mirror_guard *guard)
{
	dmlog_done(&guard->bits);
	pthread_mutex_destroy(&guard->mutex);
	free(guard);
}

/* --- reading --- */

struct mirror {
	struct lvm_volumes *v;
	const struct lvm2_lv *lv;
	const struct lvm2_segment *segment;
	const struct blkalign_node *node;
	uint64_t length_bytes;
	struct lvm_mirror_guard *guard; /* the state's; also when nothing is written: it holds the log */
	struct map_md_member *members;
	uint32_t count;
	uint32_t present; /* legs that are there, and whole */
	VEC(struct byte_range) unequal;
};

static int add_unequal(struct mirror *m, uint64_t from, uint64_t to)
{
	struct byte_range *last = m->unequal.count ? &m->unequal.data[m->unequal.count - 1] : NULL;

	if (last && range_end(last) == from) {
		last->length_bytes += to - from;
		return 0;
	}
	return vec_push(&m->unequal, ((struct byte_range){ from, to - from }));
}

static int read_log(struct mirror *m, struct dev *log)
{
	const struct lvm2_segment *s = m->segment;
	struct lvm_mirror_guard *g = m->guard;
	uint64_t regions = (m->length_bytes + s->region_bytes - 1) / s->region_bytes;
	struct blkalign_error err = { 0 };
	int r = dmlog_read(log, regions, &g->bits, &err);

	if (r == -ENOMEM)
		return r;
	if (r) {
		r = graph_remark(stack_graph(m->v->stack), "%s: its log cannot be used: %s: only its first leg counts",
				 blkalign_node_name(m->node), r < 0 ? err.message : "it does not begin with the header of one");
		return r < 0 ? r : add_unequal(m, 0, m->length_bytes);
	}
	g->log = log;
	g->region_bytes = s->region_bytes;
	for (uint64_t i = 0; r == 0 && i < regions; i++)
		if (!dmlog_in_sync(&g->bits, i))
			r = add_unequal(m, i * s->region_bytes,
					(i + 1) * s->region_bytes < m->length_bytes ? (i + 1) * s->region_bytes : m->length_bytes);
	return r;
}

/* A move of extents from one PV to another is a mirror of PVs: the second leg is being filled. */
static bool is_move(const struct lvm2_segment *s)
{
	const struct lvm2_ref *first = lvm_find_ref(s, LVM2_ROLE_DATA);

	return first && first->on_pv;
}

static int find_unequal(struct mirror *m)
{
	const struct lvm2_ref *ref = lvm_find_ref(m->segment, LVM2_ROLE_LOG);

	if (is_move(m->segment) || (m->lv->flags & LVM2_NOTSYNCED))
		return add_unequal(m, 0, m->length_bytes);
	if (!ref)
		return 0;
	if (m->segment->region_bytes && m->v->devs[ref->index])
		return read_log(m, m->v->devs[ref->index]);
	return add_unequal(m, 0, m->length_bytes);
}

static void find_legs(struct mirror *m)
{
	const struct lvm2_segment *s = m->segment;

	for (uint32_t i = 0; i < s->ref_count; i++) {
		struct map_md_member *member = &m->members[m->count];
		bool whole = true;
		struct map_area area;

		if (s->refs[i].role != LVM2_ROLE_DATA)
			continue;
		area = lvm_area_of(m->v, &s->refs[i], &whole);
		*member = (struct map_md_member){ .data_offset_bytes = area.offset_bytes, .valid_bytes = UINT64_MAX };
		/* Parts of a leg are as good as none: which reads fail is not asked. */
		if (area.dev && whole && range_inside(area.offset_bytes, m->length_bytes, area.dev->size_bytes))
			member->dev = area.dev;
		m->present += member->dev != NULL;
		if (m->count++) {
			member->bad = m->unequal.data;
			member->bad_count = m->unequal.count;
		}
	}
}

/* --- the whole --- */

static bool may_write(const struct mirror *m)
{
	const struct lvm2_ref *log = lvm_find_ref(m->segment, LVM2_ROLE_LOG);

	if (m->present < m->count || is_move(m->segment) || (log && (!m->guard->log || !m->guard->log->writable)))
		return false;
	for (uint32_t i = 0; i < m->count; i++)
		if (!m->members[i].dev || !m->members[i].dev->writable)
			return false;
	return true;
}

static int open_legs(const struct mirror *m, struct dev **ret_dev)
{
	_cleanup_free_ uint64_t *lengths = calloc(m->count, sizeof(*lengths));
	struct raid_geometry geometry;
	struct map_md array = { .geometry = &geometry, .members = m->members, .guard = may_write(m) ? &m->guard->guard : NULL };
	int r = lengths ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < m->count; i++)
		lengths[i] = m->length_bytes;
	if (r == 0)
		r = raid_geometry_init(&geometry, &(struct raid_shape){ .level = RAID_1, .members = m->count, .component_bytes = lengths },
				       NULL);
	return r == 0 ? map_open_md(blkalign_node_name(m->node), &array, ret_dev) : r;
}

static int new_guard(struct lvm_volumes *v, struct lvm_mirror_guard **ret)
{
	struct lvm_mirror_guard *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->guard.ops = &mirror_ops;
	pthread_mutex_init(&g->mutex, NULL);
	if (vec_push(&v->state->mirrors, g) < 0) {
		lvm_mirror_guard_free(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

int lvm_open_mirror(struct lvm_volumes *v, const struct lvm2_lv *lv, const struct lvm2_segment *segment, const struct blkalign_node *node,
		    struct dev **ret_dev, bool *ret_whole)
{
	struct mirror m = {
		.v = v, .lv = lv, .segment = segment, .node = node, .length_bytes = segment->extent_count * v->vg->extent_bytes
	};
	int r = new_guard(v, &m.guard);

	m.members = r == 0 ? calloc(segment->data_areas, sizeof(*m.members)) : NULL;
	if (r == 0)
		r = m.members ? find_unequal(&m) : -ENOMEM;
	if (r == 0) {
		find_legs(&m);
		*ret_whole = *ret_whole && (m.members[0].dev || (m.present && !m.unequal.count));
		r = m.present ? open_legs(&m, ret_dev) : 0;
	}
	if (r == 0 && m.present && !m.members[0].dev && !lvm_find_ref(segment, LVM2_ROLE_LOG))
		r = graph_remark(stack_graph(v->stack),
				 "%s: its first leg is missing, and nothing on disk says whether the others were equal to it",
				 blkalign_node_name(node));
	free(m.members);
	vec_done(&m.unequal);
	return r == -EINVAL ? lvm_cannot_read(v, node, "its legs do not make a mirror") : r;
}
