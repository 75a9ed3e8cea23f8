/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "format/fat/fat.h"
#include "format/fat/fat_ondisk.h"

/* The info sector of FAT32 is the second one as a rule: enough is read to see it at any sector size. */
#define READ_BYTES ((size_t)2 * FAT_SECTOR_MAX)

struct layout {
	uint64_t sectors;
	uint64_t root_sector; /* FAT12 and FAT16: the root directory; FAT32: as data_sector */
	uint64_t data_sector; /* first cluster */
	bool fat32;
};

/* BitLocker To Go dresses up as FAT32, with this identifier (4967d63b-2e29-4ad8-8399-f6a339e3d001) in its boot code. */
static bool is_bitlocker(const uint8_t *data)
{
	static const uint8_t id[16] = { 0x3b, 0xd6, 0x67, 0x49, 0x29, 0x2e, 0xd8, 0x4a, 0x83, 0x99, 0xf6, 0xa3, 0x39, 0xe3, 0xd0, 0x01 };

	return memcmp(data + 424, id, sizeof(id)) == 0;
}

/* Any text that some system writes, or else the boot signature. */
static bool has_signature(const struct fat_boot_ondisk *b)
{
	const uint8_t *t16 = b->fat16.type, *t32 = b->fat32.type;

	if (!memcmp(t32, "MSWIN", 5) || !memcmp(t32, "FAT32   ", 8) || !memcmp(t16, "MSDOS", 5) || !memcmp(t16, "FAT16   ", 8) ||
	    !memcmp(t16, "FAT12   ", 8) || !memcmp(t16, "FAT     ", 8))
		return true;
	/* OS/2 put such a sector in front of other file systems. */
	if (!memcmp(t16, "JFS     ", 8) || !memcmp(t16, "HPFS    ", 8))
		return false;
	return b->boot_signature[0] == 0x55 && b->boot_signature[1] == 0xaa;
}

static bool fields_hold(const struct fat_boot_ondisk *b)
{
	uint32_t sector = le16_get(b->sector_bytes);

	return b->fats && le16_get(b->reserved_sectors) && (b->media >= 0xf8 || b->media == 0xf0) &&
	       is_power_of_2(b->sectors_per_cluster) && is_power_of_2(sector) && sector >= FAT_SECTOR_MIN && sector <= FAT_SECTOR_MAX;
}

static bool lay_out(const struct fat_boot_ondisk *b, struct layout *ret)
{
	uint64_t sector = le16_get(b->sector_bytes), fat = le16_get(b->fat_sectors16), clusters, max;
	struct layout l = { .sectors = le16_get(b->sectors16), .fat32 = !fat };

	if (!l.sectors)
		l.sectors = le32_get(b->sectors32);
	if (l.fat32)
		fat = le32_get(b->fat32.fat_sectors32);
	l.root_sector = le16_get(b->reserved_sectors) + fat * b->fats;
	l.data_sector = l.root_sector + (le16_get(b->root_entries) * sizeof(struct fat_entry_ondisk) + sector - 1) / sector;
	if (!fat || l.data_sector >= l.sectors)
		return false;
	clusters = (l.sectors - l.data_sector) / b->sectors_per_cluster;
	max = l.fat32 ? FAT32_CLUSTERS_MAX : clusters > FAT12_CLUSTERS_MAX ? FAT16_CLUSTERS_MAX : FAT12_CLUSTERS_MAX;
	if (clusters > max)
		return false;
	*ret = l;
	return true;
}

/* Absent or zeroed is allowed: some systems do not write it. */
static bool info_sector_holds(const struct fat_boot_ondisk *b, const uint8_t *data, size_t size)
{
	uint64_t at = (uint64_t)le16_get(b->fat32.info_sector) * le16_get(b->sector_bytes);

	if (!at || !range_inside(at, FAT_SECTOR_MIN, size))
		return true;
	if (load_le32(data + at) && memcmp(data + at, "RRaA", 4) != 0 && memcmp(data + at, "RRdA", 4) != 0)
		return false;
	return !load_le32(data + at + 484) || !memcmp(data + at + 484, "rrAa", 4);
}

static void point_at_root(const struct fat_boot_ondisk *b, const struct layout *l, struct fsgeom *g)
{
	uint32_t root = le32_get(b->fat32.root_cluster);

	g->record_offset_bytes = l->root_sector * g->sector_bytes;
	g->record_length_bytes = (l->data_sector - l->root_sector) * g->sector_bytes;
	if (l->fat32) {
		g->record_offset_bytes = g->data_offset_bytes + (root >= 2 ? root - 2 : 0) * g->block_bytes;
		g->record_length_bytes = root >= 2 ? g->block_bytes : 0;
	}
}

static void set_serial(const struct fat_boot_ondisk *b, bool fat32, struct fsgeom *g)
{
	const uint8_t *s = fat32 ? b->fat32.serial : b->fat16.serial;
	uint8_t extended = fat32 ? 0x29 : b->fat16.extended_signature;

	if (extended == 0x28 || extended == 0x29)
		snprintf(g->uuid, sizeof(g->uuid), "%02X%02X-%02X%02X", s[3], s[2], s[1], s[0]);
}

int fat_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr)
{
	struct fat_boot_ondisk b;
	struct layout l;
	struct fsgeom g;

	/* Without a signature of its own nothing that does not fit can be called a damaged FAT. */
	(void)place_bytes;
	(void)reterr;
	if (size < sizeof(b))
		return BLKALIGN_NOT_THIS;
	memcpy(&b, data, sizeof(b));
	if (is_bitlocker(data) || !has_signature(&b) || !fields_hold(&b) || !lay_out(&b, &l) ||
	    (l.fat32 && !info_sector_holds(&b, data, size)))
		return BLKALIGN_NOT_THIS;

	fsgeom_init(&g, "vfat");
	g.sector_bytes = le16_get(b.sector_bytes);
	g.block_bytes = g.sector_bytes * b.sectors_per_cluster;
	g.size_bytes = g.sector_bytes * l.sectors;
	g.data_offset_bytes = g.sector_bytes * l.data_sector;
	g.hidden_sectors = le32_get(b.hidden_sectors);
	set_serial(&b, l.fat32, &g);
	point_at_root(&b, &l, &g);
	*ret = g;
	return 0;
}

void fat_decode_record(const uint8_t *data, size_t size, struct fsgeom *geom)
{
	struct fat_entry_ondisk e;

	for (size_t at = 0; at + sizeof(e) <= size; at += sizeof(e)) {
		memcpy(&e, data + at, sizeof(e));
		if (e.name[0] == FAT_ENTRY_END)
			return;
		if (e.name[0] == FAT_ENTRY_FREE || le16_get(e.cluster_high) || le16_get(e.cluster_low) ||
		    (e.attributes & FAT_ATTR_MASK) == FAT_ATTR_LONG_NAME)
			continue;
		if ((e.attributes & (FAT_ATTR_VOLUME | FAT_ATTR_DIRECTORY)) != FAT_ATTR_VOLUME)
			continue;
		if (e.name[0] == FAT_ENTRY_KANJI)
			e.name[0] = FAT_ENTRY_FREE;
		fsgeom_set_label(geom, e.name, sizeof(e.name));
		return;
	}
}

const struct fsgeom_format fat_format = {
	.name = "FAT",
	.copies_bytes = { 0 },
	.copies = 1,
	.length_bytes = READ_BYTES,
	.decode = fat_decode,
	.decode_record = fat_decode_record,
};
