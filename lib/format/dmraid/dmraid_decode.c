/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>

#include "format/dmraid/dmraid.h"
#include "format/dmraid/dmraid_ondisk.h"

static int damaged(struct blkalign_error *reterr, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN, "raid metadata: %s (%" PRIu64 ")", what, found);
}

static bool is_blank(const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (data[i])
			return false;
	return true;
}

/* All ones stay what they are: "everything". */
static bool from_sectors(le64 stored, uint64_t *ret)
{
	uint64_t sectors = le64_get(stored);

	if (sectors != DMRAID_SECTORS_ALL_ONES)
		return u64_mul(sectors, 512, ret);
	*ret = UINT64_MAX;
	return true;
}

static void take_failed(const struct dmraid_ondisk *d, bool extended, struct dmraid_slots *ret)
{
	ret->word[0] = le64_get(d->failed_devices);
	for (unsigned i = 0; extended && i < 3; i++)
		ret->word[1 + i] = le64_get(d->extended_failed_devices[i]);
}

static bool take_extension(const struct dmraid_ondisk *d, struct dmraid_superblock *s)
{
	uint32_t flags = le32_get(d->flags);

	s->reshaping = flags & DMRAID_FLAG_RESHAPING;
	s->backwards = flags & DMRAID_FLAG_BACKWARDS;
	s->new_level = (int32_t)le32_get(d->new_level);
	s->new_layout = le32_get(d->new_layout);
	s->new_chunk_bytes = (uint64_t)le32_get(d->new_stripe_sectors) * 512;
	s->delta_disks = (int32_t)le32_get(d->delta_disks);
	return from_sectors(d->reshape_position, &s->position_bytes) && u64_mul(le64_get(d->array_sectors), 512, &s->array_bytes) &&
	       u64_mul(le64_get(d->data_offset), 512, &s->data_offset_bytes) &&
	       u64_mul(le64_get(d->new_data_offset), 512, &s->new_data_offset_bytes) && u64_mul(le64_get(d->sectors), 512, &s->used_bytes);
}

static bool is_level(int32_t level) { return level == 0 || level == 1 || (level >= 4 && level <= 6) || level == 10; }

/* Old and new number of images, the larger one. */
static int check_reshape(const struct dmraid_superblock *s, uint32_t *ret_slots, struct blkalign_error *reterr)
{
	int64_t before = (int64_t)s->members - s->delta_disks;

	*ret_slots = s->members;
	if (s->reshaping != (s->extended && s->position_bytes != UINT64_MAX))
		return damaged(reterr,
			       s->reshaping ? "a reshape is under way, and where it stands is not recorded; events"
					    : "where a reshape stands is recorded, and that there is none; events",
			       s->events);
	if (!s->reshaping)
		return 0;
	if (before < 1 || before > DMRAID_MEMBERS_MAX)
		return damaged(reterr, "a reshape from a number of images that is not possible", (uint64_t)before);
	if (!is_level(s->new_level))
		return damaged(reterr, "a reshape to an unknown level", (uint32_t)s->new_level);
	if (s->new_chunk_bytes && !is_power_of_2(s->new_chunk_bytes))
		return damaged(reterr, "a reshape to a chunk that is no power of two", s->new_chunk_bytes);
	if (before > s->members)
		*ret_slots = (uint32_t)before;
	return 0;
}

static int check(const struct dmraid_superblock *s, struct blkalign_error *reterr)
{
	uint32_t slots;
	int r;

	if (!s->members || s->members > DMRAID_MEMBERS_MAX)
		return damaged(reterr, "a number of images that is not possible", s->members);
	r = check_reshape(s, &slots, reterr);
	if (r < 0)
		return r;
	if (s->slot >= slots && s->slot != DMRAID_SLOT_NONE)
		return damaged(reterr, "this image has a position beyond the last one", s->slot);
	if (!is_level(s->level))
		return damaged(reterr, "unknown level", (uint32_t)s->level);
	if (s->chunk_bytes && !is_power_of_2(s->chunk_bytes))
		return damaged(reterr, "the chunk is no power of two", s->chunk_bytes);
	for (uint32_t i = slots; i < 256; i++)
		if (dmraid_has(&s->failed, i))
			return damaged(reterr, "an image that does not exist is recorded as failed", i);
	return 0;
}

int dmraid_decode(const void *data, size_t length, struct dmraid_superblock *ret, struct blkalign_error *reterr)
{
	struct dmraid_superblock s = { 0 };
	struct dmraid_ondisk d;
	uint32_t compat;
	int r;

	if (length < sizeof(d))
		return BLKALIGN_NOT_THIS;
	memcpy(&d, data, sizeof(d));
	if (le32_get(d.magic) != DMRAID_MAGIC)
		return is_blank(data, sizeof(d)) ? BLKALIGN_ABSENT : BLKALIGN_NOT_THIS;
	compat = le32_get(d.compat_features);
	if (compat & ~DMRAID_COMPAT_EXTENDED || le32_get(d.incompat_features))
		return blkalign_error_set(reterr, -ENOTSUP, NULL, BLKALIGN_UNKNOWN,
					  "raid metadata uses features of a newer dm-raid than is known here (compatible %#" PRIx32
					  ", incompatible %#" PRIx32 ")",
					  compat, le32_get(d.incompat_features));
	s.extended = compat & DMRAID_COMPAT_EXTENDED;
	s.members = le32_get(d.num_devices);
	s.slot = le32_get(d.array_position);
	s.events = le64_get(d.events);
	s.level = (int32_t)le32_get(d.level);
	s.layout = le32_get(d.layout);
	s.chunk_bytes = (uint64_t)le32_get(d.stripe_sectors) * 512;
	take_failed(&d, s.extended, &s.failed);
	if (!from_sectors(d.disk_recovery_offset, &s.recovery_bytes) || !from_sectors(d.array_resync_offset, &s.resync_bytes) ||
	    (s.extended && !take_extension(&d, &s)))
		return damaged(reterr, "an offset or size does not fit 64 bits of bytes; events", s.events);
	r = check(&s, reterr);
	if (r < 0)
		return r;
	*ret = s;
	return 0;
}
