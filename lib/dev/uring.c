/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each thread has a ring of its own, made for its first batch of two or more requests that may wait, and kept: probing a superblock is one pread, and
 * setting up a ring costs more than that.
 *
 * What may wait are reads and flushes of files on disks: they wait on all devices at once, and what is cached comes at the rate of pread. On tmpfs the kernel hands
 * reads to worker threads, and 4 KiB take more than twice as long as by pread. Writes end in the page cache, and those of files are handed to workers
 * too. To measure: ninja -C build-release bench/batches && build-release/bench/batches /dev/shm.
 */
#include <liburing.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "dev/dev_priv.h"

#define RING_ENTRIES 64U
#define PIECE_BYTES  ((size_t)GIB) /* the kernel transfers at most 2 GiB - 4 KiB at a time */

static void finish_plain(struct dev_request *q, size_t done_bytes)
{
	uint8_t *p = q->buffer;
	int fd = q->dev->leaf_fd;

	q->result = 0;
	if (q->op == DEV_FLUSH) {
		q->result = fdatasync(fd) < 0 ? -errno : 0;
		return;
	}
	while (done_bytes < q->length_bytes) {
		size_t left = q->length_bytes - done_bytes;
		off_t offset = (off_t)(q->offset_bytes + done_bytes);
		ssize_t n = q->op == DEV_READ ? pread(fd, p + done_bytes, left, offset) : pwrite(fd, p + done_bytes, left, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			/* End of file inside the device's size: the file was cut meanwhile. */
			q->result = n < 0 ? -errno : -EIO;
			return;
		}
		done_bytes += (size_t)n;
	}
}

struct slot {
	struct dev_request *request;
	size_t done_bytes;
};

struct ring {
	struct io_uring uring;
	pid_t pid; /* who made it: after a fork it is the parent's */
	unsigned busy;
	bool abandoned;
	struct slot slots[RING_ENTRIES];
	struct slot *idle[RING_ENTRIES]; /* the first RING_ENTRIES - busy are free */
};

static pthread_key_t ring_key;
static bool have_ring_key;
static pthread_once_t ring_key_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t ring_map_lock = PTHREAD_MUTEX_INITIALIZER; /* orders the end of one ring before another is mapped at its address */
static atomic_bool refused;					  /* the kernel or a seccomp filter does not want io_uring */

static void ring_free(void *p)
{
	struct ring *ring = p;

	pthread_mutex_lock(&ring_map_lock);
	io_uring_queue_exit(&ring->uring);
	pthread_mutex_unlock(&ring_map_lock);
	free(ring);
}

static void make_ring_key(void) { have_ring_key = pthread_key_create(&ring_key, ring_free) == 0; }

/* A thread that ends after the library was unloaded must not call into it. */
__attribute__((destructor)) static void forget_ring_key(void)
{
	if (have_ring_key)
		pthread_key_delete(ring_key);
	have_ring_key = false;
}

static struct ring *ring_new(void)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	int r = -ENOMEM;

	if (ring) {
		pthread_mutex_lock(&ring_map_lock);
		r = io_uring_queue_init(RING_ENTRIES, &ring->uring, 0);
		pthread_mutex_unlock(&ring_map_lock);
	}
	if (r == -ENOSYS || r == -EPERM || r == -EACCES)
		refused = true;
	if (r < 0) {
		free(ring);
		return NULL;
	}
	ring->pid = getpid();
	for (unsigned i = 0; i < RING_ENTRIES; i++)
		ring->idle[i] = &ring->slots[i];
	if (pthread_setspecific(ring_key, ring) == 0)
		return ring;
	ring_free(ring);
	return NULL;
}

static void ring_drop(struct ring *ring)
{
	pthread_setspecific(ring_key, NULL);
	ring_free(ring);
}

/* This thread's ring, or NULL. */
static struct ring *ring_get(void)
{
	struct ring *ring;

	pthread_once(&ring_key_once, make_ring_key);
	if (!have_ring_key || refused)
		return NULL;
	ring = pthread_getspecific(ring_key);
	if (ring && ring->pid != getpid()) {
		ring_drop(ring);
		ring = NULL;
	}
	return ring ? ring : ring_new();
}

