/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Devices made of devices. Each turns a batch of requests into requests on the devices below and starts those together. Children are borrowed
 * and must outlive the device; they are not closed by it.
 *
 * Threads: see each constructor; segments: any number at a time.
 */
#ifndef MAP_MAP_H
#define MAP_MAP_H

#include "base/base.h"
#include "base/block_run.h"
#include "dev/dev.h"
#include "raid/raid.h"

/** One slot of an md array. */
struct map_md_member {
	struct dev *dev; /* NULL: missing */
	uint64_t data_offset_bytes;
	uint64_t valid_bytes; /* the data area is in sync below this; UINT64_MAX: all of it */
	bool write_mostly;    /* read only what no other member has */
	/** Known bad parts of the data area, ascending, not overlapping; copied by map_open_md(). */
	const struct byte_range *bad;
	size_t bad_count;
};

/** Part of a raid5 stripe that is about to be written, as md's partial parity log describes it. */
struct map_md_partial {
	uint64_t array_bytes;  /* first array byte written */
	uint64_t length_bytes; /* array bytes written, over all data members together */
	uint64_t row_bytes;    /* the rows of the chunk that are written, on each of length_bytes / row_bytes members */
	uint32_t p_slot;
	const uint8_t *parity; /* row_bytes: xor of the data in these rows that is not written; NULL for a full stripe */
};

/** The most that one call of the guard's log() gets for one parity slot: partial parity, and partials. So they fit one record of the kernel's log. */
#define MAP_MD_LOG_BYTES    (124 * KIB)
#define MAP_MD_LOG_PARTIALS 148U

/**
 * Who keeps an array's records while it is written to: superblocks, bitmap, parity log. The transform knows no format; it calls these at the four moments that
 * matter. Called from any thread. Ranges are ascending and in the bitmap's unit: bytes of the data area; raid10, raid0 and linear: array bytes.
 */
struct map_md_guard {
	const struct map_md_guard_ops *ops;
};
struct map_md_guard_ops {
	/** Before anything of a batch is read from or written to `ranges`: on return of 0 the disks say, durably, that they may be inconsistent. */
	int (*begin)(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, struct blkalign_error *reterr);
	/** The batch that began has ended. The guard may forget the ranges after a flush; `complete` false: a member lacks the data. Called for every begin() that succeeded. */
	void (*end)(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, bool complete);
	/**
	 * Durably log `partials` before their stripes are written; at most once between begin() and end(). Offsets and lengths are multiples of 512. NULL: the array has no
	 * log.
	 */
	int (*log)(struct map_md_guard *guard, const struct map_md_partial *partials, size_t count, struct blkalign_error *reterr);
	/** `slot` failed a write or flush. On return of 0 the others say, durably, that it is faulty; no write is acknowledged before. */
	int (*fail)(struct map_md_guard *guard, uint32_t slot, struct blkalign_error *reterr);
	/**
	 * Writes to `ranges` failed on members that the array cannot do without, so that redundancy may not fit the data there any more: the array must not be called clean
	 * before they were resynced. Between begin() and end(); after a failed flush, with one range of all there is.
	 */
	void (*doubt)(struct map_md_guard *guard, const struct byte_range *ranges, size_t count);
	/** All members are about to be flushed; what this returns is handed to flushed(). Several flushes may be under way. */
	uint64_t (*flushing)(struct map_md_guard *guard);
	/**
	 * All members were flushed: what had ended when flushing() returned `mark` may be cleaned up. Not called when a flush failed. Negative when a flush of the guard's own
	 * failed meanwhile on a member that the array cannot do without: what it covered may be lost, and this flush is not acknowledged.
	 */
	int (*flushed)(struct map_md_guard *guard, uint64_t mark);
};

/** What map_open_md() makes an array of. */
struct map_md {
	struct raid_geometry *geometry;	     /* taken over (and emptied), also on failure */
	const struct map_md_member *members; /* one entry per slot; copied */
	const struct byte_range *doubtful;   /* where redundancy may not fit the data (units as the guard's), ascending; copied */
	size_t doubtful_count;
	bool use_doubtful;	    /* compute lost data there nevertheless; otherwise such reads end with -EIO */
	struct map_md_guard *guard; /* NULL: read only. Borrowed */
};

/**
 * An md array. Threads: any number at a time.
 *
 * Reads take as few members as hold the bytes; of mirrors the first that is there and not write-mostly. What no member has is computed; what a member fails to read is
 * taken from another copy or computed, and, with a guard, written back to it. Where that is not possible the read ends with -EIO. -ENODATA where a raid0
 * array does not record its layout and the byte depends on it. -ENOMEM, also of a device below, says nothing of a member: the request ends with it.
 *
 * Writes (with a guard) go to every copy; parity is computed from what needs fewer reads: old data and parity, or the other data. A member that fails a
 * write is failed by the guard before the write is acknowledged, and not used again; not so where whole pages can be written to it instead of parts of them, which
 * a sector that cannot be read does not take. -EROFS for geometries that overlap themselves.
 */
int map_open_md(const char *name, struct map_md *md, struct dev **ret_dev);

