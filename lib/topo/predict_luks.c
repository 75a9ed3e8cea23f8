/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/predict_private.h"

#define LUKS1_KEYS_END_BYTES (UINT64_C(4040) * 512) /* header and eight key slots of 64 byte x 4000 stripes, each rounded to 4 KiB */
#define LUKS2_HEADER_BYTES   (16 * MIB)
#define LUKS2_OLD_HEADER     (4 * MIB)
#define LARGEST_SECTOR	     4096U

static bool opt_believed(const struct topo_version *cryptsetup, const struct topo_view *view)
{
	if (view->opt_bytes <= view->min_bytes)
		return false;
	if (topo_version_at_least(cryptsetup, 2, 0, 0) && (!view->min_bytes || view->opt_bytes % view->min_bytes))
		return false;
	return view->opt_bytes % LARGEST_SECTOR == 0 || !topo_version_at_least(cryptsetup, 2, 3, 4);
}

/* The alignment replaces 1 MiB when it does not divide it. */
static uint64_t required_bytes(const struct topo_version *cryptsetup, const struct topo_view *view, struct topo_luks_choice *choice)
{
	bool believed = opt_believed(cryptsetup, view);
	uint64_t align = believed ? view->opt_bytes : view->min_bytes;

	choice->opt_ignored =
		!believed && view->opt_bytes && view->opt_bytes != view->min_bytes && topo_version_at_least(cryptsetup, 2, 3, 4);
	if (!align || MIB % align == 0)
		return MIB;
	choice->cause = believed ? TOPO_CAUSE_OPT : TOPO_CAUSE_MIN;
	return align;
}

static uint32_t sector_bytes(const struct topo_version *cryptsetup, const struct topo_view *view, uint64_t offset_bytes)
{
	uint32_t sector = view->logical_bytes;

	if (!topo_version_at_least(cryptsetup, 2, 4, 0))
		return 512;
	if (sector >= LARGEST_SECTOR)
		sector = sector % LARGEST_SECTOR ? 512 : LARGEST_SECTOR;
	else if (view->physical_bytes > sector && view->physical_bytes <= LARGEST_SECTOR && view->physical_bytes % sector == 0)
		sector = view->physical_bytes;
	if (offset_bytes % sector || offset_bytes > view->size_bytes || (view->size_bytes - offset_bytes) % sector)
		return 512;
	return sector;
}

int topo_predict_luks(const struct topo_version *cryptsetup, const struct topo_view *view, struct topo_luks_choice *ret)
{
	struct topo_luks_choice choice = { .cause = TOPO_CAUSE_DEFAULT };
	uint64_t required, header = topo_version_at_least(cryptsetup, 2, 1, 0) ? LUKS2_HEADER_BYTES : LUKS2_OLD_HEADER;

	if (!view_possible(view))
		return -EINVAL;
	required = required_bytes(cryptsetup, view, &choice);
	choice.luks1_payload_bytes = round_up_u64(LUKS1_KEYS_END_BYTES, required) + visible_offset(view);
	choice.luks2_offset_bytes = round_up_u64(header, required) + visible_offset(view);
	choice.luks2_sector_bytes = sector_bytes(cryptsetup, view, choice.luks2_offset_bytes);
	*ret = choice;
	return 0;
}
