/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** An array on members in memory that count, and fail when told to, with a guard that writes down what it is asked, and a model of the contents. */
#ifndef UNIT_MAP_MD_BENCH_H
#define UNIT_MAP_MD_BENCH_H

#include "unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "map/map.h"

#define BENCH_MEMBERS 8U
#define BENCH_OFFSET  4096U
#define JOURNAL_MAX   4096U

enum what { DID_READ, DID_WRITE, DID_FLUSH, DID_BEGIN, DID_LOG, DID_END, DID_FAIL, DID_FLUSHING, DID_FLUSHED };

struct happening {
	enum what what;
	uint32_t slot;
	uint64_t offset_bytes, length_bytes;
	bool complete;
};

/** A member. Bytes of its data area from bad_from up to bad_end cannot be read until they are written. */
struct probe {
	struct dev dev;
	uint8_t *data;
	uint32_t slot;
	atomic_uint reads, writes, flushes;
	uint64_t bad_from, bad_end;
	unsigned fail_read, fail_write, fail_flush; /* this one fails, counted from 1; 0: none */
	bool fails_on;				    /* fail_write and all later ones */
	int error;				    /* of these; 0: -EIO */
	bool pages;				    /* parts of a page with bad bytes cannot be written */
	bool stays_bad;				    /* writing does not help, and fails */
	bool dead;				    /* nothing works any more */
	bool jitters;				    /* takes its time, so that others come in between */
};

struct bench {
	struct map_md_guard guard; /* first */
	struct raid_geometry geometry;
	uint32_t members_count;
	uint64_t component_bytes[BENCH_MEMBERS];
	struct probe *probes[BENCH_MEMBERS];
	struct map_md_member members[BENCH_MEMBERS];
	struct dev *md;
	uint8_t *model;
	uint64_t size_bytes;
	uint64_t seed;
	bool with_log, read_only, use_doubtful;
	const struct byte_range *doubtful;
	size_t doubtful_count;
	/* of the guard */
	int begin_result, log_result, fail_result, flushed_result;
	unsigned doubts;
	struct byte_range doubt; /* the last one */
	void (*on_log)(struct bench *b, const struct map_md_partial *partials, size_t count);
	pthread_mutex_t lock;
	bool keep_journal;
	struct happening journal[JOURNAL_MAX];
	size_t happened;
};

