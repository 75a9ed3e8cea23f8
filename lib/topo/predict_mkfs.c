/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/predict_private.h"

#define XFS_LARGEST_SECTOR (32 * KIB)

static uint32_t xfs_sector_bytes(const struct topo_version *xfsprogs, const struct topo_view *view)
{
	uint32_t physical = view->physical_bytes;

	if (!topo_version_at_least(xfsprogs, 3, 1, 8) || physical > XFS_LARGEST_SECTOR || physical > FS_BLOCK_BYTES)
		return view->logical_bytes;
	return max_u32(physical, view->logical_bytes);
}

/* Since 5.11 hints that do not fit each other are dropped with a message. */
static bool xfs_hints_invalid(uint64_t sunit, uint64_t swidth)
{
	if (!sunit && !swidth)
		return false;
	return !sunit || !swidth || swidth > INT32_MAX || sunit > swidth || swidth % sunit;
}

int topo_predict_xfs(const struct topo_version *xfsprogs, const struct topo_view *view, struct topo_xfs_choice *ret)
{
	struct topo_xfs_choice choice = { .sector_bytes = view->logical_bytes };
	uint64_t sunit = view->min_bytes, swidth = view->opt_bytes;

	if (!view_possible(view))
		return -EINVAL;
	choice.refused = visible_offset(view) != 0;
	if (!choice.refused)
		choice.sector_bytes = xfs_sector_bytes(xfsprogs, view);
	if (sunit == view->physical_bytes || swidth == view->physical_bytes)
		sunit = swidth = 0;
	if (topo_version_at_least(xfsprogs, 5, 11, 0) && xfs_hints_invalid(sunit, swidth))
		choice.ignored = true;
	if (topo_version_at_least(xfsprogs, 5, 19, 0) && view->size_bytes < GIB && (sunit || swidth))
		choice.ignored = true;
	if (!choice.ignored && sunit % FS_BLOCK_BYTES == 0 && swidth % FS_BLOCK_BYTES == 0) {
		choice.sunit_blocks = (uint32_t)(sunit / FS_BLOCK_BYTES);
		/* A signed number of bytes: from 2 GiB on it is negative, and stored all the same by 5.10 and earlier. */
		choice.swidth_blocks = (uint32_t)((int32_t)(uint32_t)swidth / (int32_t)FS_BLOCK_BYTES);
	}
	*ret = choice;
	return 0;
}

int topo_predict_ext(const struct topo_version *e2fsprogs, const struct topo_view *view, struct topo_ext_choice *ret)
{
	uint64_t stride = view->min_bytes ? view->min_bytes : view->physical_bytes;
	uint64_t stripe = view->opt_bytes ? view->opt_bytes : view->min_bytes;
	bool solid_state_plain = !view->rotational && topo_version_at_least(e2fsprogs, 1, 47, 3);

	if (!view_possible(view))
		return -EINVAL;
	*ret = (struct topo_ext_choice){
		.stride_blocks = stride > FS_BLOCK_BYTES ? (uint32_t)(stride / FS_BLOCK_BYTES) : 0,
		.stripe_width_blocks = stripe > FS_BLOCK_BYTES && !solid_state_plain ? (uint32_t)(stripe / FS_BLOCK_BYTES) : 0,
	};
	return 0;
}
