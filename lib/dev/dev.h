/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * THE device interface.
 *
 * I/O is data: a request names a device, an operation, a range and a buffer, and holds its result. dev_run() starts all requests it is
 * given and returns when all have ended. A device made of devices turns the requests of one batch into requests on its children and calls
 * dev_run() once for them, so the leaves of one batch reach one io_uring together. There are no callbacks.
 *
 * dev_run() is the choke point: it checks range, alignment and state, splits off unaligned heads and tails, and makes sure that a failure carries
 * its reason. Implementations below it trust what they get.
 *
 * Threads: run() of one device may be called from any number of threads at a time; opening and closing from one. Order between requests exists only where one
 * dev_run() returned before the other was called: a flush covers what had ended by then.
 */
#ifndef DEV_DEV_H
#define DEV_DEV_H

#include <stdatomic.h>

#include "base/base.h"

enum dev_op { DEV_READ, DEV_WRITE, DEV_FLUSH };

struct dev;

struct dev_request {
	struct dev *dev;
	enum dev_op op;
	uint64_t offset_bytes;
	size_t length_bytes;
	void *buffer; /* length_bytes; NULL for DEV_FLUSH */
	int result;   /* 0 or negative errno, set by dev_run() */
	const char *
		reason; /* why `result` is no success, where errno does not say it; static or owned by the device, or NULL; set by dev_run() */
};

/** What an implementation provides. */
struct dev_ops {
	const char *kind; /* "file", "memory", "slice", ... for messages */
	/**
	 * Carry out `count` requests, all on this device, checked and aligned to block_bytes. Sets each `result`, and `reason` where there
	 * is more to say; short transfers are errors (-EIO).
	 */
	void (*run)(struct dev *dev, struct dev_request *requests, size_t count);
	/** The one device that this is a range of, and where it begins there; requests may go there directly. The hook or its result is NULL when it is none. */
	const struct dev *(*part_of)(const struct dev *dev, uint64_t *ret_offset_bytes);
	/** As dev_extent(), whose arguments it may trust. NULL: nothing is known without reading. */
	int (*extent)(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero);
	/** Release everything but the struct itself. NULL: nothing to release. */
	void (*close)(struct dev *dev);
};

/** Common head of every implementation's struct. */
struct dev {
	const struct dev_ops *ops;
	const char *name; /* for messages; raw bytes; behind the implementation's struct in the same memory */
	uint64_t size_bytes;
	uint32_t block_bytes; /* requests reach the implementation in multiples of this; 1 for files */
	bool writable;
	bool leaf_in_memory;	    /* a file of tmpfs: nothing is gained by asking for several ranges at once */
	bool failed_flush_is_final; /* see dev_run() */
	atomic_int flush_error;	    /* then: of the first flush that failed; set by dev_run() */
	unsigned flushes;	    /* then: that are under way; dev_run()'s */
	uint64_t flush_rounds;	    /* how often none was */
	int leaf_fd;		    /* -1, or the fd whose requests may be put into one io_uring with other leaves' */
};

/**
 * Carry out all requests. Returns 0 when every one succeeded, else the first failure in array order (all results are set), with the device
 * and offset in `reterr`. Out of range is -ERANGE, writing to a read-only device -EROFS. A failed flush of a file or disk is final: what was written before may be
 * lost, although the kernel calls it clean, so that every later write and flush of it, and every flush that was under way beside it, ends with the same error.
 */
int dev_run(struct dev_request *requests, size_t count, struct blkalign_error *reterr);

/** An error that says nothing of the device: no member of an array fails for it. */
static inline bool dev_error_is_ours(int error) { return error == -ENOMEM; }

/** The sentence that dev_run() would say of a request that failed. Returns its result. */
int dev_describe(const struct dev_request *failed, struct blkalign_error *reterr);

/** One read. All or nothing. */
int dev_read(struct dev *dev, uint64_t offset_bytes, void *buffer, size_t length_bytes, struct blkalign_error *reterr);

/** Close and free; NULL is accepted. Children are not closed. */
void dev_close(struct dev *dev);
static inline void dev_closep(struct dev **dev) { dev_close(*dev); }
#define _cleanup_dev_ _cleanup_(dev_closep)

/**
 * What is known of contents without reading them. From `offset_bytes` on, *length_bytes bytes (at most as many as it held before, at least one) are alike:
 * *ret_zero: they read as zeros; otherwise there is data, or nobody can say. -ERANGE outside of the device.
 */
int dev_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero);

/** One write; one flush. */
int dev_write(struct dev *dev, uint64_t offset_bytes, const void *buffer, size_t length_bytes, struct blkalign_error *reterr);
int dev_flush(struct dev *dev, struct blkalign_error *reterr);

/**
 * A file or block device for reading and writing, ours alone: block devices O_EXCL, image files by lease and lock. -EBUSY, saying who, when it is mounted, swapped on,
 * held by another device, or open elsewhere; -EROFS when it is read-only. Kept until dev_close().
 */
int dev_open_file_exclusive(const char *path, struct dev **ret_dev, struct blkalign_error *reterr);
/** What may be there already. */
enum dev_output {
	DEV_OUTPUT_NEW,	      /* nothing, or an empty file */
	DEV_OUTPUT_OVERWRITE, /* anything: a file is emptied, a disk overwritten */
	DEV_OUTPUT_RESUME,    /* a file of just the size, or a disk, which is gone on with as it is */
};
/**
 * `size_bytes` to write results to: a file, made sparse, or the beginning of a block device; ours alone, as with dev_open_file_exclusive(). *ret_zeros: what is not written reads as
 * zeros. -EEXIST when there is more than `how` says, -EINVAL when it is one of `sources` (paths), a disk or partition around or in one, or a loop device on
 * one; -ENOSPC when a device is too small.
 */
