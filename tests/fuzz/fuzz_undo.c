/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The input is an undo log, its checksums mended unless its last byte is odd. What can be read is put back on devices that are filled with one byte; then the old
 * bytes are there, or nothing has changed.
 */
#include "dev/undo_priv.h"
#include "fuzz.h"

#define DEVICES	   4U
#define SIZE_MAX_  (256 * KIB)
#define BACKGROUND 0x5a

static void put32(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void mend_one(const uint8_t id[16], uint8_t *bytes, size_t length, size_t crc_at)
{
	put32(bytes + crc_at, 0);
	put32(bytes + crc_at, undo_crc(id, bytes, length));
}

static void mend(uint8_t *log, size_t size)
{
	const uint8_t *id = log + 16;

	mend_one(id, log, UNDO_HEADER_BYTES, 36);
	for (size_t at = UNDO_HEADER_BYTES; at + UNDO_HEAD_BYTES <= size;) {
		uint64_t body = load_le64(log + at + 16);

		if (!range_inside(at + UNDO_HEAD_BYTES, body, size))
			return;
		put32(log + at + 28, undo_crc(id, log + at + UNDO_HEAD_BYTES, body));
		mend_one(id, log + at, UNDO_HEAD_BYTES, 4);
		at = round_up_u64(at + UNDO_HEAD_BYTES + body, UNDO_SECTOR_BYTES);
	}
}

static void check(struct dev *const *devs, const struct undo_log *log, const uint8_t *bytes, bool done)
{
	static uint8_t now[MIB];

	for (size_t i = 0; i < log->entries.count; i++) {
		const struct undo_entry *e = &log->entries.data[i];

		if (e->kind != UNDO_OLD)
			continue;
		if (dev_read(devs[e->device], e->offset_bytes, now, e->length_bytes, NULL) != 0)
			abort();
		for (size_t k = 0; k < e->length_bytes; k++)
			if (now[k] != (done ? bytes[e->payload_at + k] : BACKGROUND))
				abort();
	}
}

static void apply(struct dev *file, const struct undo_log *log, const uint8_t *bytes)
{
	static uint8_t contents[DEVICES][SIZE_MAX_];
	struct dev *devs[DEVICES] = { NULL };
	uint64_t written;
	bool fits = log->devices.count <= DEVICES;
	int r;

	for (size_t i = 0; fits && i < log->devices.count; i++) {
		const struct undo_device *d = &log->devices.data[i];

		fits = d->size_bytes <= SIZE_MAX_ && dev_open_memory(d->name, contents[i], d->size_bytes, true, &devs[i]) == 0;
		memset(contents[i], BACKGROUND, sizeof(contents[i]));
	}
	for (size_t i = 0; fits && i < log->devices.count; i++)
		for (size_t k = 0; k < i; k++)
			fits = fits && strcmp(devs[i]->name, devs[k]->name) != 0;
	if (fits) {
		r = undo_log_apply(file, log, devs, log->devices.count, &written, NULL);
		check(devs, log, bytes, r == 0);
	}
	for (size_t i = 0; i < DEVICES; i++)
		dev_close(devs[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct dev *file = NULL;
	struct undo_log log;

	if (copy && size)
		memcpy(copy, data, size);
	if (copy && size >= UNDO_HEADER_BYTES && !(copy[size - 1] & 1))
		mend(copy, size);
	if (copy && dev_open_memory("fuzz", copy, size, false, &file) == 0 && undo_log_read(file, &log, NULL) == 0) {
		apply(file, &log, copy);
		undo_log_done(&log);
	}
	dev_close(file);
	free(copy);
	return 0;
}
