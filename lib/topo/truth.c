/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/truth.h"

#define SAS_MAXIMUM_BYTES    UINT64_C(16773120)
#define WIDEST_STRIPE_BYTES  (64 * MIB)
#define MOST_DATA_MEMBERS    64U
#define SATURATED_BLOCKS     UINT64_C(65535)
#define LEAST_SUSPECT_BLOCKS 255U

bool topo_lcm(uint64_t a, uint64_t b, uint64_t *ret)
{
	if (!a || !b) {
		*ret = a ? a : b;
		return true;
	}
	return u64_mul(a / gcd_u64(a, b), b, ret);
}

struct topo_true_opt topo_true_opt(uint64_t own_bytes, const uint64_t *member_bytes, size_t member_count)
{
	uint64_t lcm = own_bytes;

	for (size_t i = 0; i < member_count; i++)
		if (!topo_lcm(lcm, member_bytes[i], &lcm))
			return (struct topo_true_opt){ .lcm_bytes = BLKALIGN_UNKNOWN, .cut = true };
	return (struct topo_true_opt){ .lcm_bytes = lcm, .cut = lcm > UINT32_MAX };
}

uint64_t topo_misalignment(uint64_t offset_bytes, uint64_t grain_bytes, uint64_t first_boundary_bytes)
{
	uint64_t offset, first;

	if (!grain_bytes)
		return 0;
	offset = offset_bytes % grain_bytes;
	first = first_boundary_bytes % grain_bytes;
	return offset >= first ? offset - first : grain_bytes - (first - offset);
}

uint64_t topo_true_stripe_bytes(enum topo_md_level level, uint64_t chunk_bytes, uint32_t raid_disks, uint32_t near_copies,
				uint32_t far_copies)
{
	struct topo_md md = { .level = level, .raid_disks = raid_disks, .near_copies = 1 };
	uint64_t copies = (uint64_t)near_copies * far_copies, stripe;

	if (!chunk_bytes || level == TOPO_MD_RAID1 || level == TOPO_MD_LINEAR)
		return BLKALIGN_UNKNOWN;
	if (level == TOPO_MD_RAID10 && !copies)
		return BLKALIGN_UNKNOWN;
	if (!u64_mul(chunk_bytes, topo_md_data_disks(&md), &stripe))
		return BLKALIGN_UNKNOWN;
	if (level == TOPO_MD_RAID10 && raid_disks % copies == 0)
		stripe /= copies;
	return stripe;
}

static bool is_saturated_kind(uint64_t blocks) { return blocks >= LEAST_SUSPECT_BLOCKS && is_power_of_2(blocks + 1); }

unsigned topo_opt_doubts(uint64_t opt_bytes, uint64_t logical_bytes, uint64_t physical_bytes, uint64_t min_bytes, uint64_t max_hw_bytes)
{
	uint64_t blocks = logical_bytes && opt_bytes % logical_bytes == 0 ? opt_bytes / logical_bytes : 0;
	unsigned doubts = 0;

	if (!opt_bytes)
		return 0;
	if (blocks == SATURATED_BLOCKS)
		doubts |= TOPO_OPT_SATURATED;
	if (is_saturated_kind(blocks))
		doubts |= TOPO_OPT_NEAR_POWER_OF_2;
	if (physical_bytes && opt_bytes % physical_bytes)
		doubts |= TOPO_OPT_OFF_PHYSICAL;
	if (min_bytes && opt_bytes % min_bytes)
		doubts |= TOPO_OPT_OFF_MIN;
	if (max_hw_bytes && opt_bytes > max_hw_bytes)
		doubts |= TOPO_OPT_ABOVE_TRANSFER;
	if (opt_bytes >= WIDEST_STRIPE_BYTES)
		doubts |= TOPO_OPT_HUGE;
	if (opt_bytes == SAS_MAXIMUM_BYTES)
		doubts |= TOPO_OPT_SAS_MAXIMUM;
	if (opt_bytes >> __builtin_ctzll(opt_bytes) > MOST_DATA_MEMBERS)
		doubts |= TOPO_OPT_ODD_FACTOR;
	return doubts;
}
