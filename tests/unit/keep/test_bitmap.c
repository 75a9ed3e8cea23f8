/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write-intent bitmaps: what a kernel left set is in doubt, what is written is set before, and nothing is cleared that somebody may need. */
#include "keep/bench.h"

#define CHUNK (64 * KIB) /* of all these bitmaps */

static struct mdbitmap bitmap_of(unsigned image)
{
	struct mdbitmap b;

	assert_int_equal(mdbitmap_decode(bench.images.data[image] + bench_bitmap_at(image), MDBITMAP_BYTES, &b, &err), 0);
	return b;
}

static bool is_set(unsigned image, uint64_t chunk)
{
	return mdbitmap_bit(bench.images.data[image] + bench_bitmap_at(image) + MDBITMAP_BYTES, chunk);
}

static uint64_t count_set(unsigned image)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < bitmap_of(image).chunks; i++)
		count += is_set(image, i);
	return count;
}

static void doubtful_are(const uint64_t (*ranges)[2], size_t expected)
{
	size_t count;
	const struct byte_range *found = keep_doubtful(bench.keep, &count);

	assert_int_equal(count, expected);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found[i].offset_bytes, ranges[i][0] * CHUNK);
		assert_int_equal(found[i].offset_bytes + found[i].length_bytes, ranges[i][1] * CHUNK);
	}
}

static void resync_all(void)
{
	size_t count;
	const struct byte_range *found = keep_doubtful(bench.keep, &count);

	for (size_t i = 0; i < count; i++)
		keep_range_resynced(bench.keep, &found[i]);
}

/*
 * The power went while sectors 2000 to 2299 and 13001 of the array were written, 128 sectors to a bit. raid1 and raid10 count alike; raid5 of 4 writes to stripes 5 and 33: sectors
 * 640 to 767 and 4224 to 4351 of each member.
 */
static void test_after_a_crash(void **state)
{
	static const struct {
		const char *name;
		uint64_t ranges[2][2];
	} cases[] = {
		{ "raid1-crash-bitmap", { { 15, 18 }, { 101, 102 } } },
		{ "raid10-crash-bitmap", { { 15, 18 }, { 101, 102 } } },
		{ "raid5-crash-bitmap", { { 5, 6 }, { 33, 34 } } },
		{ "raid5-10-crash-bitmap", { { 5, 6 }, { 33, 34 } } },
	};

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		char line[64];

		bench_load(cases[c].name, 'm', 0);
		snprintf(line, sizeof(line), " %u dirty",
			 (unsigned)(cases[c].ranges[0][1] - cases[c].ranges[0][0] + cases[c].ranges[1][1] - cases[c].ranges[1][0]));
		bench_mdadm_says("-X", 0, line);
		assert_int_equal(bench_open(), 0);
		assert_true(keep_was_dirty(bench.keep));
		doubtful_are(cases[c].ranges, 2);
		/* Written to and closed, but not resynced: as dirty as before. */
		assert_int_equal(bench_begin(0, 4096), 0);
		bench_end(0, 4096, true);
		assert_int_equal(keep_close(bench.keep, &err), 0);
		bench_mdadm_says("-X", 0, line);
		bench_reopen(0);
		assert_true(keep_was_dirty(bench.keep));
		doubtful_are(cases[c].ranges, 2);
		/* One of two is resynced. */
		keep_range_resynced(bench.keep, &(struct byte_range){ cases[c].ranges[1][0] * CHUNK, CHUNK });
		assert_int_equal(keep_close(bench.keep, &err), 0);
		bench_reopen(0);
		doubtful_are(cases[c].ranges, 1);
		resync_all();
		assert_int_equal(keep_close(bench.keep, &err), 0);
		for (unsigned i = 0; i < bench.images.count; i++) {
			bench_mdadm_says("-X", i, " 0 dirty");
			bench_mdadm_says("-E", i, "State : clean\n");
		}
		bench_done();
	}
}

