/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reading half: threads that run ahead of the writer. */
#include <unistd.h>

#include "map/map.h"
#include "run/copy.h"

#define EXTENT_BYTES GIB /* asked about at once */
#define LOST_BYTES   GIB /* shorter ranges are tried again as disks' errors are: the map's own may be such */

bool copy_is_unreadable(int error)
{
	return error == -EIO || error == -ENODATA || error == -EILSEQ || error == -ETIMEDOUT || error == -EREMOTEIO || error == -ENOLINK ||
	       error == -EBADMSG;
}

int64_t copy_read_pieces(const struct blkalign_copy *copy, uint64_t offset_bytes, uint64_t length_bytes, uint64_t step_bytes, void *data,
			 bool *bad)
{
	size_t count = (size_t)((length_bytes + step_bytes - 1) / step_bytes);
	_cleanup_free_ struct dev_request *requests = calloc(count, sizeof(*requests));
	int64_t found = 0;

	if (!requests)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint64_t at = i * step_bytes, left = length_bytes - at;

		requests[i] = (struct dev_request){ .dev = copy->from,
						    .op = DEV_READ,
						    .offset_bytes = offset_bytes + at,
						    .length_bytes = (size_t)(left < step_bytes ? left : step_bytes),
						    .buffer = (uint8_t *)data + at };
	}
	dev_run(requests, count, NULL);
	for (size_t i = 0; i < count; i++) {
		size_t first = (size_t)(i * step_bytes / COPY_SECTOR_BYTES);
		size_t sectors = (requests[i].length_bytes + COPY_SECTOR_BYTES - 1) / COPY_SECTOR_BYTES;

		if (requests[i].result && !copy_is_unreadable(requests[i].result))
			return requests[i].result;
		memset(bad + first, requests[i].result != 0, sectors);
		found += requests[i].result ? (int64_t)sectors : 0;
	}
	return found;
}

/* Streams cannot be gone back in: there it is narrowed down at once, and what stays bad is zeros. */
static int64_t narrow(const struct blkalign_copy *copy, struct copy_unit *unit)
{
	int64_t found = 0;

	for (uint64_t at = 0; at < unit->length_bytes; at += COPY_PIECE_BYTES) {
		uint64_t left = unit->length_bytes - at, length = left < COPY_PIECE_BYTES ? left : COPY_PIECE_BYTES;
		bool *bad = unit->bad + at / COPY_SECTOR_BYTES;
		int64_t r;

		if (!*bad)
			continue;
		r = copy_read_pieces(copy, unit->offset_bytes + at, length, copy->sector_bytes, unit->data + at, bad);
		if (r < 0)
			return r;
		found += r;
		for (uint64_t s = 0; s < length; s += COPY_SECTOR_BYTES)
			if (bad[s / COPY_SECTOR_BYTES])
				memset(unit->data + at + s, 0, length - s < COPY_SECTOR_BYTES ? length - s : COPY_SECTOR_BYTES);
	}
	unit->bad_status = DDRESCUE_BAD;
	return found;
}

static int read_unit(const struct blkalign_copy *copy, struct copy_unit *unit)
{
	int64_t bad;
	int r;

	unit->bad_sectors = 0;
	if (unit->zeros || unit->lost)
		return 0;
	gate_enter(&copy->run->gate, unit->length_bytes);
	r = dev_read(copy->from, unit->offset_bytes, unit->data, unit->length_bytes, NULL);
	gate_leave(&copy->run->gate, unit->length_bytes);
	if (r == 0 || !copy_is_unreadable(r))
		return r;
	unit->bad_status = DDRESCUE_NOT_TRIMMED;
	bad = copy_read_pieces(copy, unit->offset_bytes, unit->length_bytes, COPY_PIECE_BYTES, unit->data, unit->bad);
	if (bad > 0 && !copy->to)
		bad = narrow(copy, unit);
	unit->bad_sectors = bad > 0 ? (size_t)bad : 0;
	return bad < 0 ? (int)bad : 0;
}

/* Asking costs a walk through the whole member on some file systems, so that the answer is kept. */
static bool known_zeros(struct blkalign_copy *copy, uint64_t at, uint64_t *length)
{
	struct copy_pipe *pipe = &copy->pipe;
	bool zeros;

	if (at < pipe->data_until_bytes)
		return false;
	if (*length > EXTENT_BYTES)
		*length = EXTENT_BYTES;
	if (dev_extent(copy->from, at, length, &zeros) < 0)
		return false;
	if (!zeros || *length < COPY_HOLE_BYTES)
		pipe->data_until_bytes = at + *length;
	return zeros && *length >= COPY_HOLE_BYTES;
}

bool copy_known_lost(const struct blkalign_copy *copy, uint64_t at, uint64_t *length)
{
	struct map_run run = { 0 };

	if (map_charted_run(copy->from, at, &run, &(const char *){ NULL }) >= 0 || run.length_bytes < LOST_BYTES)
		return false;
	if (*length > run.length_bytes)
		*length = run.length_bytes;
	return true;
}

