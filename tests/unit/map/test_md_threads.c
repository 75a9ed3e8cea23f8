/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Eight threads at once. In the first half of the array blocks belong to threads in turn, so that stripes are shared and contents are known; in the second half all write
 * where they like, and redundancy must fit whatever comes out.
 */
#include "md_bench.h"

#define THREADS 8U
#define BLOCK	256U
#define ROUNDS	250U

struct worker {
	struct bench *b;
	unsigned number;
	uint64_t seed;
	pthread_t thread;
	unsigned errors;
};

static uint64_t half_of(const struct bench *b) { return round_down_u64(b->size_bytes / 2, (uint64_t)BLOCK * THREADS); }

static uint64_t next_random(struct worker *w)
{
	uint64_t z = w->seed += 0x9e3779b97f4a7c15U;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

/* One of the thread's own blocks, in part. */
static void own_block(struct worker *w)
{
	struct bench *b = w->b;
	uint64_t group = next_random(w) % (half_of(b) / (BLOCK * THREADS));
	/* Not always the same rows, so that threads meet in them. */
	uint64_t at = (group * THREADS + (group + w->number) % THREADS) * BLOCK;
	uint64_t from = next_random(w) % BLOCK, length = 1 + next_random(w) % (BLOCK - from);
	uint8_t buffer[BLOCK];

	w->errors += dev_read(b->md, at, buffer, BLOCK, NULL) < 0 || memcmp(buffer, b->model + at, BLOCK) != 0;
	for (uint64_t i = at + from; i < at + from + length; i++)
		b->model[i] = (uint8_t)next_random(w);
	w->errors += dev_write(b->md, at + from, b->model + at + from, length, NULL) < 0;
}

static void anywhere(struct worker *w)
{
	struct bench *b = w->b;
	uint64_t begin = half_of(b), room = b->size_bytes - begin, length = 1 + next_random(w) % (room / 2);
	uint8_t *buffer = malloc(length);

	if (!buffer) {
		w->errors++;
		return;
	}
	memset(buffer, (int)next_random(w), length);
	begin += next_random(w) % (room - length + 1);
	if (next_random(w) % 3)
		w->errors += dev_write(b->md, begin, buffer, length, NULL) < 0;
	else
		w->errors += dev_read(b->md, begin, buffer, length, NULL) < 0;
	free(buffer);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 0; i < ROUNDS; i++) {
		own_block(w);
		if (i % 8 == 0)
			anywhere(w);
		if (i % 50 == w->number)
			w->errors += dev_flush(w->b->md, NULL) < 0;
	}
	return NULL;
}

static void run_threads(struct bench *b, void *(*also)(void *))
{
	struct worker workers[THREADS];
	pthread_t other;

	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .b = b, .number = i, .seed = bench_random(b) };
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	if (also)
		assert_int_equal(pthread_create(&other, NULL, also, b), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].errors, 0);
	}
	if (also)
		pthread_join(other, NULL);
	bench_expect_range(b, 0, half_of(b));
	assert_int_equal(dev_read(b->md, half_of(b), b->model + half_of(b), b->size_bytes - half_of(b), NULL), 0);
}

static const struct shape shapes[] = {
	{ RAID_0, 1, 3, 4 * K, 16 * K, 0 },	   { RAID_1, 0, 2, 0, 48 * K, 0 },	    { RAID_4, 0, 4, 4 * K, 24 * K, 0 },
	{ RAID_5, 2, 4, 4 * K, 24 * K, 0 },	   { RAID_5, 2, 3, 8 * K, 48 * K, 0 },	    { RAID_6, 2, 5, 4 * K, 24 * K, 0 },
	{ RAID_6, 10, 7, 8 * K, 64 * K, 0 },	   { RAID_10, 0x102, 4, 4 * K, 16 * K, 0 }, { RAID_10, 0x201, 3, 4 * K, 24 * K, 0 },
	{ RAID_10, 0x10201, 4, 4 * K, 16 * K, 0 },
};

static struct bench *start(const struct shape *s)
{
	struct bench *b = bench_new(s);

	bench_open(b, s);
	bench_fill(b);
	for (uint32_t i = 0; i < s->members; i++)
		b->probes[i]->jitters = true;
	return b;
}

static void test_healthy(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct bench *b = start(&shapes[i]);

		run_threads(b, NULL);
		bench_expect_consistent(b);
		bench_free(b);
	}
}

static void test_degraded(void **state)
{
	(void)state;
	for (size_t i = 2; i < ARRAY_SIZE(shapes); i++) {
		struct bench *b = start(&shapes[i]);

		b->members[1].dev = NULL;
		if (shapes[i].level == RAID_6)
			b->members[3].dev = NULL;
		bench_open(b, &shapes[i]);
		run_threads(b, NULL);
		bench_expect_all(b);
		bench_free(b);
	}
}

/* A member goes while everybody writes: every acknowledged write is there without it. */
static void test_failing(void **state)
{
	(void)state;
	for (size_t i = 1; i < ARRAY_SIZE(shapes); i++) {
		struct bench *b = start(&shapes[i]);
		struct map_md_events events;

		b->probes[1]->fail_write = b->probes[1]->writes + 200;
		b->probes[1]->fails_on = true;
		run_threads(b, NULL);
		map_md_events(b->md, &events);
		assert_int_equal(events.failed_members, 1);
		assert_null(map_md_members(b->md, NULL)[1].dev);
		bench_expect_all(b);
		bench_free(b);
	}
}

