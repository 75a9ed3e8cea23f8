/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Through an md array, by the geometry that it is read with. */
#include "run/locate.h"
#include "run/md_view.h"

const struct map_md_member *locate_md(struct dev *dev, uint64_t at, uint64_t *run_bytes, const struct raid_geometry **ret_geometry,
				      const char **note)
{
	bool patched = false;
	struct dev *below = map_patched_below(dev, at, run_bytes, &patched), *half;

	if (patched)
		*note = "newer in the write journal";
	if (below)
		dev = below;
	half = map_reshaping_half(dev, at, run_bytes);
	return map_md_members(half ? half : dev, ret_geometry);
}

/* A slot has its member's edge, or that of a replacement. Names tell which, also when something lies over the member's device. */
static const struct blkalign_node *member_node(const struct locating *l, const struct blkalign_node *array, uint32_t slot,
					       const struct map_md_member *member)
{
	for (size_t i = 0; i < blkalign_node_edges(array); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(array, i);
		const struct dev *dev = stack_dev(l->run->stack, e->lower);

		if (dev && (dev == member->dev || (e->slot == slot && !strcmp(dev->name, member->dev->name))))
			return e->lower;
	}
	return run_md_member(array, slot);
}

/* One place of a run of array bytes. */
struct md_piece {
	const struct locate_place *place;
	const struct map_md_member *members;
	const char *note;
	uint64_t array_bytes;
	uint64_t length_bytes;
};

static const char *note_of(const struct md_piece *piece, const struct map_md_member *m, uint64_t device_bytes)
{
	if (piece->note)
		return piece->note;
	if (device_bytes + piece->length_bytes > m->valid_bytes)
		return "not rebuilt yet";
	for (size_t i = 0; i < m->bad_count; i++)
		if (m->bad[i].offset_bytes < device_bytes + piece->length_bytes &&
		    device_bytes < m->bad[i].offset_bytes + m->bad[i].length_bytes)
			return "in the bad block log";
	return NULL;
}

static int add_piece(struct locating *l, const struct md_piece *piece, uint32_t slot, uint64_t device_bytes, struct blkalign_location to)
{
	const struct map_md_member *m = &piece->members[slot];

	to.depth = piece->place->depth + 1;
	to.length_bytes = piece->length_bytes;
	to.above_bytes = piece->array_bytes;
	to.slot = slot;
	to.offset_bytes = BLKALIGN_UNKNOWN;
	to.note = "its member is missing";
	if (m->dev) {
		to.node = member_node(l, piece->place->node, slot, m);
		to.note = note_of(piece, m, device_bytes);
		if (!u64_add(m->data_offset_bytes, device_bytes, &to.offset_bytes))
			to.offset_bytes = BLKALIGN_UNKNOWN;
	}
	return locate_down(l, &to);
}

/* Mirrors have the run at several places, in different chunks perhaps: the shortest counts. */
static int measure(const struct raid_geometry *g, uint64_t at, uint64_t *run)
{
	struct raid_place p;
	int r = 0;

	for (uint32_t copy = 0; r == 0 && copy < raid_copies(g); copy++) {
		r = raid_locate(g, at, copy, &p);
		if (r == 0 && p.run_bytes < *run)
			*run = p.run_bytes;
	}
	return r;
}

static int add_parity(struct locating *l, const struct md_piece *piece, const struct raid_geometry *g, uint64_t device_bytes)
{
	struct raid_stripe stripe = raid_stripe_at(g, device_bytes);
	int r = add_piece(l, piece, stripe.p_slot, device_bytes, (struct blkalign_location){ .role = BLKALIGN_ROLE_P });

	if (r == 0 && stripe.q_slot != RAID_SLOT_NONE)
		r = add_piece(l, piece, stripe.q_slot, device_bytes, (struct blkalign_location){ .role = BLKALIGN_ROLE_Q });
	return r;
}

static int add_run(struct locating *l, const struct md_piece *piece, const struct raid_geometry *g)
{
	struct raid_place p = { 0 };
	int r = 0;

	for (uint32_t copy = 0; r == 0 && copy < raid_copies(g); copy++) {
		r = raid_locate(g, piece->array_bytes, copy, &p);
		if (r == 0)
			r = add_piece(l, piece, p.slot, p.device_bytes,
				      (struct blkalign_location){ .role = copy ? BLKALIGN_ROLE_COPY : BLKALIGN_ROLE_DATA, .copy = copy });
	}
	return r == 0 && g->parity ? add_parity(l, piece, g, p.device_bytes) : r;
}

/* The device of an array, or of a volume that is run as one. */
static struct dev *array_dev(const struct locating *l, const struct blkalign_node *node)
{
	enum blkalign_kind kind = blkalign_node_kind(node);
	struct dev *dev = kind == BLKALIGN_KIND_MD || kind == BLKALIGN_KIND_LV ? stack_dev(l->run->stack, node) : NULL;

	return dev && locate_md(dev, 0, &(uint64_t){ 1 }, &(const struct raid_geometry *){ NULL }, &(const char *){ NULL }) ? dev : NULL;
}

