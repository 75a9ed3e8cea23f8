/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A member's superblock as the start of everything that will be written to it: what is not wholly understood is refused here. */
#include <inttypes.h>

#include "keep/keep_priv.h"

void member_free(struct member *member)
{
	if (member)
		free(member->super);
	free(member);
}

uint64_t member_block_bytes(const struct member *member) { return member->dev->block_bytes > 512 ? member->dev->block_bytes : 512; }

bool member_is_in_sync(const struct member *member)
{
	return member->slot != BLKALIGN_SLOT_NONE && !member->failed && !member->replacement && member->recovery_bytes == UINT64_MAX;
}

static int refuse(const struct keep_array *array, const struct dev *dev, struct blkalign_error *reterr, const char *why)
{
	return blkalign_error_set(reterr, -ENOTSUP, dev->name, BLKALIGN_UNKNOWN, "%s cannot be written safely: %s", array->name, why);
}

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
			return refuse(array, dev, reterr, refused[i].why);
	for (unsigned i = 0; i < MD1_ODDITIES; i++)
		if (sb->oddities & 1U << i)
			return refuse(array, dev, reterr, md1_oddity_text(i));
	return 0;
}

static struct place from_super(const struct md1_superblock *sb, int64_t from_super_bytes, uint64_t length_bytes)
{
	/* Before byte 0 this becomes a place beyond the end of any device, which is refused with the other places. */
	return (struct place){ sb->super_bytes + (uint64_t)from_super_bytes, length_bytes };
}

static int load_v1(const struct keep_array *array, const struct keep_member *in, bool writing, struct member *m, struct md1_superblock *sb,
		   struct blkalign_error *reterr)
{
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

static int load_v0(const struct keep_array *array, const struct keep_member *in, struct member *m, struct md0_superblock *sb,
		   struct blkalign_error *reterr)
{
	struct dev *dev = in->dev;
	int r = dev_read(dev, in->super_bytes, m->super, MD0_BYTES, reterr);
	uint64_t data_bytes;

	if (r >= 0)
		r = md0_decode(m->super, MD0_BYTES, in->super_bytes, sb, reterr);
	if (r > 0)
		r = blkalign_error_set(reterr, -EBADMSG, dev->name, in->super_bytes, "no md superblock of %s is left at this place",
				       array->name);
	if (r < 0)
		return r;
	if (sb->minor_version != 90)
		return refuse(array, dev, reterr, "a reshape is under way; let the kernel finish it first");
	if (sb->state & MD0_CLUSTERED)
		return refuse(array, dev, reterr, "it is clustered, so that other hosts may be writing to it");
	if (sb->self.number >= MD0_DISKS_MAX)
		return refuse(array, dev, reterr, "its superblock does not say which of the members it is");
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

int member_load(const struct keep_array *array, const struct keep_member *in, bool writing, struct member *ret, struct loaded *ret_loaded,
		struct blkalign_error *reterr)
{
	*ret = (struct member){ .dev = in->dev, .slot = in->slot, .super = aligned_alloc(PAGE_BYTES, PAGE_BYTES) };
	if (!ret->super)
		return -ENOMEM;
	memset(ret->super, 0, PAGE_BYTES);
	if (writing && !in->dev->writable)
		return blkalign_error_set(reterr, -EROFS, in->dev->name, BLKALIGN_UNKNOWN, "this member of %s was opened for reading only",
					  array->name);
	if (in->metadata == KEEP_MD0)
		return load_v0(array, in, ret, &ret_loaded->v0, reterr);
	return load_v1(array, in, writing, ret, &ret_loaded->v1, reterr);
}

/* --- places --- */

static const char *const place_names[PLACES] = { "superblock", "bitmap", "parity log", "bad block list", "data" };

static bool overlap(const struct place *a, const struct place *b)
{
	return a->length_bytes && b->length_bytes && a->offset_bytes < b->offset_bytes + b->length_bytes &&
	       b->offset_bytes < a->offset_bytes + a->length_bytes;
}

/* A superblock fills its page where nothing else begins in it, so that no disk has to read the rest of a physical block before it writes. */
static void grow_super(struct member *m, uint64_t block_bytes)
{
	struct place *super = &m->places[PLACE_SUPER];
	struct place page = { super->offset_bytes, PAGE_BYTES };
	bool alone = range_inside(page.offset_bytes, page.length_bytes, m->dev->size_bytes);

	for (unsigned k = PLACE_BITMAP; k < PLACES; k++)
		if (overlap(&page, &m->places[k]))
			alone = false;
	super->length_bytes = alone ? PAGE_BYTES : round_up_u64(super->length_bytes, block_bytes);
}

int member_check_places(const char *array, struct member *m, struct blkalign_error *reterr)
{
	uint64_t block_bytes = member_block_bytes(m);

	grow_super(m, block_bytes);
	for (unsigned k = 0; k < PLACES; k++) {
		const struct place *p = &m->places[k];

		if (!p->length_bytes)
			continue;
		if (!range_inside(p->offset_bytes, p->length_bytes, m->dev->size_bytes))
			return blkalign_error_set(reterr, -EBADMSG, m->dev->name, p->offset_bytes,
						  "%s cannot be written safely: the %s, %" PRIu64 " bytes, would lie outside the device",
						  array, place_names[k], p->length_bytes);
		if (k != PLACE_DATA && (p->offset_bytes % block_bytes || p->length_bytes % block_bytes))
			return blkalign_error_set(reterr, -EBADMSG, m->dev->name, p->offset_bytes,
						  "%s cannot be written safely: the %s does not lie in whole blocks of %" PRIu64 " bytes",
						  array, place_names[k], block_bytes);
		for (unsigned other = 0; other < k; other++)
			if (overlap(p, &m->places[other]))
				return blkalign_error_set(reterr, -EBADMSG, m->dev->name, p->offset_bytes,
							  "%s cannot be written safely: the %s lies over the %s", array, place_names[k],
							  place_names[other]);
	}
	return 0;
}
