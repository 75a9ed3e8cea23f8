/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From gathered facts to a graph: which names mean one device, then the nodes with lower devices first, then the edges with all that any
 * tool said of them. Linear but for sorting.
 */
#include <stdio.h>

#include "snap/import_priv.h"

#define DEPTH_MAX 200U /* of devices upon devices while ordering; the graph itself allows fewer */

enum colour { WHITE, GREY, BLACK };

/* Per scratch node; `leader` stands for the whole set of names of one device. */
struct slot {
	uint32_t leader;
	uint32_t next; /* further node of the set + 1 */
	uint32_t first_edge, edge_count;
	enum colour colour;
	struct blkalign_node *out;
};

struct finish {
	struct import *in;
	struct blkalign_graph *graph;
	struct slot *slots;
	size_t count;
	size_t dropped; /* edges that would have closed a circle */
};

static uint32_t index_of(const struct blkalign_node *node) { return (uint32_t)blkalign_node_index(node); }

static uint32_t leader(struct slot *slots, uint32_t i)
{
	while (slots[i].leader != i) {
		slots[i].leader = slots[slots[i].leader].leader;
		i = slots[i].leader;
	}
	return i;
}

/* --- which names mean one device --- */

/* The better a name says what the device is, the higher. */
static int name_rank(const struct blkalign_node *node)
{
	const char *name = blkalign_node_name(node);
	enum blkalign_kind kind = blkalign_node_kind(node);

	if (name[0] >= '0' && name[0] <= '9' && strchr(name, ':'))
		return 0;
	if (import_starts(name, "md-"))
		return 1;
	if (import_starts(name, "dm-"))
		return 2;
	if ((kind == BLKALIGN_KIND_LV && strchr(name, '/')) || (kind == BLKALIGN_KIND_CRYPT && import_starts(name, "luks:")))
		return 5;
	return kind == BLKALIGN_KIND_DISK ? 3 : 4;
}

static void unite(struct slot *slots, struct import *in, const struct blkalign_node *a, const struct blkalign_node *b)
{
	uint32_t x = leader(slots, index_of(a)), y = leader(slots, index_of(b));

	if (x == y)
		return;
	if (name_rank(graph_node(in->graph, y)) > name_rank(graph_node(in->graph, x))) {
		uint32_t swap = x;

		x = y;
		y = swap;
	}
	slots[y].leader = x;
}

static int make_slots(struct finish *f)
{
	struct import *in = f->in;

	f->count = blkalign_graph_size(in->graph);
	f->slots = calloc(f->count ? f->count : 1, sizeof(*f->slots));
	if (!f->slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->count; i++)
		f->slots[i].leader = i;
	for (size_t i = 0; i < in->same.count; i++)
		unite(f->slots, in, in->same.data[i].a, in->same.data[i].b);
	for (uint32_t i = (uint32_t)f->count; i-- > 0;) {
		uint32_t l = leader(f->slots, i);

		if (l != i) {
			f->slots[i].next = f->slots[l].next;
			f->slots[l].next = i + 1;
		}
	}
	return 0;
}

/* --- edges: sorted by upper, lower and segment, then merged --- */

static int by_place(const struct blkalign_edge *x, const struct blkalign_edge *y)
{
	uint32_t k[2][3] = { { index_of(x->upper), index_of(x->lower), x->segment },
			     { index_of(y->upper), index_of(y->lower), y->segment } };

	for (size_t i = 0; i < 3; i++)
		if (k[0][i] != k[1][i])
			return k[0][i] < k[1][i] ? -1 : 1;
	return 0;
}

static int by_place_and_order(const void *a, const void *b)
{
	const struct import_link *x = a, *y = b;
	int r = by_place(&x->edge, &y->edge);

	return r ? r : x->order < y->order ? -1 : x->order > y->order;
}

static bool has_slot(const struct blkalign_edge *e) { return e->slot < IMPORT_SLOT_UNKNOWN; }