int dev_open_output(const char *path, uint64_t size_bytes, enum dev_output how, const char *const *sources, size_t count,
		    struct dev **ret_dev, bool *ret_zeros, struct blkalign_error *reterr);
/** Let a range read as zeros: a hole where the file or disk can have one, else written. */
int dev_write_zeros(struct dev *dev, uint64_t offset_bytes, uint64_t length_bytes, struct blkalign_error *reterr);

/** Writable over a read-only `below` (borrowed), which is never written: what is written stays in an unnamed temporary file and is lost on close. */
int dev_open_cow(struct dev *below, struct dev **ret_dev, struct blkalign_error *reterr);

/**
 * An undo log: before a range of a device is overwritten for the first time, its old bytes are appended to the log, durably. Several devices share
 * one log. Format: doc/undo.md.
 */
struct dev_undo;
/** A new log file (-EEXIST when there is one), mode 0600. `purpose` is stored for people. */
int dev_undo_create(const char *path, const char *purpose, struct dev_undo **ret_undo, struct blkalign_error *reterr);
/** An old log, its records checked, to which more may be appended (a resumed run). */
int dev_undo_resume(const char *path, struct dev_undo **ret_undo, struct blkalign_error *reterr);
/** Whether the log has anything of the file or disk at `path`, which is opened O_RDONLY for a moment. */
int dev_undo_knows(const struct dev_undo *undo, const char *path, bool *ret, struct blkalign_error *reterr);
void dev_undo_close(struct dev_undo *undo);
/** Nothing was saved in it since it was opened, so that nothing was overwritten. */
bool dev_undo_is_unused(const struct dev_undo *undo);
/** Writes to the result are logged in `undo`, then passed to `below`. Both are borrowed. */
int dev_open_undo(struct dev *below, struct dev_undo *undo, struct dev **ret_dev, struct blkalign_error *reterr);
/**
 * Put the logged bytes back on `devs`, after making sure that each still holds what was written since (or the old bytes); nothing is written when one does not: -ESTALE.
 * Devices are recognised by size and by what the disk says of itself, or else by path; -ENOENT when one of the log is missing. What could not be read
 * when it was to be logged stays as it is. `ret_bytes`: how many were put back.
 */
int dev_undo_apply(struct dev_undo *undo, struct dev *const *devs, size_t count, uint64_t *ret_bytes, struct blkalign_error *reterr);

/** Whether two paths lead to one file or block device, whatever it is called. */
bool dev_same_file(const char *a, const char *b);
/** What stands for a path among others. */
struct dev_repeated {
	size_t by; /* index of an earlier path to the same file or disk, or of the disk around the partition; the path's own when it is the one to be used */
	bool partition; /* of `by` */
};
/** For each path; freed by the caller with free(). What cannot be looked at stands for itself. 0 or -ENOMEM. */
int dev_find_repeated(const char *const *paths, size_t count, struct dev_repeated **ret);

/** A file or block device, O_RDONLY. Regular files and block devices only (-ENOTSUP otherwise). */
int dev_open_file(const char *path, struct dev **ret_dev, struct blkalign_error *reterr);
/** `data` is borrowed and must outlive the device. */
int dev_open_memory(const char *name, void *data, size_t size_bytes, bool writable, struct dev **ret_dev);
/** [offset, offset + size) of `below`, which must outlive the slice. -ERANGE when it does not fit. */
int dev_open_slice(const char *name, struct dev *below, uint64_t offset_bytes, uint64_t size_bytes, struct dev **ret_dev);
/** Passes on to `below`, but reads that touch one of the `bad` ranges (copied; ascending, apart from each other, else -EINVAL) end with -EIO. */
int dev_open_bad_ranges(struct dev *below, const struct byte_range *bad, size_t count, struct dev **ret_dev);
/**
 * Passes on to `below`, but requests that touch [bad_offset, bad_offset + bad_length) end with `error` (negative errno).
 * Deterministic: for tests of what happens on EIO.
 */
int dev_open_fault(struct dev *below, uint64_t bad_offset_bytes, uint64_t bad_length_bytes, int error, struct dev **ret_dev);
/** Likewise, but the `n`-th (from 1) request of kind `op` ends with `error`, and with `sticky` all of them from then on. */
int dev_open_fault_nth(struct dev *below, enum dev_op op, uint64_t n, bool sticky, int error, struct dev **ret_dev);

/** True when the device is a plain range of an open file or disk: for libraries that read from a file descriptor. The fd stays ours. */
bool dev_leaf_range(const struct dev *dev, int *ret_fd, uint64_t *ret_offset_bytes);
/** A range of an open file that holds no data; fd -1 for none. */
struct dev_hole {
	int fd;
	uint64_t begin_bytes;
	uint64_t end_bytes;
};

/**
 * True when the device lies in a hole of a sparse file, so that it can only read as zeros. False also when nobody can say. `known` is the hole met last:
 * the kernel is asked once for the ten thousand devices in it.
 */
bool dev_is_hole(const struct dev *dev, struct dev_hole *known);

/** For implementations: the common head filled in; `size` bytes zeroed. */
struct dev *dev_new(size_t size, const struct dev_ops *ops, const char *name, uint64_t size_bytes, uint32_t block_bytes);

#endif
