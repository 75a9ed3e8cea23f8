/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_ZFS_ZFS_ONDISK_H
#define FORMAT_ZFS_ZFS_ONDISK_H

#include <assert.h>

#include "format/zfs/zfs.h"

#define ZFS_CHECKSUM_MAGIC UINT64_C(0x0210da7ab10c7a11)
#define ZFS_LABEL_BYTES	   (256U << 10)
#define ZFS_DATA_OFFSET	   (4U << 20) /* two labels and the boot area */
#define ZFS_ASHIFT_MIN	   9U
#define ZFS_ASHIFT_MAX	   16U

#define NV_ENCODING_XDR	  1U
#define NV_TYPE_UINT64	  8U
#define NV_TYPE_STRING	  9U
#define NV_TYPE_LIST	  19U
#define NV_TYPE_LISTARRAY 20U
#define NV_LIST_HEADER	  8U /* version, flags */

struct zfs_phys_ondisk {
	uint8_t encoding;
	uint8_t reserved_to_4[3];
	uint8_t list[ZFS_PHYS_BYTES - 4 - 40];
	uint8_t checksum_magic[8]; /* in the byte order of the machine that wrote it, as the words of the checksum */
	uint8_t checksum[32];	   /* SHA-256 of all this with {offset on the device, 0, 0, 0} in its place */
};
static_assert(offsetof(struct zfs_phys_ondisk, list) == 4, "ZFS label");
static_assert(offsetof(struct zfs_phys_ondisk, checksum_magic) == ZFS_PHYS_BYTES - 40, "ZFS label");
static_assert(sizeof(struct zfs_phys_ondisk) == ZFS_PHYS_BYTES, "ZFS label");

/** Take from the list of a label what matters. False when it does not say whose it is: spares have a GUID, if no pool's. */
bool zfs_decode_list(const uint8_t *list, size_t size, struct fsgeom *geom);

/** One name and value. The pointers lead into the buffer that was parsed. */
struct nvpair {
	const uint8_t *name;
	size_t name_length;
	uint32_t type;
	uint32_t elements;
	const uint8_t *value; /* XDR: numbers are 8 bytes, strings a 4-byte length and the text, lists a header and pairs */
	size_t value_length;
};

/**
 * Take the pair that begins at data[*at] and move *at behind it. False at the end of the list and where a pair does not fit: a list
 * that is cut short yields what is whole.
 */
bool nvpair_next(const uint8_t *data, size_t size, size_t *at, struct nvpair *ret);
/** False when the pair has another name or is not one number. */
bool nvpair_u64(const struct nvpair *pair, const char *name, uint64_t *ret);
/** False when the pair has another name or is not one string; `*ret` is not terminated. */
bool nvpair_string(const struct nvpair *pair, const char *name, const uint8_t **ret, size_t *ret_length);
/** False when the pair has another name or is not of this list type. */
bool nvpair_is_list(const struct nvpair *pair, const char *name, uint32_t type);

#endif
