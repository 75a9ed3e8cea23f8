/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/limits.h"

#include "topo/limits_private.h"

uint32_t topo_md_data_disks(const struct topo_md *md)
{
	uint32_t parity = 0;

	switch (md->level) {
	case TOPO_MD_LINEAR:
	case TOPO_MD_RAID1:
		return 1;
	case TOPO_MD_RAID0:
		break;
	case TOPO_MD_RAID4:
	case TOPO_MD_RAID5:
		parity = 1;
		break;
	case TOPO_MD_RAID6:
		parity = 2;
		break;
	case TOPO_MD_RAID10:
		if (md->near_copies && md->raid_disks % md->near_copies == 0)
			return max_u32(md->raid_disks / md->near_copies, 1);
		break;
	}
	return md->raid_disks > parity ? md->raid_disks - parity : 1;
}

static bool has_parity(const struct topo_md *md)
{
	return md->level == TOPO_MD_RAID4 || md->level == TOPO_MD_RAID5 || md->level == TOPO_MD_RAID6;
}

#define RAID1_BARRIER_SECTORS 131072U /* BARRIER_UNIT_SECTOR_SIZE */
#define RAID5_MAX_SECTORS     2048U   /* RAID5_MAX_REQ_STRIPES stripes of a page */

/* What the personality sets before its members are stacked. */
static void preset(const struct topo_kernel *kernel, const struct topo_md *md, struct topo_limits *limits)
{
	uint32_t chunk_bytes = (uint32_t)(md->chunk_sectors512 * UINT64_C(512));
	uint32_t stripe_bytes = (uint32_t)(chunk_bytes * (uint64_t)topo_md_data_disks(md));

	if (md->stored_logical_bytes && kernel->has[TOPO_MD_STORES_LOGICAL])
		limits->logical_bytes = md->stored_logical_bytes;
	if (md->level == TOPO_MD_RAID1) {
		if (kernel->has[TOPO_MD_RAID1_BOUNDARY])
			limits->chunk_sectors512 = RAID1_BARRIER_SECTORS;
		return;
	}
	if (md->level == TOPO_MD_LINEAR) {
		if (!kernel->has[TOPO_MD_LINEAR_CHUNK])
			return;
		limits->min_bytes = chunk_bytes;
		limits->max_hw_sectors512 = md->chunk_sectors512;
		return;
	}
	topo_set_min(limits, chunk_bytes);
	limits->opt_bytes = stripe_bytes;
	if (md->level == TOPO_MD_RAID0)
		topo_limit_requests(kernel, limits, md->chunk_sectors512);
	if (md->level == TOPO_MD_RAID0	  ? kernel->has[TOPO_MD_CHUNK_BOUNDARY]
	    : md->level == TOPO_MD_RAID10 ? kernel->has[TOPO_MD_RAID10_BOUNDARY]
					  : false)
		limits->chunk_sectors512 = md->chunk_sectors512;
	if (has_parity(md) && kernel->has[TOPO_MD_RAID5_BOUNDARY])
		limits->chunk_sectors512 = stripe_bytes / 512;
}

static uint64_t new_start(const struct topo_md *md, size_t i)
{
	struct topo_area moved = md->members[i];

	if (md->new_offsets)
		moved.offset_sectors512 = md->new_offsets[i];
	return topo_area_start(&moved);
}

/* RAID4/5/6 stacks every member at both its offsets; an lcm that is cut at each step depends on the order. */
static void stack_members(const struct topo_kernel *kernel, const struct topo_md *md, struct topo_limits *limits)
{
	bool twice = has_parity(md);

	for (size_t i = 0; i < md->member_count; i++) {
		topo_stack(kernel, limits, md->members[i].limits, topo_area_start(&md->members[i]));
		if (twice && !kernel->has[TOPO_MD_SECOND_PASS])
			topo_stack(kernel, limits, md->members[i].limits, new_start(md, i));
	}
	for (size_t i = 0; twice && kernel->has[TOPO_MD_SECOND_PASS] && i < md->member_count; i++)
		topo_stack(kernel, limits, md->members[i].limits, new_start(md, i));
}

/* RAID4/5/6 splits requests itself and is not bound by its members' size. */
static void limit_parity(const struct topo_kernel *kernel, struct topo_limits *limits)
{
	uint32_t max = kernel->has[TOPO_MD_RAID5_MAX_1M] ? RAID5_MAX_SECTORS : UINT32_MAX;

	if (kernel->has[TOPO_MD_RAID5_MAX_OPT])
		max = max_u32(max, limits->opt_bytes / 512);
	if (kernel->has[TOPO_COMMIT_VALIDATES])
		limits->max_hw_sectors512 = max;
	else
		topo_limit_requests(kernel, limits, max);
}

int topo_md_limits(const struct topo_kernel *kernel, const struct topo_md *md, struct topo_limits *ret)
{
	struct topo_limits limits;

	topo_limits_stacking(&limits);
	preset(kernel, md, &limits);
	stack_members(kernel, md, &limits);
	if (has_parity(md))
		limit_parity(kernel, &limits);
	if (topo_commit(kernel, &limits) < 0)
		return -EINVAL;
	if (!kernel->has[TOPO_READ_AHEAD_FROM_OPT] && md->level != TOPO_MD_RAID1 && md->level != TOPO_MD_LINEAR)
		limits.read_ahead_bytes =
			max_u64(limits.read_ahead_bytes, 2 * (uint64_t)md->chunk_sectors512 * 512 * topo_md_data_disks(md));
	*ret = limits;
	return 0;
}