/* A resync in steps that are no whole chunks of the bitmap: the bit is cleared when all of its chunk was passed. */
static void test_resync_in_steps(void **state)
{
	static const uint64_t left[][2] = { { 33, 34 } };

	(void)state;
	bench_load("raid5-crash-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	for (uint64_t at = 0; at < CHUNK; at += 16 * KIB)
		keep_range_resynced(bench.keep, &(struct byte_range){ 5 * CHUNK + at, 16 * KIB });
	keep_range_resynced(bench.keep, &(struct byte_range){ 33 * CHUNK, CHUNK - 512 });
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_int_equal(count_set(0), 1);
	bench_reopen(0);
	doubtful_are(left, 1);
	keep_abandon(bench.keep);
	bench_done();
}

/* All at once, and so that the kernel sees it: keep_resynced() is durable. */
static void test_resynced(void **state)
{
	(void)state;
	bench_load("raid5-crash-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(keep_resynced(bench.keep, 20 * CHUNK, &err), 0);
	bench_mdadm_says("-X", 0, " 1 dirty");
	bench_mdadm_says("-E", 0, "State : active");
	assert_int_equal(keep_resynced(bench.keep, UINT64_MAX, &err), 0);
	bench_mdadm_says("-X", 0, " 0 dirty");
	bench_mdadm_says("-E", 0, "State : clean\n");
	keep_abandon(bench.keep);
	bench_done();
}

/* A clean array's bits are only not cleared yet. */
static void test_debt(void **state)
{
	size_t count;

	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	for (unsigned i = 0; i < 3; i++)
		bench.images.data[i][bench_bitmap_at(i) + MDBITMAP_BYTES] |= 0x10;
	assert_int_equal(bench_open(), 0);
	assert_false(keep_was_dirty(bench.keep));
	keep_doubtful(bench.keep, &count);
	assert_int_equal(count, 0);
	assert_int_equal(bench_begin(0, 512), 0);
	bench_end(0, 512, true);
	assert_true(is_set(2, 4));
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_int_equal(count_set(2), 0);
	bench_done();
}

/* What any copy has set counts; afterwards all have it. */
static void test_union(void **state)
{
	static const uint64_t ranges[][2] = { { 5, 6 }, { 20, 21 }, { 33, 34 } };

	(void)state;
	bench_load("raid5-crash-bitmap", 'm', 0);
	bench.images.data[3][bench_bitmap_at(3) + MDBITMAP_BYTES + 2] |= 0x10;
	assert_int_equal(bench_open(), 0);
	doubtful_are(ranges, 3);
	assert_int_equal(bench_begin(0, 512), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_true(is_set(i, 20));
	keep_abandon(bench.keep);
	bench_done();
}

static void set_events(unsigned image, uint64_t events)
{
	uint8_t *raw = bench.images.data[image] + bench_bitmap_at(image);

	mdbitmap_put_events(raw, events, bitmap_of(image).events_cleared);
}

/* Somebody ran the array without its bitmap: all is in doubt, and all bits are set before the bitmap looks current again. */
static void test_stale(void **state)
{
	static const uint64_t all[][2] = { { 0, 112 } };

	(void)state;
	bench_load("raid5-crash-bitmap", 'm', 0);
	for (unsigned i = 0; i < 4; i++)
		set_events(i, bitmap_of(i).events - 1);
	assert_int_equal(bench_open(), 0);
	doubtful_are(all, 1);
	assert_int_equal(bench_begin(0, 512), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(count_set(i), 112);
	keep_abandon(bench.keep);
	/* One copy is current: that is enough. */
	bench_rewind(0);
	for (unsigned i = 0; i < 3; i++)
		set_events(i, bitmap_of(i).events - 1);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 512), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(bitmap_of(i).events, bitmap_of(3).events);
		assert_int_equal(count_set(i), 3);
	}
	keep_abandon(bench.keep);
	/* The flag says it as well. */
	bench_rewind(0);
	for (unsigned i = 0; i < 4; i++)
		mdbitmap_put_flags(bench.images.data[i] + bench_bitmap_at(i), 2);
	assert_int_equal(bench_open(), 0);
	doubtful_are(all, 1);
	assert_int_equal(bench_begin(0, 512), 0);
	assert_int_equal(bitmap_of(0).state_flags, 0);
	keep_abandon(bench.keep);
	bench_done();
}

/* m2 is missing: its bits stay, and events_cleared with them. */
static void test_degraded(void **state)
{
	uint64_t cleared, set;

	(void)state;
	bench_load("raid5-stale-bitmap", 'm', 0);
	assert_int_equal(bench.count, 3);
	cleared = bitmap_of(0).events_cleared;
	set = count_set(0);
	assert_true(set > 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(6 * MIB, 4096), 0);
	bench_end(6 * MIB, 4096, false);
	for (unsigned i = 0; i < 40; i++)
		bench_flushed();
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_int_equal(bitmap_of(0).events_cleared, cleared);
	assert_int_equal(count_set(0), set + 1);
	bench_mdadm_says("-E", 0, "State : clean\n");
	bench_done();
}

/* Whole again after a failure of ours: only then they go. */
static void test_incomplete(void **state)
{
	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(5 * CHUNK, 512), 0);
	bench_end(5 * CHUNK, 512, false);
	assert_int_equal(bench_begin(7 * CHUNK, 512), 0);
	bench_end(7 * CHUNK, 512, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_true(is_set(0, 5));
	assert_false(is_set(0, 7));
	bench_done();
}

static void test_events_cleared(void **state)
{
	static struct md1_superblock sb;
	uint64_t before;

	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	before = bitmap_of(0).events_cleared;
	assert_int_equal(bench_begin(0, 512), 0);
	assert_true(bitmap_of(0).events_cleared > before);
	assert_true(bench_v1(0, &sb));
	assert_int_equal(bitmap_of(0).events_cleared, sb.events);
	/* From the failure on it stands still: that member can be brought back by the bits. */
	before = bitmap_of(0).events_cleared;
	assert_int_equal(bench_fail(2), 0);
	bench_end(0, 512, false);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_int_equal(bitmap_of(0).events_cleared, before);
	assert_true(bitmap_of(0).events > before);
	assert_true(bench_v1(2, &sb));
	assert_true(sb.events >= before);
	bench_done();
}

/* Cleaned along the way, but not below writes in flight, nor below those that ended after the flush. */
static void test_lazy_cleaning(void **state)
{
	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(1 * CHUNK, 3 * CHUNK), 0);
	bench_end(1 * CHUNK, 3 * CHUNK, true);
	assert_int_equal(bench_begin(2 * CHUNK, 512), 0);
	assert_int_equal(bench_begin(2 * CHUNK, 512), 0);
	bench_end(2 * CHUNK, 512, true);
	assert_true(is_set(1, 1));
	for (unsigned i = 0; i < 16; i++)
		bench_flushed();
	assert_false(is_set(1, 1));
	assert_true(is_set(1, 2));
	assert_false(is_set(1, 3));
	bench_end(2 * CHUNK, 512, true);
	for (unsigned i = 0; i < 15; i++)
		bench_flushed();
	assert_true(is_set(1, 2));
	bench_flushed();
	assert_false(is_set(1, 2));
	/* Set again when written again. */
	assert_int_equal(bench_begin(2 * CHUNK, 512), 0);
	assert_true(is_set(1, 2));
	keep_abandon(bench.keep);
	bench_done();
}

/* The data that bits stood for is flushed before they go. */
static void test_flush_before_cleaning(void **state)
{
	unsigned flushes = 0;

	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(1 * CHUNK, 512), 0);
	bench_end(1 * CHUNK, 512, true);
	trace.count = 0;
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(bench_flushed(), 0);
	for (unsigned i = 0; i < trace.count; i++) {
		flushes += trace.events[i].op == DEV_FLUSH;
		if (trace.events[i].op == DEV_WRITE)
			assert_true(flushes >= 3);
	}
	assert_int_equal(trace.count, 9);
	assert_false(is_set(0, 1));
	/* Likewise at the end. */
	assert_int_equal(bench_begin(1 * CHUNK, 512), 0);
	bench_end(1 * CHUNK, 512, true);
	trace.count = 0;
	assert_int_equal(keep_close(bench.keep, &err), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(trace.events[i].op, DEV_FLUSH);
	bench_done();
}

static void write_meanwhile(void)
{
	assert_int_equal(bench_begin(1 * CHUNK, 512), 0);
	bench_end(1 * CHUNK, 512, true);
}

/* What was written while the members were being flushed is not covered by that. */
static void test_written_while_flushed(void **state)
{
	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(1 * CHUNK, 2 * CHUNK), 0);
	bench_end(1 * CHUNK, 2 * CHUNK, true);
	for (unsigned i = 0; i < 15; i++)
		assert_int_equal(bench_flushed(), 0);
	trace.on_flush = write_meanwhile;
	assert_int_equal(bench_flushed(), 0);
	assert_true(is_set(0, 1));
	assert_false(is_set(0, 2));
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(bench_flushed(), 0);
	assert_false(is_set(0, 1));
	keep_abandon(bench.keep);
	bench_done();
}

