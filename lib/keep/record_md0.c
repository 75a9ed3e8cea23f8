/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Superblocks 0.90 as records that are kept. They have no recovery offset: a member that is being filled is a spare until the end. */
#include <time.h>

#include "keep/keep_priv.h"

static int load(const struct keep_array *array, const struct keep_member *in, bool writing, struct member *m, struct loaded *loaded,
		struct blkalign_error *reterr)
{
	struct md0_superblock *sb = &loaded->v0;
	struct dev *dev = in->dev;
	int r = dev_read(dev, in->super_bytes, m->super, MD0_BYTES, reterr);
	uint64_t data_bytes;

	(void)writing;
	if (r >= 0)
		r = md0_decode(m->super, MD0_BYTES, in->super_bytes, sb, reterr);
	if (r > 0)
		r = blkalign_error_set(reterr, -EBADMSG, dev->name, in->super_bytes, "no md superblock of %s is left at this place",
				       array->name);
	if (r < 0)
		return r;
	if (sb->minor_version != 90)
		return member_refuse(array, dev, reterr, "a reshape is under way; let the kernel finish it first");
	if (sb->state & MD0_CLUSTERED)
		return member_refuse(array, dev, reterr, "it is clustered, so that other hosts may be writing to it");
	if (sb->self.number >= MD0_DISKS_MAX)
		return member_refuse(array, dev, reterr, "its superblock does not say which of the members it is");
	m->features = sb->state & MD0_BITMAP ? MD1_BITMAP : 0;
	m->number = sb->self.number;
	m->events = sb->events;
	m->resync_bytes = sb->resync_bytes;
	m->recovery_bytes = UINT64_MAX;
	data_bytes = array->geometry->level >= 1 ? sb->component_bytes : sb->super_bytes;
	m->places[PLACE_SUPER] = (struct place){ sb->super_bytes, MD0_BYTES };
	m->places[PLACE_DATA] = (struct place){ 0, data_bytes };
	if (m->features & MD1_BITMAP)
		m->places[PLACE_BITMAP] = (struct place){ sb->super_bytes + MD0_BYTES, member_block_bytes(m) };
	return 0;
}

/* --- the array --- */

static void take_array(struct keep *keep, const struct loaded *l)
{
	memcpy(keep->array_uuid, l->v0.array_uuid, 16);
	keep->shape = (struct stored_shape){ l->v0.layout, l->v0.chunk_bytes, l->v0.component_bytes };
	memcpy(keep->disks, l->v0.disks, sizeof(keep->disks));
	keep->big_endian = l->v0.big_endian;
}

static bool same_array(const struct keep *keep, const struct loaded *l)
{
	return memcmp(keep->array_uuid, l->v0.array_uuid, 16) == 0 && l->v0.level == keep->geometry->level &&
	       l->v0.raid_disks == keep->geometry->members && l->v0.big_endian == keep->big_endian;
}

static bool same_shape(const struct keep *keep, const struct loaded *l)
{
	const struct stored_shape *s = &keep->shape;

	return l->v0.layout == s->layout && l->v0.chunk_bytes == s->chunk_bytes &&
	       (!keep->redundant || l->v0.component_bytes == s->component_bytes);
}

/* Its own word on write-mostly and the like is its own: the table of the freshest may be older. */
static void take_own(struct keep *keep, const struct loaded *l)
{
	if (l->v0.self.state & MD0_DISK_SYNC)
		keep->disks[l->v0.self.number].state |= l->v0.self.state & (MD0_DISK_WRITE_MOSTLY | MD0_DISK_FAILFAST);
}

static void drop_entry(struct keep *keep, uint32_t i)
{
	keep->disks[i] = (struct md0_disk){ 0 };
	if (i < keep->geometry->members)
		keep->disks[i] = (struct md0_disk){ .number = i, .raid_disk = i, .state = MD0_DISK_FAULTY | MD0_DISK_REMOVED };
}

