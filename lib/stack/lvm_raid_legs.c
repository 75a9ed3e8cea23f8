/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Images and their raid metadata become members. */
#include <inttypes.h>

#include "format/dmraid/dmraid.h"
#include "stack/lvm_raid.h"
#include "stack/lvm_special.h"

uint64_t lvm_raid_component(const struct lvm_raid *raid)
{
	const struct lvm2_segment *s = raid->segment;
	uint64_t bytes = raid->lv->size_bytes, data = s->data_areas - s->raid->parity;

	if (s->type == LVM2_RAID1)
		return bytes;
	if (s->type == LVM2_RAID10 && !u64_mul(bytes, s->data_copies, &bytes))
		return 0;
	return data && bytes % data == 0 ? bytes / data : 0;
}

/* --- what speaks against a superblock --- */

/* Without a checksum, a superblock is believed when every field is what LVM's metadata says of the volume, or what the freshest says that a conversion has come to. */

static const char *difference(const struct lvm_raid_shape *a, const struct lvm_raid_shape *b)
{
	if (a->level != b->level)
		return "another level";
	if (lvm_raid_alike(a, b))
		return NULL;
	if (a->layout != b->layout)
		return "another layout";
	return a->chunk_bytes != b->chunk_bytes ? "another stripe size" : "another number of images";
}

/* The power was cut while the superblocks were written that end a reshape, or make a takeover: this one's turn had not come. A takeover moves no data. */
static bool missed_its_turn(const struct lvm_raid *raid, const struct lvm_leg *leg)
{
	const struct lvm_raid_shape coming = lvm_raid_coming_shape(&leg->super);

	if (!raid->reference || raid->word == LVM_RAID_WORD_RESHAPING || !lvm_raid_current(raid, leg))
		return false;
	if (leg->word == LVM_RAID_WORD_RESHAPING)
		return coming.members == raid->reference->members && lvm_raid_alike(&coming, &raid->shape);
	return leg->word == LVM_RAID_WORD_OTHER && raid->word == LVM_RAID_WORD_SAME && leg->super.level != raid->shape.level;
}

static const char *contradiction(const struct lvm_raid *raid, const struct lvm_leg *leg, uint32_t slot)
{
	const struct dmraid_superblock *sb = &leg->super;
	struct lvm_raid_shape shape = lvm_raid_stored_shape(sb);
	const char *what = NULL;

	if (raid->word == LVM_RAID_WORD_RESHAPING)
		shape.members = raid->shape.members; /* some may know the old number still */
	if (!missed_its_turn(raid, leg))
		what = difference(&shape, &raid->shape);
	if (!what && sb->extended && !sb->reshaping && sb->new_level != sb->level)
		what = "another shape to come";
	if (!what && raid->word != LVM_RAID_WORD_RESHAPING && sb->reshaping && !missed_its_turn(raid, leg))
		what = "another reshape";
	if (!what && (raid->word == LVM_RAID_WORD_OTHER ? sb->slot >= raid->shape.members : sb->slot != slot))
		what = "another position";
	return what;
}

/* Where the data begins in an image: in the shape that it has and, while it is reshaped, in the new one. */
struct offsets {
	uint64_t now_bytes;
	uint64_t new_bytes;
};

static struct offsets offsets_of(const struct lvm_raid *raid, const struct dmraid_superblock *sb)
{
	struct offsets o = { sb->data_offset_bytes, sb->data_offset_bytes };

	if (raid->word == LVM_RAID_WORD_RESHAPING)
		o.new_bytes = sb->reshaping ? sb->new_data_offset_bytes : raid->reference->new_data_offset_bytes;
	else if (sb->reshaping)
		o.now_bytes = o.new_bytes = sb->new_data_offset_bytes;
	return o;
}

