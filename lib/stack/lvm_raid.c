/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the images of a RAID volume to its device.
 *
 * dm-raid has no mark that says "was being written to": its superblocks look the same while writes are in flight. What tells is the bitmap, which is empty after a stop in order; bits
 * that are set in a volume that was run whole are writes that were cut short. Once an image was recorded as failed, or is being filled, bits are only a list of what that one lacks.
 */
#include <inttypes.h>

#include "stack/lvm_raid.h"
#include "stack/lvm_special.h"

bool lvm_is_raid(const struct lvm2_lv *lv)
{
	enum lvm2_segment_type type = lv->segments[0].type;

	return lv->segment_count == 1 && (type == LVM2_RAID1 || type == LVM2_RAID_PARITY || type == LVM2_RAID10);
}

/* --- state --- */

/* It was run without an image, or with one that is not filled yet, to the end. */
static bool ran_degraded(const struct md_array *a)
{
	const struct md_member *f = a->freshest;

	for (uint32_t i = 0; i < f->roles_count; i++)
		if (f->roles[i].kind == MD_ROLE_FAULTY)
			return true;
	for (uint32_t i = 0; i < a->slots_count; i++)
		if (a->slots[i] && a->slots[i]->recovery_bytes != UINT64_MAX)
			return true;
	return false;
}

static void set_dirty(struct md_array *a)
{
	a->dirty = true;
	a->resync_bytes = 0;
	for (uint32_t i = 0; i < a->slots_count; i++)
		if (a->slots[i])
			a->slots[i]->resync_bytes = 0;
}

static int find_dirt(const struct lvm_raid *raid, struct md_array *a, const struct raid_geometry *g)
{
	struct md_bitmap bitmap;
	int r;

	if (g->level == RAID_0) /* a takeover has not begun */
		return 0;
	a->never_synced = raid->lv->flags & LVM2_NOTSYNCED;
	if (raid->never_started) {
		set_dirty(a);
		return md_find_doubtful(a, g);
	}
	r = md_bitmap_read(a, &bitmap);
	if (r >= 0 && !ran_degraded(a) && (!bitmap.counts || bitmap.count))
		set_dirty(a);
	free(bitmap.ranges);
	if (r >= 0 && a->never_synced)
		r = md_add_doubtful(a, 0, g->level == RAID_10 ? raid_array_bytes(g) : g->used_bytes);
	return r < 0 ? r : md_find_doubtful(a, g);
}

/* --- facts --- */

static bool is_converted(const struct lvm_raid *raid) { return raid->word == LVM_RAID_WORD_OTHER || raid->word == LVM_RAID_WORD_RESHAPING; }

/* The attributes are those of the volume group's metadata so far. While it is reshaped they stay, as for lvs: it will be that. */
static int set_shape(const struct lvm_raid *raid, const struct raid_geometry *g)
{
	struct blkalign_node *node = raid->node;
	char layout[48];
	int r = 0;

	if (is_converted(raid))
		r = graph_set_u64(node, BLKALIGN_ATTR_SIZE, raid->reference->array_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r < 0 || raid->word != LVM_RAID_WORD_OTHER)
		return r;
	raid_layout_name(g->level, g->layout, layout);
	r = graph_set_str(node, BLKALIGN_ATTR_MD_LEVEL, raid_level_name(g->level), BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_LAYOUT, g->layout, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_MD_LAYOUT_NAME, layout, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_MEMBERS, g->members, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && g->chunk_bytes)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_CHUNK, g->chunk_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && g->chunk_bytes)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_STRIPE, g->chunk_bytes * raid_data_members(g), BLKALIGN_ORIGIN_COMPUTED);
	return r;
}

