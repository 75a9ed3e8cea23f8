/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/predict_private.h"

/* --- libfdisk --- */

#define BOGUS_OPT_BYTES UINT64_C(33553920) /* the one value that libfdisk knows to be wrong */

static uint64_t fdisk_io_bytes(const struct topo_version *util_linux, const struct topo_view *view, enum topo_cause *ret_cause)
{
	uint64_t io = view->opt_bytes ? view->opt_bytes : view->min_bytes;

	*ret_cause = view->opt_bytes ? TOPO_CAUSE_OPT : TOPO_CAUSE_MIN;
	if (!io || !view->physical_bytes)
		return io;
	if ((io == BOGUS_OPT_BYTES && topo_version_at_least(util_linux, 2, 36, 2)) ||
	    (io % view->physical_bytes && topo_version_at_least(util_linux, 2, 27, 0))) {
		*ret_cause = TOPO_CAUSE_PHYSICAL;
		return view->physical_bytes;
	}
	return io;
}

static bool on_grid(const struct topo_view *view, uint64_t lba, uint64_t granularity)
{
	uint64_t into = lba * view->logical_bytes % granularity;

	return (granularity + visible_offset(view) - into) % granularity == 0;
}

/* fdisk_align_lba, direction up. */
static uint64_t fdisk_align_up(const struct topo_view *view, uint64_t grain_bytes, uint64_t lba)
{
	uint64_t block = max_u32(max_u32(view->physical_bytes, view->min_bytes), view->logical_bytes);
	uint64_t grain_lbas = max_u64(grain_bytes / view->logical_bytes, 1), offset = visible_offset(view), aligned, back;

	if (on_grid(view, lba, max_u64(block, grain_bytes)))
		return lba;
	aligned = round_up_u64(lba, grain_lbas);
	back = offset < block ? (block - offset) / view->logical_bytes : 0;
	if (!offset || on_grid(view, aligned, block) || aligned <= offset / view->logical_bytes || back > aligned)
		return aligned;
	aligned -= back;
	return aligned < lba ? aligned + grain_lbas : aligned;
}

int topo_predict_fdisk(const struct topo_version *util_linux, const struct topo_view *view, struct topo_fdisk_choice *ret)
{
	struct topo_fdisk_choice choice = { 0 };
	uint64_t block = max_u32(view->physical_bytes, view->logical_bytes), io, first = MIB;
	bool has_topology = view->opt_bytes || visible_offset(view) || !is_power_of_2(view->min_bytes);

	if (!view_possible(view))
		return -EINVAL;
	io = fdisk_io_bytes(util_linux, view, &choice.cause);
	choice.grain_bytes = max_u64(io, MIB);
	if (choice.grain_bytes == MIB)
		choice.cause = TOPO_CAUSE_DEFAULT;
	if (view->size_bytes <= 4 * choice.grain_bytes) {
		choice.grain_bytes = block;
		choice.cause = TOPO_CAUSE_PHYSICAL;
	}
	if (has_topology && visible_offset(view))
		first = visible_offset(view);
	else if (has_topology && io > MIB)
		first = io;
	if (view->size_bytes <= 4 * first)
		first = block;
	choice.first_lba = first / view->logical_bytes;
	choice.dos_start_lba = fdisk_align_up(view, choice.grain_bytes, choice.first_lba);
	choice.gpt_start_lba = fdisk_align_up(view, choice.grain_bytes, max_u64(choice.first_lba, gpt_first_lba(view)));
	*ret = choice;
	return 0;
}

/* --- parted --- */

bool topo_parted_aligned(uint64_t start_lba, uint64_t grain_lba, uint64_t offset_lba)
{
	return !grain_lba || start_lba % grain_lba == offset_lba % grain_lba;
}

/* "0%" stands for half a percent to either side; without a point of the grid in there parted takes the first free sector. */
static uint64_t parted_start(const struct topo_view *view, uint64_t grain_lba, uint64_t offset_lba)
{
	uint64_t first = gpt_first_lba(view), reach = view->size_bytes / view->logical_bytes / 200;
	uint64_t start = offset_lba % grain_lba;

	if (start < first)
		start += round_up_u64(first - start, grain_lba);
	return start <= reach ? start : first;
}

int topo_predict_parted(const struct topo_view *view, struct topo_parted_choice *ret)
{
	struct topo_parted_choice choice = { .cause = TOPO_CAUSE_DEFAULT };
	uint32_t least = view->min_bytes ? view->min_bytes : view->physical_bytes;

	if (!view_possible(view))
		return -EINVAL;
	choice.offset_lba = visible_offset(view) / view->logical_bytes;
	choice.minimal_grain_lba = max_u64(least / view->logical_bytes, 1);
	if ((!view->min_bytes || MIB % view->min_bytes == 0) && (!view->opt_bytes || MIB % view->opt_bytes == 0)) {
		choice.optimal_grain_lba = MIB / view->logical_bytes;
	} else if (!view->opt_bytes) {
		choice.optimal_grain_lba = choice.minimal_grain_lba;
		choice.cause = TOPO_CAUSE_MIN;
	} else {
		choice.optimal_grain_lba = max_u64(view->opt_bytes / view->logical_bytes, 1);
		choice.cause = TOPO_CAUSE_OPT;
	}
	choice.gpt_start_lba = parted_start(view, choice.optimal_grain_lba, choice.offset_lba);
	*ret = choice;
	return 0;
}

/* --- sgdisk --- */

uint64_t topo_predict_sgdisk_start_lba(uint32_t logical_bytes) { return logical_bytes ? MIB / logical_bytes : 0; }
