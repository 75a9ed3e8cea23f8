/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/signature.h"
#include "format/mbr/mbr.h"

#define WINDOW_BYTES 8192U

static const struct {
	const char *name;
	uint32_t at;
	uint32_t length;
	const char *magic;
} magics[] = {
	{ "an XFS superblock", 0, 4, "XFSB" },
	{ "a LUKS header", 0, 6, "LUKS\xba\xbe" },
	{ "an LVM label", 512, 8, "LABELONE" },
	{ "an LVM label", 0, 8, "LABELONE" },
	{ "an md 1.2 superblock", 4096, 4, "\xfc\x4e\x2b\xa9" },
	{ "an md 1.1 superblock", 0, 4, "\xfc\x4e\x2b\xa9" },
	{ "a swap header", 4086, 10, "SWAPSPACE2" },
	{ "an F2FS superblock", 1024, 4, "\x10\x20\xf5\xf2" },
	{ "a SquashFS superblock", 0, 4, "hsqs" },
	{ "a bcache superblock", 4096 + 24, 16, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81" },
};
#define BTRFS_MAGIC_BYTES 65600U

/* The ext magic is two bytes, so a few neighbours have to make sense too (fs/ext4/super.c, ext4_fill_super). */
static bool is_ext(const uint8_t *window)
{
	const uint8_t *sb = window + 1024;

	return load_le16(sb + 56) == 0xef53 && load_le32(sb + 24) <= 6 && load_le32(sb) && load_le32(sb + 4) && load_le32(sb + 32) &&
	       load_le32(sb + 76) <= 1;
}

static bool is_btrfs(struct dev *dev, uint64_t offset_bytes)
{
	uint8_t magic[8];
	uint64_t at;

	return u64_add(offset_bytes, BTRFS_MAGIC_BYTES, &at) && range_inside(at, sizeof(magic), dev->size_bytes) &&
	       dev_read(dev, at, magic, sizeof(magic), NULL) == 0 && memcmp(magic, "_BHRfS_M", sizeof(magic)) == 0;
}

static const char *window_signature(const uint8_t *window)
{
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (memcmp(window + magics[i].at, magics[i].magic, magics[i].length) == 0)
			return magics[i].name;
	return is_ext(window) ? "an ext superblock" : NULL;
}

bool signature_at(struct dev *dev, uint64_t offset_bytes, struct signature *ret)
{
	uint8_t window[WINDOW_BYTES];
	struct signature s = { 0 };

	if (!range_inside(offset_bytes, sizeof(window), dev->size_bytes) || dev_read(dev, offset_bytes, window, sizeof(window), NULL) < 0)
		return false;
	s.name = window_signature(window);
	if (!s.name && mbr_boot_sector(window, sizeof(window), &s.sector_bytes))
		s.name = "a FAT, exFAT or NTFS boot sector";
	if (!s.name && is_btrfs(dev, offset_bytes))
		s.name = "a btrfs superblock";
	if (!s.name)
		return false;
	*ret = s;
	return true;
}