/* What slot 0 lacks is computed step by step and written to it, with the stripes locked; it counts from there on. */
static void *rebuild(void *arg)
{
	struct bench *b = arg;
	const struct raid_geometry *g = &b->geometry;
	struct map_md_member target = { .dev = &b->probes[0]->dev, .data_offset_bytes = BENCH_OFFSET };
	uint8_t *blocks[BENCH_MEMBERS];
	uint32_t lost[] = { 0 };

	for (uint32_t i = 0; i < b->members_count; i++)
		blocks[i] = malloc(g->chunk_bytes);
	for (uint64_t at = 0; at < g->used_bytes; at += g->chunk_bytes) {
		struct byte_range range = { at, g->chunk_bytes };
		struct raid_row row = { .geometry = g, .stripe = raid_stripe_at(g, at), .blocks = blocks, .length_bytes = g->chunk_bytes };

		map_md_lock(b->md, &range);
		for (uint32_t i = 1; i < b->members_count; i++)
			dev_read(&b->probes[i]->dev, BENCH_OFFSET + at, blocks[i], g->chunk_bytes, NULL);
		raid_recover(&row, lost, 1);
		dev_write(target.dev, BENCH_OFFSET + at, blocks[0], g->chunk_bytes, NULL);
		target.valid_bytes = at + g->chunk_bytes == g->used_bytes ? UINT64_MAX : at + g->chunk_bytes;
		map_md_set_member(b->md, 0, &target);
		map_md_unlock(b->md, &range);
	}
	for (uint32_t i = 0; i < b->members_count; i++)
		free(blocks[i]);
	return NULL;
}

static void test_rebuilding(void **state)
{
	(void)state;
	for (size_t i = 2; i < 7; i++) {
		struct bench *b = start(&shapes[i]);
		struct map_md_member target = b->members[0];

		b->members[0].dev = NULL;
		memset(b->probes[0]->data, 0x66, b->probes[0]->dev.size_bytes);
		bench_open(b, &shapes[i]);
		target.valid_bytes = 0;
		assert_int_equal(map_md_set_member(b->md, 0, &target), 0);
		run_threads(b, rebuild);
		bench_expect_all(b);
		bench_expect_consistent(b);
		bench_free(b);
	}
}

/* A member that failed does not come back by the next step of its rebuild; another device does. */
static void test_set_member(void **state)
{
	struct bench *b = start(&shapes[3]);
	struct map_md_member target = b->members[0], again;
	struct probe *fresh = probe_new(0, 24 * K);
	const struct raid_geometry *g;

	(void)state;
	target.valid_bytes = 0;
	assert_int_equal(map_md_set_member(b->md, 0, &target), 0);
	bench_expect_all(b);
	b->probes[0]->fail_write = b->probes[0]->writes + 1;
	b->probes[0]->fails_on = true;
	assert_int_equal(bench_write(b, 0, b->size_bytes), 0);
	target.valid_bytes = 4 * K;
	assert_int_equal(map_md_set_member(b->md, 0, &target), -EIO);
	again = target;
	again.dev = &fresh->dev;
	again.valid_bytes = 0;
	assert_int_equal(map_md_set_member(b->md, 9, &again), -EINVAL);
	assert_int_equal(map_md_set_member(b->md, 0, &again), 0);
	assert_ptr_equal(map_md_members(b->md, &g)[0].dev, &fresh->dev);
	assert_int_equal(g->level, RAID_5);
	assert_null(map_md_members(&fresh->dev, NULL));
	assert_int_equal(bench_write(b, 0, b->size_bytes), 0);
	assert_true(fresh->writes > 0);
	bench_expect_all(b);
	again.valid_bytes = UINT64_MAX;
	assert_int_equal(map_md_set_member(b->md, 0, &again), 0);
	bench_expect_all(b);
	again.dev = NULL;
	assert_int_equal(map_md_set_member(b->md, 0, &again), 0);
	dev_close(&fresh->dev);
	bench_expect_all(b);
	bench_free(b);
}

/* The thread that holds a range may itself use the device there; others wait. */
static void *write_somewhere(void *arg)
{
	struct bench *b = arg;

	return (void *)(intptr_t)dev_write(b->md, 100, "x", 1, NULL);
}

static void test_lock(void **state)
{
	struct bench *b = start(&shapes[3]);
	struct byte_range range = { 0, 4 * K };
	pthread_t other;
	void *result;

	(void)state;
	map_md_lock(b->md, &range);
	assert_int_equal(pthread_create(&other, NULL, write_somewhere, b), 0);
	/* Inside, and outside of what is locked. */
	assert_int_equal(dev_write(b->md, 200, "y", 1, NULL), 0);
	assert_int_equal(dev_write(b->md, 12 * K, "z", 1, NULL), 0);
	bench_expect_range(b, 0, 100);
	bench_expect_range(b, 101, 99);
	map_md_unlock(b->md, &range);
	pthread_join(other, &result);
	assert_null(result);
	b->model[100] = 'x';
	b->model[200] = 'y';
	b->model[12 * K] = 'z';
	bench_expect_all(b);
	bench_expect_consistent(b);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy),	   cmocka_unit_test(test_degraded),   cmocka_unit_test(test_failing),
		cmocka_unit_test(test_rebuilding), cmocka_unit_test(test_set_member), cmocka_unit_test(test_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
