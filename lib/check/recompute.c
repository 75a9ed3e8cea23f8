/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "check/recompute.h"

/* Assumed of hosts that do not tell: what is worked out counts only where the kernel shows the same. */
#define USUAL_KERNEL "6.12.50"
/* Longer maps are not worked out. */
#define AREAS_MAX 65536U

struct work {
	const struct check *c;
	struct topo_kernel kernel;
	struct recomputed *all;
	VEC(struct topo_area) areas; /* of the node that is worked out: used again for the next */
	VEC(struct topo_dm_target) targets;
};

static struct recomputed *of(const struct work *w, const struct blkalign_node *n) { return &w->all[blkalign_node_index(n)]; }

/* --- what the kernel shows --- */

static bool shown_u32(const struct blkalign_node *n, enum blkalign_attr attr, uint32_t *ret)
{
	const struct blkalign_value *value = blkalign_node_value(n, attr);

	if (!value || value->origin == BLKALIGN_ORIGIN_ASSUMED || value->u64 > UINT32_MAX)
		return false;
	*ret = (uint32_t)value->u64;
	return true;
}

static bool is_block(uint32_t bytes) { return bytes >= 512 && is_power_of_2(bytes); }

static bool read_shown(const struct blkalign_node *n, struct topo_limits *ret)
{
	const struct blkalign_value *offset = blkalign_node_value(n, BLKALIGN_ATTR_ALIGNMENT_OFFSET);
	uint64_t boundary = blkalign_node_u64(n, BLKALIGN_ATTR_BOUNDARY);
	struct topo_limits limits;

	topo_limits_stacking(&limits);
	if (!offset || offset->i64 < -1 || offset->i64 > INT32_MAX || !shown_u32(n, BLKALIGN_ATTR_LOGICAL_BLOCK, &limits.logical_bytes) ||
	    !shown_u32(n, BLKALIGN_ATTR_PHYSICAL_BLOCK, &limits.physical_bytes) ||
	    !shown_u32(n, BLKALIGN_ATTR_MINIMUM_IO, &limits.min_bytes) || !shown_u32(n, BLKALIGN_ATTR_OPTIMAL_IO, &limits.opt_bytes))
		return false;
	if (!is_block(limits.logical_bytes) || !is_block(limits.physical_bytes) || limits.min_bytes < 512)
		return false;
	limits.misaligned = offset->i64 == -1;
	limits.alignment_offset_bytes = offset->i64 > 0 ? (uint32_t)offset->i64 : 0;
	if (is_set(boundary) && boundary / 512 <= UINT32_MAX)
		limits.chunk_sectors512 = (uint32_t)(boundary / 512);
	*ret = limits;
	return true;
}

/* --- areas --- */

/* The device that the kernel stacks: physical volumes are no devices. */
static bool find_area(const struct work *w, const struct blkalign_edge *edge, struct topo_area *ret)
{
	const struct blkalign_node *n = edge->lower;
	uint64_t offset = edge->lower_offset_bytes, start = 0;

	while (blkalign_node_kind(n) == BLKALIGN_KIND_PV && blkalign_node_edges(n) == 1) {
		const struct blkalign_edge *e = blkalign_node_edge(n, 0);

		if (offset == BLKALIGN_UNKNOWN || e->lower_offset_bytes == BLKALIGN_UNKNOWN ||
		    !u64_add(offset, e->lower_offset_bytes, &offset))
			return false;
		n = e->lower;
	}
	if (blkalign_node_kind(n) == BLKALIGN_KIND_PARTITION && blkalign_node_edges(n) == 1) {
		start = blkalign_node_edge(n, 0)->lower_offset_bytes;
		n = below(n);
	}
	if (offset == BLKALIGN_UNKNOWN || start == BLKALIGN_UNKNOWN || offset % 512 || start % 512 || !of(w, n)->is_known)
		return false;
	*ret = (struct topo_area){ .limits = &of(w, n)->shown,
				   .partition_start_sectors512 = start / 512,
				   .offset_sectors512 = offset / 512 };
	return true;
}

static bool is_sound_below(const struct work *w, const struct blkalign_node *n)
{
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		struct topo_area area;

		if (find_area(w, blkalign_node_edge(n, i), &area) && (area.limits->inconsistent || area.limits->misaligned))
			return false;
	}
	return true;
}