static void learn(uint64_t *known, uint64_t more)
{
	if (more != BLKALIGN_UNKNOWN)
		*known = more;
}

static void merge(struct blkalign_edge *into, const struct blkalign_edge *more)
{
	learn(&into->upper_offset_bytes, more->upper_offset_bytes);
	learn(&into->lower_offset_bytes, more->lower_offset_bytes);
	learn(&into->length_bytes, more->length_bytes);
	if (more->stripes > into->stripes) {
		into->stripes = more->stripes;
		into->chunk_bytes = more->chunk_bytes;
	}
	if (more->slot != IMPORT_SLOT_UNKNOWN)
		into->slot = more->slot;
	if (more->state)
		into->state = more->state;
}

static bool mergeable(const struct blkalign_edge *a, const struct blkalign_edge *b)
{
	if (by_place(a, b) != 0)
		return false;
	return blkalign_node_kind(a->upper) == BLKALIGN_KIND_MD || !has_slot(a) || !has_slot(b) || a->slot == b->slot;
}

/* Some tools show a volume on its physical volume's device, others on the physical volume, which is all of the device. */
static struct blkalign_node *volume_below(struct finish *f, const struct blkalign_edge *edge)
{
	struct blkalign_node *lower = graph_node(f->in->graph, index_of(edge->lower)), *pv;
	char name[IMPORT_NAME_MAX + 8];

	if (blkalign_node_kind(edge->upper) != BLKALIGN_KIND_LV || blkalign_node_kind(lower) == BLKALIGN_KIND_PV)
		return lower;
	snprintf(name, sizeof(name), "pv:%s", blkalign_node_name(lower));
	pv = graph_find(f->in->graph, name);
	return pv ? pv : lower;
}

static void swap_names(struct finish *f)
{
	import_links *e = &f->in->links;

	for (size_t i = 0; i < e->count; i++) {
		e->data[i].edge.upper = graph_node(f->in->graph, leader(f->slots, index_of(e->data[i].edge.upper)));
		e->data[i].edge.lower = graph_node(f->in->graph, leader(f->slots, index_of(e->data[i].edge.lower)));
		e->data[i].edge.lower = volume_below(f, &e->data[i].edge);
	}
}

static int merge_edges(struct finish *f)
{
	import_links *e = &f->in->links;
	size_t kept = 0;

	swap_names(f);
	if (e->count)
		qsort(e->data, e->count, sizeof(*e->data), by_place_and_order);
	for (size_t i = 0; i < e->count; i++) {
		if (e->data[i].edge.upper == e->data[i].edge.lower)
			continue;
		if (kept && mergeable(&e->data[kept - 1].edge, &e->data[i].edge))
			merge(&e->data[kept - 1].edge, &e->data[i].edge);
		else
			e->data[kept++] = e->data[i];
	}
	e->count = kept;
	for (uint32_t i = 0; i < kept; i++) {
		struct slot *s = &f->slots[index_of(e->data[i].edge.upper)];

		if (!s->edge_count)
			s->first_edge = i;
		if (++s->edge_count > IMPORT_EDGES_MAX)
			return -E2BIG;
	}
	return 0;
}

/* --- md: what the array says of all its members --- */

static uint32_t data_areas(const struct blkalign_node *array)
{
	const char *level = blkalign_node_str(array, BLKALIGN_ATTR_MD_LEVEL),
		   *layout = blkalign_node_str(array, BLKALIGN_ATTR_MD_LAYOUT_NAME);
	uint64_t n = blkalign_node_u64(array, BLKALIGN_ATTR_MD_MEMBERS), copies = 2;

	if (!level || n == BLKALIGN_UNKNOWN || n == 0 || n > UINT16_MAX)
		return 0;
	if (!strcmp(level, "raid0"))
		return (uint32_t)n;
	if (!strcmp(level, "raid4") || !strcmp(level, "raid5"))
		return n > 1 ? (uint32_t)n - 1 : 0;
	if (!strcmp(level, "raid6"))
		return n > 2 ? (uint32_t)n - 2 : 0;
	if (strcmp(level, "raid10") != 0)
		return 0;
	if (layout && import_starts(layout, "near=") && layout[5] >= '1' && layout[5] <= '9')
		copies = (uint64_t)(layout[5] - '0');
	else if (layout)
		return (uint32_t)n; /* far and offset: every member holds each row's data once before copies begin */
	return n >= copies ? (uint32_t)(n / copies) : 1;
}