/* --- a bitmap of several pages --- */

#define LARGE_BYTES (32 * MIB) /* with chunks of 512 bytes: 65536 bits, on three pages */

/* raid1-12-3-bitmap made larger, without a bad block list, so that the bitmap has room. */
static void load_large(void)
{
	bench = (struct bench){ 0 };
	images_load(&bench.images, "raid1-12-3-bitmap", 'm');
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *data = calloc(1, LARGE_BYTES + 1 * MIB), *super = data + 4096, *bits = data + 8192;

		assert_non_null(data);
		memcpy(data, bench.images.data[i], 64 * KIB);
		for (unsigned at = 0; at < 8; at++) {
			super[80 + at] = (uint8_t)(LARGE_BYTES / 512 >> 8 * at);
			super[136 + at] = super[80 + at];
			bits[40 + at] = super[80 + at];
		}
		memset(super + 185, 0, 7);
		md1_seal(super);
		memcpy(bits + 52, (const uint8_t[]){ 0, 2, 0, 0 }, 4);
		memset(bits + MDBITMAP_BYTES, 0, 16384);
		free(bench.images.data[i]);
		bench.images.data[i] = data;
		bench.images.size[i] = LARGE_BYTES + 1 * MIB;
	}
	bench_prepare(0);
	assert_int_equal(bench.geometry.used_bytes, LARGE_BYTES);
}

