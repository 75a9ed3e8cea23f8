/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fields are stored one by one into the bytes as they were read: what is not named here, known or not, stays as it was found. */
#include "format/md1/md1.h"
#include "format/md1/md1_ondisk.h"

#define PUT(raw, field, value) store_le(&((struct md1_ondisk *)(raw))->field, sizeof(((struct md1_ondisk *)0)->field), value)

static uint32_t max_dev(const void *raw) { return load_le32((const uint8_t *)raw + offsetof(struct md1_ondisk, max_dev)); }

void md1_put_state(void *raw, uint64_t events, uint64_t resync_bytes, uint64_t updated_seconds)
{
	PUT(raw, events, events);
	PUT(raw, resync_offset, resync_bytes == UINT64_MAX ? UINT64_MAX : resync_bytes / 512);
	PUT(raw, utime, updated_seconds);
}

void md1_put_features(void *raw, uint32_t set, uint32_t clear)
{
	uint32_t features = load_le32((const uint8_t *)raw + offsetof(struct md1_ondisk, feature_map));

	PUT(raw, feature_map, (features & ~clear) | set);
}

void md1_put_recovery(void *raw, uint64_t recovery_bytes)
{
	bool whole = recovery_bytes == UINT64_MAX;

	md1_put_features(raw, whole ? 0 : MD1_RECOVERY_OFFSET, whole ? MD1_RECOVERY_OFFSET | MD1_RECOVERY_BITMAP : 0);
	PUT(raw, recovery_offset, whole ? 0 : recovery_bytes / 512);
}

bool md1_put_role(void *raw, uint32_t number, uint16_t role)
{
	if (number >= max_dev(raw))
		return false;
	store_le((uint8_t *)raw + sizeof(struct md1_ondisk) + 2 * (size_t)number, 2, role);
	return true;
}

void md1_put_member(void *raw, const struct md1_new_member *member)
{
	md1_put_features(raw, 0, MD1_REPLACEMENT | MD1_RECOVERY_BITMAP | MD1_BAD_BLOCKS);
	PUT(raw, dev_number, member->dev_number);
	memcpy((uint8_t *)raw + offsetof(struct md1_ondisk, device_uuid), member->device_uuid, sizeof(member->device_uuid));
	PUT(raw, super_offset, member->super_bytes / 512);
	PUT(raw, data_offset, member->data_offset_bytes / 512);
	PUT(raw, data_size, member->data_bytes / 512);
	PUT(raw, cnt_corrected_read, 0);
	PUT(raw, devflags, 0);
}

void md1_seal(void *raw) { PUT(raw, sb_csum, md1_checksum(raw, max_dev(raw))); }

size_t md1_stored_bytes(const void *raw) { return sizeof(struct md1_ondisk) + 2 * (size_t)max_dev(raw); }
