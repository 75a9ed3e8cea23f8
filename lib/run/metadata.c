/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the nodes of a stack to the metadata areas on them, and what is to be thought of each text there. */
#include <blkalign/metadata.h>

#include "format/lvm2/lvm2.h"
#include "run/run.h"

/* Where lvm2 puts the first area when it is not told otherwise. */
#define USUAL_AREA_AT	 4096U
#define USUAL_AREA_BYTES (MIB - USUAL_AREA_AT)

/* All that is known of an area; the texts' strings live in its ring. */
struct found_area {
	struct blkalign_metadata_area told;
	struct dev *dev;
	struct lvm2_mda mda;
	struct lvm2_ring ring;
};

struct blkalign_metadata {
	VEC(struct found_area *) areas;
	VEC(struct blkalign_metadata_text) texts;
	struct arena *arena;
	struct stack *stack;
};

const char *blkalign_metadata_state_name(enum blkalign_metadata_state state)
{
	static const char *const names[] = {
		"used", "same", "outdated", "contradicting", "foreign", "uncommitted", "older", "loose", "torn"
	};

	return names[state];
}

/* --- texts --- */

static enum blkalign_metadata_state judge_committed(struct stack *stack, const struct found_area *a, const struct lvm2_left *left)
{
	struct stack_vg_text used;

	if (!left->lists_pv)
		return BLKALIGN_METADATA_FOREIGN;
	if (!stack_vg_text(stack, left->vg_id, &used) || used.seqno != left->seqno)
		return BLKALIGN_METADATA_OUTDATED;
	if (used.checksum != left->location.checksum)
		return BLKALIGN_METADATA_CONTRADICTING;
	if (used.area_bytes == a->mda.offset_bytes && !strcmp(used.on, blkalign_node_name(a->told.node)))
		return BLKALIGN_METADATA_USED;
	return BLKALIGN_METADATA_SAME;
}

static const struct lvm2_left *committed_of(const struct found_area *a)
{
	for (size_t i = 0; i < a->ring.found.count && a->mda.committed.size_bytes; i++)
		if (a->ring.found.data[i].location.offset_bytes == a->mda.committed.offset_bytes)
			return &a->ring.found.data[i];
	return NULL;
}

static enum blkalign_metadata_state judge(struct stack *stack, const struct found_area *a, const struct lvm2_left *left, const char **why)
{
	const struct lvm2_left *committed = committed_of(a);

	*why = left->why_not_whole;
	if (!*why && left == committed &&
	    (left->location.checksum != a->mda.committed.checksum || left->location.size_bytes != a->mda.committed.size_bytes))
		*why = "its checksum is not the one that the area's header has for it";
	if (*why)
		return BLKALIGN_METADATA_TORN;
	if (left == committed)
		return judge_committed(stack, a, left);
	if (!committed)
		return BLKALIGN_METADATA_LOOSE;
	return left->seqno > committed->seqno && !strcmp(left->vg_id, committed->vg_id) ? BLKALIGN_METADATA_UNCOMMITTED
											: BLKALIGN_METADATA_OLDER;
}

static int add_text(struct blkalign_metadata *m, const struct found_area *a, const struct lvm2_left *left)
{
	const struct lvm2_location *l = &left->location;
	struct blkalign_metadata_text t = {
		.area = &a->told,
		.offset_bytes = a->mda.offset_bytes + l->offset_bytes,
		.size_bytes = l->size_bytes,
		.wraps = l->size_bytes > a->mda.size_bytes - l->offset_bytes,
		.checksum = l->checksum,
		.vg_name = left->vg_name,
		.seqno = left->seqno,
		.description = left->description,
		.host = left->written_on,
		.unix_time = left->written_unix,
	};
	char *uuid = arena_alloc(m->arena, LVM2_ID_TEXT);

	if (!uuid)
		return -ENOMEM;
	lvm2_id_format(uuid, left->vg_id);
	t.vg_uuid = uuid;
	t.state = judge(m->stack, a, left, &t.why);
	return vec_push(&m->texts, t);
}

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int by_group(const void *a, const void *b)
{
	const struct blkalign_metadata_text *x = a, *y = b;
	int r = strcmp(x->vg_name, y->vg_name);

	r = r ? r : strcmp(x->vg_uuid, y->vg_uuid);
	r = r ? r : compare_u64(x->seqno, y->seqno);
	r = r ? r : compare_u64(blkalign_node_index(x->area->node), blkalign_node_index(y->area->node));
	return r ? r : compare_u64(x->offset_bytes, y->offset_bytes);
}

/* --- areas --- */

static void free_area(struct found_area *a)
{
	lvm2_ring_done(&a->ring);
	free(a);
}

static int keep_damage(struct blkalign_metadata *m, struct found_area *a, const char *why)
{
	a->told.damage = arena_strdup(m->arena, why);
	return a->told.damage ? 0 : -ENOMEM;
}

/* A damaged header costs the place of the text that counts, not the texts. */
static int read_header(struct blkalign_metadata *m, struct found_area *a, const struct lvm2_area *area)
{
	struct blkalign_error err;
	int r = lvm2_mda_read(a->dev, area->offset_bytes, &a->mda, &err);

	if (r >= 0) {
		a->told.ignored = a->mda.committed.ignored;
		if (a->mda.committed.size_bytes)
			a->told.committed_bytes = a->mda.offset_bytes + a->mda.committed.offset_bytes;
		return 0;
	}
	a->mda = (struct lvm2_mda){ .offset_bytes = area->offset_bytes, .size_bytes = area->size_bytes };
	if (area->offset_bytes >= a->dev->size_bytes)
		a->mda.size_bytes = 0;
	else if (a->mda.size_bytes > a->dev->size_bytes - area->offset_bytes)
		a->mda.size_bytes = a->dev->size_bytes - area->offset_bytes;
	if (a->mda.size_bytes > LVM2_MDA_MAX_BYTES)
		a->mda.size_bytes = LVM2_MDA_MAX_BYTES;
	return keep_damage(m, a, err.message);
}

