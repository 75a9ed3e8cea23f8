/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An array as the verbs open it: through assembly, over devices in memory. */
#include "crash.h"
#include "run/run.h"

static int add_device(struct stack *stack, struct dev *below, size_t slot)
{
	struct blkalign_node *node;
	char name[24];
	struct dev *dev;
	int r;

	snprintf(name, sizeof(name), "d%zu", slot);
	r = dev_open_slice(name, below, 0, below->size_bytes, &dev);
	if (r >= 0)
		r = stack_add(stack, BLKALIGN_KIND_DISK, name, dev, &node);
	return r < 0 ? r : graph_set_u64(node, BLKALIGN_ATTR_LOGICAL_BLOCK, SECTOR, BLKALIGN_ORIGIN_ASSUMED);
}

static const struct blkalign_node *find_array(const struct stack *stack)
{
	const struct blkalign_graph *graph = stack_graph(stack);

	for (size_t i = 0; i < blkalign_graph_size(graph); i++)
		if (blkalign_node_kind(blkalign_graph_node(graph, i)) == BLKALIGN_KIND_MD)
			return blkalign_graph_node(graph, i);
	return NULL;
}

static int take_array(struct array *array, bool writable, struct blkalign_error *reterr)
{
	const struct stack *stack = array->run->stack;

	array->node = find_array(stack);
	if (!array->node)
		return blkalign_error_set(reterr, -ENODEV, NULL, BLKALIGN_UNKNOWN, "no array was found");
	array->dev = stack_dev(stack, array->node);
	array->keep = stack_keep(stack, array->node);
	if (!array->dev)
		return blkalign_error_set(reterr, -EIO, NULL, BLKALIGN_UNKNOWN, "the array cannot be read");
	if (writable && !array->keep)
		return blkalign_error_set(reterr, -EROFS, NULL, BLKALIGN_UNKNOWN, "%s", stack_read_only_because(stack, array->node));
	return 0;
}

int array_open(struct dev *const *devs, size_t count, bool writable, bool force, struct array *ret, struct blkalign_error *reterr)
{
	struct blkalign_run_options options = { .writable = writable, .force = force };
	struct array array = { 0 };
	int r = run_new(&options, &array.run);

	for (size_t slot = 0; slot < count && r >= 0; slot++)
		if (devs[slot])
			r = add_device(array.run->stack, devs[slot], slot);
	if (r >= 0)
		r = run_start(array.run, reterr);
	if (r >= 0)
		r = take_array(&array, writable, reterr);
	if (r < 0) {
		array_kill(&array);
		return r;
	}
	*ret = array;
	return 0;
}

int array_close(struct array *array, struct blkalign_error *reterr)
{
	int r = blkalign_run_close(array->run, reterr);

	*array = (struct array){ 0 };
	return r;
}

void array_kill(struct array *array)
{
	if (array->run)
		atomic_store(&array->run->flush_failed, true);
	blkalign_run_close(array->run, NULL);
	*array = (struct array){ 0 };
}

/* --- resync, a stripe or a page at a time --- */

#define MIRROR_PIECE 4096U

static int resync_mirror(struct array *array, const struct raid_geometry *g, const struct map_md_member *members,
			 const struct byte_range *range)
{
	uint8_t buffer[MIRROR_PIECE];
	struct raid_place place;
	int r = dev_read(array->dev, range->offset_bytes, buffer, range->length_bytes, NULL);

	for (uint32_t copy = 0; r >= 0 && copy < raid_copies(g); copy++) {
		r = raid_locate(g, range->offset_bytes, copy, &place);
		if (r >= 0 && members[place.slot].dev)
			r = dev_write(members[place.slot].dev, members[place.slot].data_offset_bytes + place.device_bytes, buffer,
				      range->length_bytes, NULL);
	}
	return r;
}

/*
 * Parity from the data. A data block that is missing is what P makes it, and then Q can be made to fit; without a second parity there is nothing that could be
 * wrong.
 */
