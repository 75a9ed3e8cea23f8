/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Is an optimal I/O size a stripe or nonsense? Pure functions. */
#ifndef CHECK_HINT_H
#define CHECK_HINT_H

#include "base/base.h"

enum hint_shape {
	HINT_NONE,	   /**< zero or not known */
	HINT_DIVIDES_MIB,  /**< harmless whatever it is: every start at 1 MiB satisfies it */
	HINT_STRIPE,	   /**< plausible geometry */
	HINT_BOGUS_FIRST,  /**< not a shape: bogus ones follow */
	HINT_SATURATED,	   /**< a 16-bit field at its end stop */
	HINT_LIMIT,	   /**< one block below a power of two: a transfer limit */
	HINT_OFF_PHYSICAL, /**< no multiple of the physical block */
	HINT_OFF_MINIMUM,  /**< smaller than or no multiple of the minimum I/O size */
	HINT_TOO_LARGE,	   /**< larger than any array's stripe */
	HINT_ODD_FACTOR,   /**< holds an odd factor that is no number of disks */
	HINT_BEYOND_LIMIT, /**< longer than the hardware's largest request, without a chunk that would explain it */
	HINT_POISONED,	   /**< a stack's least common multiple with a bogus value below, or cut to 32 bits */
};

static inline bool hint_is_bogus(enum hint_shape shape) { return shape > HINT_BOGUS_FIRST; }

/** What a drive says; BLKALIGN_UNKNOWN where it does not. Blocks are logical blocks. */
struct hint_facts {
	uint64_t optimal_bytes;
	uint64_t minimum_bytes;
	uint64_t logical_bytes;
	uint64_t physical_bytes; /**< as believed, not as reported */
	uint64_t max_hw_bytes;
	uint64_t vpd_optimal_blocks;
	uint64_t vpd_max_blocks;
	uint64_t vpd_prefetch_blocks;
	uint64_t nows_blocks;
};

enum hint_shape hint_classify(const struct hint_facts *facts);
/** What is wrong with it, to follow "optimal_io_size N is ...". Static. */
const char *hint_shape_text(enum hint_shape shape);

/**
 * The bogus hint that a start betrays when it is a multiple of one of the well-known values and no multiple of 1 MiB:
 * 33553920, 268431360, 16776704, 16773120, ... 0 when it is none.
 */
uint64_t hint_fingerprint(uint64_t offset_bytes);

#endif
