/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Devices made of devices. Each turns a batch of requests into requests on the devices below and starts those together. Children are borrowed
 * and must outlive the device; they are not closed by it.
 *
 * Threads: as every device, one thread at a time.
 */
#ifndef MAP_MAP_H
#define MAP_MAP_H

#include "base/base.h"
#include "dev/dev.h"
#include "raid/raid.h"

struct map_range {
	uint64_t offset_bytes;
	uint64_t length_bytes;
};

/** One slot of an md array. */
struct map_md_member {
	struct dev *dev; /* NULL: missing */
	uint64_t data_offset_bytes;
	uint64_t valid_bytes; /* the data area is in sync below this; UINT64_MAX: all of it */
	bool write_mostly;    /* read only what no other member has */
	/** Known bad parts of the data area, ascending, not overlapping; copied by map_open_md(). */
	const struct map_range *bad;
	size_t bad_count;
};

/**
 * An md array, read only. `geometry` is taken over (and emptied) also on failure; `members` holds one entry per slot and is copied.
 *
 * Reads of mirrors use the first copy that is there. What a missing member of raid4, raid5 or raid6 held is computed by xor from all others but Q; where that is
 * not enough the read ends with -EIO. -ENODATA where a raid0 array does not record its layout and the byte depends on it.
 */
int map_open_md(const char *name, struct raid_geometry *geometry, const struct map_md_member *members, struct dev **ret_dev);

/** A piece of a device below. */
struct map_area {
	struct dev *dev;	     /* NULL: missing, reads fail with -EIO */
	uint64_t offset_bytes;	     /* where the area begins on it */
	const char *missing_because; /* copied; NULL for "a device below is missing" */
};

/** Bytes that lie on the areas in turn, chunk by chunk, as in dm-linear (one area) and dm-stripe; without areas they read as zeros. */
struct map_segment {
	uint64_t length_bytes;
	uint64_t chunk_bytes; /* ignored with fewer than two areas */
	const struct map_area *areas;
	size_t area_count;
};

/**
 * The segments one after the other. They are copied. -EINVAL for a segment of several areas whose length is not a whole number of rows of chunks, or when sizes
 * do not fit 64 bits.
 */
int map_open_segments(const char *name, const struct map_segment *segments, size_t count, struct dev **ret_dev);

#endif