static inline uint64_t bench_random(struct bench *b)
{
	b->seed += 0x9e3779b97f4a7c15U;
	uint64_t z = b->seed;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

static struct bench *bench_now;

static inline void happened(struct happening h)
{
	struct bench *b = bench_now;

	if (!b || !b->keep_journal)
		return;
	pthread_mutex_lock(&b->lock);
	assert_true(b->happened < JOURNAL_MAX);
	b->journal[b->happened++] = h;
	pthread_mutex_unlock(&b->lock);
}

static inline bool touches_bad(const struct probe *p, const struct dev_request *q)
{
	uint64_t from = p->bad_from + BENCH_OFFSET, end = p->bad_end + BENCH_OFFSET;

	return p->bad_end && q->offset_bytes < end && from < q->offset_bytes + q->length_bytes;
}

/* What is written of the bad range, from its beginning or to its end, is good again. */
static inline void heal(struct probe *p, const struct dev_request *q)
{
	uint64_t from = q->offset_bytes - BENCH_OFFSET, end = from + q->length_bytes;

	if (!p->bad_end || p->stays_bad)
		return;
	if (from <= p->bad_from && end > p->bad_from)
		p->bad_from = end;
	else if (from < p->bad_end && end >= p->bad_end)
		p->bad_end = from;
	if (p->bad_from >= p->bad_end)
		p->bad_from = p->bad_end = 0;
}

/* A part of a page cannot be written where the page cannot be read: the kernel, or the drive, would have to read the rest. */
static inline bool in_bad_page(const struct probe *p, const struct dev_request *q)
{
	uint64_t end = q->offset_bytes + q->length_bytes;
	struct dev_request first = { .offset_bytes = round_down_u64(q->offset_bytes, 4096), .length_bytes = 4096 };
	struct dev_request last = { .offset_bytes = round_down_u64(end, 4096), .length_bytes = 4096 };

	return p->pages && ((q->offset_bytes % 4096 && touches_bad(p, &first)) || (end % 4096 && touches_bad(p, &last)));
}

static inline bool write_fails(struct probe *p, const struct dev_request *q)
{
	unsigned n = ++p->writes;

	if (p->fail_write && (n == p->fail_write || (p->fails_on && n > p->fail_write)))
		return true;
	return p->dead || (p->stays_bad && touches_bad(p, q)) || in_bad_page(p, q);
}

/* Who reads and writes one place at a time gets either, as from a disk: no matter for a sanitizer. */
__attribute__((no_sanitize("thread"))) static inline void copy_bytes(void *to, const void *from, size_t length)
{
	volatile uint8_t *t = to;
	const volatile uint8_t *f = from;

	for (size_t i = 0; i < length; i++)
		t[i] = f[i];
}

static inline int error_of(const struct probe *p) { return p->error ? p->error : -EIO; }

static inline void probe_one(struct probe *p, struct dev_request *q)
{
	switch (q->op) {
	case DEV_READ:
		happened((struct happening){ DID_READ, p->slot, q->offset_bytes - BENCH_OFFSET, q->length_bytes, false });
		if (++p->reads == p->fail_read || p->dead || touches_bad(p, q))
			q->result = error_of(p);
		else
			copy_bytes(q->buffer, p->data + q->offset_bytes, q->length_bytes);
		break;
	case DEV_WRITE:
		happened((struct happening){ DID_WRITE, p->slot, q->offset_bytes - BENCH_OFFSET, q->length_bytes, false });
		if (write_fails(p, q)) {
			q->result = error_of(p);
			break;
		}
		copy_bytes(p->data + q->offset_bytes, q->buffer, q->length_bytes);
		heal(p, q);
		break;
	case DEV_FLUSH:
		happened((struct happening){ DID_FLUSH, p->slot, 0, 0, false });
		if (++p->flushes == p->fail_flush || p->dead)
			q->result = error_of(p);
		break;
	}
}

static inline void probe_run(struct dev *dev, struct dev_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct probe *p = (struct probe *)dev;

		requests[i].result = 0;
		if (p->jitters && (p->reads + p->writes) % 4 == 0)
			usleep(20);
		probe_one(p, &requests[i]);
	}
}

static inline void probe_close(struct dev *dev) { free(((struct probe *)dev)->data); }

static const struct dev_ops probe_ops = { .kind = "probe", .run = probe_run, .close = probe_close };

static inline struct probe *probe_new(uint32_t slot, uint64_t data_bytes)
{
	char name[32];
	struct probe *p;

	snprintf(name, sizeof(name), "member%u", slot);
	p = (struct probe *)dev_new(sizeof(*p), &probe_ops, name, BENCH_OFFSET + data_bytes, 1);
	assert_non_null(p);
	p->data = malloc(p->dev.size_bytes);
	assert_non_null(p->data);
	memset(p->data, 0xee, p->dev.size_bytes);
	p->slot = slot;
	p->dev.writable = true;
	return p;
}

static inline int guard_begin(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, struct blkalign_error *reterr)
{
	(void)reterr;
	for (size_t i = 0; i < count; i++) {
		happened((struct happening){ DID_BEGIN, 0, ranges[i].offset_bytes, ranges[i].length_bytes, false });
		assert_true(!i || ranges[i - 1].offset_bytes + ranges[i - 1].length_bytes < ranges[i].offset_bytes);
	}
	return ((struct bench *)guard)->begin_result;
}

static inline void guard_end(struct map_md_guard *guard, const struct byte_range *ranges, size_t count, bool complete)
{
	(void)guard;
	for (size_t i = 0; i < count; i++)
		happened((struct happening){ DID_END, 0, ranges[i].offset_bytes, ranges[i].length_bytes, complete });
}

