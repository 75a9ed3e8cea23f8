/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The device that logs before it writes. One batch at a time: what a sector held before must be in the log, synced, before
 * anybody overwrites it, and a sector of which two writers change a part each must be described as both leave it.
 */
#include "dev/undo_priv.h"

#define RECORD_FULL_BYTES (8 * MIB)

struct undo_dev {
	struct dev dev;
	struct dev *below;
	struct dev_undo *undo;
	uint32_t number;
};

static bool unreadable(int error) { return error == -EIO || error == -EILSEQ || error == -ENODATA || error == -ETIMEDOUT; }

/* Sector by sector around what cannot be read; what cannot is recorded as lost. */
static int log_sectors(struct undo_dev *u, const struct undo_entry *all, uint8_t *buffer, struct undo_draft *draft)
{
	bool lost[UNDO_PIECE_BYTES / UNDO_SECTOR_BYTES];
	size_t sectors = (size_t)((all->length_bytes + UNDO_SECTOR_BYTES - 1) / UNDO_SECTOR_BYTES);

	for (size_t i = 0; i < sectors; i++) {
		uint64_t at = i * UNDO_SECTOR_BYTES, left = all->length_bytes - at;
		int r = dev_read(u->below, all->offset_bytes + at, buffer + at, left < UNDO_SECTOR_BYTES ? left : UNDO_SECTOR_BYTES, NULL);

		if (r < 0 && !unreadable(r))
			return r;
		lost[i] = r < 0;
	}
	for (size_t i = 0, end; i < sectors; i = end) {
		uint64_t at = i * UNDO_SECTOR_BYTES, to;
		struct undo_entry entry = *all;

		for (end = i + 1; end < sectors && lost[end] == lost[i];)
			end++;
		to = end < sectors ? end * UNDO_SECTOR_BYTES : all->length_bytes;
		entry.kind = lost[i] ? UNDO_LOST : UNDO_OLD;
		entry.offset_bytes += at;
		entry.length_bytes = to - at;
		entry.payload_bytes = lost[i] ? 0 : (uint32_t)(to - at);
		undo_draft_add(draft, &entry, buffer + at);
	}
	return 0;
}

static int log_old(struct undo_dev *u, uint64_t begin, uint64_t end, uint8_t *buffer, struct undo_draft *draft)
{
	struct marks *logged = &u->undo->log.devices.data[u->number].logged;
	struct undo_entry entry = { .kind = UNDO_OLD,
				    .device = u->number,
				    .offset_bytes = begin,
				    .length_bytes = end - begin,
				    .payload_bytes = (uint32_t)(end - begin) };
	int r = marks_prepare(logged, begin, end - begin);

	if (r < 0)
		return r;
	r = dev_read(u->below, begin, buffer, end - begin, NULL);
	if (r == 0)
		undo_draft_add(draft, &entry, buffer);
	else if (unreadable(r))
		r = log_sectors(u, &entry, buffer, draft);
	if (r == 0)
		marks_set(logged, begin, end - begin);
	return r;
}

/* What the sectors of [begin, end) hold after the write, of which those at the ends may be written in part. */
static int log_new(struct undo_dev *u, const uint8_t *data, uint64_t begin, uint64_t end, uint8_t *buffer, struct undo_draft *draft)
{
	uint64_t first = round_down_u64(begin, UNDO_SECTOR_BYTES), last = round_up_u64(end, UNDO_SECTOR_BYTES);
	uint8_t crcs[UNDO_PIECE_BYTES / UNDO_SECTOR_BYTES * 4];
	struct undo_entry entry = { .kind = UNDO_NEW, .device = u->number, .offset_bytes = first };
	int r = 0;

	if (last > u->dev.size_bytes)
		last = u->dev.size_bytes;
	if (first < begin)
		r = dev_read(u->below, first, buffer, begin - first, NULL);
	if (r == 0 && end < last)
		r = dev_read(u->below, end, buffer + (end - first), last - end, NULL);
	if (r < 0)
		return r;
	memcpy(buffer + (begin - first), data, end - begin);
	for (uint64_t at = 0; at < last - first; at += UNDO_SECTOR_BYTES) {
		uint64_t left = last - first - at;
		uint32_t crc = undo_crc(u->undo->log.id, buffer + at, left < UNDO_SECTOR_BYTES ? left : UNDO_SECTOR_BYTES);

		for (unsigned i = 0; i < 4; i++)
			crcs[entry.payload_bytes++] = (uint8_t)(crc >> 8 * i);
	}
	entry.length_bytes = last - first;
	undo_draft_add(draft, &entry, crcs);
	return 0;
}

