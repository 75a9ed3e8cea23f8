/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Members of arrays with a partial parity log. */
#ifndef UNIT_KEEP_LOG_BENCH_H
#define UNIT_KEEP_LOG_BENCH_H

#include "keep/bench.h"

#include "format/ppl/ppl.h"

#define CHUNK (64 * KIB)

static inline uint64_t data_offset(unsigned image)
{
	static struct md1_superblock sb;

	assert_true(bench_v1(image, &sb));
	return sb.data_offset_bytes;
}

static inline uint64_t resync_of(unsigned image)
{
	static struct md1_superblock sb;

	assert_true(bench_v1(image, &sb));
	return sb.resync_bytes;
}

static struct ppl_header header;

/** The newest header in the log of a member; it becomes `header`. */
static inline int log_of(unsigned image, uint64_t *at)
{
	static struct md1_superblock sb;

	assert_true(bench_v1(image, &sb));
	return ppl_read(bench.devs[image], sb.super_bytes + (uint64_t)sb.ppl_from_super_bytes, sb.ppl_bytes,
			sb.features & MD1_MULTIPLE_PPLS, ppl_signature(sb.array_uuid), &header, at, &err);
}

#endif