static inline int guard_log(struct map_md_guard *guard, const struct map_md_partial *partials, size_t count, struct blkalign_error *reterr)
{
	struct bench *b = (struct bench *)guard;
	uint64_t parity_bytes[BENCH_MEMBERS] = { 0 };

	(void)reterr;
	for (size_t i = 0; i < count; i++) {
		happened((struct happening){ DID_LOG, partials[i].p_slot, partials[i].array_bytes, partials[i].length_bytes, false });
		parity_bytes[partials[i].p_slot] += partials[i].parity ? partials[i].row_bytes : 0;
		assert_true(parity_bytes[partials[i].p_slot] <= MAP_MD_LOG_BYTES);
	}
	if (b->on_log)
		b->on_log(b, partials, count);
	return b->log_result;
}

static inline int guard_fail(struct map_md_guard *guard, uint32_t slot, struct blkalign_error *reterr)
{
	(void)reterr;
	happened((struct happening){ DID_FAIL, slot, 0, 0, false });
	return ((struct bench *)guard)->fail_result;
}

static inline uint64_t guard_flushing(struct map_md_guard *guard)
{
	(void)guard;
	happened((struct happening){ .what = DID_FLUSHING });
	return 42;
}

static inline int guard_flushed(struct map_md_guard *guard, uint64_t mark)
{
	assert_int_equal(mark, 42);
	happened((struct happening){ .what = DID_FLUSHED });
	return ((struct bench *)guard)->flushed_result;
}

static inline void guard_doubt(struct map_md_guard *guard, const struct byte_range *ranges, size_t count)
{
	struct bench *b = (struct bench *)guard;

	for (size_t i = 0; i < count; i++)
		b->doubt = ranges[i];
	b->doubts += (unsigned)count;
}

static const struct map_md_guard_ops guard_ops = {
	.begin = guard_begin,
	.end = guard_end,
	.fail = guard_fail,
	.doubt = guard_doubt,
	.flushing = guard_flushing,
	.flushed = guard_flushed,
};
static const struct map_md_guard_ops guard_ops_log = {
	.begin = guard_begin,
	.end = guard_end,
	.log = guard_log,
	.fail = guard_fail,
	.doubt = guard_doubt,
	.flushing = guard_flushing,
	.flushed = guard_flushed,
};

struct shape {
	int32_t level;
	uint32_t layout;
	uint32_t members;
	uint64_t chunk_bytes;
	uint64_t component_bytes; /* of the smallest; linear and raid0: each next one has `more_bytes` more */
	uint64_t more_bytes;
};

static inline struct raid_geometry bench_geometry(const struct bench *b, const struct shape *s)
{
	struct raid_shape shape = { s->level, s->layout, s->chunk_bytes, s->members, b->component_bytes };
	struct blkalign_error err = { 0 };
	struct raid_geometry g;

	if (raid_geometry_init(&g, &shape, &err) < 0)
		fail_msg("level %d layout %u members %u: %s", s->level, s->layout, s->members, err.message);
	return g;
}

/** (Re)open with the members as they are in b->members. */
static inline int bench_try_open(struct bench *b, const struct shape *s)
{
	struct raid_geometry g = bench_geometry(b, s);
	struct map_md md = { .geometry = &g,
			     .members = b->members,
			     .doubtful = b->doubtful,
			     .doubtful_count = b->doubtful_count,
			     .use_doubtful = b->use_doubtful,
			     .guard = b->read_only ? NULL : &b->guard };

	dev_close(b->md);
	b->md = NULL;
	b->guard.ops = b->with_log ? &guard_ops_log : &guard_ops;
	return map_open_md("md0", &md, &b->md);
}

static inline void bench_open(struct bench *b, const struct shape *s) { assert_int_equal(bench_try_open(b, s), 0); }

static inline void bench_members(struct bench *b)
{
	for (uint32_t i = 0; i < b->members_count; i++)
		b->members[i] =
			(struct map_md_member){ .dev = &b->probes[i]->dev, .data_offset_bytes = BENCH_OFFSET, .valid_bytes = UINT64_MAX };
}

static inline struct bench *bench_new(const struct shape *s)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->members_count = s->members;
	b->seed = (uint64_t)(uint32_t)s->level * 1000003 + s->layout * 101 + s->members;
	pthread_mutex_init(&b->lock, NULL);
	for (uint32_t i = 0; i < s->members; i++) {
		b->component_bytes[i] = s->component_bytes + i * s->more_bytes;
		b->probes[i] = probe_new(i, b->component_bytes[i]);
	}
	b->geometry = bench_geometry(b, s);
	b->size_bytes = raid_array_bytes(&b->geometry);
	b->model = malloc(b->size_bytes);
	assert_non_null(b->model);
	bench_members(b);
	bench_now = b;
	return b;
}

