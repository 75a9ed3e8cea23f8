/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What state an array is in, as attributes. While the kernel runs it, its own word counts: an array in use is not clean on its disks, and that
 * is no damage.
 */
#include "stack/md.h"

static int set_u64(struct blkalign_node *node, enum blkalign_attr attr, uint64_t value)
{
	return blkalign_node_value(node, attr) ? 0 : graph_set_u64(node, attr, value, BLKALIGN_ORIGIN_ONDISK);
}

static void add_word(struct strbuf *text, const char *word) { strbuf_printf(text, "%s%s", text->length ? "," : "", word); }

/* Copies are no members that fell behind: on a running machine they are often the same disk under another name. */
static bool is_stale(const struct md_member *m)
{
	return m->fate != MD_FATE_USED && m->fate != MD_FATE_SPARE && m->fate != MD_FATE_DOUBLED;
}

/* --- how far it has come --- */

/* The least that any member being filled has. */
static uint64_t recovered_bytes(const struct md_array *a)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < a->slots_count; i++) {
		if (a->slots[i] && a->slots[i]->recovery_bytes < least)
			least = a->slots[i]->recovery_bytes;
		if (a->replacers[i] && a->replacers[i]->recovery_bytes < least)
			least = a->replacers[i]->recovery_bytes;
	}
	return least;
}

int md_set_progress(struct blkalign_node *node, uint64_t done_bytes, uint64_t total_bytes, enum blkalign_origin origin)
{
	uint64_t done = done_bytes < total_bytes ? done_bytes : total_bytes;
	int r;

	if (!total_bytes || blkalign_node_value(node, BLKALIGN_ATTR_MD_SYNC_TOTAL))
		return 0;
	r = graph_set_u64(node, BLKALIGN_ATTR_MD_SYNC_DONE, done, origin);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_SYNC_TOTAL, total_bytes, origin);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_SYNC_PERCENT, (uint64_t)((double)done / (double)total_bytes * 100), origin);
	return r;
}

/* Recovery goes before resync, as in the kernel. A reshape goes through the array in its new shape. */
static int set_progress(struct blkalign_node *node, const struct md_array *a, const struct raid_geometry *g)
{
	const struct md_member *f = a->freshest;
	uint64_t array = g ? raid_array_bytes(g) : 0, position = f->reshape_position_bytes;

	if (f->reshaping) {
		if (f->reshape_backwards)
			position = position < array ? array - position : 0;
		return md_set_progress(node, position, array, BLKALIGN_ORIGIN_ONDISK);
	}
	if (a->rebuilding)
		return md_set_progress(node, recovered_bytes(a), f->component_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (a->dirty)
		return md_set_progress(node, a->resync_bytes, f->level == RAID_10 ? array : f->component_bytes, BLKALIGN_ORIGIN_ONDISK);
	return 0;
}

/* --- the word --- */

static int set_words(struct blkalign_node *node, const struct md_array *a)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	add_word(&text, a->rival ? "split" : a->dirty ? "dirty" : "clean");
	if (a->failed)
		add_word(&text, "failed");
	if (a->degraded)
		add_word(&text, "degraded");
	if (a->dirty && a->resync_bytes != 0)
		add_word(&text, "resyncing");
	if (a->rebuilding)
		add_word(&text, "recovering");
	if (a->freshest->reshaping)
		add_word(&text, "reshaping");
	if (text.failed)
		return -ENOMEM;
	return graph_set_str(node, BLKALIGN_ATTR_MD_STATE, strbuf_text(&text), BLKALIGN_ORIGIN_ONDISK);
}

