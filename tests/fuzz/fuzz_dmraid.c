/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/dmraid/dmraid.h"
#include "fuzz.h"

/* What is written back is read back, and nothing else changes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t copy[DMRAID_BYTES], fresh[DMRAID_BYTES];
	struct dmraid_superblock sb, again;
	struct dmraid_state state;
	uint32_t slots;

	if (dmraid_decode(data, size, &sb, NULL) != 0)
		return 0;
	slots = sb.members;
	if (sb.reshaping && sb.delta_disks < 0)
		slots = (uint32_t)((int64_t)sb.members - sb.delta_disks);
	if (!sb.members || slots > DMRAID_MEMBERS_MAX || (sb.slot >= slots && sb.slot != DMRAID_SLOT_NONE))
		abort();
	for (uint32_t slot = slots; slot < 256; slot++)
		if (dmraid_has(&sb.failed, slot))
			abort();
	memcpy(copy, data, sizeof(copy));
	state = (struct dmraid_state){ sb.events, sb.failed, sb.recovery_bytes, sb.resync_bytes };
	dmraid_put_state(copy, &state);
	if (memcmp(copy, data, sizeof(copy)) != 0)
		abort();
	if (sb.reshaping) /* never written by us */
		return 0;
	dmraid_encode(&sb, fresh);
	if (dmraid_decode(fresh, sizeof(fresh), &again, NULL) != 0 || again.events != sb.events || again.slot != sb.slot ||
	    again.recovery_bytes != sb.recovery_bytes || again.used_bytes != sb.used_bytes ||
	    again.data_offset_bytes != sb.data_offset_bytes || memcmp(&again.failed, &sb.failed, sizeof(sb.failed)) != 0)
		abort();
	return 0;
}
