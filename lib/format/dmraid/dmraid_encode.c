/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/dmraid/dmraid.h"
#include "format/dmraid/dmraid_ondisk.h"

#define PUT(raw, field, value)                                                                                                             \
	store_le((uint8_t *)(raw) + offsetof(struct dmraid_ondisk, field), sizeof(((struct dmraid_ondisk *)0)->field), value)

static uint64_t to_sectors(uint64_t bytes) { return bytes == UINT64_MAX ? DMRAID_SECTORS_ALL_ONES : bytes / 512; }

void dmraid_put_state(void *raw, const struct dmraid_state *state)
{
	PUT(raw, events, state->events);
	PUT(raw, failed_devices, state->failed.word[0]);
	PUT(raw, disk_recovery_offset, to_sectors(state->recovery_bytes));
	PUT(raw, array_resync_offset, to_sectors(state->resync_bytes));
	if (!(load_le32((const uint8_t *)raw + offsetof(struct dmraid_ondisk, compat_features)) & DMRAID_COMPAT_EXTENDED))
		return;
	for (unsigned i = 0; i < 3; i++)
		PUT(raw, extended_failed_devices[i], state->failed.word[1 + i]);
}

void dmraid_put_member(void *raw, uint32_t slot, uint64_t data_offset_bytes)
{
	PUT(raw, array_position, slot);
	PUT(raw, data_offset, to_sectors(data_offset_bytes));
	PUT(raw, new_data_offset, to_sectors(data_offset_bytes));
}

void dmraid_encode(const struct dmraid_superblock *s, void *raw)
{
	const struct dmraid_state state = { s->events, s->failed, s->recovery_bytes, s->resync_bytes };

	memset(raw, 0, sizeof(struct dmraid_ondisk));
	PUT(raw, magic, DMRAID_MAGIC);
	PUT(raw, compat_features, DMRAID_COMPAT_EXTENDED);
	PUT(raw, num_devices, s->members);
	PUT(raw, level, (uint32_t)s->level);
	PUT(raw, layout, s->layout);
	PUT(raw, stripe_sectors, s->chunk_bytes / 512);
	PUT(raw, reshape_position, DMRAID_SECTORS_ALL_ONES);
	PUT(raw, new_level, (uint32_t)s->level);
	PUT(raw, new_layout, s->layout);
	PUT(raw, new_stripe_sectors, s->chunk_bytes / 512);
	PUT(raw, array_sectors, s->array_bytes / 512);
	PUT(raw, sectors, s->used_bytes / 512);
	dmraid_put_member(raw, s->slot, s->data_offset_bytes);
	dmraid_put_state(raw, &state);
}
