/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Arrays in memory, of any geometry, filled and consistent, for scrubbing and rebuilding. */
#ifndef UNIT_RUN_ARRAY_H
#define UNIT_RUN_ARRAY_H

#include "map/map.h"
#include "run/md_view.h"
#include "unit.h"

#define ARRAY_SLOTS  8U
#define ARRAY_OFFSET 8192U

struct array {
	struct raid_geometry geometry;
	struct map_md_member members[ARRAY_SLOTS];
	struct md_view view;
	size_t disk_bytes;
	uint8_t *disks[ARRAY_SLOTS];
	uint8_t *truth[ARRAY_SLOTS]; /* the disks as they were when all was well */
	uint8_t *content;
	struct dev *devs[ARRAY_SLOTS];
};

static inline uint32_t array_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static inline void array_place(struct array *a, uint64_t at, uint64_t length)
{
	for (uint32_t copy = 0; copy < raid_copies(&a->geometry); copy++) {
		struct raid_place place;

		assert_int_equal(raid_locate(&a->geometry, at, copy, &place), 0);
		memcpy(a->disks[place.slot] + ARRAY_OFFSET + place.device_bytes, a->content + at, length);
	}
}

static inline void array_fill(struct array *a)
{
	uint64_t seed = 1, unit = 4096;
	uint8_t *blocks[ARRAY_SLOTS];

	for (uint64_t i = 0; i < a->geometry.array_bytes; i++)
		a->content[i] = (uint8_t)array_random(&seed);
	for (uint64_t at = 0; at < a->geometry.array_bytes; at += unit)
		array_place(a, at, a->geometry.array_bytes - at < unit ? a->geometry.array_bytes - at : unit);
	for (uint64_t at = 0; a->geometry.parity && at < a->geometry.used_bytes; at += unit) {
		struct raid_row row = { &a->geometry, raid_stripe_at(&a->geometry, at), blocks, unit };

		for (uint32_t i = 0; i < a->geometry.members; i++)
			blocks[i] = a->disks[i] + ARRAY_OFFSET + at;
		raid_generate(&row);
	}
	for (uint32_t i = 0; i < a->geometry.members; i++)
		memcpy(a->truth[i], a->disks[i], a->disk_bytes);
}

static inline void array_open(struct array *a, int32_t level, uint32_t layout, uint32_t chunk, uint32_t n, uint64_t component)
{
	uint64_t lengths[ARRAY_SLOTS];
	struct blkalign_error err = { 0 };

	*a = (struct array){ .disk_bytes = ARRAY_OFFSET + component };
	for (uint32_t i = 0; i < n; i++)
		lengths[i] = component;
	if (raid_geometry_init(&a->geometry, &(struct raid_shape){ level, layout, chunk, n, lengths }, &err) < 0)
		fail_msg("%s", err.message);
	a->content = malloc(a->geometry.array_bytes);
	for (uint32_t i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "m%u", i);
		a->disks[i] = calloc(1, a->disk_bytes);
		a->truth[i] = calloc(1, a->disk_bytes);
		assert_int_equal(dev_open_memory(name, a->disks[i], a->disk_bytes, true, &a->devs[i]), 0);
		a->members[i] = (struct map_md_member){ .dev = a->devs[i], .data_offset_bytes = ARRAY_OFFSET, .valid_bytes = UINT64_MAX };
	}
	a->view = (struct md_view){ .geometry = &a->geometry, .members = a->members };
	array_fill(a);
}

static inline void array_close(struct array *a)
{
	for (uint32_t i = 0; i < a->geometry.members; i++) {
		dev_close(a->devs[i]);
		free(a->disks[i]);
		free(a->truth[i]);
	}
	free(a->content);
	raid_geometry_done(&a->geometry);
}

/** Spoil `length` bytes of a member's data area, every byte of them. */
static inline void array_spoil(struct array *a, uint32_t slot, uint64_t at, size_t length)
{
	for (size_t i = 0; i < length; i++)
		a->disks[slot][ARRAY_OFFSET + at + i] ^= (uint8_t)(0x5a + i % 3);
}

/** The member as it was. */
static inline bool array_is_true(const struct array *a, uint32_t slot)
{
	return memcmp(a->disks[slot], a->truth[slot], a->disk_bytes) == 0;
}

/** A device that cannot be read in a range, until that is written: what a drive with a weak sector is. */
struct array_weak {
	struct dev dev;
	struct dev *below;
	uint64_t begin, end;  /* of the member */
	uint8_t healed[4096]; /* by 512 bytes from `begin` on */
	bool no_write;	      /* writes there fail as well */
};

static inline void array_weak_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct array_weak *w = (struct array_weak *)dev;

	for (size_t i = 0; i < count; i++) {
		struct dev_request q = requests[i];

		q.dev = w->below;
		for (uint64_t at = w->begin; q.op != DEV_FLUSH && at < w->end; at += 512) {
			size_t sector = (size_t)(at - w->begin) / 512;

			if (at + 512 <= q.offset_bytes || at >= q.offset_bytes + q.length_bytes)
				continue;
			if (q.op == DEV_WRITE)
				w->healed[sector] = 1;
			else if (!w->healed[sector])
				requests[i].result = -EIO;
			if (q.op == DEV_WRITE && w->no_write)
				requests[i].result = -EIO;
		}
		if (!requests[i].result)
			requests[i].result = dev_run(&q, 1, NULL);
	}
}

/** In front of a member: `length` bytes from `at` of its data area on are weak. Freed with dev_close(). */
static inline struct array_weak *array_weaken(struct array *a, uint32_t slot, uint64_t at, uint64_t length)
{
	static const struct dev_ops ops = { .kind = "weak", .run = array_weak_run };
	struct array_weak *w =
		(struct array_weak *)dev_new(sizeof(*w), &ops, a->devs[slot]->name, a->devs[slot]->size_bytes, a->devs[slot]->block_bytes);

	assert_non_null(w);
	w->dev.writable = true;
	w->below = a->devs[slot];
	w->begin = ARRAY_OFFSET + at;
	w->end = w->begin + length;
	a->members[slot].dev = &w->dev;
	return w;
}

/** Writes that touch byte `bad` of it fail, and flushes when asked for. */
struct array_failing {
	struct dev dev;
	struct dev *below;
	uint64_t bad;
	bool flush;
};

static inline void array_failing_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	struct array_failing *f = (struct array_failing *)dev;

	for (size_t i = 0; i < count; i++) {
		struct dev_request q = requests[i];

		q.dev = f->below;
		if (q.op == DEV_FLUSH ? f->flush
				      : q.op == DEV_WRITE && f->bad >= q.offset_bytes && f->bad - q.offset_bytes < q.length_bytes)
			requests[i].result = -EIO;
		else
			requests[i].result = dev_run(&q, 1, NULL);
	}
}

static inline struct dev *array_failing(struct dev *below, uint64_t bad, bool flush)
{
	static const struct dev_ops ops = { .kind = "failing", .run = array_failing_run };
	struct array_failing *f = (struct array_failing *)dev_new(sizeof(*f), &ops, below->name, below->size_bytes, below->block_bytes);

	assert_non_null(f);
	f->dev.writable = true;
	f->below = below;
	f->bad = bad;
	f->flush = flush;
	return &f->dev;
}

#endif
