/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/bcache/bcache.h"
#include "format/btrfs/btrfs.h"
#include "format/ext/ext.h"
#include "format/fat/fat.h"
#include "format/luks/luks.h"
#include "format/lvm2/lvm2.h"
#include "format/md1/md1.h"
#include "format/ntfs/ntfs.h"
#include "format/swap/swap.h"
#include "format/xfs/xfs.h"
#include "stack/signature.h"

/* Those with their superblock near the start. ZFS labels lie at the end as well and outlive the pool. */
static const struct fsgeom_format *const formats[] = {
	&xfs_format, &ext_format, &btrfs_format, &ntfs_format, &swap_format, &fat_format,
};

static const char *container(struct dev *dev)
{
	struct luks_found luks;
	struct bcache_super bcache;
	struct lvm2_label label;
	struct md1_superblock md;

	if (luks_read(dev, &luks, NULL) == 0)
		return "crypto_LUKS";
	if (md1_read(dev, 1, &md, NULL) == 0 || md1_read(dev, 2, &md, NULL) == 0)
		return "linux_raid_member";
	if (lvm2_label_read(dev, &label, NULL) == 0)
		return "LVM2_member";
	return bcache_read(dev, &bcache, NULL) == 0 ? "bcache" : NULL;
}

static int file_system(struct dev *dev, struct signature *ret)
{
	_cleanup_free_ struct fsgeom_result *results = calloc(ARRAY_SIZE(formats), sizeof(*results));
	int r = results ? fsgeom_probe(dev, formats, ARRAY_SIZE(formats), results) : -ENOMEM;

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		const struct fsgeom *g = &results[i].geom;
		bool counts_device_blocks = formats[i] == &fat_format || formats[i] == &ntfs_format;

		if (results[i].outcome != 0)
			continue;
		*ret = (struct signature){ .type = g->type,
					   .size_bytes = g->size_bytes,
					   .device_block_bytes = counts_device_blocks ? g->sector_bytes : BLKALIGN_UNKNOWN };
		return 0;
	}
	return BLKALIGN_NOT_THIS;
}

int signature_at(struct dev *dev, uint64_t offset_bytes, struct signature *ret)
{
	_cleanup_dev_ struct dev *slice = NULL;
	const char *type;
	int r;

	if (offset_bytes >= dev->size_bytes)
		return BLKALIGN_NOT_THIS;
	r = dev_open_slice(dev->name, dev, offset_bytes, dev->size_bytes - offset_bytes, &slice);
	if (r < 0)
		return r;
	type = container(slice);
	if (!type)
		return file_system(slice, ret);
	*ret = (struct signature){ .type = type, .size_bytes = BLKALIGN_UNKNOWN, .device_block_bytes = BLKALIGN_UNKNOWN };
	return 0;
}
