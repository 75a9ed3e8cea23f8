/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Superblocks of LVM RAID images as records that are kept: super_sync() and super_init_validation() of the kernel's drivers/md/dm-raid.c.
 *
 * The kernel itself leaves no mark of writes in flight in them, and after a power cut clears the bits of the bitmap without looking. While all images are in sync, the resync offset says here
 * what it says in md's own superblocks: 0 as long as writes may be in flight. That makes the kernel resync what the bitmap marks. Once an image is missing it is left alone, as the kernel
 * does: an array that misses an image would not start with it.
 */
#include "keep/keep_priv.h"

static int check(const struct keep_array *array, const struct keep_member *in, const struct dmraid_superblock *sb,
		 struct blkalign_error *reterr)
{
	if (sb->reshaping || (sb->extended && sb->position_bytes != UINT64_MAX))
		return member_refuse(array, in->meta, reterr, "a reshape is under way; let the kernel finish it first");
	if (sb->slot != in->slot)
		return member_refuse(array, in->meta, reterr, "its raid metadata belongs to another image");
	return 0;
}

/* What the kernel writes at the first start of a volume: nothing is in sync yet. */
static int make_fresh(const struct keep_array *array, const struct keep_member *in, struct member *m, struct dmraid_superblock *sb,
		      struct blkalign_error *reterr)
{
	const struct raid_geometry *g = array->geometry;

	if (!is_power_of_2(in->fresh_region_bytes) || in->fresh_region_bytes < 512)
		return member_refuse(array, in->meta, reterr, "its raid metadata was never written, and what its regions are is not known");
	*sb = (struct dmraid_superblock){
		.members = g->members,
		.slot = in->slot,
		.recovery_bytes = UINT64_MAX,
		.level = g->level,
		.layout = g->level == RAID_1 ? 0 : g->layout,
		.chunk_bytes = g->level == RAID_1 ? 0 : g->chunk_bytes,
		.extended = true,
		.position_bytes = UINT64_MAX,
		.array_bytes = g->array_bytes,
		.used_bytes = g->used_bytes,
	};
	memset(m->super, 0, PAGE_BYTES);
	dmraid_encode(sb, m->super);
	m->fresh_region_bytes = in->fresh_region_bytes;
	return 0;
}

static int load(const struct keep_array *array, const struct keep_member *in, bool writing, struct member *m, struct loaded *loaded,
		struct blkalign_error *reterr)
{
	struct dmraid_superblock *sb = &loaded->dm;
	uint64_t size = in->meta->size_bytes, image = in->dev->size_bytes;
	int r = dev_read(in->meta, 0, m->super, size < PAGE_BYTES ? (size_t)size : PAGE_BYTES, reterr);

	if (r >= 0)
		r = dmraid_decode(m->super, PAGE_BYTES, sb, reterr);
	if (r == BLKALIGN_ABSENT && in->fresh_region_bytes)
		r = make_fresh(array, in, m, sb, reterr);
	if (r > 0)
		r = blkalign_error_set(reterr, -EBADMSG, in->meta->name, 0, "no raid metadata of %s is left at this place", array->name);
	if (r >= 0 && writing)
		r = check(array, in, sb, reterr);
	if (r < 0)
		return r;
	m->features = MD1_BITMAP;
	m->number = sb->slot;
	m->events = sb->events;
	m->resync_bytes = sb->resync_bytes;
	m->recovery_bytes = sb->recovery_bytes;
	m->places[PLACE_SUPER] = (struct place){ 0, DMRAID_BYTES };
	m->places[PLACE_BITMAP] = (struct place){ DMRAID_BITMAP_BYTES, member_block_bytes(m) };
	m->places[PLACE_DATA] = (struct place){ sb->data_offset_bytes, sb->data_offset_bytes < image ? image - sb->data_offset_bytes : 0 };
	return 0;
}

/* --- the array --- */