/* Ranges that are known to be zeros, or lost, are one unit; in streams not longer than what a step may take. */
static void measure(struct blkalign_copy *copy, struct copy_unit *unit, uint64_t at, uint64_t end)
{
	/* Of a stream the first bytes are waited for. */
	uint64_t most = copy->to || at > copy->begin_bytes ? COPY_UNIT_BYTES : COPY_PIECE_BYTES;
	uint64_t unit_end = round_down_u64(at, most) + most, length = end - at, lost = length;

	*unit = (struct copy_unit){ .offset_bytes = at, .data = unit->data };
	unit->zeros = known_zeros(copy, at, &length);
	unit->lost = !unit->zeros && copy_known_lost(copy, at, &lost);
	if (unit->lost)
		length = lost;
	if (!copy->to && length > 16 * COPY_UNIT_BYTES)
		length = 16 * COPY_UNIT_BYTES;
	unit->length_bytes = unit->zeros || unit->lost ? length : (unit_end < end ? unit_end : end) - at;
}

/* With the mutex held: the next part of what was not tried yet. */
static bool hand_out(struct blkalign_copy *copy, struct copy_unit *unit)
{
	struct copy_pipe *pipe = &copy->pipe;

	for (size_t i = 0; i < copy->untried_count; i++) {
		const struct byte_range *range = &copy->untried[i];
		uint64_t end = range->offset_bytes + range->length_bytes;

		if (end <= pipe->next_bytes)
			continue;
		measure(copy, unit, range->offset_bytes > pipe->next_bytes ? range->offset_bytes : pipe->next_bytes, end);
		pipe->next_bytes = unit->offset_bytes + unit->length_bytes;
		return true;
	}
	return false;
}

static void *reader(void *p)
{
	struct blkalign_copy *copy = p;
	struct copy_pipe *pipe = &copy->pipe;

	pthread_mutex_lock(&pipe->mutex);
	while (!pipe->stop && !pipe->no_more) {
		struct copy_unit *unit = &pipe->slots[pipe->handed_out % COPY_SLOTS];

		if (pipe->handed_out - pipe->taken == COPY_SLOTS) {
			pthread_cond_wait(&pipe->changed, &pipe->mutex);
			continue;
		}
		if (!hand_out(copy, unit)) {
			pipe->no_more = true;
			break;
		}
		pipe->handed_out++;
		pthread_mutex_unlock(&pipe->mutex);
		unit->error = read_unit(copy, unit);
		pthread_mutex_lock(&pipe->mutex);
		unit->ready = true;
		pthread_cond_broadcast(&pipe->changed);
	}
	pthread_cond_broadcast(&pipe->changed);
	pthread_mutex_unlock(&pipe->mutex);
	return NULL;
}

int copy_pipe_start(struct blkalign_copy *copy)
{
	struct copy_pipe *pipe = &copy->pipe;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned wanted = processors > (long)COPY_THREADS_MAX ? COPY_THREADS_MAX : processors > 1 ? (unsigned)processors : 1;
	int r;

	for (unsigned i = 0; i < COPY_SLOTS; i++) {
		pipe->slots[i].data = aligned_alloc(4096, COPY_UNIT_BYTES);
		if (!pipe->slots[i].data)
			return -ENOMEM;
	}
	r = pthread_mutex_init(&pipe->mutex, NULL);
	if (r)
		return -r;
	r = pthread_cond_init(&pipe->changed, NULL);
	if (r) {
		pthread_mutex_destroy(&pipe->mutex);
		return -r;
	}
	pipe->made = true;
	for (unsigned i = 0; r == 0 && i < wanted; i++) {
		r = pthread_create(&pipe->threads[i], NULL, reader, copy);
		pipe->threads_count += r == 0;
	}
	return pipe->threads_count ? 0 : -r;
}

struct copy_unit *copy_pipe_take(struct blkalign_copy *copy)
{
	struct copy_pipe *pipe = &copy->pipe;
	struct copy_unit *unit = &pipe->slots[pipe->taken % COPY_SLOTS];
	bool there;

	pthread_mutex_lock(&pipe->mutex);
	while (!(pipe->taken < pipe->handed_out ? unit->ready : pipe->no_more))
		pthread_cond_wait(&pipe->changed, &pipe->mutex);
	there = pipe->taken < pipe->handed_out;
	pthread_mutex_unlock(&pipe->mutex);
	return there ? unit : NULL;
}

void copy_pipe_give_back(struct blkalign_copy *copy)
{
	struct copy_pipe *pipe = &copy->pipe;

	pthread_mutex_lock(&pipe->mutex);
	pipe->taken++;
	pthread_cond_broadcast(&pipe->changed);
	pthread_mutex_unlock(&pipe->mutex);
}

void copy_pipe_stop(struct blkalign_copy *copy)
{
	struct copy_pipe *pipe = &copy->pipe;

	if (pipe->made) {
		pthread_mutex_lock(&pipe->mutex);
		pipe->stop = true;
		pthread_cond_broadcast(&pipe->changed);
		pthread_mutex_unlock(&pipe->mutex);
		for (unsigned i = 0; i < pipe->threads_count; i++)
			pthread_join(pipe->threads[i], NULL);
		pthread_cond_destroy(&pipe->changed);
		pthread_mutex_destroy(&pipe->mutex);
	}
	for (unsigned i = 0; i < COPY_SLOTS; i++)
		free(pipe->slots[i].data);
}
