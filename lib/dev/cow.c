/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The overlay is a sparse file as long as the device, so that a byte keeps its address; marks say which granules live there.
 *
 * A granule is marked after it is in the overlay: readers need no lock. Filling the rest of a granule of which only a part is written
 * excludes all other writers, because old bytes must not land on what they have just written.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "dev/dev_priv.h"
#include "dev/marks.h"

#define EXTENT_MAX_BYTES GIB /* looked at in one go */
#define OVERLAY_FOLDER	 "/var/tmp"

struct cow {
	struct dev dev;
	struct dev *below;
	struct dev *overlay;
	pthread_rwlock_t fill; /* held for writing while a granule is filled, for reading while the overlay is written */
	struct marks marks;
};

/* Parts of a batch, on the overlay or below. */
struct parts {
	VEC(struct dev_request) requests;
	VEC(size_t) owners;
};

static int add_part(struct parts *parts, struct dev *dev, const struct dev_request *q, uint64_t begin, uint64_t end, size_t owner)
{
	struct dev_request part = *q;

	part.dev = dev;
	part.offset_bytes = begin;
	part.length_bytes = (size_t)(end - begin);
	part.buffer = (uint8_t *)q->buffer + (begin - q->offset_bytes);
	part.result = 0;
	if (vec_push(&parts->requests, part) < 0)
		return -ENOMEM;
	if (vec_push(&parts->owners, owner) == 0)
		return 0;
	parts->requests.count--;
	return -ENOMEM;
}

static int split_read(struct cow *cow, const struct dev_request *q, size_t owner, struct parts *parts)
{
	uint64_t end = q->offset_bytes + q->length_bytes;
	int r = 0;

	for (uint64_t at = q->offset_bytes, to; r == 0 && at < end; at = to) {
		bool upper = marks_has(&cow->marks, at / MARKS_GRANULE_BYTES);

		to = marks_run_end(&cow->marks, at, end);
		r = add_part(parts, upper ? cow->overlay : cow->below, q, at, to, owner);
	}
	return r;
}

/* The granule at `offset` will be written in part: the rest of it comes from below. */
static int fill(struct cow *cow, uint64_t offset_bytes)
{
	uint64_t begin = round_down_u64(offset_bytes, MARKS_GRANULE_BYTES), left = cow->dev.size_bytes - begin;
	size_t length = (size_t)(left < MARKS_GRANULE_BYTES ? left : MARKS_GRANULE_BYTES);
	uint8_t buffer[MARKS_GRANULE_BYTES];
	int r = 0;

	if (marks_has(&cow->marks, begin / MARKS_GRANULE_BYTES))
		return 0;
	pthread_rwlock_wrlock(&cow->fill);
	if (!marks_has(&cow->marks, begin / MARKS_GRANULE_BYTES)) {
		r = dev_read(cow->below, begin, buffer, length, NULL);
		if (r == 0)
			r = dev_write(cow->overlay, begin, buffer, length, NULL);
		if (r == 0)
			marks_set(&cow->marks, begin, length);
	}
	pthread_rwlock_unlock(&cow->fill);
	return r;
}

static int prepare_write(struct cow *cow, const struct dev_request *q)
{
	uint64_t end = q->offset_bytes + q->length_bytes;
	int r = marks_prepare(&cow->marks, q->offset_bytes, q->length_bytes);

	if (r == 0 && q->offset_bytes % MARKS_GRANULE_BYTES)
		r = fill(cow, q->offset_bytes);
	if (r == 0 && end % MARKS_GRANULE_BYTES && end < cow->dev.size_bytes)
		r = fill(cow, end);
	return r;
}

static int copy_in(struct cow *cow, const struct dev_request *q)
{
	int r;

	pthread_rwlock_rdlock(&cow->fill);
	r = dev_write(cow->overlay, q->offset_bytes, q->buffer, q->length_bytes, NULL);
	if (r == 0)
		marks_set(&cow->marks, q->offset_bytes, q->length_bytes);
	pthread_rwlock_unlock(&cow->fill);
	return r;
}

