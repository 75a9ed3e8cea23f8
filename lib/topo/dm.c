/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/limits.h"

#include "topo/limits_private.h"

static void stack_areas(const struct topo_kernel *kernel, struct topo_limits *t, const struct topo_area *areas, size_t count)
{
	for (size_t i = 0; i < count; i++)
		topo_stack(kernel, t, areas[i].limits, topo_area_start(&areas[i]));
}

static void hint_striped(const struct topo_kernel *kernel, const struct topo_dm_target *target, struct topo_limits *limits)
{
	uint64_t min = (uint64_t)target->chunk_sectors512 * 512, opt = min * target->area_count;

	if (!kernel->has[TOPO_DM_STRIPED_BOUNDARY]) {
		topo_set_min(limits, (uint32_t)min);
		limits->opt_bytes = (uint32_t)opt;
		return;
	}
	limits->chunk_sectors512 = target->chunk_sectors512;
	if (opt <= UINT32_MAX) {
		limits->min_bytes = (uint32_t)min;
		limits->opt_bytes = (uint32_t)opt;
	}
}

static void hint_raid(const struct topo_kernel *kernel, const struct topo_dm_target *target, struct topo_limits *limits)
{
	uint32_t min = (uint32_t)(target->chunk_sectors512 * UINT64_C(512));

	if (!min && kernel->has[TOPO_DM_RAID1_KEEPS_HINTS])
		return;
	topo_set_min(limits, min);
	limits->opt_bytes =
		(uint32_t)(min * (uint64_t)(target->area_count - min_u32(target->parity_devices, (uint32_t)target->area_count)));
}

static void hint(const struct topo_kernel *kernel, const struct topo_dm_target *target, struct topo_limits *limits)
{
	switch (target->type) {
	case TOPO_DM_LINEAR:
		break;
	case TOPO_DM_STRIPED:
		hint_striped(kernel, target, limits);
		break;
	case TOPO_DM_CRYPT:
		limits->logical_bytes = max_u32(limits->logical_bytes, target->sector_bytes);
		limits->physical_bytes = max_u32(limits->physical_bytes, target->sector_bytes);
		topo_set_min(limits, max_u32(limits->min_bytes, target->sector_bytes));
		break;
	case TOPO_DM_RAID:
		hint_raid(kernel, target, limits);
		break;
	}
}

static bool areas_valid(const struct topo_dm_target *target, uint32_t logical_bytes)
{
	uint64_t unit = max_u32(logical_bytes / 512, 1);

	for (size_t i = 0; i < target->area_count; i++)
		if (target->areas[i].offset_sectors512 % unit || target->areas[i].length_sectors512 % unit)
			return false;
	return true;
}

int topo_dm_limits(const struct topo_kernel *kernel, const struct topo_dm_target *targets, size_t target_count, struct topo_limits *ret)
{
	struct topo_limits table;

	topo_limits_stacking(&table);
	for (size_t i = 0; i < target_count; i++) {
		struct topo_limits limits;

		topo_limits_stacking(&limits);
		stack_areas(kernel, &limits, targets[i].areas, targets[i].area_count);
		hint(kernel, &targets[i], &limits);
		if (!areas_valid(&targets[i], limits.logical_bytes))
			return -EINVAL;
		topo_stack(kernel, &table, &limits, 0);
	}
	if (topo_commit(kernel, &table) < 0)
		return -EINVAL;
	*ret = table;
	return 0;
}
