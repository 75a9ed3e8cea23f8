/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/limits.h"

#include "topo/limits_private.h"

/* Drivers that set their limits one by one before 6.9, and as a set since then. */
static int complete(const struct topo_kernel *kernel, uint32_t max_hw_sectors512, struct topo_limits *limits)
{
	limits->max_hw_sectors512 = max_hw_sectors512;
	if (!kernel->has[TOPO_COMMIT_VALIDATES]) {
		limits->physical_bytes = max_u32(limits->physical_bytes, limits->logical_bytes);
		topo_set_min(limits, limits->min_bytes);
		topo_limit_requests(kernel, limits, max_hw_sectors512);
	}
	return topo_commit(kernel, limits);
}

static uint32_t atomic_blocks(const struct topo_kernel *kernel, const struct topo_nvme *nvme)
{
	if (nvme->nabo_blocks)
		return 1;
	if (nvme->nawupf_blocks > 1)
		return nvme->nawupf_blocks;
	return kernel->has[TOPO_NVME_IGNORES_AWUPF] ? 1 : max_u32(nvme->awupf_blocks, 1);
}

static uint32_t boundary_sectors(const struct topo_nvme *nvme)
{
	uint64_t sectors = (uint64_t)nvme->noiob_blocks * (nvme->lba_bytes / 512);

	return sectors <= UINT32_MAX && is_power_of_2(sectors) ? (uint32_t)sectors : 0;
}

int topo_nvme_limits(const struct topo_kernel *kernel, const struct topo_nvme *nvme, struct topo_limits *ret)
{
	struct topo_limits limits;
	uint32_t write_blocks = max_u32(nvme->npwg_blocks, 1), opt_blocks = nvme->nows_blocks;
	int r;

	if (!is_power_of_2(nvme->lba_bytes) || nvme->lba_bytes < 512 || nvme->lba_bytes > kernel->page_bytes)
		return -EINVAL;
	if (opt_blocks == 1 && kernel->has[TOPO_NVME_NOWS_1_IS_NONE])
		opt_blocks = 0;
	topo_limits_plain(&limits);
	limits.logical_bytes = nvme->lba_bytes;
	limits.physical_bytes = clamp_u32((uint64_t)min_u32(write_blocks, atomic_blocks(kernel, nvme)) * nvme->lba_bytes);
	limits.min_bytes = clamp_u32((uint64_t)write_blocks * nvme->lba_bytes);
	limits.opt_bytes = clamp_u32((uint64_t)opt_blocks * nvme->lba_bytes);
	limits.chunk_sectors512 = boundary_sectors(nvme);
	r = complete(kernel, nvme->max_sectors512 ? nvme->max_sectors512 : UINT32_MAX, &limits);
	if (r < 0)
		return r;
	*ret = limits;
	return 0;
}

int topo_virtio_limits(const struct topo_kernel *kernel, const struct topo_virtio *virtio, struct topo_limits *ret)
{
	struct topo_limits limits;
	uint32_t logical = virtio->logical_bytes ? virtio->logical_bytes : 512;
	int r;

	if (!is_power_of_2(logical) || logical < 512 || logical > kernel->page_bytes || virtio->physical_exponent >= 32)
		return -EINVAL;
	topo_limits_plain(&limits);
	limits.logical_bytes = logical;
	limits.physical_bytes = (uint32_t)((uint64_t)logical << virtio->physical_exponent);
	limits.alignment_offset_bytes = (uint32_t)((uint64_t)virtio->alignment_offset_blocks * logical);
	limits.min_bytes = (uint32_t)((uint64_t)virtio->min_blocks * logical);
	limits.opt_bytes = (uint32_t)((uint64_t)virtio->opt_blocks * logical);
	limits.rotational = true;
	r = complete(kernel, UINT32_MAX, &limits);
	if (r < 0)
		return r;
	*ret = limits;
	return 0;
}
