/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/md1/md1.h"
#include "format/md1/md1_ondisk.h"

#define SECONDS_MASK ((UINT64_C(1) << 40) - 1)
#define UNSET	     UINT64_MAX /* resync_offset: in sync */

const char *md1_oddity_text(unsigned number)
{
	static const char *const texts[MD1_ODDITIES] = {
		"its super_offset is not where it was found: the device was resized, moved or lies inside another one",
		"its data area goes beyond the end of the device or over the superblock",
		"its bitmap, log or bad block list lies in the data area or beyond the end of the device",
		"it uses features that no known kernel defines",
		"bytes that should be reserved are not zero",
		"its logical block size is not one a device can have",
		"its device number is not in its own list of roles",
		"its reshape fields make no sense",
		"its recovery offset lies beyond the component size",
		"a vendor's error bit (Synology) is set in a role",
	};

	return texts[number];
}

uint32_t md1_checksum(const void *data, uint32_t max_dev)
{
	const uint8_t *p = data;
	size_t length = sizeof(struct md1_ondisk) + 2 * (size_t)max_dev, i = 0;
	uint64_t sum = 0;

	for (; i + 4 <= length; i += 4)
		if (i != offsetof(struct md1_ondisk, sb_csum))
			sum += load_le32(p + i);
	if (i < length)
		sum += load_le16(p + i);
	return (uint32_t)((sum & UINT32_MAX) + (sum >> 32));
}

static int damaged(struct blkalign_error *reterr, uint64_t super_bytes, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, super_bytes, "md superblock 1.x: %s (%" PRIu64 ")", what, found);
}

static bool sectors(le64 field, uint64_t *ret_bytes) { return u64_mul(le64_get(field), 512, ret_bytes); }
static int64_t signed_sectors(le32 field) { return (int64_t)(int32_t)le32_get(field) * 512; }

/* Fields that go with the array. */
static int decode_array(const struct md1_ondisk *d, struct md1_superblock *sb, struct blkalign_error *reterr)
{
	sb->features = le32_get(d->feature_map);
	memcpy(sb->array_uuid, d->set_uuid, sizeof(sb->array_uuid));
	memcpy(sb->name, d->set_name, sizeof(d->set_name));
	sb->created_seconds = le64_get(d->ctime) & SECONDS_MASK;
	sb->level = (int32_t)le32_get(d->level);
	sb->layout = le32_get(d->layout);
	sb->chunk_bytes = (uint64_t)le32_get(d->chunksize) * 512;
	sb->raid_disks = le32_get(d->raid_disks);
	sb->new_level = (int32_t)le32_get(d->new_level);
	sb->new_layout = le32_get(d->new_layout);
	sb->new_chunk_bytes = (uint64_t)le32_get(d->new_chunk) * 512;
	sb->delta_disks = (int32_t)le32_get(d->delta_disks);
	if (sb->features & (MD1_PPL | MD1_MULTIPLE_PPLS)) {
		sb->ppl_from_super_bytes = (int64_t)(int16_t)le16_get(d->ppl.offset) * 512;
		sb->ppl_bytes = (uint64_t)le16_get(d->ppl.size) * 512;
	} else if (sb->features & MD1_BITMAP) {
		sb->bitmap_from_super_bytes = signed_sectors(d->bitmap_offset);
	}
	if (sb->features & MD1_NEW_OFFSET)
		sb->new_offset_bytes = signed_sectors(d->new_offset);
	if (!sectors(d->size, &sb->component_bytes))
		return damaged(reterr, sb->super_bytes, "the component size does not fit 64 bits of bytes", le64_get(d->size));
	if (!sectors(d->reshape_position, &sb->reshape_position_bytes))
		sb->reshape_position_bytes = UINT64_MAX;
	if (!sb->raid_disks || sb->raid_disks > MD1_ROLES_MAX)
		return damaged(reterr, sb->super_bytes, "impossible number of members", sb->raid_disks);
	return 0;
}