static bool settle_absent(struct keep *keep)
{
	bool any = false;

	for (uint32_t i = 0; i < MD0_DISKS_MAX; i++) {
		if (!(keep->disks[i].state & MD0_DISK_SYNC) || has_number(keep, i))
			continue;
		drop_entry(keep, i);
		any = true;
	}
	return any;
}

static const char *settle_role(struct keep *keep, const struct member *m)
{
	if (m->slot != BLKALIGN_SLOT_NONE && keep->disks[m->number].raid_disk != m->slot)
		return "the freshest superblock gives this member another slot";
	return NULL;
}

static void list_missing(struct keep *keep, const struct member *m) { drop_entry(keep, m->number); }

/* --- what it says --- */

static void count_disks(const struct keep *keep, struct md0_counts *ret)
{
	*ret = (struct md0_counts){ 0 };
	for (size_t i = 0; i < keep->count; i++) {
		ret->present += !keep->members[i]->failed;
		ret->active += member_is_in_sync(keep->members[i]);
	}
	ret->spare = ret->present - ret->active;
	for (uint32_t i = 0; i < keep->geometry->members && i < MD0_DISKS_MAX; i++)
		ret->failed += keep->disks[i].state & MD0_DISK_FAULTY ? 1 : 0;
}

/* One sector changes, until the table of disks does. */
static size_t compose(struct keep *keep, struct member *m)
{
	struct md0_counts counts;
	uint8_t before[MD0_BYTES];

	memcpy(before, m->super, sizeof(before));
	md0_put_state(m->super, keep->big_endian, keep->events, keep->say_active ? 0 : records_checkpoint(keep), (uint64_t)time(NULL));
	for (uint32_t i = 0; i < MD0_DISKS_MAX; i++)
		md0_put_disk(m->super, keep->big_endian, i, &keep->disks[i]);
	md0_put_disk(m->super, keep->big_endian, MD0_SELF, &keep->disks[m->number]);
	count_disks(keep, &counts);
	md0_put_counts(m->super, keep->big_endian, &counts);
	md0_seal(m->super, keep->big_endian);
	return memcmp(before + 512, m->super + 512, sizeof(before) - 512) ? MD0_BYTES : 512;
}

static bool had_slot(const struct keep *keep, const struct loaded *l, uint32_t slot)
{
	return !memcmp(l->v0.array_uuid, keep->array_uuid, 16) && l->v0.self.raid_disk == slot && l->v0.self.state & MD0_DISK_SYNC;
}

static bool knows(const struct loaded *l, const struct member *other)
{
	const struct md0_disk *disk = &l->v0.disks[other->number % MD0_DISKS_MAX];

	return disk->state & MD0_DISK_SYNC && disk->raid_disk == other->slot;
}

/* --- a new member --- */

static uint64_t super_place(const struct member *template, const struct dev *dev)
{
	(void)template;
	return md0_super_bytes(dev->size_bytes);
}

static uint32_t free_number(const struct keep *keep, const struct member *m)
{
	(void)m;
	for (uint32_t i = keep->geometry->members; i < MD0_DISKS_MAX; i++)
		if (!has_number(keep, i))
			return i;
	return UINT32_MAX;
}

static void list_disk(struct keep *keep, const struct member *m)
{
	keep->disks[m->number] = (struct md0_disk){ .number = m->number, .raid_disk = m->number };
	if (m->recovery_bytes == UINT64_MAX)
		keep->disks[m->number].state = MD0_DISK_ACTIVE | MD0_DISK_SYNC;
}

static int make_super(struct keep *keep, struct member *m, const struct member *spare)
{
	(void)spare;
	list_disk(keep, m);
	return 0;
}

static bool put_recovery(struct keep *keep, struct member *m)
{
	(void)keep;
	(void)m;
	return false;
}

static void end_recovery(struct keep *keep, struct member *m)
{
	keep->disks[m->number] = (struct md0_disk){ 0 };
	m->number = m->slot;
	list_disk(keep, m);
}

const struct record_kind record_md0 = {
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
};
