/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/limits.h"

#include "topo/limits_private.h"

/* 64 bits, as the kernel's; factors are below 2^32, so it never overflows. */
static uint64_t lcm_not_zero(uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	return a / gcd_u64(a, b) * b;
}

static uint32_t granularity(const struct topo_limits *limits) { return max_u32(limits->physical_bytes, limits->min_bytes); }

/* The kernel compares sums of granularity and offset: a rule of thumb that lets some misfits through and flags some fits. */
static bool offsets_agree(const struct topo_limits *t, const struct topo_limits *b, uint32_t alignment)
{
	uint64_t top = (uint64_t)granularity(t) + t->alignment_offset_bytes, bottom = (uint64_t)granularity(b) + alignment;
	uint64_t least = top < bottom ? top : bottom;

	return t->alignment_offset_bytes == alignment || !least || max_u64(top, bottom) % least == 0;
}

/* Sizes that do not fit each other are replaced. False when one was. */
static bool mend_sizes(struct topo_limits *t)
{
	bool fits = true;

	if (t->physical_bytes & (t->logical_bytes - 1)) {
		t->physical_bytes = t->logical_bytes;
		fits = false;
	}
	if (t->min_bytes & (t->physical_bytes - 1)) {
		t->min_bytes = t->physical_bytes;
		fits = false;
	}
	if (t->opt_bytes & (t->physical_bytes - 1)) {
		t->opt_bytes = 0;
		fits = false;
	}
	if ((uint32_t)(t->chunk_sectors512 * UINT64_C(512)) & (t->physical_bytes - 1)) {
		t->chunk_sectors512 = 0;
		fits = false;
	}
	return fits;
}

static uint32_t stacked_round_down(const struct topo_kernel *kernel, uint32_t sectors, uint32_t logical_bytes)
{
	return max_u32(topo_round_down_sectors(sectors, logical_bytes), kernel->page_bytes / 512);
}

static void stack_requests(const struct topo_kernel *kernel, struct topo_limits *t)
{
	t->max_sectors512 = stacked_round_down(kernel, t->max_sectors512, t->logical_bytes);
	t->max_hw_sectors512 = stacked_round_down(kernel, t->max_hw_sectors512, t->logical_bytes);
	t->max_dev_sectors512 = stacked_round_down(kernel, t->max_dev_sectors512, t->logical_bytes);
}

bool topo_stack(const struct topo_kernel *kernel, struct topo_limits *t, const struct topo_limits *b, uint64_t start_sectors512)
{
	uint32_t alignment = topo_alignment_at(b, start_sectors512), unit;
	bool fits = offsets_agree(t, b, alignment);

	t->max_sectors512 = min_not_zero_u32(t->max_sectors512, b->max_sectors512);
	t->max_hw_sectors512 = min_not_zero_u32(t->max_hw_sectors512, b->max_hw_sectors512);
	t->max_dev_sectors512 = min_not_zero_u32(t->max_dev_sectors512, b->max_dev_sectors512);
	t->rotational |= b->rotational;
	t->logical_bytes = max_u32(t->logical_bytes, b->logical_bytes);
	t->physical_bytes = max_u32(t->physical_bytes, b->physical_bytes);
	t->min_bytes = max_u32(t->min_bytes, b->min_bytes);
	t->opt_bytes = (uint32_t)lcm_not_zero(t->opt_bytes, b->opt_bytes);
	if (b->chunk_sectors512)
		t->chunk_sectors512 = (uint32_t)gcd_u64(t->chunk_sectors512, b->chunk_sectors512);
	fits = mend_sizes(t) && fits;
	unit = granularity(t);
	t->alignment_offset_bytes = unit ? (uint32_t)(lcm_not_zero(t->alignment_offset_bytes, alignment) % unit) : 0;
	if (t->alignment_offset_bytes & (t->logical_bytes - 1))
		fits = false;
	stack_requests(kernel, t);
	t->misaligned |= b->misaligned || !fits;
	t->inconsistent |= b->inconsistent || !fits;
	return fits;
}

uint64_t topo_area_start(const struct topo_area *area)
{
	uint64_t start;

	return u64_add(area->partition_start_sectors512, area->offset_sectors512, &start) ? start : UINT64_MAX;
}
