/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What the predictors share. */
#ifndef TOPO_PREDICT_PRIVATE_H
#define TOPO_PREDICT_PRIVATE_H

#include "topo/limits_private.h"
#include "topo/predict.h"

#define FS_BLOCK_BYTES 4096U

/** libblkid and the ioctls: misaligned (-1, or 4294967295 read as an int) shows as 0. */
static inline uint32_t visible_offset(const struct topo_view *view)
{
	int64_t offset = view->alignment_offset_bytes;

	return offset > 0 && offset <= INT32_MAX ? (uint32_t)offset : 0;
}

static inline bool view_possible(const struct topo_view *view)
{
	return is_power_of_2(view->logical_bytes) && view->logical_bytes >= 512 && view->opt_bytes <= UINT32_MAX;
}

/** First LBA behind a GPT header and 128 entries. */
static inline uint64_t gpt_first_lba(const struct topo_view *view)
{
	return 2 + (16 * KIB + view->logical_bytes - 1) / view->logical_bytes;
}

#endif