/* A part of a write that lies in one piece of the device. */
static int log_piece(struct undo_dev *u, const uint8_t *data, uint64_t begin, uint64_t end, uint8_t *buffer, struct undo_draft *draft)
{
	const struct marks *logged = &u->undo->log.devices.data[u->number].logged;
	uint64_t first = round_down_u64(begin, MARKS_GRANULE_BYTES), last = round_up_u64(end, MARKS_GRANULE_BYTES);
	int r = 0;

	if (last > u->dev.size_bytes)
		last = u->dev.size_bytes;
	for (uint64_t at = first, to; r == 0 && at < last; at = to) {
		to = marks_run_end(logged, at, last);
		if (!marks_has(logged, at / MARKS_GRANULE_BYTES))
			r = log_old(u, at, to, buffer, draft);
	}
	if (r == 0)
		r = log_new(u, data, begin, end, buffer, draft);
	if (r == 0 && draft->payload.length >= RECORD_FULL_BYTES)
		r = undo_commit(u->undo, draft);
	return r;
}

static int log_write(struct undo_dev *u, const struct dev_request *q, uint8_t *buffer, struct undo_draft *draft)
{
	uint64_t end = q->offset_bytes + q->length_bytes;
	int r = u->undo->broken;

	for (uint64_t at = q->offset_bytes, to; r == 0 && at < end; at = to) {
		to = round_down_u64(at, UNDO_PIECE_BYTES) + UNDO_PIECE_BYTES;
		if (to > end)
			to = end;
		r = log_piece(u, (const uint8_t *)q->buffer + (at - q->offset_bytes), at, to, buffer, draft);
	}
	return r;
}

static void pass_on(struct undo_dev *u, struct dev_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		requests[i].dev = u->below;
	dev_run(requests, count, NULL);
	for (size_t i = 0; i < count; i++)
		requests[i].dev = &u->dev;
}

static void refuse_writes(struct undo_dev *u, struct dev_request *requests, size_t count, int error)
{
	for (size_t i = 0; i < count; i++) {
		if (requests[i].op != DEV_WRITE) {
			pass_on(u, &requests[i], 1);
			continue;
		}
		requests[i].result = error;
		requests[i].reason = u->undo->broken ? "the undo log could not be written, and nothing is overwritten without it"
						     : "what it holds now could not be saved to the undo log";
	}
}

static void log_and_pass_on(struct undo_dev *u, struct dev_request *requests, size_t count)
{
	_cleanup_free_ uint8_t *buffer = malloc(UNDO_PIECE_BYTES);
	_cleanup_undo_draft_ struct undo_draft draft = { 0 };
	int r = buffer ? 0 : -ENOMEM, committed;

	for (size_t i = 0; r == 0 && i < count; i++)
		if (requests[i].op == DEV_WRITE)
			r = log_write(u, &requests[i], buffer, &draft);
	committed = undo_commit(u->undo, &draft);
	if (committed < 0)
		r = committed;
	if (r < 0)
		refuse_writes(u, requests, count, r);
	else
		pass_on(u, requests, count);
}

/* Two writes of one batch that change the same sector would each be described without the other. */
static bool one_by_one(const struct dev_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (requests[i].op == DEV_WRITE &&
		    (requests[i].offset_bytes % UNDO_SECTOR_BYTES || requests[i].length_bytes % UNDO_SECTOR_BYTES))
			return true;
	return false;
}

static void undo_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct undo_dev *u = (struct undo_dev *)dev;
	size_t writes = 0, step = count;

	for (size_t i = 0; i < count; i++)
		writes += requests[i].op == DEV_WRITE;
	if (!writes) {
		pass_on(u, requests, count);
		return;
	}
	if (writes > 1 && one_by_one(requests, count))
		step = 1;
	pthread_mutex_lock(&u->undo->lock);
	for (size_t i = 0; i < count; i += step)
		log_and_pass_on(u, requests + i, step);
	pthread_mutex_unlock(&u->undo->lock);
}

static int undo_extent(struct dev *dev, uint64_t offset_bytes, uint64_t *length_bytes, bool *ret_zero)
{
	return dev_extent(((struct undo_dev *)dev)->below, offset_bytes, length_bytes, ret_zero);
}

static const struct dev_ops undo_ops = { .kind = "undo", .run = undo_run, .extent = undo_extent };

int dev_open_undo(struct dev *below, struct dev_undo *undo, struct dev **ret_dev, struct blkalign_error *reterr)
{
	struct undo_dev *u = (struct undo_dev *)dev_new(sizeof(*u), &undo_ops, below->name, below->size_bytes, 1);
	int r;

	if (!u)
		return -ENOMEM;
	pthread_mutex_lock(&undo->lock);
	r = undo_find_device(undo, below, &u->number, reterr);
	pthread_mutex_unlock(&undo->lock);
	if (r < 0) {
		dev_close(&u->dev);
		return r;
	}
	u->below = below;
	u->undo = undo;
	u->dev.writable = below->writable;
	*ret_dev = &u->dev;
	return 0;
}