int locate_down_md(struct locating *l, const struct locate_place *place, bool *ret_done)
{
	struct dev *dev = array_dev(l, place->node);
	uint64_t at = place->offset_bytes, end = at + place->length_bytes, run;
	const struct raid_geometry *g;
	int r = 0;

	*ret_done = false;
	if (!dev)
		return 0;
	*ret_done = true;
	for (; r == 0 && at < end; at += run) {
		struct md_piece piece = { .place = place, .array_bytes = at };

		run = end - at;
		piece.members = locate_md(dev, at, &run, &g, &piece.note);
		r = measure(g, at, &run);
		piece.length_bytes = run;
		if (r == 0)
			r = add_run(l, &piece, g);
		else if (r == -ENODATA || r == -ERANGE)
			return locate_add(l, &(struct blkalign_location){ .depth = place->depth + 1,
									  .offset_bytes = BLKALIGN_UNKNOWN,
									  .length_bytes = end - at,
									  .above_bytes = at,
									  .role = BLKALIGN_ROLE_UNKNOWN,
									  .slot = BLKALIGN_SLOT_NONE,
									  .note = "the array does not record its layout here" });
	}
	return r;
}

/* --- upwards --- */

/* The slot whose device this is. */
static uint32_t slot_of(const struct locating *l, const struct blkalign_node *array, const struct blkalign_node *member,
			const struct map_md_member *members, uint32_t count)
{
	for (uint32_t slot = 0; slot < count; slot++)
		if (members[slot].dev && member_node(l, array, slot, &members[slot]) == member)
			return slot;
	return BLKALIGN_SLOT_NONE;
}

static int add_origin(struct locating *l, const struct locate_place *place, const struct blkalign_node *upper, uint32_t slot,
		      const struct raid_origin *origin, const char *note)
{
	const struct blkalign_location to = {
		.depth = place->depth + 1,
		.node = upper,
		.offset_bytes = origin->array_bytes,
		.length_bytes = origin->run_bytes,
		.role = origin->role == RAID_ROLE_P   ? BLKALIGN_ROLE_P
			: origin->role == RAID_ROLE_Q ? BLKALIGN_ROLE_Q
			: origin->copy		      ? BLKALIGN_ROLE_COPY
						      : BLKALIGN_ROLE_DATA,
		.slot = slot,
		.copy = origin->copy,
		.note = origin->role == RAID_ROLE_DATA ? note : "of the stripe that begins there",
	};

	return origin->role == RAID_ROLE_DATA ? locate_up(l, &to) : locate_add(l, &to);
}

/* In one of the shapes: found when the array byte is one that this shape has. */
static int up_shape(struct locating *l, const struct locate_place *place, const struct blkalign_node *upper, struct dev *dev, uint64_t at,
		    bool *ret_found)
{
	const struct raid_geometry *g = NULL;
	struct raid_origin origin;
	const char *note = NULL;
	uint64_t run = UINT64_MAX - at;
	const struct map_md_member *members = locate_md(dev, at, &run, &g, &note), *again;
	uint32_t slot = members ? slot_of(l, upper, place->node, members, g->members) : BLKALIGN_SLOT_NONE;

	*ret_found = false;
	if (slot == BLKALIGN_SLOT_NONE || place->offset_bytes < members[slot].data_offset_bytes)
		return 0;
	if (raid_origin(g, slot, place->offset_bytes - members[slot].data_offset_bytes, &origin) < 0)
		return 0;
	again = locate_md(dev, origin.array_bytes, &(uint64_t){ 1 }, &g, &note);
	if (again != members)
		return 0;
	*ret_found = true;
	return add_origin(l, place, upper, slot, &origin, note);
}

static int add_beside(struct locating *l, const struct locate_place *place, const struct blkalign_node *upper, enum blkalign_role role,
		      uint64_t length_bytes, const char *note)
{
	return locate_add(l, &(struct blkalign_location){ .depth = place->depth + 1,
							  .node = upper,
							  .offset_bytes = BLKALIGN_UNKNOWN,
							  .length_bytes = length_bytes,
							  .role = role,
							  .slot = BLKALIGN_SLOT_NONE,
							  .note = note });
}

/* A volume of LVM keeps the records of an image on another volume. */
static bool is_metadata_of(const struct blkalign_node *upper, const struct blkalign_node *lower)
{
	for (size_t i = 0; i < blkalign_node_edges(upper); i++) {
		const struct blkalign_edge *e = blkalign_node_edge(upper, i);

		if (e->lower == lower && e->state && !strcmp(e->state, "metadata"))
			return true;
	}
	return false;
}

int locate_up_md(struct locating *l, const struct locate_place *place, const struct blkalign_node *upper, bool *ret_done)
{
	struct dev *dev = array_dev(l, upper);
	struct dev *member = stack_dev(l->run->stack, place->node);
	struct locate_area area;
	bool found = false;
	int r;

	*ret_done = dev || blkalign_node_kind(upper) == BLKALIGN_KIND_MD;
	if (!*ret_done)
		return 0;
	if (is_metadata_of(upper, place->node))
		return add_beside(l, place, upper, BLKALIGN_ROLE_METADATA, 1, "raid metadata: superblock and bitmap of an image");
	if (member && locate_md_area(member, place->offset_bytes, &area)) {
		bool gap = !strcmp(area.name, "neither data nor records");

		return add_beside(l, place, upper, gap ? BLKALIGN_ROLE_UNUSED : BLKALIGN_ROLE_METADATA,
				  area.offset_bytes + area.length_bytes - place->offset_bytes, area.name);
	}
	r = dev ? up_shape(l, place, upper, dev, 0, &found) : 0;
	if (r == 0 && dev && !found && dev->size_bytes)
		r = up_shape(l, place, upper, dev, dev->size_bytes - 1, &found);
	if (r < 0 || found)
		return r;
	return add_beside(l, place, upper, dev ? BLKALIGN_ROLE_UNUSED : BLKALIGN_ROLE_UNKNOWN, 1,
			  dev ? "the array does not use it, or this member has no part in it" : "the array cannot be read");
}
