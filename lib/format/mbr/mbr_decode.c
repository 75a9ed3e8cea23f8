/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A DOS table is recognised by two bytes that every boot sector carries, so most of the work is refusing what is none.
 */
#include "format/fat/fat.h"
#include "format/mbr/mbr.h"
#include "format/mbr/mbr_ondisk.h"
#include "format/ntfs/ntfs.h"

bool mbr_type_is_extended(uint8_t type) { return type == 0x05 || type == 0x0f || type == 0x85; }

bool mbr_is_boot_sector(const uint8_t *buffer, size_t size)
{
	static const char oem_ids[][9] = { "EXFAT   ", "-FVE-FS-" }; /* at byte 3 */
	struct fsgeom geom;

	if (size < MBR_SECTOR_BYTES)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(oem_ids); i++)
		if (memcmp(buffer + 3, oem_ids[i], 8) == 0)
			return true;
	return fat_decode(buffer, MBR_SECTOR_BYTES, 0, &geom, NULL) == 0 ||
	       ntfs_decode(buffer, MBR_SECTOR_BYTES, 0, &geom, NULL) != BLKALIGN_NOT_THIS;
}

int mbr_decode(const uint8_t *buffer, size_t size, struct mbr_sector *ret)
{
	struct mbr_sector s = { 0 };
	struct mbr_ondisk raw;

	if (size < sizeof(raw))
		return BLKALIGN_NOT_THIS;
	memcpy(&raw, buffer, sizeof(raw));
	if (le16_get(raw.magic) != MBR_MAGIC || mbr_is_boot_sector(buffer, size))
		return BLKALIGN_NOT_THIS;
	s.disk_id = le32_get(raw.disk_id);
	for (uint32_t i = 0; i < ARRAY_SIZE(raw.entries); i++) {
		const struct mbr_ondisk_entry *e = &raw.entries[i];

		if (e->boot_indicator & 0x7f)
			return BLKALIGN_NOT_THIS;
		if (!e->type || !le32_get(e->count_lba))
			continue;
		s.entries[s.count++] = (struct mbr_entry){ .slot = i,
							   .type = e->type,
							   .active = e->boot_indicator == 0x80,
							   .start_lba = le32_get(e->start_lba),
							   .count_lba = le32_get(e->count_lba) };
	}
	*ret = s;
	return 0;
}
