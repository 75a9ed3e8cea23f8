/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What the kernel hides or loses: the same arithmetic without cut numbers, lost flags and rules of thumb. */
#ifndef TOPO_TRUTH_H
#define TOPO_TRUTH_H

#include "topo/limits.h"

/** Least common multiple, where 0 means none. False, `*ret` untouched, when it does not fit into 64 bits. */
bool topo_lcm(uint64_t a, uint64_t b, uint64_t *ret);

/** The optimum of a stack as it would be without the cut to 32 bits. */
struct topo_true_opt {
	uint64_t lcm_bytes; /**< BLKALIGN_UNKNOWN when it does not even fit into 64 bits */
	bool cut;	    /**< it does not fit into 32 bits: what sysfs shows is arbitrary */
};
/** Over `own_bytes` (the stripe of the array itself, 0 for none) and those of its members. */
struct topo_true_opt topo_true_opt(uint64_t own_bytes, const uint64_t *member_bytes, size_t member_count);

/**
 * Distance of byte `offset_bytes` of a device past the last boundary of `grain_bytes`, on a device whose first boundary lies at byte
 * `first_boundary_bytes` (its alignment_offset): 0 is aligned. `grain_bytes` 0: always 0.
 */
uint64_t topo_misalignment(uint64_t offset_bytes, uint64_t grain_bytes, uint64_t first_boundary_bytes);

/**
 * The full stripe of an array, from its geometry: chunk times the members that hold different data. For raid10 copies are not counted
 * twice in any layout: BLKALIGN_UNKNOWN without a chunk (raid1, linear) or with 0 copies.
 */
uint64_t topo_true_stripe_bytes(enum topo_md_level level, uint64_t chunk_bytes, uint32_t raid_disks, uint32_t near_copies,
				uint32_t far_copies);

/** Reasons why an optimal_io_size cannot be what it claims; a set of bits. */
enum topo_opt_doubt {
	TOPO_OPT_SATURATED = 1 << 0,	   /**< 65535 logical blocks: a 16-bit field filled with ones */
	TOPO_OPT_NEAR_POWER_OF_2 = 1 << 1, /**< 2^k - 1 logical blocks, k at least 8 */
	TOPO_OPT_OFF_PHYSICAL = 1 << 2,	   /**< no multiple of the physical block that the device (or the caller) names */
	TOPO_OPT_OFF_MIN = 1 << 3,	   /**< no multiple of minimum_io_size */
	TOPO_OPT_ABOVE_TRANSFER = 1 << 4,  /**< larger than any request the hardware takes */
	TOPO_OPT_HUGE = 1 << 5,		   /**< 64 MiB or more: no stripe is that wide */
	TOPO_OPT_SAS_MAXIMUM = 1 << 6,	   /**< 16773120: a SAS adapter's maximum rounded down to 4 KiB (6.11 to the fix) */
	TOPO_OPT_ODD_FACTOR = 1 << 7,	   /**< an odd factor above 64: no array has that many data members */
};
/** `physical_bytes` may be better known than the device admits. `max_hw_bytes` 0 when unknown. 0 for no doubt; opt 0 is no doubt. */
unsigned topo_opt_doubts(uint64_t opt_bytes, uint64_t logical_bytes, uint64_t physical_bytes, uint64_t min_bytes, uint64_t max_hw_bytes);

#endif
