/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Parity compared with data that fills the caches once: no sum is stored anywhere. A whole scrub is little else, and storing P and Q to compare them
 * afterwards costs a third of the time.
 */
#ifndef RAID_COMPARE_H
#define RAID_COMPARE_H

#include "base/base.h"

/** What a kernel takes at a time: lengths are multiples of it. */
#define COMPARE_BYTES 64U

/**
 * Whether P, and Q where it is not NULL, is the sum of the `count` sources, source i with g^i in Q; a NULL source counts as zeros, the last is there. Any alignment;
 * `length_bytes` is a multiple of COMPARE_BYTES.
 */
typedef bool (*compare_fn)(uint8_t *const *sources, uint32_t count, const uint8_t *p, const uint8_t *q, size_t length_bytes);

struct compare_kernel {
	const char *name;
	bool (*supported)(void); /* by this processor */
	compare_fn run;
};
/** Best first; ends with a NULL name. */
extern const struct compare_kernel compare_kernels[];

/** The best kernel that this processor has; NULL when there is none. */
compare_fn compare_best(void);

#endif