static inline void bench_free(struct bench *b)
{
	bench_now = NULL;
	dev_close(b->md);
	for (uint32_t i = 0; i < b->members_count; i++)
		dev_close(&b->probes[i]->dev);
	raid_geometry_done(&b->geometry);
	pthread_mutex_destroy(&b->lock);
	free(b->model);
	free(b);
}

/** Random contents, by one write of everything. */
static inline void bench_fill(struct bench *b)
{
	struct blkalign_error err = { 0 };

	for (uint64_t i = 0; i < b->size_bytes; i++)
		b->model[i] = (uint8_t)bench_random(b);
	if (dev_write(b->md, 0, b->model, b->size_bytes, &err) < 0)
		fail_msg("%s", err.message);
}

static inline void bench_reset_counts(struct bench *b)
{
	for (uint32_t i = 0; i < b->members_count; i++)
		b->probes[i]->reads = b->probes[i]->writes = b->probes[i]->flushes = 0;
	b->happened = 0;
}

static inline unsigned bench_reads(const struct bench *b)
{
	unsigned sum = 0;

	for (uint32_t i = 0; i < b->members_count; i++)
		sum += b->probes[i]->reads;
	return sum;
}

static inline unsigned bench_writes(const struct bench *b)
{
	unsigned sum = 0;

	for (uint32_t i = 0; i < b->members_count; i++)
		sum += b->probes[i]->writes;
	return sum;
}

static inline void bench_expect_range(struct bench *b, uint64_t offset, uint64_t length)
{
	struct blkalign_error err = { 0 };
	uint8_t *buffer = malloc(length + 1);

	assert_non_null(buffer);
	memset(buffer, 0x5c, length);
	if (dev_read(b->md, offset, buffer, length, &err) < 0)
		fail_msg("level %d layout %u: %s", b->geometry.level, b->geometry.layout, err.message);
	for (uint64_t i = 0; i < length; i++)
		if (buffer[i] != b->model[offset + i])
			fail_msg("level %d layout %u of %u: byte %" PRIu64 " of %" PRIu64 "+%" PRIu64 " is %02x, not %02x",
				 b->geometry.level, b->geometry.layout, b->members_count, i, offset, length, buffer[i],
				 b->model[offset + i]);
	free(buffer);
}

static inline void bench_expect_all(struct bench *b) { bench_expect_range(b, 0, b->size_bytes); }

static inline void bench_random_range(struct bench *b, uint64_t unit, uint64_t *ret_offset, uint64_t *ret_length)
{
	static const uint64_t most[] = { 1, 16, 700, 4096, 9000, 20000, 70000 };
	uint64_t length = 1 + bench_random(b) % most[bench_random(b) % ARRAY_SIZE(most)], offset;

	if (unit > 1)
		length = round_up_u64(length, unit);
	if (length > b->size_bytes)
		length = b->size_bytes;
	offset = bench_random(b) % (b->size_bytes - length + 1);
	*ret_offset = round_down_u64(offset, unit);
	*ret_length = length;
}

/** Write random bytes there, in the model too. */
static inline int bench_write(struct bench *b, uint64_t offset, uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		b->model[offset + i] = (uint8_t)bench_random(b);
	return dev_write(b->md, offset, b->model + offset, length, NULL);
}

static inline void bench_expect_rows(const struct bench *b)
{
	const struct raid_geometry *g = &b->geometry;
	uint8_t *blocks[BENCH_MEMBERS];

	for (uint64_t at = 0; at < g->used_bytes; at += g->chunk_bytes) {
		struct raid_row row = { .geometry = g, .stripe = raid_stripe_at(g, at), .blocks = blocks, .length_bytes = g->chunk_bytes };

		for (uint32_t i = 0; i < b->members_count; i++)
			blocks[i] = b->probes[i]->data + BENCH_OFFSET + at;
		if (!raid_consistent(&row))
			fail_msg("level %d layout %u: parity of stripe %" PRIu64 " does not fit", g->level, g->layout, at / g->chunk_bytes);
	}
}

