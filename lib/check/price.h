/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What misalignment costs: a model, and labelled so. Pure functions.
 *
 * The drive rewrites whole physical blocks: a block that a write covers only in part is read first. Between reading and writing the same
 * block on a spinning drive lies one revolution; flash programs one page per block touched.
 */
#ifndef CHECK_PRICE_H
#define CHECK_PRICE_H

#include "check/report.h"

#define PRICE_REVOLUTION_MS 8.33 /* 7200 rpm */

/** Physical operations on one drive for one write. */
struct price_io {
	uint64_t reads;	 /**< physical blocks read first */
	uint64_t writes; /**< physical blocks written */
};

/** One write of `length_bytes` that starts `residue_bytes` past a physical block; `physical_bytes` > 0. */
struct price_io price_write(uint64_t length_bytes, uint64_t residue_bytes, uint64_t physical_bytes);

/** Geometry of the array in between, if any. */
struct price_array {
	uint64_t chunk_bytes; /**< 0: no array */
	uint32_t data_members;
	uint32_t parity_members;
};

/**
 * One small write to an array: with parity the old data and parity are read and all of them written (read-modify-write); each such member
 * write is a price_write().
 */
struct price_io price_array_write(const struct price_array *array, uint64_t length_bytes, uint64_t residue_bytes, uint64_t physical_bytes);
/** A full stripe, written to an array whose members are `residue_bytes` off. */
struct price_io price_full_stripe(const struct price_array *array, uint64_t residue_bytes, uint64_t physical_bytes);

/** One line: 4 KiB write, file-system block when it is not 4 KiB, full stripe when there is one, and time. */
const char *price_text(struct blkalign_report *report, const struct price_array *array, uint64_t fs_block_bytes, uint64_t residue_bytes,
		       uint64_t physical_bytes);

#endif