/* All pieces, in the order of the map; false when one is not known or idle: then nobody knows which ones the kernel stacked. */
static bool find_areas(struct work *w, const struct blkalign_node *n)
{
	w->areas.count = 0;
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		struct topo_area area;

		if (edge_is_idle(blkalign_node_edge(n, i)) || !find_area(w, blkalign_node_edge(n, i), &area) ||
		    vec_push(&w->areas, area) < 0)
			return false;
	}
	return true;
}

/* --- md --- */

static bool find_level(const struct blkalign_node *n, enum topo_md_level *ret)
{
	static const char *const names[] = {
		[TOPO_MD_LINEAR] = "linear", [TOPO_MD_RAID0] = "raid0", [TOPO_MD_RAID1] = "raid1",   [TOPO_MD_RAID4] = "raid4",
		[TOPO_MD_RAID5] = "raid5",   [TOPO_MD_RAID6] = "raid6", [TOPO_MD_RAID10] = "raid10",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (attr_is(n, BLKALIGN_ATTR_MD_LEVEL, names[i])) {
			*ret = (enum topo_md_level)i;
			return true;
		}
	return false;
}

static bool is_reshaping(const struct blkalign_node *n)
{
	const char *state = blkalign_node_str(n, BLKALIGN_ATTR_MD_STATE), *extras = blkalign_node_str(n, BLKALIGN_ATTR_MD_EXTRAS);

	return (state && strstr(state, "reshap")) || (extras && strstr(extras, "reshape"));
}

static bool describe_md(const struct blkalign_node *n, struct topo_md *ret)
{
	uint64_t chunk = blkalign_node_u64(n, BLKALIGN_ATTR_MD_CHUNK), disks = blkalign_node_u64(n, BLKALIGN_ATTR_MD_MEMBERS);
	uint64_t layout = blkalign_node_u64(n, BLKALIGN_ATTR_MD_LAYOUT),
		 stored = blkalign_node_u64(n, BLKALIGN_ATTR_MD_STORED_LOGICAL_BLOCK);
	struct topo_md md = { .near_copies = 1 };

	if (!find_level(n, &md.level) || is_reshaping(n))
		return false;
	if (disks == BLKALIGN_UNKNOWN)
		disks = blkalign_node_edges(n);
	if (chunk == BLKALIGN_UNKNOWN && md.level != TOPO_MD_RAID1)
		return false;
	if (md.level == TOPO_MD_RAID10 && (layout == BLKALIGN_UNKNOWN || !(layout & 0xFF)))
		return false;
	if ((chunk != BLKALIGN_UNKNOWN && chunk / 512 > UINT32_MAX) || disks > UINT32_MAX)
		return false;
	md.chunk_sectors512 = md.level == TOPO_MD_RAID1 ? 0 : (uint32_t)(chunk / 512);
	md.raid_disks = (uint32_t)disks;
	if (md.level == TOPO_MD_RAID10)
		md.near_copies = (uint32_t)(layout & 0xFF);
	if (is_set(stored) && stored <= 65536)
		md.stored_logical_bytes = (uint32_t)stored;
	*ret = md;
	return true;
}

static void reverse(struct topo_area *areas, size_t count)
{
	for (size_t low = 0, high = count; low + 1 < high; low++, high--) {
		struct topo_area swap = areas[low];

		areas[low] = areas[high - 1];
		areas[high - 1] = swap;
	}
}

/* Members stand in the kernel's list with the last added first; nobody tells which that was, so the order that explains what is shown is taken. */
static int work_md(struct work *w, const struct blkalign_node *n, struct topo_limits *ret)
{
	size_t count = blkalign_node_edges(n);
	uint64_t shown = blkalign_node_u64(n, BLKALIGN_ATTR_OPTIMAL_IO);
	struct topo_limits forwards;
	struct topo_md md;

	/* Zones of a raid0 of different members are several segments over the same ones. */
	if (blkalign_node_edge(n, count - 1)->segment != blkalign_node_edge(n, 0)->segment)
		return -ENOENT;
	if (!describe_md(n, &md) || !find_areas(w, n))
		return -ENOENT;
	md.members = w->areas.data;
	md.member_count = count;
	if (topo_md_limits(&w->kernel, &md, &forwards) < 0)
		return -EINVAL;
	reverse(w->areas.data, count);
	if (topo_md_limits(&w->kernel, &md, ret) < 0)
		return -EINVAL;
	if (ret->opt_bytes != shown && forwards.opt_bytes == shown)
		*ret = forwards;
	return 0;
}

/* --- device mapper --- */

static bool is_plain_map(const struct blkalign_node *n)
{
	const char *type = blkalign_node_str(n, BLKALIGN_ATTR_LV_TYPE);

	return blkalign_node_kind(n) == BLKALIGN_KIND_CRYPT || !type || !strcmp(type, "linear") || !strcmp(type, "striped");
}

static struct topo_dm_target describe_target(const struct blkalign_node *n, const struct blkalign_edge *e, const struct topo_area *areas,
					     size_t count)
{
	uint64_t sector = blkalign_node_u64(n, BLKALIGN_ATTR_LUKS_SECTOR);
	struct topo_dm_target target = { .type = TOPO_DM_LINEAR, .areas = areas, .area_count = count };

	if (blkalign_node_kind(n) == BLKALIGN_KIND_CRYPT) {
		target.type = TOPO_DM_CRYPT;
		target.sector_bytes = is_set(sector) && sector <= 4096 ? (uint32_t)sector : 512;
	} else if (e->stripes > 1) {
		target.type = TOPO_DM_STRIPED;
		target.chunk_sectors512 = e->chunk_bytes / 512 <= UINT32_MAX ? (uint32_t)(e->chunk_bytes / 512) : 0;
	}
	return target;
}

static int work_dm(struct work *w, const struct blkalign_node *n, struct topo_limits *ret)
{
	size_t count = blkalign_node_edges(n);

	if (!is_plain_map(n) || !find_areas(w, n))
		return -ENOENT;
	w->targets.count = 0;
	for (size_t i = 0; i < count;) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);
		size_t end = i + 1;

		while (end < count && blkalign_node_edge(n, end)->segment == e->segment)
			end++;
		/* Mirrors and parity are other targets. */
		if (end - i != e->stripes)
			return -ENOENT;
		if (vec_push(&w->targets, describe_target(n, e, &w->areas.data[i], end - i)) < 0)
			return -ENOMEM;
		i = end;
	}
	return topo_dm_limits(&w->kernel, w->targets.data, w->targets.count, ret);
}

