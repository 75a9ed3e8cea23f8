/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What shape a RAID volume has while lvm2 and the kernel change it.
 *
 * lvm2 writes the shape that is to be into the volume group's metadata and has the kernel begin (lib/metadata/raid_manip.c); the kernel records in the raid metadata what it has done, and for it
 * that counts (drivers/md/dm-raid.c, super_init_validation()). So the raid metadata may be behind for a moment, and when images are taken away it is ahead until lvm2 is called again. A
 * takeover (another level) moves no data and has no middle. All that is believed of raid metadata that differs from the volume group's is tied to it by the size of the array.
 */
#include "stack/lvm_raid.h"

static int32_t level_of(const struct lvm2_segment *s)
{
	static const int32_t levels[] = { RAID_1, RAID_5, RAID_6, RAID_10 };

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(raid_level_name(levels[i]), s->raid->level))
			return levels[i];
	return RAID_0;
}

struct lvm_raid_shape lvm_raid_text_shape(const struct lvm_raid *raid)
{
	const struct lvm2_segment *s = raid->segment;

	return (struct lvm_raid_shape){
		.level = level_of(s),
		.layout = s->raid->layout + (s->type == LVM2_RAID10 ? s->data_copies : 0),
		.chunk_bytes = s->type == LVM2_RAID1 ? 0 : s->stripe_bytes,
		.members = s->data_areas,
	};
}

struct lvm_raid_shape lvm_raid_coming_shape(const struct dmraid_superblock *sb)
{
	return (struct lvm_raid_shape){ sb->new_level, sb->new_layout, sb->new_level == RAID_1 ? 0 : sb->new_chunk_bytes, sb->members };
}

/*
 * The kernel sets the place of the reshape to "none" before it replaces the old shape by the new one, and what moves the data has moved it then. With the data still to be moved, none has
 * begun: lvm2's wish is written down, no more.
 */
static bool has_ended(const struct dmraid_superblock *sb)
{
	return sb->extended && !sb->reshaping && sb->new_level == sb->level && sb->data_offset_bytes == sb->new_data_offset_bytes;
}

struct lvm_raid_shape lvm_raid_stored_shape(const struct dmraid_superblock *sb)
{
	if (has_ended(sb))
		return lvm_raid_coming_shape(sb);
	return (struct lvm_raid_shape){ sb->level, sb->layout, sb->level == RAID_1 ? 0 : sb->chunk_bytes, sb->members };
}

bool lvm_raid_alike(const struct lvm_raid_shape *a, const struct lvm_raid_shape *b)
{
	if (a->level != b->level)
		return false;
	return a->level == RAID_1 || (a->layout == b->layout && a->chunk_bytes == b->chunk_bytes && a->members == b->members);
}

/* --- what a superblock says --- */

