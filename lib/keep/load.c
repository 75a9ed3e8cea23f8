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

uint64_t member_block_bytes(const struct member *member) { return member->records->block_bytes > 512 ? member->records->block_bytes : 512; }

bool member_is_in_sync(const struct member *member)
{
	return member->slot != BLKALIGN_SLOT_NONE && !member->failed && !member->replacement && member->recovery_bytes == UINT64_MAX;
}

const struct record_kind *record_kind(enum keep_metadata metadata)
{
	static const struct record_kind *const kinds[] = {
		[KEEP_MD0] = &record_md0, [KEEP_MD1] = &record_md1, [KEEP_DMRAID] = &record_dmraid
	};

	return kinds[metadata];
}

int member_refuse(const struct keep_array *array, const struct dev *dev, struct blkalign_error *reterr, const char *why)
{
	return blkalign_error_set(reterr, -ENOTSUP, dev->name, BLKALIGN_UNKNOWN, "%s cannot be written safely: %s", array->name, why);
}

int member_load(const struct keep_array *array, const struct keep_member *in, bool writing, struct member *ret, struct loaded *ret_loaded,
		struct blkalign_error *reterr)
{
	*ret = (struct member){ .dev = in->dev,
				.records = in->metadata == KEEP_DMRAID ? in->meta : in->dev,
				.slot = in->slot,
				.super = aligned_alloc(PAGE_BYTES, PAGE_BYTES) };
	if (!ret->super)
		return -ENOMEM;
	memset(ret->super, 0, PAGE_BYTES);
	if (!ret->records)
		return blkalign_error_set(reterr, -EINVAL, in->dev->name, BLKALIGN_UNKNOWN, "the records of this member are not there");
	if (writing && !(in->dev->writable && ret->records->writable))
		return blkalign_error_set(reterr, -EROFS, in->dev->name, BLKALIGN_UNKNOWN, "this member of %s was opened for reading only",
					  array->name);
	return record_kind(in->metadata)->load(array, in, writing, ret, ret_loaded, reterr);
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
	bool alone = range_inside(page.offset_bytes, page.length_bytes, m->records->size_bytes);

	for (unsigned k = PLACE_BITMAP; k < PLACES; k++)
		if (place_dev(m, k) == m->records && overlap(&page, &m->places[k]))
			alone = false;
	super->length_bytes = alone ? PAGE_BYTES : round_up_u64(super->length_bytes, block_bytes);
}

int member_check_places(const char *array, struct member *m, struct blkalign_error *reterr)
{
	uint64_t block_bytes = member_block_bytes(m);

	if (block_bytes > PAGE_BYTES)
		return blkalign_error_set(reterr, -ENOTSUP, m->dev->name, BLKALIGN_UNKNOWN,
					  "has blocks of %" PRIu64 " bytes: records are kept in blocks of %u at most", block_bytes,
					  PAGE_BYTES);
	grow_super(m, block_bytes);
	for (unsigned k = 0; k < PLACES; k++) {
		const struct place *p = &m->places[k];
		const struct dev *dev = place_dev(m, k);

		if (!p->length_bytes)
			continue;
		if (!range_inside(p->offset_bytes, p->length_bytes, dev->size_bytes))
			return blkalign_error_set(reterr, -EBADMSG, dev->name, p->offset_bytes,
						  "%s cannot be written safely: the %s, %" PRIu64 " bytes, would lie outside the device",
						  array, place_names[k], p->length_bytes);
		if (k != PLACE_DATA && (p->offset_bytes % block_bytes || p->length_bytes % block_bytes))
			return blkalign_error_set(reterr, -EBADMSG, dev->name, p->offset_bytes,
						  "%s cannot be written safely: the %s does not lie in whole blocks of %" PRIu64 " bytes",
						  array, place_names[k], block_bytes);
		for (unsigned other = 0; other < k; other++)
			if (place_dev(m, other) == dev && overlap(p, &m->places[other]))
				return blkalign_error_set(reterr, -EBADMSG, dev->name, p->offset_bytes,
							  "%s cannot be written safely: the %s lies over the %s", array, place_names[k],
							  place_names[other]);
	}
	return 0;
}