/** What happened on an md device since it was opened. */
struct map_md_events {
	uint64_t computed_bytes;  /* given to readers from redundancy */
	uint64_t read_errors;	  /* of members, that redundancy hid */
	uint64_t rewritten_bytes; /* written back after a read error */
	uint32_t failed_members;
	const char *first_error; /* of a member, while reading: where and what; NULL: none. Lives as long as the device */
};
void map_md_events(struct dev *md, struct map_md_events *ret);
/** A member that failed. Strings live as long as what told them. */
struct map_failure {
	uint32_t slot;
	const char *member;
	const char *why; /* its first error */
};
/** The members of an md device that failed, in that order; false when there are no more than `index`. */
bool map_md_failure(struct dev *md, size_t index, struct map_failure *ret);
/** The members of an md device, by slot, as map_open_md() was given them; a failed one has no dev any more. NULL for other devices. */
const struct map_md_member *map_md_members(const struct dev *dev, const struct raid_geometry **ret_geometry);
/**
 * Keep writers out of the stripes (raid1, raid10: sync ranges) of a range in the guard's unit, or wait for them to leave, so that scrubbing and rebuilding may look at all members at
 * one moment. Ranges are locked one at a time by each thread.
 */
void map_md_lock(struct dev *md, const struct byte_range *range);
void map_md_unlock(struct dev *md, const struct byte_range *range);
/** From now on slot `slot` is `member`, valid below its valid_bytes: a rebuild's target, and each step of it. */
int map_md_set_member(struct dev *md, uint32_t slot, const struct map_md_member *member);
/** Whether redundancy may not fit the data at `at` (guard's unit); *run_bytes (1 at least) is cut to where the answer changes. */
bool map_md_doubtful(struct dev *md, uint64_t at, uint64_t *run_bytes);
/** The range is no longer doubtful (a resync passed it). */
int map_md_set_trusted(struct dev *md, const struct byte_range *range);

/**
 * An array that was stopped in the middle of a reshape, read only: below `position_bytes` it lies on `low`, from there on on `high` (two
 * maps of the same members, borrowed). `size_bytes` is the smaller size of the two shapes.
 */
int map_open_reshaping(const char *name, struct dev *low, struct dev *high, uint64_t position_bytes, uint64_t size_bytes,
		       struct dev **ret_dev);
/** The map of such an array that has byte `at`; *run_bytes is cut to where the other begins. NULL for other devices. */
struct dev *map_reshaping_half(const struct dev *dev, uint64_t at, uint64_t *run_bytes);

/** Bytes that stand in for some of a device's: in memory or on another device. */
struct map_patch {
	struct byte_range range;
	const uint8_t *data; /* copied; NULL: they are on `dev` */
	struct dev *dev;     /* borrowed; NULL: they are at `data` */
	uint64_t dev_offset_bytes;
};
/** `below` as it reads with `patches`, ascending and apart. Read only. -EINVAL for patches that overlap or do not fit. Threads: any number at a time. */
int map_open_patched(struct dev *below, const struct map_patch *patches, size_t count, struct dev **ret_dev);
/** What lies below the patches, and whether one stands in for byte `at`; *run_bytes is cut to where that may change. NULL for other devices. */
struct dev *map_patched_below(const struct dev *dev, uint64_t at, uint64_t *run_bytes, bool *ret_patched);

/** Where a run of bytes lies. */
struct map_run {
	struct dev *dev; /* borrowed; NULL: they read as zeros */
	uint64_t offset_bytes;
	uint64_t length_bytes;
	const char *note; /* static: why they lie there, for people; NULL: nothing to say */
};

/** Who knows where the bytes of a volume lie: the mapping of a thin volume, the exceptions of a snapshot. */
struct map_chart {
	const struct map_chart_ops *ops;
};
struct map_chart_ops {
	/**
	 * What byte `at` is, and the bytes behind it as far as they stay together; the run may be short. Any number of threads. On failure why is in *ret_reason: static, or
	 * owned by the chart; and how many bytes it is true of in ret_run->length_bytes, 0: not known.
	 */
	int (*find)(struct map_chart *chart, uint64_t at, struct map_run *ret_run, const char **ret_reason);
	void (*free)(struct map_chart *chart);
};
/** `size_bytes` that lie where `chart` (taken over, also on failure) says, asked anew for each read. Read only. Threads: any number at a time. */
int map_open_charted(const char *name, uint64_t size_bytes, struct map_chart *chart, struct dev **ret_dev);
/** Where byte `at` of a charted device lies; BLKALIGN_NOT_THIS for other devices. After failure the length of *ret_run is what cannot be told, 1 byte at least. */
int map_charted_run(const struct dev *dev, uint64_t at, struct map_run *ret_run, const char **ret_reason);

/**
 * A charted device: `size_bytes` of `below`, with some blocks of `block_bytes` taken from `over` instead: those that `runs` lists (ascending by `block`, malloc'ed, taken
 * over also on failure). `note` is said of these. Below the end of `below`; zeros behind it. -EINVAL when they are not in order, or not on `over`.
 */
int map_open_overlaid(const char *name, uint64_t size_bytes, struct dev *below, struct dev *over, uint64_t block_bytes,
		      struct block_run *runs, size_t count, const char *note, struct dev **ret_dev);

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
 * The segments one after the other. They are copied. Writable when every segment has areas, and all of them are there and writable. -EINVAL for
 * a segment of several areas whose length is not a whole number of rows of chunks, or when sizes do not fit 64 bits.
 */
int map_open_segments(const char *name, const struct map_segment *segments, size_t count, struct dev **ret_dev);
/** Segment `index` of such a device, borrowed from it. False behind the last one, and for all other devices. */
bool map_segment_of(const struct dev *dev, size_t index, struct map_segment *ret_segment);

#endif
