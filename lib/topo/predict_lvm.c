/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/predict_private.h"

#define BASE_SECTORS	  2048U /* default_data_alignment: 1 MiB */
#define MDA_START_SECTORS 8U	/* a page */
#define OLD_MDA_SECTORS	  255U
#define MDA_SECTORS	  2040U
#define FALLBACK_SECTORS  8U
#define INDIVISIBLE_MASK  3U /* the message says 4 KiB, the test is 2 KiB */

/* A hint in sectors as lvm2 believes it: a value that is not 0 counts as at least 1. */
static uint64_t hint_sectors(const struct topo_version *lvm2, uint64_t bytes, bool *ret_ignored)
{
	uint64_t sectors = bytes && bytes < 512 ? 1 : bytes / 512;

	if (sectors > 1 && sectors & INDIVISIBLE_MASK && topo_version_at_least(lvm2, 2, 3, 31)) {
		*ret_ignored = true;
		return FALLBACK_SECTORS;
	}
	return sectors;
}

static uint64_t align_sectors(const struct topo_version *lvm2, const struct topo_view *view, struct topo_lvm_choice *choice)
{
	const struct {
		uint64_t sectors;
		enum topo_cause cause;
	} hints[] = {
		{ view->md_stripe_bytes / 512, TOPO_CAUSE_MD_STRIPE },
		{ hint_sectors(lvm2, view->min_bytes, &choice->hint_ignored), TOPO_CAUSE_MIN },
		{ hint_sectors(lvm2, view->opt_bytes, &choice->hint_ignored), TOPO_CAUSE_OPT },
	};
	uint64_t align = BASE_SECTORS;

	/* A hint replaces what was there unless it divides it; before 2.03 it was compared with the default alone. */
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		uint64_t against = topo_version_at_least(lvm2, 2, 3, 0) ? align : BASE_SECTORS;

		if (hints[i].sectors && against % hints[i].sectors) {
			align = hints[i].sectors;
			choice->cause = hints[i].cause;
		}
	}
	return align;
}

int topo_predict_lvm(const struct topo_version *lvm2, const struct topo_view *view, struct topo_lvm_choice *ret)
{
	struct topo_lvm_choice choice = { .cause = TOPO_CAUSE_DEFAULT };
	uint64_t mda = topo_version_at_least(lvm2, 2, 3, 3) ? MDA_SECTORS : OLD_MDA_SECTORS;
	uint64_t align = align_sectors(lvm2, view, &choice);
	/* Not through libblkid: 4294967295 is taken at its word. */
	uint64_t offset = view->alignment_offset_bytes > 0 ? (uint64_t)view->alignment_offset_bytes / 512 : 0;
	uint64_t start = round_up_u64(MDA_START_SECTORS + mda, align) + offset;

	if (offset > align || start > view->size_bytes / 512)
		return -EINVAL;
	choice.align_bytes = align * 512;
	choice.align_offset_bytes = offset * 512;
	choice.pe_start_bytes = start * 512;
	*ret = choice;
	return 0;
}