static void queue(struct ring *ring, struct slot *slot)
{
	struct dev_request *q = slot->request;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring); /* as many as slots */
	size_t left = q->length_bytes - slot->done_bytes;
	unsigned length = (unsigned)(left < PIECE_BYTES ? left : PIECE_BYTES);
	uint64_t offset = q->offset_bytes + slot->done_bytes;
	int fd = q->dev->leaf_fd;

	if (q->op == DEV_READ)
		io_uring_prep_read(sqe, fd, (uint8_t *)q->buffer + slot->done_bytes, length, offset);
	else
		io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
	io_uring_sqe_set_data(sqe, slot);
}

static void take(struct ring *ring, struct dev_request *q)
{
	struct slot *slot = ring->idle[RING_ENTRIES - ++ring->busy];

	*slot = (struct slot){ .request = q };
	queue(ring, slot);
}

/* The request was not carried out, for reasons that the plain way does not have: interrupted, or an operation that this kernel does not know. */
static bool not_tried(int result)
{
	return result == -EINTR || result == -EAGAIN || result == -ECANCELED || result == -EINVAL || result == -EOPNOTSUPP;
}

static void release(struct ring *ring, struct slot *slot)
{
	slot->request = NULL;
	ring->idle[RING_ENTRIES - ring->busy--] = slot;
}

static void ended(struct ring *ring, struct slot *slot, int result)
{
	struct dev_request *q = slot->request;

	if (result > 0)
		slot->done_bytes += (size_t)result;
	if (result > 0 && slot->done_bytes < q->length_bytes && !ring->abandoned) {
		queue(ring, slot);
		return;
	}
	if (not_tried(result) || (result > 0 && slot->done_bytes < q->length_bytes))
		finish_plain(q, slot->done_bytes);
	else if (result < 0)
		q->result = result;
	else
		q->result = slot->done_bytes == q->length_bytes ? 0 : -EIO; /* the file was cut meanwhile */
	release(ring, slot);
}

static void reap(struct ring *ring)
{
	struct io_uring_cqe *cqe;

	while (io_uring_peek_cqe(&ring->uring, &cqe) == 0) {
		struct slot *slot = io_uring_cqe_get_data(cqe);
		int result = cqe->res;

		io_uring_cqe_seen(&ring->uring, cqe);
		ended(ring, slot, result);
	}
}

/*
 * The kernel takes or reports no more. What it has taken still uses the callers' buffers, so that nobody leaves before it has ended; what it has
 * not taken goes the plain way.
 */
static void abandon(struct ring *ring)
{
	unsigned untaken = io_uring_sq_ready(&ring->uring);

	ring->abandoned = true;
	for (reap(ring); ring->busy > untaken; reap(ring))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	for (unsigned i = 0; i < RING_ENTRIES; i++)
		if (ring->slots[i].request) {
			finish_plain(ring->slots[i].request, ring->slots[i].done_bytes);
			release(ring, &ring->slots[i]);
		}
	ring_drop(ring);
}

static bool may_wait(const struct dev_request *q) { return q->op != DEV_WRITE && !q->dev->leaf_in_memory; }

/* Returns how many requests were carried out: all, unless the ring broke. */
static size_t run_by_ring(struct ring *ring, struct dev_request *requests, size_t count)
{
	size_t next = 0;

	while (next < count || ring->busy) {
		int r;

		for (; next < count && ring->busy < RING_ENTRIES; next++)
			if (!may_wait(&requests[next]))
				finish_plain(&requests[next], 0);
			else
				take(ring, &requests[next]);
		if (!ring->busy)
			break;
		r = io_uring_submit_and_wait(&ring->uring, 1);
		if (r < 0 && r != -EINTR && r != -EAGAIN && r != -EBUSY) {
			abandon(ring);
			break;
		}
		reap(ring);
	}
	return next;
}

static bool worth_a_ring(const struct dev_request *requests, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count && found < 2; i++)
		found += may_wait(&requests[i]);
	return found == 2;
}

void uring_run(struct dev_request *requests, size_t count)
{
	struct ring *ring = worth_a_ring(requests, count) ? ring_get() : NULL;
	size_t done = ring ? run_by_ring(ring, requests, count) : 0;

	for (; done < count; done++)
		finish_plain(&requests[done], 0);
}