/* --- all nodes --- */

static int work_out(struct work *w, const struct blkalign_node *n, struct topo_limits *ret)
{
	size_t count = blkalign_node_edges(n);
	enum blkalign_kind kind = blkalign_node_kind(n);

	if (!count || count > AREAS_MAX)
		return -ENOENT;
	if (kind == BLKALIGN_KIND_MD)
		return work_md(w, n, ret);
	if (kind == BLKALIGN_KIND_LV || kind == BLKALIGN_KIND_DM || kind == BLKALIGN_KIND_CRYPT)
		return work_dm(w, n, ret);
	return -ENOENT;
}

static void look_at(struct work *w, const struct blkalign_node *n)
{
	struct recomputed *r = of(w, n);
	bool shown = read_shown(n, &r->shown);

	r->is_worked = work_out(w, n, &r->worked) == 0;
	r->is_known = shown || r->is_worked;
	if (!r->is_worked)
		return;
	r->begins_here = r->worked.inconsistent && is_sound_below(w, n);
	if (!shown)
		r->shown = r->worked;
	r->shown.inconsistent = r->worked.inconsistent;
}

struct recomputed *recompute_limits(const struct check *c)
{
	const char *release = c->host ? blkalign_node_str(c->host, BLKALIGN_ATTR_KERNEL) : NULL;
	uint64_t page = c->host ? blkalign_node_u64(c->host, BLKALIGN_ATTR_PAGE) : 0;
	struct work w = { .c = c, .all = calloc(blkalign_graph_size(c->graph) + 1, sizeof(*w.all)) };

	if (!w.all)
		return NULL;
	if ((!release || topo_kernel_parse(release, page <= 65536 ? (uint32_t)page : 0, &w.kernel) < 0) &&
	    topo_kernel_parse(USUAL_KERNEL, 0, &w.kernel) < 0)
		return w.all;
	for (size_t i = 0; i < blkalign_graph_size(c->graph); i++)
		look_at(&w, blkalign_graph_node(c->graph, i));
	vec_done(&w.areas);
	vec_done(&w.targets);
	return w.all;
}

int64_t recomputed_alignment(const struct recomputed *r) { return topo_device_alignment(&r->worked); }
