/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What pvs, vgs and lvs know from labels and texts alone. Sources: lvm2's lib/metadata/pv.c, vg.c, lv.c and lib/report/report.c. */
#include "stack/lvm_volumes.h"

struct number {
	enum blkalign_attr attr;
	uint64_t value; /* BLKALIGN_UNKNOWN: not set */
};
struct word {
	enum blkalign_attr attr;
	const char *text; /* NULL: not set */
};

static int set_numbers(struct blkalign_node *node, const struct number *numbers, size_t count)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++)
		if (numbers[i].value != BLKALIGN_UNKNOWN)
			r = graph_set_u64(node, numbers[i].attr, numbers[i].value, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

static int set_words(struct blkalign_node *node, const struct word *words, size_t count)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++)
		if (words[i].text)
			r = graph_set_str(node, words[i].attr, words[i].text, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

/* --- physical volumes --- */

int lvm_describe_label(const struct lvm_pv *pv)
{
	const struct number numbers[] = {
		{ BLKALIGN_ATTR_PV_AREAS, pv->copy_count },
		{ BLKALIGN_ATTR_PV_AREAS_USED, pv->areas_used },
		{ BLKALIGN_ATTR_PV_AREA_SIZE, pv->area_size_bytes },
		{ BLKALIGN_ATTR_PV_AREA_FREE, pv->area_free_bytes },
		{ BLKALIGN_ATTR_PV_BOOT_START, pv->bootloader.offset_bytes },
		{ BLKALIGN_ATTR_PV_BOOT_SIZE, pv->bootloader.size_bytes },
	};

	return set_numbers(pv->node, numbers, ARRAY_SIZE(numbers));
}

static const char *copy_word(const struct lvm_group *g, const struct lvm_pv *pv, const struct lvm_copy *copy)
{
	if (copy->word)
		return copy->word;
	if (copy->seqno != g->vg->seqno)
		return "outdated";
	if (copy->checksum != g->checksum)
		return "contradicting";
	return !strcmp(g->found_on, blkalign_node_name(pv->host)) && g->area_bytes == copy->area_bytes ? "used" : "same";
}

static int set_copies(const struct lvm_group *g, const struct lvm_pv *pv)
{
	_cleanup_strbuf_ struct strbuf words = { 0 };

	for (unsigned i = 0; i < pv->copy_count; i++)
		strbuf_printf(&words, "%s%s", i ? "," : "", copy_word(g, pv, &pv->copies[i]));
	if (words.failed)
		return -ENOMEM;
	return words.length ? graph_set_str(pv->node, BLKALIGN_ATTR_PV_AREA_STATES, words.text, BLKALIGN_ORIGIN_ONDISK) : 0;
}

static int describe_part(const struct lvm_pv *at, const struct lvm2_pv *pv, uint64_t allocated)
{
	const char attr[] = { pv->flags & LVM2_ALLOCATABLE ? 'a'
			      : at->in_use		   ? 'u'
							   : '-',
			      pv->flags & LVM2_EXPORTED ? 'x' : '-', pv->flags & LVM2_MISSING ? 'm' : '-', '\0' };
	const struct word words[] = { { BLKALIGN_ATTR_PV_ATTR, attr }, { BLKALIGN_ATTR_PV_TAGS, pv->tags } };
	int r = set_words(at->node, words, ARRAY_SIZE(words));

	return r < 0 ? r : graph_set_u64(at->node, BLKALIGN_ATTR_PV_ALLOCATED, allocated, BLKALIGN_ORIGIN_COMPUTED);
}

/* --- groups --- */

struct sums {
	uint64_t extents, used; /* of all PVs */
	uint64_t volumes, snapshots;
	uint64_t missing, areas, areas_used;
};

/* Extents in use, on each PV of the group. */
static void add_extents(const struct lvm2_lv *lv, uint64_t *used)
{
	for (uint32_t i = 0; i < lv->segment_count; i++)
		for (uint32_t j = 0; j < lv->segments[i].ref_count; j++)
			if (lv->segments[i].refs[j].on_pv)
				used[lv->segments[i].refs[j].index] += lvm2_extents_taken(&lv->segments[i], &lv->segments[i].refs[j]);
}

/* The store of a snapshot is what users see of it; the volume "snapshotN" that joins it to its origin nobody does. */
static struct sums add_up(const struct lvm2_vg *vg, const struct lvm_pv *const *pvs, uint64_t *used)
{
	struct sums s = { 0 };

	for (uint32_t i = 0; i < vg->lv_count; i++) {
		bool snapshot = vg->lvs[i].segments[0].type == LVM2_SNAPSHOT;

		s.snapshots += snapshot;
		s.volumes += snapshot || (vg->lvs[i].flags & LVM2_VISIBLE);
		add_extents(&vg->lvs[i], used);
	}
	for (uint32_t i = 0; i < vg->pv_count; i++) {
		s.extents += vg->pvs[i].pe_count;
		s.used += used[i];
		s.missing += !pvs[i];
		s.areas += pvs[i] ? pvs[i]->copy_count : 0;
		s.areas_used += pvs[i] ? pvs[i]->areas_used : 0;
	}
	return s;
}

static char policy_letter(const char *policy)
{
	static const struct {
		const char *policy;
		char letter;
	} letters[] = { { "contiguous", 'c' }, { "cling", 'l' }, { "cling_by_tags", 'l' }, { "normal", 'n' }, { "anywhere", 'a' } };

	for (size_t i = 0; policy && i < ARRAY_SIZE(letters); i++)
		if (!strcmp(letters[i].policy, policy))
			return letters[i].letter;
	return 'n';
}

static int describe_group(const struct lvm_group *g, struct blkalign_node *node, const struct sums *s)
{
	const struct lvm2_vg *vg = g->vg;
	const char attr[] = { vg->flags & LVM2_WRITE ? 'w' : 'r',
			      vg->flags & LVM2_RESIZEABLE ? 'z' : '-',
			      vg->flags & LVM2_EXPORTED ? 'x' : '-',
			      s->missing ? 'p' : '-',
			      policy_letter(vg->allocation),
			      vg->flags & LVM2_CLUSTERED		   ? 'c'
			      : (vg->flags & LVM2_SHARED) || vg->lock_type ? 's'
									   : '-',
			      '\0' };
	const struct number numbers[] = {
		{ BLKALIGN_ATTR_VG_EXTENTS, s->extents },
		{ BLKALIGN_ATTR_VG_FREE_EXTENTS, s->used < s->extents ? s->extents - s->used : 0 },
		{ BLKALIGN_ATTR_VG_PVS, vg->pv_count },
		{ BLKALIGN_ATTR_VG_MISSING, s->missing },
		{ BLKALIGN_ATTR_VG_LVS, s->volumes },
		{ BLKALIGN_ATTR_VG_SNAPSHOTS, s->snapshots },
		{ BLKALIGN_ATTR_VG_MAX_LVS, vg->max_lvs },
		{ BLKALIGN_ATTR_VG_MAX_PVS, vg->max_pvs },
		{ BLKALIGN_ATTR_VG_AREAS, s->areas },
		{ BLKALIGN_ATTR_VG_AREAS_USED, s->areas_used },
		{ BLKALIGN_ATTR_VG_COPIES, vg->metadata_copies },
		{ BLKALIGN_ATTR_VG_TEXT_AREA, g->area_bytes },
	};
	const struct word words[] = {
		{ BLKALIGN_ATTR_VG_ATTR, attr },
		{ BLKALIGN_ATTR_VG_SYSTEM_ID, vg->system_id },
		{ BLKALIGN_ATTR_VG_LOCK_TYPE, vg->lock_type },
		{ BLKALIGN_ATTR_VG_TAGS, vg->tags },
		{ BLKALIGN_ATTR_VG_TEXT_ON, g->found_on },
	};
	int r = set_numbers(node, numbers, ARRAY_SIZE(numbers));

	return r < 0 ? r : set_words(node, words, ARRAY_SIZE(words));
}

int lvm_describe_group(const struct lvm_group *g, const struct lvm_pv *const *pvs)
{
	const struct lvm2_vg *vg = g->vg;
	_cleanup_free_ uint64_t *used = calloc((size_t)vg->pv_count + 1, sizeof(*used));
	struct sums s;
	int r = used ? 0 : -ENOMEM;

	if (used)
		s = add_up(vg, pvs, used);
	for (uint32_t i = 0; r >= 0 && i < vg->pv_count; i++) {
		if (!pvs[i])
			continue;
		r = describe_group(g, pvs[i]->node, &s);
		if (r >= 0)
			r = describe_part(pvs[i], &vg->pvs[i], used[i]);
		if (r >= 0)
			r = set_copies(g, pvs[i]);
	}
	return r;
}

/* --- volumes --- */

static bool lies_on_missing(const struct lvm_volumes *v, const struct lvm2_lv *lv)
{
	for (uint32_t i = 0; i < lv->segment_count; i++)
		for (uint32_t j = 0; j < lv->segments[i].ref_count; j++) {
			const struct lvm2_ref *ref = &lv->segments[i].refs[j];

			if (ref->role != LVM2_ROLE_HISTORY && (ref->on_pv ? !v->pvs[ref->index] : v->partial[ref->index]))
				return true;
		}
	return false;
}

static int set_flags(const struct lvm_volumes *v, uint32_t index, struct blkalign_node *node)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	const struct {
		bool on;
		const char *word;
	} words[] = {
		{ !(lv->flags & LVM2_WRITE), "read-only" },
		{ lv->flags & LVM2_NOTSYNCED, "notsynced" },
		{ lv->flags & LVM2_REBUILD, "rebuild" },
		{ lv->flags & LVM2_LOCKED, "locked" },
		{ lv->flags & LVM2_FIXED_MINOR, "fixed-minor" },
		{ lv->flags & LVM2_ACTIVATION_SKIP, "activation-skip" },
		{ lv->segments[0].zeroes, "zero" },
		{ v->merging[index] || lv->segments[0].merging, "merging" },
		{ v->partial[index], "partial" },
	};
	char text[128] = "";
	size_t length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].on)
			length += strlen(text_join(text + length, sizeof(text) - length, length ? "," : "", words[i].word, ""));
	return length ? graph_set_str(node, BLKALIGN_ATTR_LV_FLAGS, text, BLKALIGN_ORIGIN_ONDISK) : 0;
}

