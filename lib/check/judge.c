/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk. For each node that lies on others, the byte where its data starts is followed down to every drive; on the way each device's own
 * boundaries are compared. Only data that nothing lies on top of can be harmed: a partition at sector 63 whose LUKS payload makes up for it is in order.
 * The guilty layer is the lowest one whose own offset is off the boundary; all that inherit it are counted, not reported again.
 */
#include <inttypes.h>

#include "check/check.h"
#include "check/speak.h"
#include "graph/graph.h"

/* A hostile graph may hold exponentially many paths; an honest one of 10,000 volumes on nine drives has 100,000. */
#define WALK_PLACES_MAX 4000000U

/* The way from the node down to the place being looked at. */
struct step {
	const struct blkalign_edge *edge;
	uint64_t own_bytes; /* what the upper node adds by itself */
};

struct walk {
	struct check *c;
	const struct blkalign_node *node;
	bool harmed; /* misplaced data of this node counts: nothing lies on top of it */
	struct step path[GRAPH_DEPTH_MAX + 1];
	struct tally tally;
};

/* --- offsets --- */

/* The byte of the node where its data starts. */
static uint64_t data_start(const struct blkalign_node *n)
{
	uint64_t start = 0;

	if (blkalign_node_kind(n) == BLKALIGN_KIND_PV)
		return blkalign_node_u64(n, BLKALIGN_ATTR_PE_START);
	if (blkalign_node_kind(n) == BLKALIGN_KIND_CONTENT && blkalign_node_value(n, BLKALIGN_ATTR_DATA_OFFSET))
		start = blkalign_node_u64(n, BLKALIGN_ATTR_DATA_OFFSET);
	return start;
}

/* What `edge->upper` adds by itself. A volume's place on a PV holds the PV's own start, which is the PV's doing. */
static uint64_t own_offset(const struct blkalign_edge *edge)
{
	uint64_t own = edge->lower_offset_bytes, start = data_start(edge->upper), sum;

	if (own == BLKALIGN_UNKNOWN)
		return BLKALIGN_UNKNOWN;
	if (blkalign_node_kind(edge->lower) == BLKALIGN_KIND_PV) {
		uint64_t pe_start = blkalign_node_u64(edge->lower, BLKALIGN_ATTR_PE_START);

		if (pe_start != BLKALIGN_UNKNOWN && own >= pe_start)
			own -= pe_start;
	}
	if (start == BLKALIGN_UNKNOWN || !u64_add(own, start, &sum))
		return BLKALIGN_UNKNOWN;
	return sum;
}

/* --- blame --- */

/*
 * The lowest layer above the place whose own offset is off; the one next to a drive answers for the drive's first boundary too. NULL when no layer adds anything: then
 * the device itself is off, a partition whose start nobody told but whose alignment_offset the kernel did.
 */
static const struct step *find_guilty(const struct walk *w, const struct blkalign_place *place, const struct grain *grain)
{
	struct grain from_zero = { .bytes = grain->bytes };
	bool on_drive = blkalign_node_kind(place->node) == BLKALIGN_KIND_DISK;

	for (uint32_t i = place->depth; i-- > 0;) {
		const struct step *s = &w->path[i];

		if (s->own_bytes != BLKALIGN_UNKNOWN && grain_residue(on_drive && i == place->depth - 1 ? grain : &from_zero, s->own_bytes))
			return s;
	}
	return on_drive ? &w->path[0] : NULL;
}

/* A bogus hint below that explains the offset: the lowest that is known, or one whose fingerprint the offset bears. */
static bool hint_explains(const struct walk *w, const struct blkalign_node *n, struct blame *blame)
{
	struct facts *f = facts_of(w->c, n);

	if (!hint_is_bogus(f->hint) || blame->own_bytes % f->optimal_bytes)
		return false;
	f->hint_obeyed = true;
	f->hint_harms = f->hint_harms || blame->boundary == BOUNDARY_PHYSICAL;
	blame->hinted = n;
	blame->hint_bytes = f->optimal_bytes;
	return true;
}

static void find_hint(const struct walk *w, uint32_t depth, struct blame *blame)
{
	uint64_t print = hint_fingerprint(blame->own_bytes);
	const struct blkalign_node *bottom = w->path[depth - 1].edge->lower;
	/* The way may end at a device of which nobody told where it lies. */
	const struct blkalign_node *lowest = is_placed(bottom) ? bottom : drive_below(bottom);

	if (!is_set(blame->own_bytes) || hint_explains(w, lowest, blame))
		return;
	for (uint32_t i = depth; i-- > 0;)
		if (hint_explains(w, w->path[i].edge->lower, blame))
			return;
	if (!print)
		return;
	blame->hinted = lowest;
	blame->hint_bytes = print;
}

/* The walk goes from the last node to the first, so the newest victim is the first in graph order: it stands for all. */
static void merge(struct blame *known, const struct blame *more)
{
	if (known->victim == more->victim)
		return;
	known->victims++;
	known->victim = more->victim;
	known->on = more->on;
	known->position_bytes = more->position_bytes;
	known->residue_bytes = more->residue_bytes;
	known->grain = more->grain;
}

static void mark_path(struct walk *w, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		facts_of(w->c, w->path[i].edge->upper)->misplaced = true;
}

/* Volumes that start inside a stripe have their extent size in common: one blame for all on a PV. */
static struct facts *blame_holder(const struct walk *w, const struct blame *b)
{
	bool extents = b->boundary == BOUNDARY_STRIPE && blkalign_node_kind(b->below) == BLKALIGN_KIND_PV;

	return facts_of(w->c, extents ? b->below : b->guilty);
}

