/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Volumes as nodes, bottom up.
 *
 * Two kinds of names meet here. In the text, the volume that users call "snap" is the store of changes, and a volume "snapshotN" that nobody sees
 * is the snapshot. The kernel's devices are named the other way round: "snap" is the snapshot and "snap-cow" the store. Nodes are named as the
 * kernel does, so that an image and a running machine show the same stack.
 */
#include <inttypes.h>
#include <stdio.h>

#include "stack/lvm_volumes.h"

#define DM_UUID_PREFIX "LVM-"

static void volumes_done(struct lvm_volumes *v)
{
	free(v->nodes);
	free(v->devs);
	free(v->partial);
	free(v->whole);
	free(v->merging);
	free(v->bare);
	free(v->thin_pools);
	free(v->referenced);
	vec_done(&v->dm);
	vec_done(&v->segments);
	vec_done(&v->areas);
}

/* --- nodes of a running machine --- */

static int by_uuid(const void *a, const void *b)
{
	return strcmp(((const struct lvm_dm_node *)a)->uuid, ((const struct lvm_dm_node *)b)->uuid);
}

static int collect_dm(struct lvm_volumes *v)
{
	struct blkalign_graph *graph = stack_graph(v->stack);

	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		struct lvm_dm_node n = { .node = graph_node(graph, i) };

		n.uuid = blkalign_node_str(n.node, BLKALIGN_ATTR_DM_UUID);
		if (n.uuid && !strncmp(n.uuid, DM_UUID_PREFIX, strlen(DM_UUID_PREFIX)) && vec_push(&v->dm, n) < 0)
			return -ENOMEM;
	}
	if (v->dm.count)
		qsort(v->dm.data, v->dm.count, sizeof(*v->dm.data), by_uuid);
	return 0;
}

/* The kernel's device for this volume or, with a suffix, for a layer of it. */
static struct blkalign_node *find_dm(const struct lvm_volumes *v, const struct lvm2_lv *lv, const char *suffix)
{
	char uuid[96];
	struct lvm_dm_node key = { .uuid = uuid };
	const struct lvm_dm_node *found;

	if (!v->dm.count)
		return NULL;
	snprintf(uuid, sizeof(uuid), DM_UUID_PREFIX "%s%s%s", v->vg->id, lv->id, suffix);
	found = bsearch(&key, v->dm.data, v->dm.count, sizeof(*v->dm.data), by_uuid);
	return found ? found->node : NULL;
}

/* --- who is who --- */

static const struct lvm2_lv *ref_lv(const struct lvm_volumes *v, const struct lvm2_ref *ref) { return &v->vg->lvs[ref->index]; }

const struct lvm2_ref *lvm_find_ref(const struct lvm2_segment *s, enum lvm2_role role)
{
	for (uint32_t i = 0; i < s->ref_count; i++)
		if (s->refs[i].role == role)
			return &s->refs[i];
	return NULL;
}

/* The volume whose name and id the node of `lv` bears: its own or, for a snapshot, its store's. */
static const struct lvm2_lv *face_of(const struct lvm_volumes *v, const struct lvm2_lv *lv)
{
	const struct lvm2_ref *cow = lvm_find_ref(&lv->segments[0], LVM2_ROLE_COW);

	return cow ? ref_lv(v, cow) : lv;
}

static void find_snapshots(struct lvm_volumes *v, const char **suffixes)
{
	for (uint32_t i = 0; i < v->vg->lv_count; i++)
		suffixes[i] = "";
	for (uint32_t i = 0; i < v->vg->lv_count; i++) {
		const struct lvm2_segment *s = &v->vg->lvs[i].segments[0];
		const struct lvm2_ref *cow = lvm_find_ref(s, LVM2_ROLE_COW), *origin = lvm_find_ref(s, LVM2_ROLE_ORIGIN);

		if (!cow || !origin)
			continue;
		suffixes[cow->index] = "-cow";
		v->merging[origin->index] |= s->merging;
	}
}

/* --- attributes --- */

