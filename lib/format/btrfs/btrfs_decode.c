/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <openssl/sha.h>

#include "format/btrfs/btrfs.h"
#include "format/btrfs/btrfs_ondisk.h"

#define UNIT_MIN 512U
#define UNIT_MAX 65536U

/* True also for the types that cannot be verified here. */
static bool checksum_holds(const struct btrfs_super_ondisk *sb)
{
	const uint8_t *data = (const uint8_t *)sb + sizeof(sb->checksum);
	size_t length = sizeof(*sb) - sizeof(sb->checksum);
	uint8_t sha[SHA256_DIGEST_LENGTH];

	switch (le16_get(sb->checksum_type)) {
	case BTRFS_CSUM_CRC32C:
		return ~crc32c_raw(UINT32_MAX, data, length) == load_le32(sb->checksum);
	case BTRFS_CSUM_SHA256:
		return memcmp(SHA256(data, length, sha), sb->checksum, sizeof(sha)) == 0;
	default:
		return true;
	}
}

static bool unit_holds(uint32_t bytes) { return is_power_of_2(bytes) && bytes >= UNIT_MIN && bytes <= UNIT_MAX; }

static int check(const struct btrfs_super_ondisk *sb, uint64_t place_bytes, struct blkalign_error *reterr)
{
	const char *wrong = NULL;

	if (!checksum_holds(sb))
		wrong = "checksum";
	else if (le64_get(sb->place_bytes) != place_bytes)
		wrong = "own position";
	else if (!unit_holds(le32_get(sb->sector_bytes)) || !unit_holds(le32_get(sb->node_bytes)))
		wrong = "sector or node size";
	return wrong ? blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes, "btrfs superblock: its %s is wrong", wrong) : 0;
}

static void add_notes(struct fsgeom *g, const struct btrfs_super_ondisk *sb)
{
	uint64_t devices = le64_get(sb->devices);
	uint16_t type = le16_get(sb->checksum_type);
	bool verified = type == BTRFS_CSUM_CRC32C || type == BTRFS_CSUM_SHA256;

	if (devices > 1)
		fsgeom_note(g, "one of %" PRIu64 " devices of a btrfs of %" PRIu64 " bytes%s", devices, le64_get(sb->total_bytes),
			    verified ? "" : "; its checksum type is not verified");
	else if (!verified)
		fsgeom_note(g, "its superblock checksum (%s) is not verified",
			    type == BTRFS_CSUM_XXHASH64	 ? "xxhash64"
			    : type == BTRFS_CSUM_BLAKE2B ? "blake2b"
							 : "of an unknown type");
}

int btrfs_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr)
{
	struct btrfs_super_ondisk sb;
	struct fsgeom g;
	int r;

	if (size < sizeof(sb))
		return BLKALIGN_NOT_THIS;
	memcpy(&sb, data, sizeof(sb));
	if (memcmp(sb.magic, BTRFS_MAGIC, sizeof(sb.magic)) != 0)
		return BLKALIGN_NOT_THIS;
	r = check(&sb, place_bytes, reterr);
	if (r < 0)
		return r;

	fsgeom_init(&g, "btrfs");
	g.size_bytes = le64_get(sb.device_bytes);
	g.block_bytes = le32_get(sb.sector_bytes);
	g.sector_bytes = le32_get(sb.sector_bytes);
	fsgeom_set_uuid(&g, sb.fsid);
	fsgeom_set_label(&g, sb.label, sizeof(sb.label));
	add_notes(&g, &sb);
	*ret = g;
	return 0;
}

const struct fsgeom_format btrfs_format = {
	.name = "btrfs",
	.copies_bytes = { 64 * KIB, 64 * MIB },
	.copies = 2,
	.length_bytes = BTRFS_SUPER_BYTES,
	.decode = btrfs_decode,
};
