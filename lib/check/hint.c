/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * No single test tells good from bad: 33553920 is a multiple of 512 but not of 4096, 268431360 is a multiple of 4096, a saturated NVMe field is a power of two,
 * and 786432 is none but genuine. So each shape is named by itself.
 */
#include "check/hint.h"
#include "topo/topo.h"

/* Above this a drive without a chunk names a transfer limit. */
#define UNCHUNKED_MAX_BYTES (16 * MIB)
/* Below this, one block short of a power of two is also what seven disks of a small chunk give. */
#define LIMIT_MIN_BYTES	 (64 * KIB)
#define SATURATED_BLOCKS 65535

static bool known(uint64_t value) { return value != BLKALIGN_UNKNOWN && value; }
static uint64_t or_zero(uint64_t value) { return known(value) ? value : 0; }

/* Also in fields that sysfs does not show, and in blocks of a size that is not the present one. */
static bool all_ones(const struct hint_facts *f, unsigned doubts)
{
	if (doubts & TOPO_OPT_SATURATED || f->optimal_bytes == SATURATED_BLOCKS * UINT64_C(512) ||
	    f->optimal_bytes == SATURATED_BLOCKS * UINT64_C(4096))
		return true;
	if (known(f->nows_blocks) && f->nows_blocks >= SATURATED_BLOCKS)
		return true;
	return known(f->vpd_optimal_blocks) && f->vpd_optimal_blocks >= SATURATED_BLOCKS && f->vpd_optimal_blocks == f->vpd_max_blocks &&
	       f->vpd_optimal_blocks == f->vpd_prefetch_blocks;
}

static bool has_chunk(const struct hint_facts *f)
{
	uint64_t block = known(f->physical_bytes) ? f->physical_bytes : 4096;

	return known(f->minimum_bytes) && f->minimum_bytes > block && f->minimum_bytes > 4096;
}

static bool is_chunked(const struct hint_facts *f) { return has_chunk(f) && f->optimal_bytes % f->minimum_bytes == 0; }

static bool one_block_short(const struct hint_facts *f, unsigned doubts)
{
	uint64_t v = f->optimal_bytes;

	if (v < LIMIT_MIN_BYTES || is_chunked(f))
		return false;
	return doubts & (TOPO_OPT_NEAR_POWER_OF_2 | TOPO_OPT_SAS_MAXIMUM) || is_power_of_2(v + 512) || is_power_of_2(v + 4096);
}

enum hint_shape hint_classify(const struct hint_facts *f)
{
	uint64_t v = f->optimal_bytes;
	unsigned doubts;

	/* One block is how kernels before 6.2 show an NVMe drive that names none. */
	if (!known(v) || v == f->logical_bytes)
		return HINT_NONE;
	doubts = topo_opt_doubts(v, or_zero(f->logical_bytes), or_zero(f->physical_bytes), or_zero(f->minimum_bytes),
				 or_zero(f->max_hw_bytes));
	if (all_ones(f, doubts))
		return HINT_SATURATED;
	if (one_block_short(f, doubts))
		return HINT_LIMIT;
	if (doubts & TOPO_OPT_OFF_PHYSICAL)
		return HINT_OFF_PHYSICAL;
	if (doubts & TOPO_OPT_OFF_MIN)
		return HINT_OFF_MINIMUM;
	if (doubts & TOPO_OPT_HUGE || (v > UNCHUNKED_MAX_BYTES && !has_chunk(f)))
		return HINT_TOO_LARGE;
	if (doubts & TOPO_OPT_ODD_FACTOR)
		return HINT_ODD_FACTOR;
	if (MIB % v == 0)
		return HINT_DIVIDES_MIB;
	if (doubts & TOPO_OPT_ABOVE_TRANSFER && !has_chunk(f))
		return HINT_BEYOND_LIMIT;
	return HINT_STRIPE;
}

const char *hint_shape_text(enum hint_shape shape)
{
	switch (shape) {
	case HINT_SATURATED:
		return "a 16-bit field at its end stop (65535 blocks), no stripe";
	case HINT_LIMIT:
		return "one block below a power of two: a transfer limit, no stripe";
	case HINT_OFF_PHYSICAL:
		return "no multiple of the physical block";
	case HINT_OFF_MINIMUM:
		return "no multiple of the minimum I/O size";
	case HINT_TOO_LARGE:
		return "larger than any stripe";
	case HINT_ODD_FACTOR:
		return "a multiple of an odd number larger than any array's count of disks";
	case HINT_BEYOND_LIMIT:
		return "longer than the largest request the hardware takes";
	case HINT_POISONED:
		return "not this array's stripe: the kernel multiplied it with a bad hint from below";
	case HINT_NONE:
	case HINT_DIVIDES_MIB:
	case HINT_STRIPE:
	case HINT_BOGUS_FIRST:
		break;
	}
	return "in order";
}

uint64_t hint_fingerprint(uint64_t offset_bytes)
{
	/* Sectors: 65535 blocks of 512 and 4096; 32767 and 65527 from host adapters and page rounding; 32760. What arrays make of
	 * them comes first: these are multiples of some of the others. */
	static const uint32_t sectors512[] = { 4193280, 8387584, 65535, 524280, 32767, 65527, 65528, 32760 };

	if (!offset_bytes || offset_bytes == BLKALIGN_UNKNOWN || offset_bytes % MIB == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(sectors512); i++)
		if (offset_bytes % (sectors512[i] * UINT64_C(512)) == 0)
			return sectors512[i] * UINT64_C(512);
	return 0;
}