static bool fits_image(const struct lvm_raid *raid, const struct lvm_leg *leg, const struct offsets *o)
{
	uint64_t bytes = lvm_raid_component(raid), size = leg->image->size_bytes;

	return range_inside(o->now_bytes, bytes, size) && range_inside(o->new_bytes, bytes, size);
}

static int remark(const struct lvm_raid *raid, const struct lvm_leg *leg, const char *what)
{
	return graph_remark(stack_graph(raid->v->stack), "%s: %s", blkalign_node_name(leg->host), what);
}

/* --- one leg --- */

static uint32_t slots_of(const struct md_member *m) { return m->raid_disks + (m->delta_disks < 0 ? (uint32_t)-m->delta_disks : 0); }

static int set_roles(struct md_member *m, const struct dmraid_superblock *sb)
{
	uint32_t count = slots_of(m);

	m->roles = calloc(count, sizeof(*m->roles));
	if (!m->roles)
		return -ENOMEM;
	m->roles_count = count;
	for (uint32_t i = 0; i < count; i++)
		m->roles[i] = (struct md_role){ i != m->dev_number && dmraid_has(&sb->failed, i) ? MD_ROLE_FAULTY : MD_ROLE_SLOT, i };
	return 0;
}

/*
 * A volume that was extended since it ran last has never been in sync behind its old end. A reshape alone changes one of the two sizes: that of the array it leaves as it was, that of the images
 * it makes wrong by the room it has used.
 */
static uint64_t resync_of(const struct lvm_raid *raid, const struct dmraid_superblock *sb)
{
	bool mirrored = raid->segment->type == LVM2_RAID10;
	uint64_t end = mirrored ? sb->array_bytes : sb->used_bytes, now = mirrored ? raid->lv->size_bytes : lvm_raid_component(raid);

	if (raid->word == LVM_RAID_WORD_RESHAPING || raid->word == LVM_RAID_WORD_OTHER || sb->array_bytes >= raid->lv->size_bytes)
		return sb->resync_bytes;
	return sb->extended && end < now && end < sb->resync_bytes ? end : sb->resync_bytes;
}

/* What the freshest says of it counts for all. */
static void take_reshape(const struct lvm_raid *raid, struct md_member *m)
{
	const struct dmraid_superblock *f = raid->reference;
	const struct lvm_raid_shape new = lvm_raid_coming_shape(f);

	m->reshaping = true;
	m->reshape_backwards = f->delta_disks < 0 || (!f->delta_disks && f->backwards);
	m->reshape_position_bytes = f->position_bytes;
	m->delta_disks = f->delta_disks;
	m->new_level = new.level;
	m->new_layout = new.layout;
	m->new_chunk_bytes = new.chunk_bytes;
}

static int make_member(const struct lvm_raid *raid, struct lvm_leg *leg, uint32_t slot, const struct dmraid_superblock *sb)
{
	const struct lvm_raid_shape *shape = &raid->shape;
	const struct offsets offsets = offsets_of(raid, sb);
	bool bitmap = shape->level != RAID_0;
	struct md_member *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	leg->member = m;
	*m = (struct md_member){
		.host = leg->host,
		.dev = leg->image,
		.records = leg->meta,
		.order = slot,
		.metadata = MD_METADATA_DMRAID,
		.preferred_minor = BLKALIGN_UNKNOWN,
		.level = shape->level,
		.stored_layout = shape->layout,
		.layout = shape->layout,
		.component_bytes = lvm_raid_component(raid),
		.chunk_bytes = shape->chunk_bytes,
		.raid_disks = shape->members,
		.events = sb->events,
		.resync_bytes = resync_of(raid, sb),
		.bitmap = bitmap ? "internal" : "none",
		.bitmap_at_bytes = bitmap ? DMRAID_BITMAP_BYTES : BLKALIGN_UNKNOWN,
		.features = BLKALIGN_UNKNOWN,
		.dev_number = slot,
		.role = { MD_ROLE_SLOT, slot },
		.data_offset_bytes = offsets.now_bytes,
		.new_data_offset_bytes = offsets.new_bytes,
		.data_bytes = bitmap ? leg->image->size_bytes - offsets.now_bytes : lvm_raid_component(raid),
		.recovery_bytes = sb->recovery_bytes,
		.journal_tail_bytes = UINT64_MAX,
		.write_mostly = leg->write_mostly,
		.slot = BLKALIGN_SLOT_NONE,
	};
	if (raid->word == LVM_RAID_WORD_RESHAPING)
		take_reshape(raid, m);
	return set_roles(m, sb);
}

