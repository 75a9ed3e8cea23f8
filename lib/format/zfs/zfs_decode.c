/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>

#include "format/zfs/zfs_ondisk.h"

/* What is taken from vdev_tree, the top-level device that this one belongs to. */
struct vdev {
	const uint8_t *type;
	size_t type_length;
	uint64_t ashift;
	uint64_t asize_bytes;
	uint32_t children;
};

static void store_u64(uint8_t *p, uint64_t v, bool little)
{
	for (unsigned i = 0; i < 8; i++)
		p[little ? i : 7 - i] = (uint8_t)(v >> 8 * i);
}

/* The label is hashed with its own position where the checksum will be: a label that was moved does not verify. */
static bool checksum_holds(const uint8_t *data, uint64_t place_bytes)
{
	struct zfs_phys_ondisk phys;
	uint8_t sha[SHA256_DIGEST_LENGTH], stored[sizeof(phys.checksum)];
	bool little;

	memcpy(&phys, data, sizeof(phys));
	memcpy(stored, phys.checksum, sizeof(stored));
	little = load_le64(phys.checksum_magic) == ZFS_CHECKSUM_MAGIC;
	if (!little && load_be64(phys.checksum_magic) != ZFS_CHECKSUM_MAGIC)
		return false;
	memset(phys.checksum, 0, sizeof(phys.checksum));
	store_u64(phys.checksum, place_bytes, little);
	SHA256((const uint8_t *)&phys, sizeof(phys), sha);
	for (size_t i = 0; i < sizeof(sha); i += 8)
		if (load_be64(sha + i) != (little ? load_le64(stored + i) : load_be64(stored + i)))
			return false;
	return true;
}

static void parse_vdev(const uint8_t *list, size_t size, struct vdev *ret)
{
	struct nvpair pair;

	for (size_t at = NV_LIST_HEADER; nvpair_next(list, size, &at, &pair);) {
		nvpair_string(&pair, "type", &ret->type, &ret->type_length);
		nvpair_u64(&pair, "ashift", &ret->ashift);
		nvpair_u64(&pair, "asize", &ret->asize_bytes);
		if (nvpair_is_list(&pair, "children", NV_TYPE_LISTARRAY))
			ret->children = pair.elements;
	}
}

static bool vdev_is(const struct vdev *vdev, const char *type)
{
	return vdev->type_length == strlen(type) && !memcmp(vdev->type, type, vdev->type_length);
}

/* The allocatable size of a mirror is that of each member; of raidz it is the sum, and what one member has of it depends on the size of all. */
static void set_vdev(struct fsgeom *g, const struct vdev *vdev)
{
	bool whole = vdev_is(vdev, "disk") || vdev_is(vdev, "file") || vdev_is(vdev, "mirror");

	if (vdev->ashift >= ZFS_ASHIFT_MIN && vdev->ashift <= ZFS_ASHIFT_MAX)
		g->sector_bytes = UINT64_C(1) << vdev->ashift;
	if (whole && vdev->asize_bytes && !u64_add(vdev->asize_bytes, ZFS_DATA_OFFSET + 2 * ZFS_LABEL_BYTES, &g->size_bytes))
		g->size_bytes = BLKALIGN_UNKNOWN;
	if (vdev->children)
		fsgeom_note(g, "one of %" PRIu32 " devices of a ZFS %.*s", vdev->children,
			    (int)(vdev->type_length < 32 ? vdev->type_length : 32), (const char *)vdev->type);
}

bool zfs_decode_list(const uint8_t *list, size_t size, struct fsgeom *g)
{
	struct vdev vdev = { .type = (const uint8_t *)"" };
	struct nvpair pair;
	const uint8_t *name;
	size_t length;
	uint64_t number;
	bool named = false;

	for (size_t at = NV_LIST_HEADER; nvpair_next(list, size, &at, &pair);) {
		if (nvpair_string(&pair, "name", &name, &length))
			fsgeom_set_label(g, name, length);
		if (nvpair_u64(&pair, "pool_guid", &number))
			snprintf(g->uuid, sizeof(g->uuid), "%" PRIu64, number);
		if (nvpair_u64(&pair, "pool_guid", &number) || nvpair_u64(&pair, "guid", &number))
			named = true;
		nvpair_u64(&pair, "ashift", &vdev.ashift); /* cache devices have no vdev_tree */
		if (nvpair_is_list(&pair, "vdev_tree", NV_TYPE_LIST))
			parse_vdev(pair.value, pair.value_length, &vdev);
	}
	set_vdev(g, &vdev);
	return named;
}

int zfs_decode(const uint8_t *data, size_t size, uint64_t place_bytes, struct fsgeom *ret, struct blkalign_error *reterr)
{
	struct fsgeom g;
	size_t list = offsetof(struct zfs_phys_ondisk, list);

	/* The encoding byte is all that announces a label; the first pair then must be whole. */
	if (size < ZFS_PHYS_BYTES || data[0] != NV_ENCODING_XDR)
		return BLKALIGN_NOT_THIS;
	fsgeom_init(&g, "zfs_member");
	g.data_offset_bytes = ZFS_DATA_OFFSET;
	if (!zfs_decode_list(data + list, sizeof(((struct zfs_phys_ondisk *)NULL)->list), &g))
		return BLKALIGN_NOT_THIS;
	if (!checksum_holds(data, place_bytes))
		return blkalign_error_set(reterr, -EBADMSG, NULL, place_bytes, "ZFS label: its checksum is wrong");
	*ret = g;
	return 0;
}

const struct fsgeom_format zfs_format = {
	.name = "ZFS",
	.copies_bytes = { ZFS_PHYS_OFFSET, ZFS_LABEL_BYTES + ZFS_PHYS_OFFSET },
	.copies = 2,
	.length_bytes = ZFS_PHYS_BYTES,
	.decode = zfs_decode,
};
