/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DEV_DEV_PRIV_H
#define DEV_DEV_PRIV_H

#include <sys/stat.h>

#include "dev/dev.h"

/** Reads and writes of leaf devices through one io_uring; where the kernel refuses one, by pread and pwrite. Sets each result. */
void uring_run(struct dev_request *requests, size_t count);

/** flushes.c: around what carries out a batch in which any flush of a file or disk is. */
bool flushes_any(const struct dev_request *requests, size_t count);
void flushes_begin(const struct dev_request *requests, size_t count);
void flushes_end(struct dev_request *requests, size_t count);
/** The error that a write or flush gets because an earlier flush failed, with its reason; or 0. */
int flushes_refuse(struct dev_request *request);

/** A device of its own for an open file; `fd` is closed with it, and on failure. 0 or -ENOMEM. */
int file_new(const char *name, int fd, uint64_t size_bytes, bool writable, struct dev **ret_dev);
/** Size of an open file or block device; -ENOTSUP for others. */
int file_size(int fd, uint64_t *ret_bytes);

/** Who has the file or block device, as the end of a sentence that begins with "it". `own`: how often this process has it open itself for the attempt. */
void holder_say(const struct stat *what, unsigned own, struct strbuf *ret);
/** The disk around a partition; false for what is no partition. */
bool holder_disk_of(dev_t devno, dev_t *ret_disk);
/** Whether a process has it open, besides this one's own attempt. Only root sees all. */
bool holder_is_open_elsewhere(const struct stat *what);

/** same.c: what a path leads to. */
struct same_identity {
	bool known;
	bool block;
	dev_t device; /* the block device, or the file system that the file is in */
	ino_t inode;  /* of the file */
	dev_t disk;   /* around the partition; else as `device` */
};
/** The field `by` of dev_find_repeated(). */
size_t same_stands_for(const struct same_identity *all, size_t count, size_t index);

/** The parts of dev_open_file_exclusive(): an fd or negative errno; the sentence for it; and what makes the open file ours alone, with its size. */
int exclusive_open(const char *path);
int exclusive_refused(const char *path, int error, struct blkalign_error *reterr);
int exclusive_secure(int fd, const char *path, uint64_t *ret_size_bytes, struct blkalign_error *reterr);

/** The extent hook of files: holes, by SEEK_DATA and SEEK_HOLE. */
int file_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero);

#endif
