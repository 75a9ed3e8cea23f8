/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "format/ntfs/ntfs.h"
#include "format/ntfs/ntfs_ondisk.h"

/* 0: not a cluster size. */
static uint32_t cluster_bytes(const struct ntfs_boot_ondisk *b)
{
	uint32_t sector = le16_get(b->sector_bytes), code = b->sectors_per_cluster, sectors;

	if (!is_power_of_2(sector) || sector < 256 || sector > 4096)
		return 0;
	if (is_power_of_2(code))
		sectors = code;
	else if (code >= 240 && code <= 249)
		sectors = 1U << (256 - code);
	else
		return 0;
	return sector * sectors <= NTFS_CLUSTER_MAX ? sector * sectors : 0;
}

/* 0: not a record size that is read here. */
static uint32_t record_bytes(const struct ntfs_boot_ondisk *b, uint32_t cluster)
{
	uint32_t code = b->clusters_per_record, bytes = 0;

	if (code >= 0xe1 && code <= 0xf7)
		bytes = 1U << (256 - code);
	else if (is_power_of_2(code) && code <= 64)
		bytes = code * cluster;
	return bytes <= NTFS_RECORD_MAX ? bytes : 0;
}

static bool looks_like_fat(const struct ntfs_boot_ondisk *b)
{
	return le16_get(b->reserved_sectors) || b->fats || le16_get(b->root_entries) || le16_get(b->sectors16) ||
	       le16_get(b->sectors_per_fat) || le32_get(b->sectors32);
}

static void point_at_label(const struct ntfs_boot_ondisk *b, uint32_t cluster, struct fsgeom *g)
{
	uint64_t mft, record = record_bytes(b, cluster);

	if (!record || !u64_mul(le64_get(b->mft_cluster), cluster, &mft) ||
	    !u64_add(mft, NTFS_RECORD_VOLUME * record, &g->record_offset_bytes))
		return;
	g->record_length_bytes = record;
}

int ntfs_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr)
{
	struct ntfs_boot_ondisk b;
	struct fsgeom g;
	uint32_t cluster;
	uint64_t clusters;

	if (size < sizeof(b))
		return BLKALIGN_NOT_THIS;
	memcpy(&b, data, sizeof(b));
	if (memcmp(b.oem_id, NTFS_OEM_ID, sizeof(b.oem_id)) != 0 || looks_like_fat(&b))
		return BLKALIGN_NOT_THIS;
	fsgeom_init(&g, "ntfs");
	cluster = cluster_bytes(&b);
	if (!cluster)
		return blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes, "NTFS boot sector: its sector or cluster size is wrong");
	g.sector_bytes = le16_get(b.sector_bytes);
	g.block_bytes = cluster;
	clusters = le64_get(b.sectors) / (cluster / g.sector_bytes);
	if (!u64_mul(le64_get(b.sectors), g.sector_bytes, &g.size_bytes) || le64_get(b.mft_cluster) > clusters ||
	    le64_get(b.mft_mirror_cluster) > clusters)
		return blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes, "NTFS boot sector: its size is wrong");
	g.hidden_sectors = le32_get(b.hidden_sectors);
	snprintf(g.uuid, sizeof(g.uuid), "%016" PRIX64, le64_get(b.serial));
	point_at_label(&b, cluster, &g);
	*ret = g;
	return 0;
}

const struct fsgeom_format ntfs_format = {
	.name = "NTFS",
	.copies_bytes = { 0 },
	.copies = 1,
	.length_bytes = sizeof(struct ntfs_boot_ondisk),
	.decode = ntfs_decode,
	.decode_record = ntfs_decode_record,
};