/* Volumes that this one is made with, by what they are to it. */
static int set_partners(const struct lvm_volumes *v, const struct lvm2_segment *s, struct blkalign_node *node)
{
	bool pool = s->type == LVM2_THIN_POOL || s->type == LVM2_CACHE_POOL || s->type == LVM2_VDO_POOL;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < s->ref_count; i++) {
		enum blkalign_attr attr = BLKALIGN_ATTR_COUNT;

		switch (s->refs[i].role) {
		case LVM2_ROLE_ORIGIN:
		case LVM2_ROLE_HISTORY:
			attr = BLKALIGN_ATTR_LV_ORIGIN;
			break;
		case LVM2_ROLE_POOL:
			attr = BLKALIGN_ATTR_LV_POOL;
			break;
		case LVM2_ROLE_DATA:
			attr = pool ? BLKALIGN_ATTR_LV_DATA : attr;
			break;
		case LVM2_ROLE_METADATA:
			attr = pool ? BLKALIGN_ATTR_LV_METADATA : attr;
			break;
		case LVM2_ROLE_LOG:
			attr = BLKALIGN_ATTR_LV_LOG;
			break;
		case LVM2_ROLE_COW:
			break;
		}
		if (attr != BLKALIGN_ATTR_COUNT)
			r = graph_set_str(node, attr, v->vg->lvs[s->refs[i].index].name, BLKALIGN_ORIGIN_ONDISK);
	}
	return r;
}