/* 0 with *ret_bytes 0 for shapes that are none. */
static int array_bytes(const struct lvm_raid *raid, const struct lvm_raid_shape *s, uint64_t *ret_bytes)
{
	uint64_t sizes[DMRAID_MEMBERS_MAX];
	const struct raid_shape shape = { s->level, s->layout, s->chunk_bytes, s->members, sizes };
	struct raid_geometry g;
	int r;

	*ret_bytes = 0;
	if (s->members > DMRAID_MEMBERS_MAX)
		return 0;
	for (uint32_t i = 0; i < s->members; i++)
		sizes[i] = lvm_raid_component(raid);
	r = raid_geometry_init(&g, &shape, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	*ret_bytes = raid_array_bytes(&g);
	raid_geometry_done(&g);
	return 0;
}

/* Through the whole of both shapes, and the smaller one is what the volume has of both. */
static int fits_reshape(const struct lvm_raid *raid, const struct dmraid_superblock *sb, bool *ret)
{
	struct lvm_raid_shape text = lvm_raid_text_shape(raid), new = lvm_raid_coming_shape(sb), old = lvm_raid_stored_shape(sb);
	uint64_t before, after, least, most;
	int r;

	old.members = (uint32_t)((int64_t)sb->members - sb->delta_disks);
	*ret = false;
	/* The volume group has images that are taken away until all is done. */
	if (text.members != (sb->delta_disks < 0 ? old.members : new.members))
		return 0;
	text.members = new.members;
	if (!lvm_raid_alike(&text, &new) || old.level != new.level)
		return 0;
	r = array_bytes(raid, &old, &before);
	if (r >= 0)
		r = array_bytes(raid, &new, &after);
	if (r < 0)
		return r;
	least = before < after ? before : after;
	most = before < after ? after : before;
	*ret = least && sb->array_bytes == least && sb->position_bytes <= most;
	return 0;
}

static int fits_size(const struct lvm_raid *raid, const struct dmraid_superblock *sb, bool *ret)
{
	const struct lvm_raid_shape shape = lvm_raid_stored_shape(sb);
	uint64_t bytes;
	int r = array_bytes(raid, &shape, &bytes);

	*ret = r >= 0 && bytes && bytes == sb->array_bytes;
	return r;
}

int lvm_raid_hear(const struct lvm_raid *raid, struct lvm_leg *leg)
{
	const struct dmraid_superblock *sb = &leg->super;
	const struct lvm_raid_shape text = lvm_raid_text_shape(raid), shape = lvm_raid_stored_shape(sb);
	bool fits;
	int r;

	leg->word = LVM_RAID_WORD_NONE;
	if (sb->reshaping) {
		r = fits_reshape(raid, sb, &fits);
		leg->word = fits ? LVM_RAID_WORD_RESHAPING : LVM_RAID_WORD_NONE;
		return r;
	}
	if (sb->extended && sb->new_level != sb->level)
		return 0;
	if (lvm_raid_alike(&shape, &text)) {
		leg->word = LVM_RAID_WORD_SAME;
		return 0;
	}
	if (!sb->extended)
		return 0;
	r = fits_size(raid, sb, &fits);
	leg->word = fits ? LVM_RAID_WORD_OTHER : LVM_RAID_WORD_NONE;
	return r;
}

/* --- whom to believe --- */

bool lvm_raid_current(const struct lvm_raid *raid, const struct lvm_leg *leg)
{
	uint64_t freshest = raid->reference->events;

	return leg->super.events >= freshest || leg->super.events + 1 == freshest;
}

/* Another shape is believed of several that say the same, or of the only one there is: one alone among others may be damaged. */
static bool is_backed(const struct lvm_raid *raid, const struct lvm_leg *leg)
{
	const struct lvm_raid_shape shape = lvm_raid_stored_shape(&leg->super);
	uint32_t there = 0, backing = 0;

	for (uint32_t i = 0; i < raid->segment->data_areas; i++) {
		const struct lvm_leg *other = &raid->legs[i];
		struct lvm_raid_shape its;

		if (other->kind != LVM_LEG_FOUND)
			continue;
		there++;
		its = lvm_raid_stored_shape(&other->super);
		backing += other->word == LVM_RAID_WORD_OTHER && its.members == shape.members && lvm_raid_alike(&its, &shape) &&
			   other->super.events + 1 >= leg->super.events;
	}
	return backing > 1 || there == 1;
}

static bool counts(const struct lvm_raid *raid, const struct lvm_leg *leg, uint32_t slot)
{
	if (leg->kind != LVM_LEG_FOUND || leg->word == LVM_RAID_WORD_NONE)
		return false;
	if (leg->word == LVM_RAID_WORD_OTHER)
		return leg->super.slot < leg->super.members && is_backed(raid, leg);
	return leg->super.slot == slot;
}

void lvm_raid_choose_shape(struct lvm_raid *raid)
{
	for (uint32_t i = 0; i < raid->segment->data_areas; i++) {
		const struct lvm_leg *leg = &raid->legs[i];

		if (!counts(raid, leg, i))
			continue;
		if (raid->reference && (leg->super.events < raid->reference->events ||
					(leg->super.events == raid->reference->events && leg->word >= raid->word)))
			continue;
		raid->reference = &leg->super;
		raid->word = leg->word;
	}
	raid->shape = raid->word == LVM_RAID_WORD_NONE || raid->word == LVM_RAID_WORD_SAME ? lvm_raid_text_shape(raid)
											   : lvm_raid_stored_shape(raid->reference);
}
