/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Input: the beginning of the name/value list; the rest of its 112 KiB is zero. */
#include "fuzz_fs.h"

#include <openssl/sha.h>

#include "format/zfs/zfs.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
		r = zfs_decode(phys, ZFS_PHYS_BYTES, ZFS_PHYS_OFFSET, &g, NULL);
		fuzz_fs_check(r, &g);
		fuzz_require(r == 0);
	}
	free(phys);
	return 0;
}
