/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring is made for a batch of two or more requests only: probing a superblock is one pread, and setting up a ring costs more than that.
 */
#include <liburing.h>
#include <unistd.h>

#include "dev/dev_priv.h"

#define RING_ENTRIES 64U

static void transfer(struct dev_request *q)
{
	uint8_t *p = q->buffer;
	uint64_t offset = q->offset_bytes;
	size_t left = q->length_bytes;

	q->result = 0;
	if (q->op == DEV_FLUSH) {
		q->result = fdatasync(q->dev->leaf_fd) < 0 ? -errno : 0;
		return;
	}
	while (left) {
		ssize_t n = q->op == DEV_READ ? pread(q->dev->leaf_fd, p, left, (off_t)offset)
					      : pwrite(q->dev->leaf_fd, p, left, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			/* End of file inside the device's size: the file was cut meanwhile. */
			q->result = n < 0 ? -errno : -EIO;
			return;
		}
		p += n;
		offset += (uint64_t)n;
		left -= (size_t)n;
	}
}

static bool prepare(struct io_uring *ring, struct dev_request *q)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (!sqe)
		return false;
	if (q->op == DEV_READ)
		io_uring_prep_read(sqe, q->dev->leaf_fd, q->buffer, (unsigned)q->length_bytes, q->offset_bytes);
	else if (q->op == DEV_WRITE)
		io_uring_prep_write(sqe, q->dev->leaf_fd, q->buffer, (unsigned)q->length_bytes, q->offset_bytes);
	else
		io_uring_prep_fsync(sqe, q->dev->leaf_fd, IORING_FSYNC_DATASYNC);
	io_uring_sqe_set_data(sqe, q);
	return true;
}

/* A short or interrupted completion is finished the plain way, so that its true errno is seen. */
static void reap(struct io_uring *ring, unsigned expected)
{
	for (unsigned i = 0; i < expected; i++) {
		struct io_uring_cqe *cqe;
		struct dev_request *q;
		int r;

		do
			r = io_uring_wait_cqe(ring, &cqe);
		while (r == -EINTR);
		if (r < 0)
			return;
		q = io_uring_cqe_get_data(cqe);
		r = cqe->res;
		io_uring_cqe_seen(ring, cqe);
		if (r >= 0 && (size_t)r == q->length_bytes)
			q->result = 0;
		else
			transfer(q);
	}
}

static size_t run_chunk(struct io_uring *ring, struct dev_request *requests, size_t count)
{
	unsigned queued = 0;
	int submitted;

	while (queued < count && queued < RING_ENTRIES && prepare(ring, &requests[queued])) {
		requests[queued].result = -EIO;
		queued++;
	}
	submitted = io_uring_submit(ring);
	reap(ring, submitted < 0 ? 0 : (unsigned)submitted);
	return submitted <= 0 ? 0 : (size_t)submitted;
}

void uring_run(struct dev_request *requests, size_t count)
{
	struct io_uring ring;
	bool have_ring = count > 1 && io_uring_queue_init(RING_ENTRIES, &ring, 0) == 0;
	size_t done = 0;

	while (have_ring && done < count) {
		size_t n = run_chunk(&ring, requests + done, count - done);

		done += n;
		if (!n)
			break;
	}
	if (have_ring)
		io_uring_queue_exit(&ring);
	for (; done < count; done++)
		transfer(&requests[done]);
}