static int set_blocks(struct blkalign_node *node, enum blkalign_attr attr)
{
	uint64_t largest = 0;

	if (blkalign_node_value(node, attr))
		return 0;
	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		const struct blkalign_node *lower = blkalign_node_edge(node, i)->lower;
		uint64_t block;

		/* A PV is a label on its device and has no limits of its own. */
		if (blkalign_node_kind(lower) == BLKALIGN_KIND_PV)
			lower = blkalign_node_edge(lower, 0)->lower;
		block = blkalign_node_u64(lower, attr);
		if (block != BLKALIGN_UNKNOWN && block > largest)
			largest = block;
	}
	return largest ? graph_set_u64(node, attr, largest, BLKALIGN_ORIGIN_COMPUTED) : 0;
}

static int set_raid(struct blkalign_node *node, const struct lvm2_segment *s)
{
	const struct lvm2_raid *raid = s->raid;
	char name[32];
	int r = graph_set_u64(node, BLKALIGN_ATTR_MD_MEMBERS, s->data_areas, BLKALIGN_ORIGIN_ONDISK);

	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_MD_LEVEL, raid->level, BLKALIGN_ORIGIN_ONDISK);
	if (r < 0 || !raid->layout_name)
		return r;
	snprintf(name, sizeof(name), s->type == LVM2_RAID10 ? "%s=%" PRIu32 : "%s", raid->layout_name, s->data_copies);
	r = graph_set_str(node, BLKALIGN_ATTR_MD_LAYOUT_NAME, name, BLKALIGN_ORIGIN_ONDISK);
	if (r < 0)
		return r;
	return graph_set_u64(node, BLKALIGN_ATTR_MD_LAYOUT, raid->layout + (s->type == LVM2_RAID10 ? s->data_copies : 0),
			     BLKALIGN_ORIGIN_ONDISK);
}

/* Of the first segment that has stripes: an extension is seldom striped otherwise, and each edge carries its own. */
static int set_stripes(struct blkalign_node *node, const struct lvm2_lv *lv)
{
	for (uint32_t i = 0; i < lv->segment_count; i++) {
		const struct lvm2_segment *s = &lv->segments[i];
		int r = s->raid ? set_raid(node, s) : 0;

		if (r >= 0 && s->stripe_bytes) {
			r = graph_set_u64(node, BLKALIGN_ATTR_MD_CHUNK, s->stripe_bytes, BLKALIGN_ORIGIN_ONDISK);
			if (r >= 0)
				r = graph_set_u64(node, BLKALIGN_ATTR_MD_STRIPE, s->stripe_bytes * lvm_stripes(s),
						  BLKALIGN_ORIGIN_COMPUTED);
		}
		if (r < 0 || s->raid || s->stripe_bytes)
			return r;
	}
	return 0;
}

static int describe(struct lvm_volumes *v, struct blkalign_node *node, const struct lvm2_lv *lv, const char *name, bool hidden)
{
	char id[LVM2_ID_TEXT];
	int r = graph_set_str(node, BLKALIGN_ATTR_VG_NAME, v->vg->name, BLKALIGN_ORIGIN_ONDISK);

	lvm2_id_format(id, face_of(v, lv)->id);
	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_LV_NAME, name, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_LV_UUID, id, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_LV_TYPE, lv->segments[0].type_name, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_LV_SEGMENTS, lv->segment_count, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_bool(node, BLKALIGN_ATTR_LV_HIDDEN, hidden, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && !blkalign_node_value(node, BLKALIGN_ATTR_SIZE))
		r = graph_set_u64(node, BLKALIGN_ATTR_SIZE, lv->size_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && *v->words)
		r = graph_set_str(node, BLKALIGN_ATTR_VG_STATE, v->words, BLKALIGN_ORIGIN_ONDISK);
	return r < 0 ? r : set_stripes(node, lv);
}

/* --- volumes --- */