/** All members: parity fits the data, all copies are equal. */
static inline void bench_expect_consistent(const struct bench *b)
{
	const struct raid_geometry *g = &b->geometry;

	if (g->parity) {
		bench_expect_rows(b);
		return;
	}
	for (uint32_t copy = 0; copy < raid_copies(g); copy++)
		for (uint64_t at = 0; at < b->size_bytes;) {
			struct raid_place place;

			assert_int_equal(raid_locate(g, at, copy, &place), 0);
			assert_memory_equal(b->probes[place.slot]->data + BENCH_OFFSET + place.device_bytes, b->model + at,
					    place.run_bytes);
			at += place.run_bytes;
		}
}

#define K 1024U
static const struct shape all_shapes[] = {
	{ RAID_LINEAR, 0, 3, 0, 20000, 4096 },
	{ RAID_0, 1, 3, 4 * K, 16 * K, 0 },
	{ RAID_0, 1, 3, 4 * K, 8 * K, 12 * K },
	{ RAID_0, 2, 4, 4 * K, 8 * K, 12 * K },
	{ RAID_0, 1, 2, 12 * K, 48 * K, 0 },
	{ RAID_1, 0, 2, 0, 50000, 0 },
	{ RAID_1, 0, 3, 0, 50000, 0 },
	{ RAID_4, 0, 4, 4 * K, 24 * K, 0 },
	{ RAID_5, 0, 4, 4 * K, 24 * K, 0 },
	{ RAID_5, 1, 4, 4 * K, 24 * K, 0 },
	{ RAID_5, 2, 4, 4 * K, 24 * K, 0 },
	{ RAID_5, 3, 4, 4 * K, 24 * K, 0 },
	{ RAID_5, 4, 4, 4 * K, 24 * K, 0 },
	{ RAID_5, 5, 4, 4 * K, 24 * K, 0 },
	{ RAID_5, 2, 2, 4 * K, 24 * K, 0 },
	{ RAID_5, 2, 3, 8 * K, 48 * K, 0 },
	{ RAID_5, 2, 7, 8 * K, 64 * K, 0 },
	{ RAID_6, 0, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 1, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 2, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 3, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 4, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 5, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 8, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 9, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 10, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 16, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 17, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 18, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 19, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 20, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 2, 4, 4 * K, 16 * K, 0 },
	{ RAID_6, 2, 7, 8 * K, 64 * K, 0 },
	{ RAID_6, 10, 7, 8 * K, 64 * K, 0 },
	{ RAID_10, 0x102, 4, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x102, 3, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x102, 5, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x103, 4, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x103, 3, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x201, 2, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x201, 3, 4 * K, 24 * K, 0 },
	{ RAID_10, 0x201, 4, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x301, 5, 4 * K, 24 * K, 0 },
	{ RAID_10, 0x10201, 3, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x10201, 4, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x10301, 5, 4 * K, 24 * K, 0 },
	{ RAID_10, 0x202, 4, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x202, 5, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x40201, 4, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x40201, 5, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x50201, 5, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x20201, 4, 4 * K, 16 * K, 0 },
	{ RAID_10, 0x40202, 6, 4 * K, 16 * K, 0 },
};

static inline bool bench_redundant(const struct shape *s) { return s->level != RAID_LINEAR && s->level != RAID_0; }

static inline struct bench *bench_start(const struct shape *s)
{
	struct bench *b = bench_new(s);

	bench_open(b, s);
	bench_fill(b);
	bench_reset_counts(b);
	b->keep_journal = true;
	return b;
}

static inline bool bench_told(const struct bench *b, enum what what, uint32_t slot)
{
	for (size_t i = 0; i < b->happened; i++)
		if (b->journal[i].what == what && b->journal[i].slot == slot)
			return true;
	return false;
}

/* Without the member everything is there. */
static inline void bench_expect_without(struct bench *b, const struct shape *s, uint32_t slot)
{
	const struct map_md_member *now = map_md_members(b->md, NULL);

	assert_null(now[slot].dev);
	bench_expect_all(b);
	bench_members(b);
	b->members[slot].dev = NULL;
	bench_open(b, s);
	bench_expect_all(b);
}

#endif