static void complete_array(struct finish *f, struct blkalign_node *array, const struct slot *s)
{
	struct import_link *links = s->edge_count ? &f->in->links.data[s->first_edge] : NULL;
	uint64_t chunk = blkalign_node_u64(array, BLKALIGN_ATTR_MD_CHUNK), size = blkalign_node_u64(array, BLKALIGN_ATTR_SIZE), stripe;
	uint32_t stripes = data_areas(array), free_slot = 0;

	for (uint32_t i = 0; i < s->edge_count; i++) {
		learn(&links[i].edge.length_bytes, size);
		if (stripes > 1 && chunk != BLKALIGN_UNKNOWN && chunk) {
			links[i].edge.stripes = stripes;
			links[i].edge.chunk_bytes = chunk;
		}
	}
	/* mdstat does not tell slots; those members take the free ones in its order. All members of a row lie alike, so no judgement hangs on it. */
	for (uint32_t i = 0; i < s->edge_count; i++)
		if (has_slot(&links[i].edge) && links[i].edge.slot >= free_slot)
			free_slot = links[i].edge.slot + 1;
	for (uint32_t i = 0; i < s->edge_count; i++)
		if (links[i].edge.slot == IMPORT_SLOT_UNKNOWN)
			links[i].edge.slot = free_slot++;
	if (stripes && chunk != BLKALIGN_UNKNOWN && chunk && u64_mul(chunk, stripes, &stripe))
		graph_set_u64(array, BLKALIGN_ATTR_MD_STRIPE, stripe, BLKALIGN_ORIGIN_COMPUTED);
}

/* --- building --- */

/* Contents are named after their device, whose name may have been found only now. */
static int result_name(struct finish *f, uint32_t i, char *ret, size_t size)
{
	const struct blkalign_node *node = graph_node(f->in->graph, i);
	const char *name = blkalign_node_name(node), *colon = strchr(name, ':');
	enum blkalign_kind kind = blkalign_node_kind(node);
	const struct slot *s = &f->slots[i];

	snprintf(ret, size, "%s", name);
	if (!colon || s->edge_count != 1 || (kind != BLKALIGN_KIND_PV && kind != BLKALIGN_KIND_CRYPT && kind != BLKALIGN_KIND_CONTENT))
		return 0;
	s = &f->slots[index_of(f->in->links.data[s->first_edge].edge.lower)];
	if (s->out)
		snprintf(ret, size, "%.*s:%s", (int)(colon - name), name, blkalign_node_name(s->out));
	return 0;
}

int import_copy_value(struct blkalign_node *to, enum blkalign_attr attr, const struct blkalign_value *v)
{
	switch (v->type) {
	case BLKALIGN_TYPE_U64:
		return graph_set_u64(to, attr, v->u64, v->origin);
	case BLKALIGN_TYPE_I64:
		return graph_set_i64(to, attr, v->i64, v->origin);
	case BLKALIGN_TYPE_BOOL:
		return graph_set_bool(to, attr, v->boolean, v->origin);
	case BLKALIGN_TYPE_STR:
		return graph_set_str(to, attr, v->str, v->origin);
	}
	return -EINVAL;
}

/* What the running system itself said goes before what a tool printed. */
static int copy_values(struct blkalign_node *to, const struct blkalign_node *from)
{
	for (unsigned a = 0; a < BLKALIGN_ATTR_COUNT; a++) {
		enum blkalign_attr attr = (enum blkalign_attr)a;
		const struct blkalign_value *v = blkalign_node_value(from, attr), *before = blkalign_node_value(to, attr);
		int r;

		if (!v || (before && (before->origin != BLKALIGN_ORIGIN_TOOL || v->origin == BLKALIGN_ORIGIN_TOOL)))
			continue;
		r = import_copy_value(to, attr, v);
		if (r < 0)
			return r;
	}
	return 0;
}

