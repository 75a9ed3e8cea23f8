/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/limits.h"

#include "topo/limits_private.h"

#define SAFE_MAX_SECTORS       255U
#define READ_AHEAD_LEAST_BYTES (128 * KIB)

uint32_t topo_default_max_sectors(const struct topo_kernel *kernel) { return kernel->has[TOPO_MAX_SECTORS_4096K] ? 8192 : 2560; }

uint32_t topo_round_down_sectors(uint32_t sectors, uint32_t logical_bytes)
{
	uint32_t unit = logical_bytes / 512;

	return unit ? sectors - sectors % unit : sectors;
}

void topo_limits_plain(struct topo_limits *ret)
{
	*ret = (struct topo_limits){
		.logical_bytes = 512,
		.physical_bytes = 512,
		.min_bytes = 512,
		.max_sectors512 = SAFE_MAX_SECTORS,
		.max_hw_sectors512 = SAFE_MAX_SECTORS,
	};
}

void topo_limits_stacking(struct topo_limits *ret)
{
	topo_limits_plain(ret);
	ret->max_sectors512 = ret->max_hw_sectors512 = ret->max_dev_sectors512 = UINT32_MAX;
}

void topo_set_min(struct topo_limits *limits, uint32_t min_bytes)
{
	limits->min_bytes = max_u32(min_bytes, max_u32(limits->logical_bytes, limits->physical_bytes));
}

void topo_limit_requests(const struct topo_kernel *kernel, struct topo_limits *limits, uint32_t max_hw_sectors512)
{
	uint32_t max = max_u32(max_hw_sectors512, kernel->page_bytes / 512);

	limits->max_hw_sectors512 = topo_round_down_sectors(max, limits->logical_bytes);
	max = min_not_zero_u32(limits->max_hw_sectors512, limits->max_dev_sectors512);
	max = min_u32(max, topo_default_max_sectors(kernel));
	limits->max_sectors512 = topo_round_down_sectors(max, limits->logical_bytes);
}

uint64_t topo_read_ahead_bytes(const struct topo_kernel *kernel, const struct topo_limits *limits)
{
	uint64_t opt = limits->opt_bytes, twice;

	if (!kernel->has[TOPO_READ_AHEAD_FROM_OPT])
		return READ_AHEAD_LEAST_BYTES;
	if (!opt && limits->rotational && kernel->has[TOPO_READ_AHEAD_64_BIT])
		opt = (uint64_t)limits->max_sectors512 * 512;
	twice = kernel->has[TOPO_READ_AHEAD_64_BIT] ? opt * 2 : (uint32_t)(opt * 2);
	return max_u64(round_down_u64(twice, kernel->page_bytes), READ_AHEAD_LEAST_BYTES);
}

/* The default request size follows the hints only where these are larger than the usual cap. */
static uint32_t committed_max_sectors(const struct topo_kernel *kernel, const struct topo_limits *limits)
{
	uint32_t max = min_not_zero_u32(limits->max_hw_sectors512, limits->max_dev_sectors512);
	uint32_t cap = topo_default_max_sectors(kernel);

	if (limits->opt_bytes / 512 > cap)
		cap = limits->opt_bytes / 512;
	else if (limits->min_bytes / 512 > cap)
		cap = limits->min_bytes / 512;
	return topo_round_down_sectors(min_u32(max, cap), limits->logical_bytes);
}

static int validate(const struct topo_kernel *kernel, struct topo_limits *limits)
{
	if (!limits->logical_bytes)
		limits->logical_bytes = 512;
	if (!is_power_of_2(limits->logical_bytes) || limits->logical_bytes < 512)
		return -EINVAL;
	limits->physical_bytes = max_u32(limits->physical_bytes, limits->logical_bytes);
	if (!is_power_of_2(limits->physical_bytes) && kernel->has[TOPO_COMMIT_WANTS_POWER_OF_2])
		return -EINVAL;
	limits->min_bytes = max_u32(limits->min_bytes, limits->physical_bytes);
	if (kernel->has[TOPO_COMMIT_ROUNDS_OPT])
		limits->opt_bytes &= ~(limits->physical_bytes - 1);
	if (!limits->max_hw_sectors512)
		limits->max_hw_sectors512 = SAFE_MAX_SECTORS;
	if (limits->max_hw_sectors512 < kernel->page_bytes / 512)
		return -EINVAL;
	limits->max_hw_sectors512 = topo_round_down_sectors(limits->max_hw_sectors512, limits->logical_bytes);
	limits->max_sectors512 = committed_max_sectors(kernel, limits);
	if (limits->alignment_offset_bytes) {
		limits->alignment_offset_bytes &= limits->physical_bytes - 1;
		limits->misaligned = false;
	}
	return 0;
}

int topo_commit(const struct topo_kernel *kernel, struct topo_limits *limits)
{
	struct topo_limits committed = *limits;

	if (kernel->has[TOPO_COMMIT_VALIDATES]) {
		int r = validate(kernel, &committed);

		if (r < 0)
			return r;
	}
	committed.read_ahead_bytes = topo_read_ahead_bytes(kernel, &committed);
	*limits = committed;
	return 0;
}

uint32_t topo_alignment_at(const struct topo_limits *limits, uint64_t start_sectors512)
{
	uint64_t granularity = max_u32(limits->physical_bytes, limits->min_bytes);

	if (granularity < 512)
		return 0;
	return (uint32_t)((granularity + limits->alignment_offset_bytes - start_sectors512 % (granularity / 512) * 512) % granularity);
}

int64_t topo_device_alignment(const struct topo_limits *limits)
{
	return limits->misaligned ? -1 : (int64_t)limits->alignment_offset_bytes;
}

int64_t topo_partition_alignment(const struct topo_kernel *kernel, const struct topo_limits *disk, uint64_t start_sectors512)
{
	if (disk->misaligned && kernel->has[TOPO_PARTITION_TELLS_MISALIGNED])
		return -1;
	return topo_alignment_at(disk, start_sectors512);
}

uint64_t topo_partition_alignment_sysfs(const struct topo_kernel *kernel, const struct topo_limits *disk, uint64_t start_sectors512)
{
	return (uint32_t)topo_partition_alignment(kernel, disk, start_sectors512);
}