/* Fields that go with this member. */
static int decode_member(const struct md1_ondisk *d, struct md1_superblock *sb, struct blkalign_error *reterr)
{
	uint64_t end;

	if (!sectors(d->data_offset, &sb->data_offset_bytes) || !sectors(d->data_size, &sb->data_bytes) ||
	    !u64_add(sb->data_offset_bytes, sb->data_bytes, &end))
		return damaged(reterr, sb->super_bytes, "the data area does not fit 64 bits of bytes", le64_get(d->data_offset));
	if (!sectors(d->super_offset, &sb->stored_super_bytes))
		sb->stored_super_bytes = UINT64_MAX;
	if (!(sb->features & MD1_RECOVERY_OFFSET) || !sectors(d->recovery_offset, &sb->recovery_bytes))
		sb->recovery_bytes = UINT64_MAX;
	sb->dev_number = le32_get(d->dev_number);
	memcpy(sb->device_uuid, d->device_uuid, sizeof(sb->device_uuid));
	sb->corrected_read_errors = le32_get(d->cnt_corrected_read);
	sb->devflags = d->devflags;
	sb->badblocks_shift = d->bblog_shift;
	sb->badblocks_bytes = (uint64_t)le16_get(d->bblog_size) * 512;
	sb->badblocks_from_super_bytes = signed_sectors(d->bblog_offset);
	sb->updated_seconds = le64_get(d->utime) & SECONDS_MASK;
	sb->events = le64_get(d->events);
	if (le64_get(d->resync_offset) == UNSET || !sectors(d->resync_offset, &sb->resync_bytes))
		sb->resync_bytes = UINT64_MAX;
	sb->logical_block_bytes = le32_get(d->logical_block_size);
	return 0;
}

static void decode_roles(const uint8_t *roles, struct md1_superblock *sb)
{
	for (uint32_t i = 0; i < sb->max_dev; i++) {
		uint16_t role = load_le16(roles + 2 * (size_t)i);

		/* 0x8000 and 1920 slots never meet, so that the bit can be told from a role. */
		if (role >= MD1_VENDOR_ERROR && role < 0xff00) {
			role = (uint16_t)(role & ~MD1_VENDOR_ERROR);
			sb->oddities |= MD1_ODD_VENDOR_ROLE;
		}
		sb->roles[i] = role;
	}
	if (sb->dev_number < sb->max_dev) {
		sb->role = sb->roles[sb->dev_number];
	} else {
		sb->role = MD1_ROLE_SPARE;
		sb->oddities |= MD1_ODD_DEV_NUMBER;
	}
}

/* A journal keeps its tail where other members keep how far they are rebuilt. */
static void decode_journal(const struct md1_ondisk *d, struct md1_superblock *sb)
{
	sb->journal_tail_bytes = UINT64_MAX;
	if (sb->role == MD1_ROLE_JOURNAL && !sectors(d->recovery_offset, &sb->journal_tail_bytes))
		sb->journal_tail_bytes = UINT64_MAX;
}

/* Absolute place of something that hangs on the superblock; false when it is before byte 0. */
static bool from_super(const struct md1_superblock *sb, int64_t offset, uint64_t *ret)
{
	if (offset < 0 && (uint64_t)-offset > sb->super_bytes)
		return false;
	*ret = sb->super_bytes + (uint64_t)offset;
	return true;
}

static bool collides(const struct md1_superblock *sb, int64_t offset, uint64_t length, uint64_t device_bytes)
{
	uint64_t at;

	if (!from_super(sb, offset, &at) || !range_inside(at, length, device_bytes))
		return true;
	return at < sb->data_offset_bytes + sb->data_bytes && sb->data_offset_bytes < at + length;
}