static int set_facts(const struct lvm_raid *raid, const struct md_array *a)
{
	struct blkalign_node *node = raid->node;
	uint32_t present = 0;
	int r;

	for (uint32_t i = 0; i < a->slots_count; i++)
		present += a->slots[i] != NULL;
	r = graph_set_u64(node, BLKALIGN_ATTR_MD_MEMBERS_PRESENT, present, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_COMPONENT, a->freshest->component_bytes, BLKALIGN_ORIGIN_ONDISK);
	if (r < 0 || raid->never_started)
		return r;
	r = graph_set_str(node, BLKALIGN_ATTR_MD_METADATA, a->freshest->metadata, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_EVENTS, a->freshest->events, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0)
		r = graph_set_str(node, BLKALIGN_ATTR_MD_BITMAP, a->freshest->bitmap, BLKALIGN_ORIGIN_ONDISK);
	if (r >= 0 && raid->segment->region_bytes)
		r = graph_set_u64(node, BLKALIGN_ATTR_MD_BITMAP_CHUNK, raid->segment->region_bytes, BLKALIGN_ORIGIN_ONDISK);
	return r;
}

/* The edges are there; those to images are told again, with what became of each. */
static int connect_legs(const struct lvm_raid *raid)
{
	_cleanup_free_ struct lvm_leg_fact *facts = calloc(raid->segment->data_areas, sizeof(*facts));
	int r;

	if (!facts)
		return -ENOMEM;
	for (uint32_t i = 0; i < raid->segment->data_areas; i++) {
		const struct lvm_leg *leg = &raid->legs[i];

		facts[i] = (struct lvm_leg_fact){ .data_offset_bytes = BLKALIGN_UNKNOWN };
		if (leg->member) {
			facts[i].state = leg->member->state;
			facts[i].data_offset_bytes = leg->member->new_data_offset_bytes;
		} else if (leg->kind != LVM_LEG_MISSING) {
			facts[i].state = leg->kind == LVM_LEG_REBUILD ? "rebuilding" : "stale";
		}
	}
	raid->v->legs = facts;
	r = lvm_connect_all(raid->v, raid->node, raid->lv);
	raid->v->legs = NULL;
	return r;
}

/* For who fills an image that is there but not used. Not while the images are not what the volume group says. */
static int give_legs(const struct lvm_raid *raid)
{
	uint32_t count = raid->segment->data_areas;
	_cleanup_free_ struct stack_leg *legs = NULL;

	if (is_converted(raid))
		return 0;
	legs = calloc(count, sizeof(*legs));
	if (!legs)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (raid->legs[i].kind != LVM_LEG_REBUILD && raid->legs[i].image && raid->legs[i].meta)
			legs[i] = (struct stack_leg){ raid->legs[i].image, raid->legs[i].meta };
	return stack_set_legs(raid->v->stack, raid->node, legs, count);
}

/* --- remarks --- */

static int say_conversion(const struct lvm_raid *raid, const struct raid_geometry *g)
{
	if (raid->word != LVM_RAID_WORD_OTHER)
		return 0;
	return graph_remark(stack_graph(raid->v->stack),
			    "%s: is %s of %" PRIu32 " images by its raid metadata, %s of %" PRIu32
			    " by the volume group: lvm2 is to end a conversion when it is activated; until then it is read as the raid "
			    "metadata says",
			    blkalign_node_name(raid->node), blkalign_node_str(raid->node, BLKALIGN_ATTR_MD_LEVEL), g->members,
			    raid->segment->type_name, raid->segment->data_areas);
}

static int say_doubts(const struct lvm_raid *raid, const struct md_array *a)
{
	if (!a->never_synced)
		return 0;
	return graph_remark(
		stack_graph(raid->v->stack),
		"%s: was created without a first resync (--nosync): where nothing was written since, its images need not fit each other",
		blkalign_node_name(raid->node));
}

/* --- writing --- */

/* As it was created. */
static bool all_new(const struct lvm_raid *raid)
{
	for (uint32_t i = 0; i < raid->segment->data_areas; i++)
		if (raid->legs[i].kind != LVM_LEG_NEW || !raid->legs[i].member)
			return false;
	return true;
}