static void write_overlay(struct cow *cow, struct dev_request *q)
{
	q->result = q->length_bytes ? prepare_write(cow, q) : 0;
	if (q->result == 0 && q->length_bytes)
		q->result = copy_in(cow, q);
	if (q->result == -ENOSPC)
		q->reason = "no space is left in the folder of temporary files, which holds what is written over it";
}

static void cow_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct cow *cow = (struct cow *)dev;
	struct parts parts = { 0 };

	for (size_t i = 0; i < count; i++) {
		requests[i].result = 0;
		if (requests[i].op == DEV_WRITE)
			write_overlay(cow, &requests[i]);
		else if (requests[i].op == DEV_READ)
			requests[i].result = split_read(cow, &requests[i], i, &parts);
	}
	dev_run(parts.requests.data, parts.requests.count, NULL);
	for (size_t i = 0; i < parts.requests.count; i++) {
		struct dev_request *q = &requests[parts.owners.data[i]];

		if (!q->result) {
			q->result = parts.requests.data[i].result;
			q->reason = parts.requests.data[i].reason;
		}
	}
	vec_done(&parts.requests);
	vec_done(&parts.owners);
}

/* What is written is data; the rest is as below. */
static int cow_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	const struct cow *cow = (const struct cow *)dev;
	uint64_t most = *length_bytes < EXTENT_MAX_BYTES ? *length_bytes : EXTENT_MAX_BYTES;
	bool upper = marks_has(&cow->marks, offset_bytes / MARKS_GRANULE_BYTES);

	*length_bytes = marks_run_end(&cow->marks, offset_bytes, offset_bytes + most) - offset_bytes;
	*ret_zero = false;
	return upper ? 0 : dev_extent(cow->below, offset_bytes, length_bytes, ret_zero);
}

static void cow_close(struct dev *dev)
{
	struct cow *cow = (struct cow *)dev;

	marks_done(&cow->marks);
	dev_close(cow->overlay);
	pthread_rwlock_destroy(&cow->fill);
}

static const struct dev_ops cow_ops = { .kind = "cow", .run = cow_run, .extent = cow_extent, .close = cow_close };

static int open_overlay(struct cow *cow, struct blkalign_error *reterr)
{
	const char *folder = secure_getenv("TMPDIR");
	int fd, r;

	if (!folder || !*folder)
		folder = OVERLAY_FOLDER;
	fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return blkalign_error_set(
			reterr, -errno, folder, BLKALIGN_UNKNOWN,
			"cannot make an unnamed temporary file for what is written over %s: %s; name another folder with TMPDIR",
			cow->dev.name, strerror(errno));
	if (cow->dev.size_bytes > INT64_MAX || ftruncate(fd, (off_t)cow->dev.size_bytes) < 0) {
		r = cow->dev.size_bytes > INT64_MAX ? -EFBIG : -errno;
		close(fd);
		return blkalign_error_set(reterr, r, folder, BLKALIGN_UNKNOWN,
					  "cannot hold a sparse file as long as %s: %s; name a folder on another file system with TMPDIR",
					  cow->dev.name, strerror(-r));
	}
	return file_new(folder, fd, cow->dev.size_bytes, true, &cow->overlay);
}

/* Otherwise a stream of writers keeps the one that fills a granule waiting for ever. */
static void init_fill_lock(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
}

int dev_open_cow(struct dev *below, struct dev **ret_dev, struct blkalign_error *reterr)
{
	struct cow *cow = (struct cow *)dev_new(sizeof(*cow), &cow_ops, below->name, below->size_bytes, 1);
	int r;

	if (!cow)
		return -ENOMEM;
	cow->below = below;
	cow->dev.writable = true;
	init_fill_lock(&cow->fill);
	r = marks_init(&cow->marks, below->size_bytes);
	if (r == 0)
		r = open_overlay(cow, reterr);
	if (r < 0) {
		dev_close(&cow->dev);
		return r;
	}
	*ret_dev = &cow->dev;
	return 0;
}
