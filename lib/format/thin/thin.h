/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Metadata of a thin pool: superblock, the devices in it, and where their blocks lie. Source: the kernel's drivers/md/dm-thin-metadata.c, compared with
 * thin_dump.
 *
 * Errors and threads as format/pdata/pdata.h. Sizes are bytes; blocks are of data_block_bytes but where they are called metadata blocks.
 */
#ifndef FORMAT_THIN_THIN_H
#define FORMAT_THIN_THIN_H

#include "format/pdata/pdata.h"

struct thin_superblock {
	bool needs_check; /* the kernel met an error and writes nothing more until thin_repair was run */
	uint32_t version;
	uint32_t time; /* counts snapshots */
	uint64_t transaction_id;
	uint64_t held_root; /* superblock of a metadata snapshot; 0: none */
	uint64_t mapping_root;
	uint64_t details_root;
	uint64_t data_block_bytes;
	struct pdata_map data;	   /* `blocks`: of the pool */
	struct pdata_map metadata; /* `blocks`: of the metadata device */
};

/** Block 0. BLKALIGN_NOT_THIS without the magic. */
int thin_superblock_decode(const uint8_t block[PDATA_BLOCK_BYTES], struct thin_superblock *ret_super, struct blkalign_error *reterr);

struct thin_pool {
	struct thin_superblock super;
	struct pdata *pdata;
};
/** The pool whose metadata is on `dev`, which is borrowed. thin_pool_done() also after failure. BLKALIGN_NOT_THIS as above. */
int thin_pool_read(struct dev *dev, struct thin_pool *ret_pool, struct blkalign_error *reterr);
void thin_pool_done(struct thin_pool *pool);

struct thin_device {
	uint64_t mapping_root;
	uint64_t mapped_blocks;
	uint64_t transaction_id; /* at its creation */
	uint32_t created_time;
	uint32_t snapshotted_time;
};
/** BLKALIGN_ABSENT when the pool has no such device. */
int thin_find_device(const struct thin_pool *pool, uint32_t device_id, struct thin_device *ret_device, struct blkalign_error *reterr);

/** Neighbours that lie together. */
struct thin_run {
	bool mapped;
	uint64_t data_block;
	uint64_t blocks; /* 1 at least */
};
/** What block `block` of a device is, and as many behind it as one leaf of the tree tells of. After failure `blocks` is how many would fail alike. */
int thin_find(const struct thin_pool *pool, uint64_t mapping_root, uint64_t block, struct thin_run *ret_run, struct blkalign_error *reterr);

#endif