static const char *refusal(const struct lvm_raid *raid, uint32_t index)
{
	if (raid->lv->internal)
		return "it is a part of another volume";
	if (raid->word == LVM_RAID_WORD_RESHAPING)
		return "a reshape was interrupted; activate it with lvm2, which goes on with that";
	if (raid->word == LVM_RAID_WORD_OTHER)
		return "lvm2 was converting it; activate it with lvm2, which ends that";
	if (raid->never_started && !all_new(raid))
		return "its raid metadata was never written, or is damaged, and not all of its images are there";
	if (raid->changed)
		return "its size or its number of images was changed since it was active last; activate it once with lvm2";
	return lvm_write_refusal(raid->v, index);
}

static int keep_records(const struct lvm_raid *raid, uint32_t index, const struct md_array *a, const struct raid_geometry *g)
{
	const char *why = refusal(raid, index);

	if (!stack_is_writable(raid->v->stack) || lvm_is_laid_over(raid->v, index))
		return 0;
	return why ? stack_set_read_only(raid->v->stack, raid->node, why) : md_array_keep(raid->v->stack, raid->node, a, g);
}

/* --- the whole --- */

static bool is_refused(const struct lvm_raid *raid, const struct md_array *a)
{
	const struct stack_running *running = stack_running(raid->v->stack);

	return a->rival || (a->failed && running && !running->force);
}

static int open_array(struct lvm_raid *raid, uint32_t index, struct md_array *a, const struct raid_geometry *g, struct dev **ret_dev)
{
	static const struct md_replay none;
	int r = find_dirt(raid, a, g);

	if (r >= 0)
		r = md_array_set_state(raid->v->stack, raid->node, a, g);
	if (r >= 0)
		r = set_shape(raid, g);
	if (r >= 0)
		r = set_facts(raid, a);
	if (r >= 0)
		r = connect_legs(raid);
	if (r >= 0)
		r = give_legs(raid);
	if (r >= 0)
		r = keep_records(raid, index, a, g);
	if (r >= 0 && !is_refused(raid, a))
		r = md_array_open(raid->v->stack, raid->node, a, &none, ret_dev);
	a->dirty = a->dirty && !raid->never_started; /* told already */
	if (r >= 0)
		r = md_array_say(raid->v->stack, raid->node, a, g, NULL);
	if (r < 0 || !*ret_dev)
		return r;
	raid->v->whole[index] = !a->failed;
	r = say_conversion(raid, g);
	return r < 0 ? r : say_doubts(raid, a);
}

static int assemble(struct lvm_raid *raid, uint32_t index, struct dev **ret_dev)
{
	_cleanup_md_array_ struct md_array a = { 0 };
	_cleanup_raid_geometry_ struct raid_geometry g = { 0 };
	struct blkalign_error err = { 0 };
	int r = md_choose(raid->members, raid->count, &a);

	if (r >= 0)
		r = md_array_geometry(&a, MD_SHAPE_NEW, &g, &err);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return lvm_cannot_read(raid->v, raid->node, err.message);
	if (!is_converted(raid) && raid_array_bytes(&g) != raid->lv->size_bytes)
		return lvm_cannot_read(raid->v, raid->node, "its stripes do not divide its size");
	return open_array(raid, index, &a, &g, ret_dev);
}

static int open_raid(struct lvm_raid *raid, uint32_t index, struct dev **ret_dev)
{
	int r = lvm_raid_read_legs(raid);

	if (r < 0)
		return r;
	if (raid->undecided)
		return lvm_cannot_read(
			raid->v, raid->node,
			"the raid metadata of its images does not fit what the volume group says of it, so that nobody knows in "
			"which shape they are; with --force they are read as the volume group has it");
	if (!raid->count)
		return lvm_cannot_read(raid->v, raid->node, "none of its images is there, with the raid metadata that belongs to it");
	return assemble(raid, index, ret_dev);
}

int lvm_open_raid(struct lvm_volumes *v, uint32_t index, struct blkalign_node *node, struct dev **ret_dev)
{
	const struct lvm2_lv *lv = &v->vg->lvs[index];
	struct lvm_raid raid = { .v = v, .lv = lv, .segment = &lv->segments[0], .node = node };
	int r = open_raid(&raid, index, ret_dev);

	lvm_raid_done(&raid);
	return r;
}
