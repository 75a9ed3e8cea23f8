/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Superblocks 1.x as records that are kept. */
#include <sys/random.h>
#include <time.h>

#include "keep/keep_priv.h"

static int check_features(const struct keep_array *array, const struct dev *dev, const struct md1_superblock *sb,
			  struct blkalign_error *reterr)
{
	static const struct {
		uint32_t bits;
		const char *why;
	} refused[] = {
		{ ~MD1_FEATURES_KNOWN, "it uses features of a newer md than is known here" },
		{ MD1_JOURNAL, "it has a journal, which may hold data that is nowhere else" },
		{ MD1_CLUSTERED, "it is clustered, so that other hosts may be writing to it" },
		{ MD1_RESHAPE | MD1_RESHAPE_BACKWARDS | MD1_NEW_OFFSET, "a reshape is under way; let the kernel finish it first" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (sb->features & refused[i].bits)
			return member_refuse(array, dev, reterr, refused[i].why);
	for (unsigned i = 0; i < MD1_ODDITIES; i++)
		if (sb->oddities & 1U << i)
			return member_refuse(array, dev, reterr, md1_oddity_text(i));
	return 0;
}

static struct place from_super(const struct md1_superblock *sb, int64_t from_super_bytes, uint64_t length_bytes)
{
	/* Before byte 0 this becomes a place beyond the end of any device, which is refused with the other places. */
	return (struct place){ sb->super_bytes + (uint64_t)from_super_bytes, length_bytes };
}

static int load(const struct keep_array *array, const struct keep_member *in, bool writing, struct member *m, struct loaded *loaded,
		struct blkalign_error *reterr)
{
	struct md1_superblock *sb = &loaded->v1;
	struct dev *dev = in->dev;
	int r = dev_read(dev, in->super_bytes, m->super, MD1_BYTES, reterr);

	if (r >= 0)
		r = md1_decode(m->super, MD1_BYTES, in->super_bytes, dev->size_bytes, sb, reterr);
	if (r > 0)
		r = blkalign_error_set(reterr, -EBADMSG, dev->name, in->super_bytes, "no md superblock of %s is left at this place",
				       array->name);
	if (r >= 0 && writing)
		r = check_features(array, dev, sb, reterr);
	if (r < 0)
		return r;
	m->features = sb->features;
	m->number = sb->dev_number;
	m->events = sb->events;
	m->resync_bytes = sb->resync_bytes;
	m->recovery_bytes = sb->recovery_bytes;
	m->replacement = sb->features & MD1_REPLACEMENT;
	m->places[PLACE_SUPER] = (struct place){ sb->super_bytes, md1_stored_bytes(m->super) };
	m->places[PLACE_DATA] = (struct place){ sb->data_offset_bytes, sb->data_bytes };
	/* The bitmap tells its length itself, see bits_load(). */
	if (sb->features & MD1_BITMAP)
		m->places[PLACE_BITMAP] = from_super(sb, sb->bitmap_from_super_bytes, member_block_bytes(m));
	if (sb->features & (MD1_PPL | MD1_MULTIPLE_PPLS))
		m->places[PLACE_LOG] = from_super(sb, sb->ppl_from_super_bytes, sb->ppl_bytes);
	if (sb->badblocks_bytes && sb->badblocks_from_super_bytes)
		m->places[PLACE_BAD_BLOCKS] = from_super(sb, sb->badblocks_from_super_bytes, sb->badblocks_bytes);
	return 0;
}

/* --- the array --- */

static void take_array(struct keep *keep, const struct loaded *l)
{
	memcpy(keep->array_uuid, l->v1.array_uuid, 16);
	keep->shape = (struct stored_shape){ l->v1.layout, l->v1.chunk_bytes, l->v1.component_bytes };
	memcpy(keep->roles, l->v1.roles, sizeof(keep->roles));
	keep->roles_count = l->v1.max_dev;
}

static bool same_array(const struct keep *keep, const struct loaded *l)
{
	return memcmp(keep->array_uuid, l->v1.array_uuid, 16) == 0 && l->v1.level == keep->geometry->level &&
	       l->v1.raid_disks == keep->geometry->members;
}

static bool same_shape(const struct keep *keep, const struct loaded *l)
{
	const struct stored_shape *s = &keep->shape;

	return l->v1.layout == s->layout && l->v1.chunk_bytes == s->chunk_bytes && l->v1.component_bytes == s->component_bytes;
}

static bool settle_absent(struct keep *keep)
{
	bool any = false;

	for (uint32_t i = 0; i < keep->roles_count; i++)
		if (MD1_ROLE_IS_SLOT(keep->roles[i]) && !has_number(keep, i)) {
			keep->roles[i] = MD1_ROLE_FAULTY;
			any = true;
		}
	return any;
}

/* Its own table must be able to list everyone. */
static bool lists_all(const struct keep *keep, const struct member *m)
{
	for (uint32_t i = load_le32(m->super + 220); i < keep->roles_count; i++)
		if (MD1_ROLE_IS_SLOT(keep->roles[i]))
			return false;
	return true;
}

static const char *settle_role(struct keep *keep, const struct member *m)
{
	uint16_t role = m->slot == BLKALIGN_SLOT_NONE ? MD1_ROLE_SPARE : (uint16_t)m->slot;

	if (m->number >= keep->roles_count || m->number >= load_le32(m->super + 220))
		return "the freshest superblock has no entry for this member";
	if (!lists_all(keep, m))
		return "this superblock has no room to list all members";
	if (role != MD1_ROLE_SPARE && keep->roles[m->number] != role)
		return "the freshest superblock gives this member another role";
	keep->roles[m->number] = role;
	return NULL;
}

static void list_missing(struct keep *keep, const struct member *m)
{
	if (m->number < keep->roles_count)
		keep->roles[m->number] = MD1_ROLE_FAULTY;
}

/* --- what it says --- */

static size_t compose(struct keep *keep, struct member *m)
{
	md1_put_state(m->super, keep->events, keep->say_active ? 0 : records_checkpoint(keep), (uint64_t)time(NULL));
	/* Entries that the freshest does not have are nobody's. */
	for (uint32_t i = 0; md1_put_role(m->super, i, i < keep->roles_count ? keep->roles[i] : MD1_ROLE_SPARE); i++)
		;
	md1_seal(m->super);
	return md1_stored_bytes(m->super);
}

static bool had_slot(const struct keep *keep, const struct loaded *l, uint32_t slot)
{
	return !memcmp(l->v1.array_uuid, keep->array_uuid, 16) && l->v1.role == slot;
}

static bool knows(const struct loaded *l, const struct member *other)
{
	return other->number < l->v1.max_dev && l->v1.roles[other->number] == other->slot;
}

/* --- a new member --- */

static uint64_t super_place(const struct member *template, const struct dev *dev)
{
	uint64_t at = template->places[PLACE_SUPER].offset_bytes;

	return at == md1_super_bytes(1, dev->size_bytes) || at == md1_super_bytes(2, dev->size_bytes) ? at
												      : md1_super_bytes(0, dev->size_bytes);
}

/* An entry that never was anyone's, or else one whose owner is gone. */
static uint32_t free_number(const struct keep *keep, const struct member *m)
{
	uint32_t gone = UINT32_MAX;

	(void)m;
	for (uint32_t i = 0; i < keep->roles_count; i++) {
		if (has_number(keep, i))
			continue;
		if (keep->roles[i] == MD1_ROLE_SPARE)
			return i;
		if (keep->roles[i] == MD1_ROLE_FAULTY && gone == UINT32_MAX)
			gone = i;
	}
	return gone;
}

static int make_super(struct keep *keep, struct member *m, const struct member *spare)
{
	struct md1_new_member new = { .dev_number = m->number,
				      .super_bytes = m->places[PLACE_SUPER].offset_bytes,
				      .data_offset_bytes = m->places[PLACE_DATA].offset_bytes,
				      .data_bytes = m->places[PLACE_DATA].length_bytes };

	if (spare)
		memcpy(new.device_uuid, spare->super + 168, 16);
	else if (getrandom(new.device_uuid, 16, 0) != 16)
		return -EIO;
	md1_put_member(m->super, &new);
	md1_put_recovery(m->super, 0);
	keep->roles[m->number] = (uint16_t)m->slot;
	return 0;
}

static bool put_recovery(struct keep *keep, struct member *m)
{
	(void)keep;
	md1_put_recovery(m->super, m->recovery_bytes);
	md1_seal(m->super);
	return true;
}

static void end_recovery(struct keep *keep, struct member *m)
{
	(void)keep;
	md1_put_recovery(m->super, UINT64_MAX);
	md1_put_features(m->super, 0, MD1_REPLACEMENT); /* there is none to replace any more */
}

const struct record_kind record_md1 = {
	.load = load,
	.take_array = take_array,
	.same_array = same_array,
	.same_shape = same_shape,
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