static void take_array(struct keep *keep, const struct loaded *l)
{
	keep->shape = (struct stored_shape){ l->dm.layout, l->dm.chunk_bytes, l->dm.used_bytes };
	for (uint32_t slot = 0; slot < l->dm.members; slot++)
		keep->ran_degraded = keep->ran_degraded || dmraid_has(&l->dm.failed, slot);
	keep->listed_failed = l->dm.failed;
}

static bool same_array(const struct keep *keep, const struct loaded *l)
{
	return l->dm.level == keep->geometry->level && l->dm.members == keep->geometry->members;
}

static bool same_shape(const struct keep *keep, const struct loaded *l)
{
	const struct stored_shape *s = &keep->shape;

	return l->dm.layout == s->layout && l->dm.chunk_bytes == s->chunk_bytes && l->dm.used_bytes == s->component_bytes;
}

static void take_own(struct keep *keep, const struct loaded *l)
{
	keep->ran_degraded = keep->ran_degraded || l->dm.recovery_bytes != UINT64_MAX;
}

static bool settle_absent(struct keep *keep)
{
	bool any = false;

	for (uint32_t slot = 0; slot < keep->geometry->members; slot++)
		any = any || (!member_at(keep, slot) && !dmraid_has(&keep->listed_failed, slot));
	return any;
}

static const char *settle_role(struct keep *keep, const struct member *m)
{
	return dmraid_has(&keep->listed_failed, m->slot) ? "the freshest raid metadata lists this image as failed" : NULL;
}

/* Composed from who is there. */
static void list_missing(struct keep *keep, const struct member *m)
{
	(void)keep;
	(void)m;
}

/* --- what it says --- */

static uint64_t resync_offset(const struct keep *keep)
{
	if (whole(keep))
		return keep->say_active ? 0 : records_checkpoint(keep);
	return keep->doubted || keep->found_resync_bytes != UINT64_MAX ? records_checkpoint(keep) : UINT64_MAX;
}

static size_t compose(struct keep *keep, struct member *m)
{
	struct dmraid_state state = { .events = keep->events, .recovery_bytes = m->recovery_bytes, .resync_bytes = resync_offset(keep) };

	for (uint32_t slot = 0; slot < keep->geometry->members; slot++)
		if (!member_at(keep, slot))
			dmraid_add(&state.failed, slot);
	dmraid_put_state(m->super, &state);
	return DMRAID_BYTES;
}

static bool had_slot(const struct keep *keep, const struct loaded *l, uint32_t slot)
{
	return l->dm.slot == slot && same_array(keep, l) && same_shape(keep, l);
}

static bool knows(const struct loaded *l, const struct member *other) { return !dmraid_has(&l->dm.failed, other->slot); }

/* --- a new member --- */

static uint64_t super_place(const struct member *template, const struct dev *dev)
{
	(void)template;
	return dev->size_bytes ? 0 : UINT64_MAX;
}

static uint32_t free_number(const struct keep *keep, const struct member *m)
{
	(void)keep;
	return m->slot;
}

static int make_super(struct keep *keep, struct member *m, const struct member *spare)
{
	(void)keep;
	(void)spare;
	dmraid_put_member(m->super, m->slot, m->places[PLACE_DATA].offset_bytes);
	return 0;
}

static bool put_recovery(struct keep *keep, struct member *m)
{
	compose(keep, m);
	return true;
}

static void end_recovery(struct keep *keep, struct member *m)
{
	(void)keep;
	(void)m;
}

const struct record_kind record_dmraid = {
	.load = load,
	.take_array = take_array,
	.same_array = same_array,
	.same_shape = same_shape,
	.take_own = take_own,
	.settle_absent = settle_absent,
	.settle_role = settle_role,
	.list_missing = list_missing,
	.compose = compose,
	.had_slot = had_slot,
	.knows = knows,
	.super_place = super_place,
	.free_number = free_number,
	.make_super = make_super,
	.put_recovery = put_recovery,
	.end_recovery = end_recovery,
	.bits_tell_dirt = true,
};
