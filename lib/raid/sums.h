/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Sums of blocks over isa-l, for blocks of any alignment and length up to RAID_CHUNK_MAX_BYTES. isa-l's fastest loops ask for 32 bytes alignment; where a block has
 * less, those of kernels.h take over, or else its table driven ones, at about half the speed. Destinations never overlap sources.
 */
#ifndef RAID_SUMS_H
#define RAID_SUMS_H

#include "base/base.h"

/** What fits the first level cache a few times over: parity that is only compared is computed in pieces of this. */
#define SUMS_PIECE_BYTES 16384U
#define SUMS_ALIGNMENT	 32U

/** destination = sum of the `count` (1 at least) sources. */
void sums_xor(uint8_t *const *sources, uint32_t count, uint8_t *destination, size_t length_bytes);

/**
 * P = sum of the sources, Q = sum of g^i * source i. A NULL source counts as zeros; the last is there. One of `p` and `q` may be NULL: not wanted. `count` is at most
 * FIELD_POWERS; two sources are there at least.
 */
void sums_pq(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length_bytes);

/** destination r = sum of weights[r * count + i] * source i, for up to two destinations and 257 sources. */
void sums_weighted(uint8_t *const *sources, uint32_t count, const uint8_t *weights, uint8_t *const *destinations,
		   uint32_t destinations_count, size_t length_bytes);

/** Every destination r += weights[r] * source. Up to two destinations. */
void sums_add(const uint8_t *source, const uint8_t *weights, uint8_t *const *destinations, uint32_t destinations_count,
	      size_t length_bytes);

#endif