static void test_pages(void **state)
{
	(void)state;
	load_large();
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 512), 0);
	/* One write from the first page to the third. */
	trace.count = 0;
	assert_int_equal(bench_begin(30719 * UINT64_C(512), 32770 * UINT64_C(512)), 0);
	assert_int_equal(trace.count, 12);
	for (unsigned m = 0; m < 3; m++) {
		assert_true(is_set(m, 0));
		assert_false(is_set(m, 30718));
		assert_true(is_set(m, 30719));
		assert_true(is_set(m, 63488));
		assert_false(is_set(m, 63489));
		assert_int_equal(count_set(m), 32771);
	}
	bench_end(30719 * UINT64_C(512), 32770 * UINT64_C(512), true);
	bench_end(0, 512, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_int_equal(count_set(1), 0);
	bench_mdadm_says("-X", 0, "65536 bits (chunks), 0 dirty");
	bench_done();
}

/* Copies that differ in a page that nobody writes to: after the first write all have all of it. */
static void test_pages_in_step(void **state)
{
	(void)state;
	load_large();
	bench.images.data[1][8192 + MDBITMAP_BYTES + 7000] = 0xff;
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 512), 0);
	for (unsigned m = 0; m < 3; m++) {
		assert_true(is_set(m, 56000));
		assert_int_equal(count_set(m), 9);
	}
	keep_abandon(bench.keep);
	/* And when all are stale. */
	for (unsigned i = 0; i < 3; i++)
		set_events(i, 1);
	bench_reopen(0);
	assert_int_equal(bench_begin(0, 512), 0);
	for (unsigned m = 0; m < 3; m++)
		assert_int_equal(count_set(m), 65536);
	keep_abandon(bench.keep);
	bench_done();
}

/* --- several threads --- */

#define THREADS 6
static unsigned bad;

