/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/xfs/xfs.h"
#include "format/xfs/xfs_ondisk.h"

static bool log_agrees(uint64_t value, uint8_t log, uint8_t min, uint8_t max)
{
	return log >= min && log <= max && value == UINT64_C(1) << log;
}

/* The last allocation group may be short, but not shorter than the kernel accepts. */
static bool size_agrees(const struct xfs_super_ondisk *sb)
{
	uint64_t ag_blocks = be32_get(sb->ag_blocks), ag_count = be32_get(sb->ag_count), blocks = be64_get(sb->data_blocks);

	return ag_count && blocks && blocks <= ag_count * ag_blocks && blocks >= (ag_count - 1) * ag_blocks + XFS_AG_BLOCKS_MIN;
}

static bool crc_holds(const struct xfs_super_ondisk *sb, const uint8_t *data, uint32_t sector_bytes)
{
	static const uint8_t zero[sizeof(sb->crc)];
	uint32_t crc = crc32c_raw(UINT32_MAX, data, offsetof(struct xfs_super_ondisk, crc));
	size_t after = offsetof(struct xfs_super_ondisk, crc) + sizeof(zero);

	crc = crc32c_raw(crc, zero, sizeof(zero));
	crc = crc32c_raw(crc, data + after, sector_bytes - after);
	return ~crc == le32_get(sb->crc);
}

static int check(const struct xfs_super_ondisk *sb, const uint8_t *data, size_t size, uint64_t place_bytes, struct blkalign_error *reterr)
{
	const char *wrong = NULL;

	if (!log_agrees(be16_get(sb->sector_bytes), sb->sector_log, XFS_SECTOR_LOG_MIN, XFS_SECTOR_LOG_MAX))
		wrong = "sector size";
	else if (!log_agrees(be32_get(sb->block_bytes), sb->block_log, XFS_BLOCK_LOG_MIN, XFS_BLOCK_LOG_MAX))
		wrong = "block size";
	else if (!size_agrees(sb))
		wrong = "size";
	else if ((be16_get(sb->version) & XFS_VERSION_MASK) == XFS_VERSION_CRC &&
		 (be16_get(sb->sector_bytes) > size || !crc_holds(sb, data, be16_get(sb->sector_bytes))))
		wrong = "checksum";
	return wrong ? blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes, "XFS superblock: its %s is wrong", wrong) : 0;
}

int xfs_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr)
{
	struct xfs_super_ondisk sb;
	struct fsgeom g;
	uint32_t log_unit;
	int r;

	if (size < sizeof(sb))
		return BLKALIGN_NOT_THIS;
	memcpy(&sb, data, sizeof(sb));
	if (be32_get(sb.magic) != XFS_MAGIC)
		return BLKALIGN_NOT_THIS;
	r = check(&sb, data, size, place_bytes, reterr);
	if (r < 0)
		return r;

	fsgeom_init(&g, "xfs");
	g.block_bytes = be32_get(sb.block_bytes);
	g.sector_bytes = be16_get(sb.sector_bytes);
	if (!u64_mul(be64_get(sb.data_blocks), g.block_bytes, &g.size_bytes))
		return blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes, "XFS superblock: its size does not fit 64 bits");
	g.stride_bytes = be32_get(sb.stripe_unit_blocks) * g.block_bytes;
	g.stripe_bytes = be32_get(sb.stripe_width_blocks) * g.block_bytes;
	log_unit = be32_get(sb.log_stripe_unit_bytes);
	g.log_stride_bytes = log_unit > 1 ? log_unit : 0;
	fsgeom_set_uuid(&g, sb.uuid);
	fsgeom_set_label(&g, sb.label, sizeof(sb.label));
	*ret = g;
	return 0;
}

const struct fsgeom_format xfs_format = {
	.name = "XFS",
	.copies_bytes = { 0 },
	.copies = 1,
	.length_bytes = 1U << XFS_SECTOR_LOG_MAX,
	.decode = xfs_decode,
};