static void blame_layer(struct walk *w, enum boundary boundary, const struct blkalign_place *place)
{
	const struct grain *grain = &facts_of(w->c, place->node)->grains[boundary];
	const struct step *guilty = find_guilty(w, place, grain);
	struct blame blame = {
		.boundary = boundary,
		.guilty = guilty ? guilty->edge->upper : place->node,
		.below = guilty ? guilty->edge->lower : place->node,
		.on = place->node,
		.victim = w->node,
		.own_bytes = guilty ? guilty->own_bytes : grain->offset_bytes,
		.position_bytes = place->offset_bytes,
		.residue_bytes = grain_residue(grain, place->offset_bytes),
		.grain = *grain,
		.victims = 1,
	};
	struct facts *f = blame_holder(w, &blame);

	if (f->blames[boundary]) {
		merge(&w->c->blames.data[f->blames[boundary] - 1], &blame);
		return;
	}
	find_hint(w, place->depth, &blame);
	if (vec_push(&w->c->blames, blame) < 0)
		w->c->failed = true;
	else
		f->blames[boundary] = (uint32_t)w->c->blames.count;
}

/* A start that a bogus hint below asked for, be it harmful or not; rules that look at that device first know of it. */
static void note_obedience(struct check *c, const struct blkalign_node *n)
{
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);
		uint64_t own = own_offset(e);

		if (!is_set(own) || own % MIB == 0)
			continue;
		for (const struct blkalign_node *lower = e->lower; lower; lower = below(lower)) {
			struct facts *f = facts_of(c, lower);

			f->hint_obeyed = f->hint_obeyed || (hint_is_bogus(f->hint) && own % f->optimal_bytes == 0);
		}
	}
}

/* --- one place --- */

static bool judge_boundary(struct walk *w, enum boundary boundary, const struct blkalign_place *place)
{
	const struct grain *grain = &facts_of(w->c, place->node)->grains[boundary];
	bool off;

	if (!grain->bytes)
		return true;
	off = grain_residue(grain, place->offset_bytes) != 0;
	tally_note(&w->tally, boundary, place, grain, off);
	if (off && w->harmed && boundary == BOUNDARY_PHYSICAL)
		mark_path(w, place->depth);
	if (off && w->harmed)
		blame_layer(w, boundary, place);
	return !off;
}

static void judge_place(struct walk *w, const struct blkalign_place *place)
{
	if (!blkalign_node_edges(place->node))
		w->tally.drives++;
	if (place->offset_bytes == BLKALIGN_UNKNOWN) {
		w->tally.unknown = true;
		return;
	}
	/* A start that is off the block is off everything larger; one that is off the chunk is off the stripe. */
	if (!judge_boundary(w, BOUNDARY_PHYSICAL, place) || !judge_boundary(w, BOUNDARY_CHUNK, place))
		return;
	judge_boundary(w, BOUNDARY_STRIPE, place);
}

static void judge_places(struct walk *w, const struct blkalign_place *places, size_t count)
{
	uint32_t skip = UINT32_MAX; /* places deeper than this lie under an idle edge or an exempt node */

	for (size_t i = 0; i < count; i++) {
		const struct blkalign_place *place = &places[i];

		if (place->depth > skip)
			continue;
		skip = UINT32_MAX;
		if (edge_is_idle(place->edge)) {
			skip = place->depth;
			continue;
		}
		w->path[place->depth - 1] = (struct step){ place->edge, own_offset(place->edge) };
		if (facts_of(w->c, place->node)->exempt != EXEMPT_NO) {
			w->tally.exempt = true;
			skip = place->depth;
			continue;
		}
		judge_place(w, place);
	}
}

/* --- one node --- */

static void judge_byte(struct walk *w, uint64_t offset_bytes)
{
	struct graph_places *way = &w->c->way;
	int r;

	if (w->c->places > WALK_PLACES_MAX || facts_of(w->c, w->node)->paths >= PATHS_MAX) {
		w->tally.unknown = true;
		return;
	}
	r = graph_places(w->node, offset_bytes, way);
	if (r == -ENOMEM)
		w->c->failed = true;
	if (r < 0) {
		w->c->places += WALK_PLACES_MAX / 8;
		w->tally.unknown = true;
		return;
	}
	w->c->places += way->count;
	judge_places(w, way->data, way->count);
}

/* Nothing lies on it, so its own data does; a PV's extents are data whether volumes have been made or not. */
static bool holds_data(const struct check *c, const struct blkalign_node *n)
{
	if (facts_of(c, n)->exempt != EXEMPT_NO)
		return false;
	return !blkalign_node_uppers(n) || blkalign_node_kind(n) == BLKALIGN_KIND_PV;
}

static void judge_node(struct check *c, const struct blkalign_node *n)
{
	struct walk w = { .c = c, .node = n, .harmed = holds_data(c, n) };
	size_t edges = blkalign_node_edges(n);
	uint64_t start = data_start(n);

	for (size_t i = 0; i < edges; i++) {
		const struct blkalign_edge *e = blkalign_node_edge(n, i);

		if (i && e->segment == blkalign_node_edge(n, i - 1)->segment)
			continue;
		judge_byte(&w, start == BLKALIGN_UNKNOWN || i ? e->upper_offset_bytes : start);
	}
	if (start == BLKALIGN_UNKNOWN)
		w.tally.unknown = true;
	speak_layer(c, n, start, &w.tally);
}

void judge_graph(struct check *c)
{
	/* Downwards: lower devices come first in the graph, and a layer's line depends on what became of the data above it. */
	for (size_t i = blkalign_graph_size(c->graph); i-- > 0;) {
		const struct blkalign_node *n = blkalign_graph_node(c->graph, i);

		note_obedience(c, n);
		if (blkalign_node_edges(n))
			judge_node(c, n);
		else
			speak_drive(c, n);
	}
}
