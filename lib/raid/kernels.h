/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * P and Q in one pass over the sources, where isa-l has no loop for it: compared without storing a sum (a whole scrub is little else, and storing P and Q to compare
 * them afterwards costs a third of the time), and made where powers are left out, as in DDF layouts, or blocks are not aligned.
 */
#ifndef RAID_KERNELS_H
#define RAID_KERNELS_H

#include "base/base.h"

/** What a kernel takes at a time: lengths are multiples of it. */
#define KERNEL_BYTES 128U

struct raid_kernel {
	const char *name;
	bool (*supported)(void); /* by this processor */
	/**
	 * Whether P, and Q where it is not NULL, is the sum of the `count` sources, source i with g^i in Q; a NULL source counts as zeros, the last is there. Any
	 * alignment; `length_bytes` is a multiple of KERNEL_BYTES.
	 */
	bool (*fits)(uint8_t *const *sources, uint32_t count, const uint8_t *p, const uint8_t *q, size_t length_bytes);
	/** Likewise, but P and Q, both, are stored. They overlap no source. */
	void (*make)(uint8_t *const *sources, uint32_t count, uint8_t *p, uint8_t *q, size_t length_bytes);
};
/** Best first; ends with a NULL name. */
extern const struct raid_kernel raid_kernels[];

/** The best that this processor has; where it has none, one without a name and functions. */
const struct raid_kernel *raid_kernel_best(void);

#endif
