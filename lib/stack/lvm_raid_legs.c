/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Images and their raid metadata become members. Without a checksum, a superblock is believed when every field is what LVM's metadata says of the volume. */
#include <inttypes.h>

#include "format/dmraid/dmraid.h"
#include "stack/lvm_raid.h"

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

static uint32_t layout_of(const struct lvm2_segment *s) { return s->raid->layout + (s->type == LVM2_RAID10 ? s->data_copies : 0); }

static int32_t level_of(const struct lvm2_segment *s)
{
	static const int32_t levels[] = { RAID_1, RAID_5, RAID_6, RAID_10 };

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(raid_level_name(levels[i]), s->raid->level))
			return levels[i];
	return RAID_0;
}

/* --- what speaks against a superblock --- */

static const char *contradiction(const struct lvm_raid *raid, const struct lvm_leg *leg, uint32_t slot, const struct dmraid_superblock *sb)
{
	const struct lvm2_segment *s = raid->segment;
	bool mirror = s->type == LVM2_RAID1;
	const struct {
		bool on;
		const char *what;
	} checks[] = {
		{ sb->level != level_of(s), "another level" },
		{ !mirror && sb->layout != layout_of(s), "another layout" },
		{ !mirror && sb->chunk_bytes != s->stripe_bytes, "another stripe size" },
		{ !mirror && sb->members != s->data_areas, "another number of images" },
		{ sb->slot != slot, "another position" },
		{ sb->extended && (sb->new_level != sb->level || sb->new_layout != sb->layout || sb->new_chunk_bytes != sb->chunk_bytes),
		  "another shape to come" },
		{ !range_inside(sb->data_offset_bytes, lvm_raid_component(raid), leg->image->size_bytes), "another end of its data" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (checks[i].on)
			return checks[i].what;
	return NULL;
}

static int remark(const struct lvm_raid *raid, const struct lvm_leg *leg, const char *what)
{
	return graph_remark(stack_graph(raid->v->stack), "%s: %s", blkalign_node_name(leg->host), what);
}

/* --- one leg --- */

static int set_roles(struct md_member *m, const struct dmraid_superblock *sb)
{
	m->roles = calloc(m->raid_disks, sizeof(*m->roles));
	if (!m->roles)
		return -ENOMEM;
	m->roles_count = m->raid_disks;
	for (uint32_t i = 0; i < m->raid_disks; i++)
		m->roles[i] = (struct md_role){ i != m->dev_number && dmraid_has(&sb->failed, i) ? MD_ROLE_FAULTY : MD_ROLE_SLOT, i };
	return 0;
}

/* A volume that was extended since it ran last has never been in sync behind its old end. */
static uint64_t resync_of(const struct lvm_raid *raid, const struct dmraid_superblock *sb)
{
	uint64_t end = raid->segment->type == LVM2_RAID10 ? sb->array_bytes : sb->used_bytes;
	uint64_t now = raid->segment->type == LVM2_RAID10 ? raid->lv->size_bytes : lvm_raid_component(raid);

	return sb->extended && end < now && end < sb->resync_bytes ? end : sb->resync_bytes;
}

static int make_member(const struct lvm_raid *raid, struct lvm_leg *leg, uint32_t slot, const struct dmraid_superblock *sb)
{
	const struct lvm2_segment *s = raid->segment;
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
		.level = level_of(s),
		.stored_layout = layout_of(s),
		.layout = layout_of(s),
		.component_bytes = lvm_raid_component(raid),
		.chunk_bytes = s->type == LVM2_RAID1 ? 0 : s->stripe_bytes,
		.raid_disks = s->data_areas,
		.events = sb->events,
		.resync_bytes = resync_of(raid, sb),
		.bitmap = "internal",
		.bitmap_at_bytes = DMRAID_BITMAP_BYTES,
		.features = BLKALIGN_UNKNOWN,
		.dev_number = slot,
		.role = { MD_ROLE_SLOT, slot },
		.data_offset_bytes = sb->data_offset_bytes,
		.new_data_offset_bytes = sb->data_offset_bytes,
		.data_bytes = leg->image->size_bytes - sb->data_offset_bytes,
		.recovery_bytes = sb->recovery_bytes,
		.journal_tail_bytes = UINT64_MAX,
		.write_mostly = leg->write_mostly,
		.slot = BLKALIGN_SLOT_NONE,
	};
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

static int take_superblock(struct lvm_raid *raid, struct lvm_leg *leg, uint32_t slot, const struct dmraid_superblock *sb)
{
	const char *why = contradiction(raid, leg, slot, sb);
	char text[256];

	if (sb->reshaping || (sb->extended && sb->position_bytes != UINT64_MAX)) {
		raid->reshaping = true;
		leg->kind = LVM_LEG_DAMAGED;
		return 0;
	}
	if (!why) {
		leg->kind = LVM_LEG_FOUND;
		raid->changed = raid->changed || sb->members != raid->segment->data_areas ||
				(sb->extended && sb->used_bytes != lvm_raid_component(raid));
		return make_member(raid, leg, slot, sb);
	}
	leg->kind = LVM_LEG_DAMAGED;
	return remark(
		raid, leg,
		text_join(text, sizeof(text), "its raid metadata tells of ", why, " than the volume group does for this volume: not used"));
}

static int read_leg(struct lvm_raid *raid, struct lvm_leg *leg, uint32_t slot)
{
	struct dmraid_superblock sb;
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
		r = dmraid_decode(raw, sizeof(raw), &sb, &err);
	if (r == -ENOMEM)
		return r;
	if (r == 0)
		return take_superblock(raid, leg, slot, &sb);
	leg->kind = r == BLKALIGN_ABSENT ? LVM_LEG_NEW : LVM_LEG_DAMAGED;
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

/* Nothing was ever recorded: the volume is as it was created, its redundancy void. Or all records are lost. */
static int take_unstarted(struct lvm_raid *raid)
{
	bool damaged = false;
	int r = 0;

	for (uint32_t i = 0; i < raid->segment->data_areas; i++) {
		if (raid->legs[i].kind == LVM_LEG_FOUND || raid->reshaping)
			return 0;
		damaged = damaged || raid->legs[i].kind == LVM_LEG_DAMAGED;
	}
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
		r = read_leg(raid, &raid->legs[i], i);
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
