/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Blocks of a volume that lie on another device, in any order: those of snapshots and caches. */
#ifndef BASE_BLOCK_RUN_H
#define BASE_BLOCK_RUN_H

#include <stdbool.h>
#include <stdint.h>

/** Neighbours that lie together. There may be many millions of runs, so that each takes 16 bytes: no device has more than 2^55 blocks of 512 bytes. */
struct block_run {
	uint64_t block;
	uint64_t over_block : 55; /* where the first one lies */
	uint64_t more : 9;	  /* blocks behind the first */
};
#define BLOCK_RUN_MORE_MAX 511U
static inline struct block_run block_run_of(uint64_t block, uint64_t over_block)
{
	return (struct block_run){ .block = block, .over_block = over_block & ((UINT64_C(1) << 55) - 1) };
}
/** Bit fields are added in as few bits as they have. */
static inline uint64_t block_run_over(const struct block_run *run) { return run->over_block; }
/** Whether the block could be appended to the run. */
static inline bool block_run_append(struct block_run *run, uint64_t block, uint64_t over_block)
{
	if (run->more == BLOCK_RUN_MORE_MAX || run->block + run->more + 1 != block || block_run_over(run) + run->more + 1 != over_block)
		return false;
	run->more++;
	return true;
}

#endif
