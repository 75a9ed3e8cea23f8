/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writing half: data where there is data, holes where there are zeros, nothing where nothing could be read. */
#include <isa-l/mem_routines.h>
#include <stdio.h>
#include <unistd.h>

#include "run/copy.h"

#define BLOCK_BYTES 4096U /* is looked at for zeros */

int copy_account(struct blkalign_copy *copy, uint64_t offset_bytes, uint64_t length_bytes, char status)
{
	if (status == DDRESCUE_FINISHED)
		copy->progress.good_bytes += length_bytes;
	else
		copy->progress.bad_bytes += length_bytes;
	copy->map.position_bytes = offset_bytes;
	return ddrescue_set(&copy->map, offset_bytes, length_bytes, status);
}

static int write_stream(struct blkalign_copy *copy, const uint8_t *data, uint64_t length, struct blkalign_error *reterr)
{
	while (length) {
		ssize_t n = write(copy->stream_fd, data, (size_t)length);

		if (n < 0)
			return blkalign_error_set(reterr, -errno, "output", BLKALIGN_UNKNOWN, "cannot be written: %s", strerror(errno));
		data += n;
		length -= (uint64_t)n;
	}
	return 0;
}

static int write_zeros(struct blkalign_copy *copy, uint64_t offset, uint64_t length, struct blkalign_error *reterr)
{
	static const uint8_t zeros[COPY_PIECE_BYTES];
	int r = 0;

	copy->progress.zero_bytes += length;
	if (copy->to)
		return copy->to_is_zeros ? 0 : dev_write_zeros(copy->to, offset - copy->begin_bytes, length, reterr);
	while (r == 0 && length) {
		uint64_t part = length < sizeof(zeros) ? length : sizeof(zeros);

		r = write_stream(copy, zeros, part, reterr);
		length -= part;
	}
	return r;
}

static bool all_zeros(const uint8_t *data, uint64_t length) { return isal_zero_detect((void *)(uintptr_t)data, (size_t)length) == 0; }

/* How far the zeros, or what is none, go on from `at`. Runs of zeros that are too short for a hole count as data. */
static uint64_t run_end(const uint8_t *data, uint64_t at, uint64_t length, bool *ret_zeros)
{
	uint64_t zeros_from = at, i = at;

	for (; i < length; i += BLOCK_BYTES) {
		uint64_t left = length - i;

		if (all_zeros(data + i, left < BLOCK_BYTES ? left : BLOCK_BYTES))
			continue;
		if (i - zeros_from >= COPY_HOLE_BYTES)
			break;
		zeros_from = i + BLOCK_BYTES;
	}
	if (i > length)
		i = length;
	*ret_zeros = zeros_from == at && i - at >= (length < COPY_HOLE_BYTES ? length : COPY_HOLE_BYTES);
	if (*ret_zeros)
		return i;
	return i > zeros_from && i - zeros_from >= COPY_HOLE_BYTES ? zeros_from : i;
}

/* A part of the node that was read. */
static int write_data(struct blkalign_copy *copy, uint64_t offset, const uint8_t *data, uint64_t length, struct blkalign_error *reterr)
{
	int r = 0;

	if (!copy->to)
		return write_stream(copy, data, length, reterr);
	for (uint64_t at = 0, end; r == 0 && at < length; at = end) {
		bool zeros;

		end = run_end(data, at, length, &zeros);
		if (zeros)
			r = write_zeros(copy, offset + at, end - at, reterr);
		else
			r = dev_write(copy->to, offset + at - copy->begin_bytes, data + at, (size_t)(end - at), reterr);
	}
	return r;
}

/* What stays unreadable is zeros: what the output held before is nobody's guess. */
static int write_run(struct blkalign_copy *copy, const struct copy_unit *unit, uint64_t at, uint64_t end, bool bad,
		     struct blkalign_error *reterr)
{
	int r = 0;

	if (bad && copy->to && unit->bad_status == DDRESCUE_BAD && !copy->to_is_zeros)
		r = dev_write_zeros(copy->to, unit->offset_bytes + at - copy->begin_bytes, end - at, reterr);
	else if (!bad || !copy->to)
		r = write_data(copy, unit->offset_bytes + at, unit->data + at, end - at, reterr);
	return r < 0 ? r : copy_account(copy, unit->offset_bytes + at, end - at, bad ? unit->bad_status : DDRESCUE_FINISHED);
}

static int write_lost(struct blkalign_copy *copy, const struct copy_unit *unit, struct blkalign_error *reterr)
{
	int r = write_zeros(copy, unit->offset_bytes, unit->length_bytes, reterr);

	copy->progress.zero_bytes -= unit->length_bytes;
	return r < 0 ? r : copy_account(copy, unit->offset_bytes, unit->length_bytes, DDRESCUE_BAD);
}

int copy_write_unit(struct blkalign_copy *copy, const struct copy_unit *unit, struct blkalign_error *reterr)
{
	uint64_t sectors = (unit->length_bytes + COPY_SECTOR_BYTES - 1) / COPY_SECTOR_BYTES;
	int r = 0;

	if (unit->zeros) {
		r = write_zeros(copy, unit->offset_bytes, unit->length_bytes, reterr);
		return r < 0 ? r : copy_account(copy, unit->offset_bytes, unit->length_bytes, DDRESCUE_FINISHED);
	}
	if (unit->lost)
		return write_lost(copy, unit, reterr);
	if (!unit->bad_sectors)
		return write_run(copy, unit, 0, unit->length_bytes, false, reterr);
	for (uint64_t i = 0, end; r == 0 && i < sectors; i = end) {
		uint64_t to;

		for (end = i + 1; end < sectors && unit->bad[end] == unit->bad[i];)
			end++;
		to = end < sectors ? end * COPY_SECTOR_BYTES : unit->length_bytes;
		r = write_run(copy, unit, i * COPY_SECTOR_BYTES, to, unit->bad[i], reterr);
	}
	return r;
}