static int compute_parity(const struct raid_row *row, const bool *here)
{
	uint32_t lost[2], count = 0;

	for (uint32_t slot = 0; slot < row->geometry->members; slot++) {
		if (here[slot])
			continue;
		if (count || row->stripe.q_slot == RAID_SLOT_NONE)
			return 1;
		lost[count++] = slot;
	}
	if (!count || raid_role_at(&row->stripe, lost[0]) != RAID_ROLE_DATA) {
		raid_generate(row);
		return 0;
	}
	lost[count++] = row->stripe.q_slot;
	if (lost[0] > lost[1]) {
		lost[1] = lost[0];
		lost[0] = row->stripe.q_slot;
	}
	return raid_recover(row, lost, count);
}

static int resync_row(const struct raid_geometry *g, const struct map_md_member *members, const struct byte_range *range)
{
	static uint8_t rows[MEMBERS_MAX][MIRROR_PIECE];
	uint8_t *blocks[MEMBERS_MAX];
	bool here[MEMBERS_MAX];
	struct raid_row row = { .geometry = g, .stripe = raid_stripe_at(g, range->offset_bytes), .blocks = blocks };
	int r = 0;

	row.length_bytes = range->length_bytes;
	for (uint32_t slot = 0; slot < g->members && r >= 0; slot++) {
		blocks[slot] = rows[slot];
		here[slot] = members[slot].dev && members[slot].valid_bytes >= range->offset_bytes + range->length_bytes;
		if (here[slot])
			r = dev_read(members[slot].dev, members[slot].data_offset_bytes + range->offset_bytes, rows[slot],
				     range->length_bytes, NULL);
	}
	if (r >= 0)
		r = compute_parity(&row, here);
	for (uint32_t slot = 0; slot < g->members && r == 0; slot++)
		if (here[slot] && raid_role_at(&row.stripe, slot) != RAID_ROLE_DATA)
			r = dev_write(members[slot].dev, members[slot].data_offset_bytes + range->offset_bytes, rows[slot],
				      range->length_bytes, NULL);
	return r < 0 ? r : 0;
}

static int resync_range(struct array *array, const struct raid_geometry *g, const struct map_md_member *members, struct byte_range range)
{
	uint64_t end = range.offset_bytes + range.length_bytes;
	uint64_t limit = g->level == RAID_1 || g->level == RAID_10 ? g->array_bytes : g->used_bytes;
	int r = 0;

	for (uint64_t at = round_down_u64(range.offset_bytes, MIRROR_PIECE); at < end && at < limit && r >= 0; at += MIRROR_PIECE) {
		struct byte_range piece = { at, limit - at < MIRROR_PIECE ? limit - at : MIRROR_PIECE };

		map_md_lock(array->dev, &piece);
		r = g->level == RAID_1 || g->level == RAID_10 ? resync_mirror(array, g, members, &piece) : resync_row(g, members, &piece);
		map_md_unlock(array->dev, &piece);
	}
	return r;
}

static int flush_members(const struct raid_geometry *g, const struct map_md_member *members)
{
	int r = 0;

	for (uint32_t slot = 0; slot < g->members && r >= 0; slot++)
		if (members[slot].dev)
			r = dev_flush(members[slot].dev, NULL);
	return r;
}

int array_resync(struct array *array, struct blkalign_error *reterr)
{
	const struct raid_geometry *g;
	const struct map_md_member *members = map_md_members(array->dev, &g);
	size_t count;
	const struct byte_range *doubtful = keep_doubtful(array->keep, &count);
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++)
		r = resync_range(array, g, members, doubtful[i]);
	if (r >= 0)
		r = flush_members(g, members);
	for (size_t i = 0; i < count && r >= 0; i++) {
		keep_range_resynced(array->keep, &doubtful[i]);
		r = map_md_set_trusted(array->dev, &doubtful[i]);
	}
	return r < 0 ? r : keep_resynced(array->keep, UINT64_MAX, reterr);
}
