/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/ext/ext.h"
#include "format/ext/ext_ondisk.h"

#define EXT2_INCOMPAT  (EXT_INCOMPAT_FILETYPE | EXT_INCOMPAT_META_BG)
#define EXT3_INCOMPAT  (EXT2_INCOMPAT | EXT_INCOMPAT_RECOVER)
#define EXT2_RO_COMPAT (EXT_RO_COMPAT_SPARSE_SUPER | EXT_RO_COMPAT_LARGE_FILE | EXT_RO_COMPAT_BTREE_DIR)

/* The oldest driver that knows all features names the file system. NULL: no driver would take it. */
static const char *type_of(const struct ext_super_ondisk *sb)
{
	uint32_t incompat = le32_get(sb->feature_incompat), ro_compat = le32_get(sb->feature_ro_compat);
	bool journal = le32_get(sb->feature_compat) & EXT_COMPAT_HAS_JOURNAL;
	bool beyond_ext3 = ro_compat & ~EXT2_RO_COMPAT || incompat & ~EXT3_INCOMPAT;

	if (incompat & EXT_INCOMPAT_JOURNAL_DEV)
		return "jbd";
	if (le32_get(sb->flags) & EXT_FLAG_TEST_FILESYS)
		return "ext4dev";
	if (beyond_ext3)
		return "ext4";
	if (journal)
		return "ext3";
	return incompat & ~EXT2_INCOMPAT ? NULL : "ext2";
}

static bool checksum_holds(const struct ext_super_ondisk *sb)
{
	if (!(le32_get(sb->feature_ro_compat) & EXT_RO_COMPAT_METADATA_CSUM))
		return true;
	return sb->checksum_type == EXT_CSUM_CRC32C &&
	       crc32c_raw(UINT32_MAX, sb, offsetof(struct ext_super_ondisk, checksum)) == le32_get(sb->checksum);
}

int ext_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr)
{
	struct ext_super_ondisk sb;
	struct fsgeom g;
	uint64_t blocks;
	const char *type;

	if (size < sizeof(sb))
		return BLKALIGN_NOT_THIS;
	memcpy(&sb, data, sizeof(sb));
	type = type_of(&sb);
	blocks = le32_get(sb.blocks_count_low);
	if (le32_get(sb.feature_incompat) & EXT_INCOMPAT_64BIT)
		blocks |= (uint64_t)le32_get(sb.blocks_count_high) << 32;
	/* Two bytes are a weak signature: what could not be a file system of any size is none. */
	if (le16_get(sb.magic) != EXT_MAGIC || !type || le32_get(sb.log_block_size) > EXT_LOG_BLOCK_MAX ||
	    le32_get(sb.first_data_block) >= blocks)
		return BLKALIGN_NOT_THIS;
	if (!checksum_holds(&sb))
		return blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes, "%s superblock: its checksum is wrong", type);

	fsgeom_init(&g, type);
	g.block_bytes = UINT64_C(1024) << le32_get(sb.log_block_size);
	if (!u64_mul(blocks, g.block_bytes, &g.size_bytes))
		return blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes, "%s superblock: its size does not fit 64 bits", type);
	g.stride_bytes = le16_get(sb.raid_stride_blocks) * g.block_bytes;
	g.stripe_bytes = le32_get(sb.raid_stripe_width_blocks) * g.block_bytes;
	fsgeom_set_uuid(&g, sb.uuid);
	fsgeom_set_label(&g, sb.volume_name, sizeof(sb.volume_name));
	*ret = g;
	return 0;
}

const struct fsgeom_format ext_format = {
	.name = "ext2/3/4",
	.copies_bytes = { EXT_SUPER_OFFSET },
	.copies = 1,
	.length_bytes = sizeof(struct ext_super_ondisk),
	.decode = ext_decode,
};