/* `pv_id` NULL: there is no label, and the area is listed only when there is something in it. */
static int add_area(struct blkalign_metadata *m, const struct blkalign_node *node, struct dev *dev, const struct lvm2_area *area,
		    const char *pv_id)
{
	struct found_area *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->dev = dev;
	a->told = (struct blkalign_metadata_area){ .node = node, .assumed = !pv_id, .committed_bytes = BLKALIGN_UNKNOWN };
	r = read_header(m, a, area);
	if (r >= 0)
		r = lvm2_ring_search(dev, &a->mda, pv_id, &a->ring);
	if (r < 0 || (!pv_id && !a->ring.found.count)) {
		free_area(a);
		return r;
	}
	a->told.offset_bytes = a->mda.offset_bytes;
	a->told.size_bytes = a->mda.size_bytes;
	a->told.unreadable_sectors512 = a->ring.unreadable_sectors512;
	a->told.more = a->ring.more;
	if (vec_push(&m->areas, a) < 0) {
		free_area(a);
		return -ENOMEM;
	}
	for (size_t i = 0; r >= 0 && i < a->ring.found.count; i++)
		r = add_text(m, a, &a->ring.found.data[i]);
	return r;
}

/*
 * A PV, or what may have been one: a label whose areas are all damaged makes no PV, nor does an area whose label is lost. What something else lies on
 * shows that one's bytes, as members of mirrors do.
 */
static bool may_be_pv(const struct blkalign_node *node)
{
	bool bare = true;

	for (size_t i = 0; i < blkalign_node_uppers(node); i++) {
		enum blkalign_kind kind = blkalign_node_kind(blkalign_node_upper(node, i));

		if (kind == BLKALIGN_KIND_PV)
			return true;
		bare = bare && kind == BLKALIGN_KIND_CONTENT;
	}
	return bare && blkalign_node_kind(node) != BLKALIGN_KIND_PV;
}

static int add_node(struct blkalign_metadata *m, const struct blkalign_node *node)
{
	struct dev *dev = may_be_pv(node) ? stack_dev(m->stack, node) : NULL;
	const struct lvm2_area usual = { USUAL_AREA_AT, USUAL_AREA_BYTES };
	struct lvm2_label label;
	int r = dev ? lvm2_label_read(dev, &label, NULL) : BLKALIGN_ABSENT;

	if (!dev || r == -ENOMEM)
		return dev ? r : 0;
	if (r != 0)
		return dev->size_bytes > USUAL_AREA_AT ? add_area(m, node, dev, &usual, NULL) : 0;
	for (unsigned i = 0; r >= 0 && i < label.metadata.count; i++)
		r = add_area(m, node, dev, &label.metadata.area[i], label.pv_id);
	return r;
}

int blkalign_metadata_find(struct blkalign_run *run, struct blkalign_metadata **ret_metadata, struct blkalign_error *reterr)
{
	const struct blkalign_graph *graph = blkalign_run_graph(run);
	struct blkalign_metadata *m = calloc(1, sizeof(*m));
	int r = 0;

	if (m) {
		m->arena = arena_new();
		m->stack = run->stack;
	}
	if (!m || !m->arena)
		r = -ENOMEM;
	for (size_t i = 0; r >= 0 && i < blkalign_graph_size(graph); i++)
		r = add_node(m, blkalign_graph_node(graph, i));
	if (r < 0) {
		blkalign_metadata_free(m);
		return blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "not enough memory for the texts of these volume groups");
	}
	if (m->texts.count)
		qsort(m->texts.data, m->texts.count, sizeof(*m->texts.data), by_group);
	*ret_metadata = m;
	return 0;
}

void blkalign_metadata_free(struct blkalign_metadata *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->areas.count; i++)
		free_area(m->areas.data[i]);
	vec_done(&m->areas);
	vec_done(&m->texts);
	if (m->arena)
		arena_free(m->arena);
	free(m);
}

/* --- what others ask for --- */

size_t blkalign_metadata_areas(const struct blkalign_metadata *m) { return m->areas.count; }
const struct blkalign_metadata_area *blkalign_metadata_area(const struct blkalign_metadata *m, size_t index)
{
	return &m->areas.data[index]->told;
}
size_t blkalign_metadata_texts(const struct blkalign_metadata *m) { return m->texts.count; }
const struct blkalign_metadata_text *blkalign_metadata_text(const struct blkalign_metadata *m, size_t index)
{
	return &m->texts.data[index];
}

int blkalign_metadata_read(const struct blkalign_metadata *m, const struct blkalign_metadata_text *text, char **ret_text,
			   size_t *ret_length, struct blkalign_error *reterr)
{
	const struct found_area *a = NULL;
	struct lvm2_mda mda;

	for (size_t i = 0; i < m->areas.count && !a; i++)
		a = &m->areas.data[i]->told == text->area ? m->areas.data[i] : NULL;
	if (!a)
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN, "this text is not one of those that were found");
	mda = a->mda;
	mda.committed = (struct lvm2_location){ .offset_bytes = text->offset_bytes - mda.offset_bytes,
						.size_bytes = text->size_bytes,
						.checksum = text->checksum };
	return lvm2_text_read(a->dev, &mda, ret_text, ret_length, reterr);
}