/* The kernel splits some volumes in a visible device and one below it, which then is what lies on the parts. */
static struct blkalign_node *find_layer(const struct lvm_volumes *v, const struct lvm2_lv *lv)
{
	static const char *const suffixes[] = { "-real", "-tpool", "-vpool", "-cpool" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		struct blkalign_node *n = find_dm(v, lv, suffixes[i]);

		if (n)
			return n;
	}
	return NULL;
}

static int connect_volume(struct lvm_volumes *v, struct blkalign_node *node, const struct lvm2_lv *lv)
{
	struct blkalign_node *layer = find_layer(v, lv);
	int r;

	if (!layer)
		return lvm_connect_all(v, node, lv);
	r = lvm_connect_all(v, layer, lv);
	if (r < 0)
		return r;
	return lvm_connect(v, &(struct blkalign_edge){ .upper = node, .lower = layer, .length_bytes = lv->size_bytes, .stripes = 1 });
}

static int get_node(struct lvm_volumes *v, const struct lvm2_lv *lv, const char *suffix, struct blkalign_node **ret)
{
	char group[LVM2_NAME_MAX + 2], name[2 * LVM2_NAME_MAX + 16];

	*ret = find_dm(v, face_of(v, lv), suffix);
	if (*ret) {
		graph_set_kind(*ret, BLKALIGN_KIND_LV);
		return 0;
	}
	text_join(group, sizeof(group), v->vg->name, "/", "");
	text_join(name, sizeof(name), group, face_of(v, lv)->name, suffix);
	return graph_add(stack_graph(v->stack), BLKALIGN_KIND_LV, name, ret);
}

static int add_volume(struct lvm_volumes *v, uint32_t index, const char *suffix)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	char name[LVM2_NAME_MAX + 8];
	struct blkalign_node *node;
	int r = get_node(v, lv, suffix, &node);

	if (r < 0)
		return r;
	v->nodes[index] = node;
	text_join(name, sizeof(name), face_of(v, lv)->name, suffix, "");
	r = describe(v, node, lv, name, lv->internal);
	if (r >= 0)
		r = lvm_describe_volume(v, index, node);
	if (r >= 0)
		r = connect_volume(v, node, lv);
	if (r >= 0)
		r = set_blocks(node, BLKALIGN_ATTR_LOGICAL_BLOCK);
	if (r >= 0)
		r = set_blocks(node, BLKALIGN_ATTR_PHYSICAL_BLOCK);
	return r < 0 ? r : lvm_set_device(v, index, node);
}

int lvm_add_volumes(struct stack *stack, struct lvm_state *state, const struct lvm2_vg *vg, const struct lvm_pv *const *pvs)
{
	_cleanup_(volumes_done) struct lvm_volumes v = { .stack = stack, .state = state, .vg = vg, .pvs = pvs };
	_cleanup_free_ const char **suffixes = NULL;
	bool partial = false;
	int r;

	if (!vg->lv_count)
		return 0;
	v.nodes = calloc(vg->lv_count, sizeof(struct blkalign_node *));
	v.devs = calloc(vg->lv_count, sizeof(struct dev *));
	v.partial = calloc(vg->lv_count, sizeof(bool));
	v.whole = calloc(vg->lv_count, sizeof(bool));
	v.merging = calloc(vg->lv_count, sizeof(bool));
	v.bare = calloc(vg->lv_count, sizeof(struct dev *));
	v.thin_pools = calloc(vg->lv_count, sizeof(struct lvm_thin_pool *));
	suffixes = calloc(vg->lv_count, sizeof(*suffixes));
	if (!v.nodes || !v.devs || !v.partial || !v.whole || !v.merging || !v.bare || !v.thin_pools || !suffixes)
		return -ENOMEM;
	for (uint32_t i = 0; i < vg->pv_count; i++)
		partial = partial || !pvs[i];
	lvm_group_words(vg, partial, v.words);
	find_snapshots(&v, suffixes);
	r = lvm_find_referenced(&v);
	if (r >= 0)
		r = collect_dm(&v);
	for (uint32_t i = 0; r >= 0 && i < vg->lv_count; i++)
		r = add_volume(&v, vg->order[i], suffixes[vg->order[i]]);
	return r;
}