/* What a superblock would say of an image that never had one. */
static int make_new_member(const struct lvm_raid *raid, struct lvm_leg *leg, uint32_t slot)
{
	const struct dmraid_superblock sb = { .recovery_bytes = UINT64_MAX };
	int r;

	if (lvm_raid_component(raid) > leg->image->size_bytes)
		return remark(raid, leg, "is smaller than what its volume needs: not used");
	r = make_member(raid, leg, slot, &sb);
	if (r >= 0)
		leg->member->fresh_region_bytes = raid->segment->region_bytes;
	return r;
}

/* One that a reshape has ended without is no fault. */
static int judge_leg(struct lvm_raid *raid, struct lvm_leg *leg, uint32_t slot)
{
	const struct dmraid_superblock *sb = &leg->super;
	const struct offsets offsets = offsets_of(raid, sb);
	const char *why = contradiction(raid, leg, slot);
	char text[256];

	if (!why && !fits_image(raid, leg, &offsets))
		why = "another end of its data";
	if (!why) {
		raid->changed = raid->changed || sb->members != raid->segment->data_areas ||
				(sb->extended && sb->used_bytes != lvm_raid_component(raid));
		return make_member(raid, leg, raid->word == LVM_RAID_WORD_OTHER ? sb->slot : slot, sb);
	}
	leg->kind = LVM_LEG_DAMAGED;
	leg->unfit = true;
	if (sb->slot == DMRAID_SLOT_NONE && raid->word == LVM_RAID_WORD_OTHER)
		return remark(raid, leg, "is no part of its volume any more, and waits for lvm2 to remove it: not used");
	return remark(
		raid, leg,
		text_join(text, sizeof(text), "its raid metadata tells of ", why, " than the volume group does for this volume: not used"));
}

static int read_leg(struct lvm_raid *raid, struct lvm_leg *leg)
{
	struct blkalign_error err = { 0 };
	uint8_t raw[DMRAID_BYTES];
	int r;

	if (!leg->image || !leg->meta)
		return 0;
	/* Whatever its records say: the kernel is told to fill it anew. */
	if (leg->rebuild) {
		leg->kind = LVM_LEG_REBUILD;
		return remark(raid, leg, "is marked by lvm2 to be rebuilt, which the kernel does when the volume is activated: not used");
	}
	r = dev_read(leg->meta, 0, raw, sizeof(raw), &err);
	if (r >= 0)
		r = dmraid_decode(raw, sizeof(raw), &leg->super, &err);
	if (r == -ENOMEM)
		return r;
	if (r == 0) {
		leg->kind = LVM_LEG_FOUND;
		return lvm_raid_hear(raid, leg);
	}
	leg->kind = r == BLKALIGN_ABSENT ? LVM_LEG_NEW : LVM_LEG_DAMAGED;
	leg->unfit = r == -EBADMSG || r == -ENOTSUP;
	if (r == BLKALIGN_NOT_THIS)
		return remark(raid, leg, "its raid metadata holds something else: not used");
	return r < 0 ? remark(raid, leg, err.message) : 0;
}

/* --- all of them --- */

/* A device that is there in part would fail half way: reading, the others have what it lacks; and it could not be kept in step. */
static struct dev *whole_device(const struct lvm_volumes *v, const struct lvm2_ref *ref)
{
	return !ref->on_pv && v->whole[ref->index] ? v->devs[ref->index] : NULL;
}

