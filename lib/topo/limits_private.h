/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Pieces shared by the limit functions of this folder. */
#ifndef TOPO_LIMITS_PRIVATE_H
#define TOPO_LIMITS_PRIVATE_H

#include "topo/limits.h"

static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
/** The smaller one, where 0 means no limit. */
static inline uint32_t min_not_zero_u32(uint32_t a, uint32_t b) { return !a ? b : !b ? a : min_u32(a, b); }
/** `value` in 32 bits, saturated. */
static inline uint32_t clamp_u32(uint64_t value) { return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value; }

/** BLK_DEF_MAX_SECTORS, BLK_DEF_MAX_SECTORS_CAP. */
uint32_t topo_default_max_sectors(const struct topo_kernel *kernel);
uint32_t topo_round_down_sectors(uint32_t sectors, uint32_t logical_bytes);
/** Limits of a driver's own device before it says anything: blk_set_default_limits. */
void topo_limits_plain(struct topo_limits *ret);
/** blk_limits_io_min: never below the block sizes. */
void topo_set_min(struct topo_limits *limits, uint32_t min_bytes);
/** Where the area begins on the device that its limits belong to; UINT64_MAX when that does not fit. */
uint64_t topo_area_start(const struct topo_area *area);

#endif
