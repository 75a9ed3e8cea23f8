/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input: the beginning of the name/value list; the rest of its 112 KiB is zero. */
#include "fuzz_fs.h"

#include <openssl/sha.h>

#include "format/zfs/zfs_ondisk.h"

#define MAGIC_OFFSET	(ZFS_PHYS_BYTES - 40U)
#define CHECKSUM_OFFSET (ZFS_PHYS_BYTES - 32U)

/* As a little-endian machine stores it. */
static void mend(uint8_t *phys)
{
	static const uint8_t magic[8] = { 0x11, 0x7a, 0x0c, 0xb1, 0x7a, 0xda, 0x10, 0x02 };
	uint8_t sha[SHA256_DIGEST_LENGTH];

	memcpy(phys + MAGIC_OFFSET, magic, sizeof(magic));
	memset(phys + CHECKSUM_OFFSET, 0, sizeof(sha));
	fuzz_store_le32(phys + CHECKSUM_OFFSET, ZFS_PHYS_OFFSET);
	SHA256(phys, ZFS_PHYS_BYTES, sha);
	for (size_t i = 0; i < sizeof(sha); i++)
		phys[CHECKSUM_OFFSET + (i ^ 7)] = sha[i];
}

static void whole_label(const uint8_t *data, size_t size)
{
	uint8_t *phys = calloc(1, ZFS_PHYS_BYTES);
	struct fsgeom g;
	int r;

	fuzz_require(phys);
	memcpy(phys, data, size < MAGIC_OFFSET ? size : MAGIC_OFFSET);
	r = zfs_decode(phys, ZFS_PHYS_BYTES, ZFS_PHYS_OFFSET, &g, NULL);
	fuzz_fs_check(r, &g);
	if (r == -EBADMSG) {
		mend(phys);
		fuzz_require(zfs_decode(phys, ZFS_PHYS_BYTES, ZFS_PHYS_OFFSET, &g, NULL) == 0);
	}
	free(phys);
}

/* Hashing 112 KiB is slow: one input in 64 takes that way, all take the parser's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsgeom g;

	if (crc32c_raw(UINT32_MAX, data, size) % 64 == 0)
		whole_label(data, size);
	if (size < 4)
		return 0;
	fsgeom_init(&g, "zfs_member");
	zfs_decode_list(data + 4, size - 4, &g);
	fuzz_fs_check(0, &g);
	return 0;
}