static int set_condition(struct blkalign_node *node, const struct md_array *a, const struct raid_geometry *g)
{
	int r = blkalign_node_value(node, BLKALIGN_ATTR_MD_STATE) ? 0 : set_words(node, a);

	if (r >= 0 && !blkalign_node_value(node, BLKALIGN_ATTR_MD_DIRTY))
		r = graph_set_bool(node, BLKALIGN_ATTR_MD_DIRTY, a->dirty, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = set_u64(node, BLKALIGN_ATTR_MD_DEGRADED, a->degraded);
	if (r >= 0)
		r = set_u64(node, BLKALIGN_ATTR_MD_MISSING, a->missing);
	if (r >= 0 && g && raid_redundancy(g))
		r = set_u64(node, BLKALIGN_ATTR_MD_DOUBTFUL, a->doubtful_bytes);
	if (r >= 0 && a->bitmap_dirty_bytes != BLKALIGN_UNKNOWN)
		r = set_u64(node, BLKALIGN_ATTR_MD_BITMAP_DIRTY, a->bitmap_dirty_bytes);
	return r < 0 ? r : set_progress(node, a, g);
}

/* --- members --- */

static int set_stale(struct blkalign_node *node, const struct md_array *a)
{
	uint64_t count = 0, gap = 0;
	int r;

	for (size_t i = 0; i < a->count; i++) {
		const struct md_member *m = a->members[i];

		if (!is_stale(m))
			continue;
		count++;
		if (m->events < a->freshest->events && a->freshest->events - m->events > gap)
			gap = a->freshest->events - m->events;
	}
	r = set_u64(node, BLKALIGN_ATTR_MD_STALE, count);
	return r < 0 || !count ? r : set_u64(node, BLKALIGN_ATTR_MD_STALE_GAP, gap);
}

static uint64_t bad_bytes(const struct md_member *m)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < m->bad_count; i++)
		bytes += m->bad[i].length_bytes;
	return bytes;
}

/* An edge of a bad range: from here on one member more, or one less, lists it. */
struct step {
	uint64_t at_bytes;
	int change;
};

static int by_place(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->at_bytes != y->at_bytes)
		return x->at_bytes < y->at_bytes ? -1 : 1;
	return x->change - y->change;
}

/* What a member that fell behind cannot read says nothing of the array. */
static bool counts(const struct md_member *m) { return m->fate == MD_FATE_USED; }

/* Ranges of one member do not overlap, so that the depth counts members. */
static int shared_bytes(const struct md_array *a, size_t ranges, uint64_t *ret_bytes)
{
	_cleanup_free_ struct step *steps = calloc(2 * ranges, sizeof(*steps));
	size_t count = 0;
	int depth = 0;

	*ret_bytes = 0;
	if (!steps)
		return -ENOMEM;
	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; counts(a->members[i]) && k < a->members[i]->bad_count; k++) {
			const struct byte_range *bad = &a->members[i]->bad[k];

			steps[count++] = (struct step){ bad->offset_bytes, 1 };
			steps[count++] = (struct step){ bad->offset_bytes + bad->length_bytes, -1 };
		}
	qsort(steps, count, sizeof(*steps), by_place);
	for (size_t i = 0; i < count; i++) {
		if (depth > 1)
			*ret_bytes += steps[i].at_bytes - steps[i - 1].at_bytes;
		depth += steps[i].change;
	}
	return 0;
}

static int set_bad(struct stack *stack, struct blkalign_node *node, const struct md_array *a)
{
	uint64_t bytes = 0, shared;
	size_t ranges = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < a->count; i++) {
		const struct md_member *m = a->members[i];
		struct blkalign_node *host = graph_node(stack_graph(stack), blkalign_node_index(m->host));

		if (!m->bad_count)
			continue;
		ranges += counts(m) ? m->bad_count : 0;
		bytes += counts(m) ? bad_bytes(m) : 0;
		r = set_u64(host, BLKALIGN_ATTR_MD_BAD_RANGES, m->bad_count);
		if (r >= 0)
			r = set_u64(host, BLKALIGN_ATTR_MD_BAD_BYTES, bad_bytes(m));
	}
	if (r < 0 || !ranges)
		return r;
	r = shared_bytes(a, ranges, &shared);
	if (r >= 0)
		r = set_u64(node, BLKALIGN_ATTR_MD_BAD_RANGES, ranges);
	if (r >= 0)
		r = set_u64(node, BLKALIGN_ATTR_MD_BAD_BYTES, bytes);
	return r < 0 ? r : set_u64(node, BLKALIGN_ATTR_MD_BAD_SHARED, shared);
}

/* "inactive": the kernel has the members and does not run the array, so that the disks are all there is. */
static bool kernel_runs(const struct blkalign_node *node)
{
	const char *state = blkalign_node_str(node, BLKALIGN_ATTR_MD_STATE);

	return state && strncmp(state, "inactive", strlen("inactive")) != 0;
}

int md_array_set_state(struct stack *stack, struct blkalign_node *node, const struct md_array *a, const struct raid_geometry *g)
{
	int r = kernel_runs(node) ? 0 : set_condition(node, a, g);

	if (r >= 0)
		r = set_stale(node, a);
	return r < 0 ? r : set_bad(stack, node, a);
}
