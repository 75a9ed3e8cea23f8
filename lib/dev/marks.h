/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Which granules of a device are marked. A page of bitmap is made when its first granule is marked, so that a device of any size costs what happens on it.
 * Marks are never taken back.
 *
 * Threads: any number at a time. What was written before a granule was marked is seen by whoever sees the mark.
 */
#ifndef DEV_MARKS_H
#define DEV_MARKS_H

#include <stdatomic.h>

#include "base/base.h"

#define MARKS_GRANULE_BYTES (4 * KIB)

typedef _Atomic(uint64_t) marks_word;

struct marks {
	_Atomic(marks_word *) *pages;
	size_t pages_count;
};

/** For a device of `size_bytes`. -ENOMEM. */
int marks_init(struct marks *marks, uint64_t size_bytes);
void marks_done(struct marks *marks);

bool marks_has(const struct marks *marks, uint64_t granule);
/** Make sure that marking in [offset, offset + length) needs no memory any more. -ENOMEM. */
int marks_prepare(struct marks *marks, uint64_t offset_bytes, uint64_t length_bytes);
/** Mark the granules that [offset, offset + length) touches, after marks_prepare(). */
void marks_set(struct marks *marks, uint64_t offset_bytes, uint64_t length_bytes);
/** Where the run of granules that are marked as the one of `offset` is, or are not, ends; at most `end`. */
uint64_t marks_run_end(const struct marks *marks, uint64_t offset_bytes, uint64_t end_bytes);

#endif