static int build_node(struct finish *f, uint32_t i)
{
	struct slot *s = &f->slots[i];
	struct blkalign_node *node = graph_node(f->in->graph, i);
	char name[2 * IMPORT_NAME_MAX];
	int r = result_name(f, i, name, sizeof(name));

	s->out = graph_find(f->graph, name);
	if (!s->out)
		r = graph_add(f->graph, blkalign_node_kind(node), name, &s->out);
	for (uint32_t m = i + 1; r >= 0 && m; m = m == i + 1 ? s->next : f->slots[m - 1].next)
		r = copy_values(s->out, graph_node(f->in->graph, m - 1));
	return r;
}

static int build_edges(struct finish *f, uint32_t i)
{
	struct slot *s = &f->slots[i];

	if (blkalign_node_kind(s->out) == BLKALIGN_KIND_MD)
		complete_array(f, s->out, s);
	for (uint32_t k = 0; k < s->edge_count; k++) {
		struct blkalign_edge edge = f->in->links.data[s->first_edge + k].edge;
		int r;

		edge.upper = s->out;
		edge.lower = f->slots[index_of(edge.lower)].out;
		if (edge.slot == IMPORT_SLOT_UNKNOWN)
			edge.slot = 0;
		r = edge.lower ? graph_connect(f->graph, &edge) : -ELOOP;
		if (r < 0 && r != -ELOOP)
			return r;
		f->dropped += r == -ELOOP;
	}
	return 0;
}

static int build(struct finish *f, uint32_t i, unsigned depth)
{
	struct slot *s = &f->slots[i];
	int r = 0;

	if (s->colour != WHITE)
		return 0;
	s->colour = GREY;
	for (uint32_t k = 0; depth < DEPTH_MAX && r >= 0 && k < s->edge_count; k++)
		r = build(f, index_of(f->in->links.data[s->first_edge + k].edge.lower), depth + 1);
	if (r >= 0)
		r = build_node(f, i);
	if (r >= 0)
		r = build_edges(f, i);
	s->colour = BLACK;
	return r;
}

static int resolve(struct finish *f)
{
	struct import *in = f->in;
	int r;

	import_resolve_values(in);
	r = in->error ? in->error : make_slots(f);
	if (r >= 0)
		swap_names(f); /* members shared under two names are seen as shared */
	free(f->slots);
	f->slots = NULL;
	import_resolve_sharing(in);
	if (r >= 0)
		r = in->error ? in->error : make_slots(f);
	return r < 0 ? r : merge_edges(f);
}

int import_finish(struct import *in, struct blkalign_graph *graph, struct blkalign_error *reterr)
{
	struct finish f = { .in = in, .graph = graph };
	int r = in->error ? in->error : in->facts ? resolve(&f) : BLKALIGN_NOT_THIS;

	for (uint32_t i = 0; r == 0 && i < f.count; i++)
		if (leader(f.slots, i) == i)
			r = build(&f, i, 0);
	for (size_t i = 0; r == 0 && i < blkalign_graph_remarks(in->graph); i++)
		r = graph_remark(graph, "%s", blkalign_graph_remark(in->graph, i));
	if (r == 0 && f.dropped)
		r = graph_remark(graph, "%zu statements were left out: they put devices in a circle, or too deep", f.dropped);
	if (r < 0)
		blkalign_error_set(reterr, r, NULL, BLKALIGN_UNKNOWN, "the text cannot be made a graph: %s", strerror(-r));
	free(f.slots);
	vec_done(&in->links);
	vec_done(&in->areas);
	vec_done(&in->same);
	blkalign_graph_free(in->graph);
	blkalign_graph_free(in->groups);
	in->graph = in->groups = NULL;
	return r;
}