static void judge_places(struct md1_superblock *sb, uint64_t device_bytes)
{
	uint64_t super_end = sb->super_bytes + sizeof(struct md1_ondisk) + 2 * (uint64_t)sb->max_dev;

	if (sb->stored_super_bytes != sb->super_bytes)
		sb->oddities |= MD1_ODD_SUPER_OFFSET;
	if (!range_inside(sb->data_offset_bytes, sb->data_bytes, device_bytes) ||
	    (sb->data_offset_bytes < super_end && sb->super_bytes < sb->data_offset_bytes + sb->data_bytes))
		sb->oddities |= MD1_ODD_DATA_BEYOND;
	if ((sb->features & MD1_BITMAP && collides(sb, sb->bitmap_from_super_bytes, 512, device_bytes)) ||
	    (sb->ppl_bytes && collides(sb, sb->ppl_from_super_bytes, sb->ppl_bytes, device_bytes)) ||
	    (sb->badblocks_bytes && sb->badblocks_from_super_bytes &&
	     collides(sb, sb->badblocks_from_super_bytes, sb->badblocks_bytes, device_bytes)))
		sb->oddities |= MD1_ODD_OVERLAP;
}

static void judge_fields(const struct md1_ondisk *d, struct md1_superblock *sb)
{
	static const uint8_t zeros[sizeof(d->pad3)];
	uint32_t ppl = sb->features & (MD1_PPL | MD1_MULTIPLE_PPLS), block = sb->logical_block_bytes;
	bool exclude = (ppl && sb->features & (MD1_BITMAP | MD1_JOURNAL)) || ppl == (MD1_PPL | MD1_MULTIPLE_PPLS);

	if (sb->features & ~MD1_FEATURES_KNOWN || exclude)
		sb->oddities |= MD1_ODD_FEATURES;
	if (le32_get(d->pad0) || memcmp(d->pad3, zeros, sizeof(zeros)) != 0)
		sb->oddities |= MD1_ODD_PADDING;
	if (block && (!is_power_of_2(block) || block < 512 || block > 65536))
		sb->oddities |= MD1_ODD_LOGICAL_BLOCK;
	if (sb->features & MD1_RESHAPE) {
		int64_t before = (int64_t)sb->raid_disks - sb->delta_disks;

		if (before < 1 || before > MD1_ROLES_MAX || sb->reshape_position_bytes == UINT64_MAX)
			sb->oddities |= MD1_ODD_RESHAPE;
	}
	if (sb->features & MD1_RECOVERY_OFFSET && sb->component_bytes && sb->recovery_bytes > sb->component_bytes &&
	    sb->role != MD1_ROLE_JOURNAL)
		sb->oddities |= MD1_ODD_RECOVERY;
}

int md1_decode(const void *data, size_t length, uint64_t super_bytes, uint64_t device_bytes, struct md1_superblock *ret,
	       struct blkalign_error *reterr)
{
	struct md1_superblock sb = { .super_bytes = super_bytes };
	struct md1_ondisk d;
	int r;

	if (length < sizeof(d))
		return BLKALIGN_NOT_THIS;
	memcpy(&d, data, sizeof(d));
	if (le32_get(d.magic) != MD1_MAGIC || le32_get(d.major) != 1)
		return BLKALIGN_NOT_THIS;
	sb.max_dev = le32_get(d.max_dev);
	if (sb.max_dev > MD1_ROLES_MAX || sizeof(d) + 2 * (size_t)sb.max_dev > length)
		return damaged(reterr, super_bytes, "too many roles", sb.max_dev);
	if (md1_checksum(data, sb.max_dev) != le32_get(d.sb_csum))
		return damaged(reterr, super_bytes, "the checksum is wrong; stored", le32_get(d.sb_csum));
	r = decode_array(&d, &sb, reterr);
	if (r >= 0)
		r = decode_member(&d, &sb, reterr);
	if (r < 0)
		return r;
	decode_roles((const uint8_t *)data + sizeof(d), &sb);
	decode_journal(&d, &sb);
	judge_places(&sb, device_bytes);
	judge_fields(&d, &sb);
	*ret = sb;
	return 0;
}