static void *write_many(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < 300; i++) {
		struct map_md_guard *g = keep_guard(bench.keep);
		struct byte_range range;

		seed = seed * 1103515245 + 12345;
		range = (struct byte_range){ (seed >> 8) % 110 * CHUNK, 2 * CHUNK };
		if (g->ops->begin(g, &range, 1, NULL) < 0)
			__atomic_fetch_add(&bad, 1, __ATOMIC_SEQ_CST);
		pthread_mutex_lock(&trace.lock);
		for (unsigned m = 0; m < 3; m++)
			if (!is_set(m, range.offset_bytes / CHUNK) || !is_set(m, range.offset_bytes / CHUNK + 1))
				__atomic_fetch_add(&bad, 1, __ATOMIC_SEQ_CST);
		pthread_mutex_unlock(&trace.lock);
		g->ops->end(g, &range, 1, true);
		if (i % 3 == 0)
			g->ops->flushed(g, g->ops->flushing(g));
	}
	return NULL;
}

static void *disturb(void *arg)
{
	for (unsigned i = 0; i < 20; i++)
		if (keep_resynced(bench.keep, UINT64_MAX, NULL) < 0)
			__atomic_fetch_add(&bad, 1, __ATOMIC_SEQ_CST);
	return arg;
}

/* Whatever is cleaned and whoever writes: on return of begin() the bits are on all disks. */
static void test_threads(void **state)
{
	pthread_t threads[THREADS + 1];

	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	bad = 0;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, (void *)(i + 1)), 0);
	assert_int_equal(pthread_create(&threads[THREADS], NULL, disturb, NULL), 0);
	for (unsigned i = 0; i <= THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(bad, 0);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_int_equal(count_set(0), 0);
	bench_mdadm_says("-E", 0, "State : clean\n");
	bench_done();
}

/* --- 0.90 --- */

static void test_v090(void **state)
{
	(void)state;
	bench_load("raid1-090-2-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(3 * CHUNK, 512), 0);
	bench_mdadm_says("-X", 1, " 1 dirty");
	bench_mdadm_says("-E", 1, "State : active\n");
	bench_end(3 * CHUNK, 512, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_mdadm_says("-X", 1, " 0 dirty");
	bench_mdadm_says("-E", 1, "State : clean\n");
	bench_mdadm_says("-E", 1, "Internal Bitmap : present\n");
	bench_done();
}

/* --- refused --- */

static void put(unsigned image, size_t at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		bench.images.data[image][bench_bitmap_at(image) + at + i] = (uint8_t)(value >> 8 * i);
}

static void test_refused(void **state)
{
	static const struct {
		size_t at;
		unsigned width;
		uint64_t value;
		const char *why;
	} cases[] = {
		{ 0, 4, 0, "not where the superblock says" },
		{ 4, 4, 5, "clustered" },
		{ 4, 4, 6, "lockless" },
		{ 4, 4, 7, "unknown version" },
		{ 8, 8, 77, "another array" },
		{ 40, 8, 14335, "covers" },
		{ 40, 8, UINT64_MAX, "does not fit" },
		{ 52, 4, 0, "power of two" },
		{ 52, 4, 0x80000000, NULL },
		{ 64, 4, 0, NULL },
		{ 68, 4, 4, "clustered" },
	};

	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r;

		bench_rewind(0);
		put(bench.image_of[bench.freshest], cases[i].at, cases[i].width, cases[i].value);
		r = bench_open();
		assert_int_equal(trace.count, 0);
		if (!cases[i].why) {
			assert_int_equal(r, 0);
			keep_abandon(bench.keep);
			continue;
		}
		assert_true(r < 0);
		if (!strstr(err.message, cases[i].why))
			print_message("%zu: %s\n", i, err.message);
		assert_non_null(strstr(err.message, cases[i].why));
	}
	bench_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_after_a_crash),
		cmocka_unit_test(test_resync_in_steps),
		cmocka_unit_test(test_resynced),
		cmocka_unit_test(test_debt),
		cmocka_unit_test(test_union),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_degraded),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_events_cleared),
		cmocka_unit_test(test_lazy_cleaning),
		cmocka_unit_test(test_flush_before_cleaning),
		cmocka_unit_test(test_written_while_flushed),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_pages_in_step),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_v090),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
