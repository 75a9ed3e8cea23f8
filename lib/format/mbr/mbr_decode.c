/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A DOS table is recognised by two bytes that every boot sector carries, so most of the work is refusing what is none.
 */
#include "format/mbr/mbr.h"
#include "format/mbr/mbr_ondisk.h"

bool mbr_type_is_extended(uint8_t type) { return type == 0x05 || type == 0x0f || type == 0x85; }

static bool text_is(const char *field, const char *text, size_t length) { return memcmp(field, text, length) == 0; }

/* The fields that the kernel's FAT driver insists on (fs/fat/inode.c, fat_read_bpb) and MBR boot code does not happen to form. */
static bool bpb_is_fat(const struct mbr_ondisk_bpb *b)
{
	uint32_t sector_bytes = le16_get(b->sector_bytes);
	bool named = text_is(b->fat16_type, "FAT", 3) || text_is(b->fat32_type, "FAT32", 5);
	bool jump = b->jump[0] == 0xeb || b->jump[0] == 0xe9;

	return named && jump && is_power_of_2(sector_bytes) && sector_bytes >= 512 && sector_bytes <= 4096 &&
	       is_power_of_2(b->cluster_sectors) && le16_get(b->reserved_sectors) && b->fat_count && b->fat_count <= 2 &&
	       (b->media >= 0xf8 || b->media == 0xf0);
}

const char *mbr_boot_sector(const uint8_t *buffer, size_t size, uint32_t *ret_sector_bytes)
{
	struct mbr_ondisk_bpb b;
	uint32_t sector_bytes;
	const char *kind = NULL;

	if (size < MBR_SECTOR_BYTES || load_le16(buffer + 510) != MBR_MAGIC)
		return NULL;
	memcpy(&b, buffer, sizeof(b));
	sector_bytes = le16_get(b.sector_bytes);
	if (text_is(b.oem, "NTFS    ", 8))
		kind = "ntfs";
	else if (text_is(b.oem, "EXFAT   ", 8))
		kind = "exfat";
	else if (bpb_is_fat(&b))
		kind = "vfat";
	if (kind && kind[0] == 'e') /* exFAT keeps the shift of its sector size at byte 108 */
		sector_bytes = buffer[108] >= 9 && buffer[108] <= 12 ? 1U << buffer[108] : 0;
	if (kind && ret_sector_bytes)
		*ret_sector_bytes = sector_bytes;
	return kind;
}

int mbr_decode(const uint8_t *buffer, size_t size, struct mbr_sector *ret)
{
	struct mbr_sector s = { 0 };
	struct mbr_ondisk raw;

	if (size < sizeof(raw))
		return BLKALIGN_NOT_THIS;
	memcpy(&raw, buffer, sizeof(raw));
	if (le16_get(raw.magic) != MBR_MAGIC || mbr_boot_sector(buffer, size, NULL))
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