int lvm_describe_volume(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	const struct lvm2_segment *s = &lv->segments[0];
	const struct lvm2_ref *cow = lvm_find_ref(s, LVM2_ROLE_COW);
	/* What users call the snapshot is its store, and has the facts. */
	const struct lvm2_lv *face = cow ? &v->vg->lvs[cow->index] : lv;
	const struct number numbers[] = {
		{ BLKALIGN_ATTR_LV_TIME, face->created_unix ? face->created_unix : BLKALIGN_UNKNOWN },
		{ BLKALIGN_ATTR_LV_REGION, s->region_bytes && s->type != LVM2_SNAPSHOT ? s->region_bytes : BLKALIGN_UNKNOWN },
		{ BLKALIGN_ATTR_LV_THIN_ID, s->type == LVM2_THIN ? s->device_id : BLKALIGN_UNKNOWN },
	};
	const struct word words[] = {
		{ BLKALIGN_ATTR_LV_HOST, face->created_on },
		{ BLKALIGN_ATTR_LV_TAGS, face->tags },
		{ BLKALIGN_ATTR_LV_ALLOCATION, face->allocation },
	};
	int r;

	v->partial[index] = lies_on_missing(v, lv);
	r = set_numbers(node, numbers, ARRAY_SIZE(numbers));
	if (r >= 0)
		r = set_words(node, words, ARRAY_SIZE(words));
	if (r >= 0)
		r = set_flags(v, index, node);
	return r < 0 || s->type == LVM2_STRIPED ? r : set_partners(v, s, node);
}