static void find_devices(struct lvm_raid *raid)
{
	const struct lvm_volumes *v = raid->v;

	for (uint32_t i = 0; i < raid->segment->ref_count; i++) {
		const struct lvm2_ref *ref = &raid->segment->refs[i];
		struct lvm_leg *leg = &raid->legs[ref->slot];

		if (ref->role == LVM2_ROLE_METADATA)
			leg->meta = whole_device(v, ref);
		if (ref->role != LVM2_ROLE_DATA)
			continue;
		leg->image = whole_device(v, ref);
		leg->host = ref->on_pv ? NULL : v->nodes[ref->index];
		if (!leg->host) {
			leg->image = NULL;
			continue;
		}
		leg->rebuild = v->vg->lvs[ref->index].flags & LVM2_REBUILD;
		leg->write_mostly = v->vg->lvs[ref->index].flags & LVM2_WRITE_MOSTLY;
	}
}

/* Nothing was ever recorded: the volume is as it was created, its redundancy void. Or all records are lost. Records that contradict the volume group may tell of another shape of the data. */
static int take_unstarted(struct lvm_raid *raid)
{
	bool damaged = false, unfit = false;
	int r = 0;

	for (uint32_t i = 0; i < raid->segment->data_areas; i++) {
		if (raid->legs[i].kind == LVM_LEG_FOUND)
			return 0;
		damaged = damaged || raid->legs[i].kind == LVM_LEG_DAMAGED;
		unfit = unfit || raid->legs[i].unfit;
	}
	raid->undecided = unfit && !lvm_is_forced(raid->v);
	if (raid->undecided)
		return 0;
	raid->never_started = true;
	for (uint32_t i = 0; r >= 0 && i < raid->segment->data_areas; i++)
		if (raid->legs[i].kind != LVM_LEG_MISSING && raid->legs[i].kind != LVM_LEG_REBUILD)
			r = make_new_member(raid, &raid->legs[i], i);
	if (r < 0)
		return r;
	return graph_remark(stack_graph(raid->v->stack), "%s: %s", blkalign_node_name(raid->node),
			    damaged ? "no image has raid metadata that can be used: nothing says which of them are current; they are read "
				      "as if all were"
				    : "was never started: what its images hold is read as it is, and redundancy is void until its first "
				      "start resyncs it");
}

static int remark_new(const struct lvm_raid *raid)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < raid->segment->data_areas && !raid->never_started; i++)
		if (raid->legs[i].kind == LVM_LEG_NEW)
			r = remark(raid, &raid->legs[i], "was added to its volume and never filled: not used");
	return r;
}

int lvm_raid_read_legs(struct lvm_raid *raid)
{
	uint32_t slots = raid->segment->data_areas;
	int r = 0;

	raid->legs = calloc(slots, sizeof(*raid->legs));
	raid->members = calloc(slots, sizeof(struct md_member *));
	if (!raid->legs || !raid->members)
		return -ENOMEM;
	find_devices(raid);
	for (uint32_t i = 0; r >= 0 && i < slots; i++)
		r = read_leg(raid, &raid->legs[i]);
	if (r >= 0)
		lvm_raid_choose_shape(raid);
	for (uint32_t i = 0; r >= 0 && i < slots; i++)
		if (raid->legs[i].kind == LVM_LEG_FOUND)
			r = judge_leg(raid, &raid->legs[i], i);
	if (r >= 0)
		r = take_unstarted(raid);
	if (r >= 0)
		r = remark_new(raid);
	for (uint32_t i = 0; i < slots; i++)
		if (raid->legs[i].member)
			raid->members[raid->count++] = raid->legs[i].member;
	return r;
}

void lvm_raid_done(struct lvm_raid *raid)
{
	for (uint32_t i = 0; raid->legs && i < raid->segment->data_areas; i++)
		md_member_free(raid->legs[i].member);
	free(raid->legs);
	free(raid->members);
}
