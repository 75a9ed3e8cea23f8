/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that a kernel left, opened, written to and closed: what is on the members then is judged by mdadm, and by the order in which it got there. */
#include "keep/bench.h"

static uint64_t events_of(unsigned image)
{
	struct bench_facts f;

	bench_facts(image, &f);
	return f.events;
}

static uint64_t resync_of(unsigned image)
{
	static struct md1_superblock v1;
	struct md0_superblock v0;

	if (bench_v1(image, &v1))
		return v1.resync_bytes;
	bench_v0(image, &v0);
	return v0.resync_bytes;
}

/* --- nothing happens without writes --- */

static void test_open_and_close(void **state)
{
	static const char *const cases[] = { "raid1-12-2", "raid1-crash-bitmap", "raid5-090-crash", "raid5-midresync", "raid1-stale" };

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		bench_load(cases[c], 'm', 0);
		assert_int_equal(bench_open(), 0);
		assert_int_equal(keep_close(bench.keep, &err), 0);
		assert_int_equal(bench_open(), 0);
		keep_abandon(bench.keep);
		assert_int_equal(trace.count, 0);
		for (unsigned i = 0; i < bench.images.count; i++)
			bench_unchanged(i);
		bench_done();
	}
}

/* --- clean, active, clean --- */

static void test_active_and_clean(void **state)
{
	static const char *const cases[] = {
		"raid1-12-2", "raid1-10-2-bitmap", "raid5-11-5", "raid6-12-4", "raid10-12-4-n2", "raid5-090-3"
	};

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		char line[64];
		uint64_t events;

		bench_load(cases[c], 'm', 0);
		assert_int_equal(bench_open(), 0);
		assert_false(keep_was_dirty(bench.keep));
		events = events_of(0);
		assert_int_equal(bench_begin(0, 4096), 0);
		for (unsigned i = 0; i < bench.images.count; i++) {
			snprintf(line, sizeof(line), "Events : %u\n", (unsigned)events + 1);
			bench_mdadm_says("-E", i, line);
			bench_mdadm_says("-E", i, "State : active\n");
			bench_mdadm_says("-E", i, " - correct");
		}
		bench_end(0, 4096, true);
		assert_int_equal(keep_close(bench.keep, &err), 0);
		for (unsigned i = 0; i < bench.images.count; i++) {
			snprintf(line, sizeof(line), "Events : %u\n", (unsigned)events + 2);
			bench_mdadm_says("-E", i, line);
			bench_mdadm_says("-E", i, "State : clean\n");
			bench_mdadm_says("-E", i, " - correct");
		}
		bench_done();
	}
}

/* As if the power had gone: the next one finds it dirty, all of it. */
static void test_abandoned(void **state)
{
	const struct byte_range *ranges;
	size_t count;

	(void)state;
	bench_load("raid5-11-5", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(64 * KIB, 4096), 0);
	keep_abandon(bench.keep);
	bench_reopen(0);
	assert_true(keep_was_dirty(bench.keep));
	ranges = keep_doubtful(bench.keep, &count);
	assert_int_equal(count, 1);
	assert_int_equal(ranges[0].offset_bytes, 0);
	assert_int_equal(ranges[0].length_bytes, bench.geometry.used_bytes);
	/* Nobody resyncs it: it stays dirty, however cleanly it is closed. */
	assert_int_equal(bench_begin(0, 512), 0);
	bench_end(0, 512, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	for (unsigned i = 0; i < bench.images.count; i++)
		bench_mdadm_says("-E", i, "State : active\n");
	bench_done();
}

/* A write failed on members that could not be failed: the array is not called clean, and the next one finds the place. */
static void test_doubt(void **state)
{
	static const char *const cases[] = { "raid5-11-5", "raid1-10-2-bitmap", "raid10-12-4-n2" };
	const struct byte_range *ranges;
	size_t count;

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		bench_load(cases[c], 'm', 0);
		assert_int_equal(bench_open(), 0);
		assert_int_equal(bench_begin(128 * KIB, 4096), 0);
		bench_doubt(128 * KIB, 4096);
		bench_end(128 * KIB, 4096, true);
		assert_int_equal(keep_close(bench.keep, &err), 0);
		for (unsigned i = 0; i < bench.images.count; i++)
			bench_mdadm_says("-E", i, "State : active\n");
		bench_reopen(0);
		assert_true(keep_was_dirty(bench.keep));
		ranges = keep_doubtful(bench.keep, &count);
		assert_int_equal(count, 1);
		assert_int_equal(ranges[0].offset_bytes, 128 * KIB);
		/* After its resync it is clean. */
		assert_int_equal(keep_resynced(bench.keep, UINT64_MAX, &err), 0);
		assert_int_equal(keep_close(bench.keep, &err), 0);
		bench_mdadm_says("-E", 0, "State : clean\n");
		bench_done();
	}
}

/* Beyond the end is as far as there is anything; with a parity log nothing is written any more, so that its entries stay. */
static void test_doubt_everything(void **state)
{
	struct map_md_guard *g;

	(void)state;
	bench_load("raid1-12-2", 'm', 0);
	assert_int_equal(bench_open(), 0);
	bench_doubt(0, UINT64_MAX);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_mdadm_says("-E", 1, "State : active\n");
	bench_done();
	bench_load("raid5-12-4-ppl", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	bench_doubt(0, 4096);
	bench_end(0, 4096, true);
	g = keep_guard(bench.keep);
	assert_int_equal(g->ops->flushed(g, g->ops->flushing(g)), -EIO);
	assert_int_equal(bench_begin(0, 4096), -EIO);
	assert_int_equal(keep_close(bench.keep, &err), -EIO);
	bench_mdadm_says("-E", 0, "State : active\n");
	bench_done();
}

/* One member alone says "dirty": the kernel might start it clean, here it is dirty. */
static void test_any_member_says_dirty(void **state)
{
	uint8_t *super;

	(void)state;
	bench_load("raid1-12-2", 'm', 0);
	super = bench.images.data[1] + 4096;
	md1_put_state(super, events_of(1), 0, 1);
	md1_seal(super);
	bench.freshest = bench.array.freshest = 0;
	assert_int_equal(bench_open(), 0);
	assert_true(keep_was_dirty(bench.keep));
	keep_abandon(bench.keep);
	bench_done();
}

/* --- order --- */

static bool is_super(const struct bench_event *e) { return e->op == DEV_WRITE && e->offset_bytes == 4096; }

/* First of all the superblocks go out once more as they were found, flushed: events before that are behind it. */
static unsigned behind_confirmed(unsigned members)
{
	unsigned writes = 0, flushes = 0, i = 0;

	while (flushes < members) {
		assert_true(i < trace.count);
		writes += trace.events[i].op == DEV_WRITE;
		flushes += trace.events[i++].op == DEV_FLUSH;
	}
	assert_int_equal(writes, members);
	return i;
}

/* Bits and bitmap superblocks of both members are flushed before the first superblock is written, and these before begin() returns. */
static void test_order(void **state)
{
	unsigned writes = 0, flushes = 0, supers = 0;

	(void)state;
	bench_load("raid1-crash-bitmap", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(1 * MIB, 4096), 0);
	for (unsigned i = behind_confirmed(2); i < trace.count; i++) {
		const struct bench_event *e = &trace.events[i];

		if (is_super(e)) {
			assert_int_equal(writes, 2);
			assert_true(flushes >= 2);
			supers++;
		} else if (e->op == DEV_WRITE) {
			assert_int_equal(e->offset_bytes, 8192);
			assert_int_equal(supers, 0);
			writes++;
		} else {
			flushes++;
		}
	}
	assert_int_equal(supers, 2);
	assert_int_equal(flushes, 4);
	assert_int_equal(trace.events[trace.count - 1].op, DEV_FLUSH);
	/* Another write there costs nothing, one elsewhere a page on each member. */
	trace.count = 0;
	assert_int_equal(bench_begin(1 * MIB + 4096, 4096), 0);
	assert_int_equal(trace.count, 0);
	assert_int_equal(bench_begin(3 * MIB, 4096), 0);
	assert_int_equal(trace.count, 4);
	assert_int_equal(trace.events[3].op, DEV_FLUSH);
	keep_abandon(bench.keep);
	bench_done();
}

/* --- members that are missing, lag, fail --- */

/* First use without a member: it is listed as faulty, and falls two behind. */
static void test_missing_member(void **state)
{
	uint64_t events;

	(void)state;
	bench_load("raid5-11-5", 'm', 1 << 2);
	events = events_of(0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	assert_true(events_of(0) >= events + 2);
	bench_mdadm_says("-E", 0, "Array State : AA.AA");
	bench_unchanged(2);
	bench_end(0, 4096, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_mdadm_says("-E", 0, "State : clean\n");
	bench_done();
	bench_load("raid5-090-3", 'm', 1 << 1);
	events = events_of(0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	assert_true(events_of(0) >= events + 2);
	bench_mdadm_says("-E", 0, "1     1       0        0        1      faulty removed");
	bench_mdadm_says("-E", 0, "Working Devices : 2\n");
	bench_mdadm_says("-E", 0, "Failed Devices : 1\n");
	bench_mdadm_says("-E", 2, "this     2       7        2        2      active sync");
	keep_abandon(bench.keep);
	bench_done();
}

/* Superblocks of which several sectors change are not torn together: each is flushed before the next is written. */
static void test_one_by_one(void **state)
{
	static const struct {
		const char *name;
		unsigned without, members;
		bool one_by_one;
	} cases[] = { { "raid5-090-3", 0, 3, false }, { "raid5-090-3", 1 << 1, 2, true }, { "raid6-12-4", 1 << 1, 3, false } };
	unsigned first;

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		bench_load(cases[c].name, 'm', cases[c].without);
		assert_int_equal(bench_open(), 0);
		assert_int_equal(bench_begin(0, 4096), 0);
		first = behind_confirmed(cases[c].members);
		assert_int_equal(trace.events[first].op, DEV_WRITE);
		assert_int_equal(trace.events[first + 1].op, cases[c].one_by_one ? DEV_FLUSH : DEV_WRITE);
		keep_abandon(bench.keep);
		bench_done();
	}
}

static void test_fail(void **state)
{
	uint64_t events;

	(void)state;
	bench_load("raid6-12-4", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	events = events_of(1);
	assert_int_equal(bench_fail(1), 0);
	assert_int_equal(events_of(1), events);
	assert_true(events_of(0) >= events + 2);
	for (unsigned i = 0; i < 4; i++)
		if (i != 1)
			bench_mdadm_says("-E", i, "Array State : A.AA");
	/* Again is no news; a second one leaves just enough, a third does not. */
	trace.count = 0;
	assert_int_equal(bench_fail(1), 0);
	assert_int_equal(trace.count, 0);
	assert_int_equal(bench_fail(3), 0);
	bench_mdadm_says("-E", 2, "Array State : A.A.");
	trace.count = 0;
	assert_int_equal(bench_fail(0), -EIO);
	assert_int_equal(bench_begin(0, 4096), -EIO);
	bench_end(0, 4096, false);
	assert_int_equal(keep_close(bench.keep, &err), -EIO);
	assert_int_equal(trace.count, 0);
	bench_done();
}

/* A member one behind goes first: a power cut between the two would leave it two behind otherwise. */
static void test_lagging_first(void **state)
{
	uint8_t *super;
	unsigned first = UINT32_MAX;

	(void)state;
	bench_load("raid1-12-2", 'm', 0);
	super = bench.images.data[0] + 4096;
	md1_put_state(super, events_of(0) - 1, UINT64_MAX, 1);
	md1_seal(super);
	bench.freshest = bench.array.freshest = 1;
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	for (unsigned i = behind_confirmed(2); i < trace.count && first == UINT32_MAX; i++)
		if (is_super(&trace.events[i]))
			first = trace.events[i].image;
	assert_int_equal(first, 0);
	assert_int_equal(trace.count, 8);
	assert_int_equal(trace.events[5].op, DEV_FLUSH);
	assert_int_equal(events_of(0), events_of(1));
	keep_abandon(bench.keep);
	bench_done();
}

static uint32_t slot_of(unsigned image)
{
	for (size_t i = 0; i < bench.count; i++)
		if (bench.image_of[i] == image)
			return bench.members[i].slot;
	return BLKALIGN_SLOT_NONE;
}

/* Every n-th write or flush of a member fails, once or from then on: with the rest the array goes on, and says so; never a clean one that lacks something. */
static void use_array(unsigned *ret_failures)
{
	struct map_failure failure;
	unsigned failures = 0;

	if (bench_begin(0, 4096) < 0) {
		failures++;
	} else {
		bench_end(0, 4096, true);
	}
	if (bench_begin(2 * MIB, 64 * KIB) < 0)
		failures++;
	else
		bench_end(2 * MIB, 64 * KIB, true);
	for (unsigned i = 0; i < 20; i++)
		failures += bench_flushed() < 0;
	if (trace.has_failed && trace.error == 0 && !failures) {
		assert_true(keep_failure(bench.keep, 0, &failure));
		assert_int_equal(failure.slot, slot_of(trace.failed_image));
		assert_string_equal(failure.member, bench.devs[trace.failed_image]->name);
		assert_non_null(strstr(failure.why, "failed: Input/output error"));
		assert_false(keep_failure(bench.keep, 1, &failure));
	} else {
		assert_false(!failures && keep_failure(bench.keep, 0, &failure));
	}
	if (keep_close(bench.keep, &err) < 0)
		failures++;
	*ret_failures = failures;
}

static void fail_each(const char *name, bool ever)
{
	bench_load(name, 'm', 0);
	for (unsigned n = 1;; n++) {
		unsigned failures;

		bench_rewind(0);
		assert_int_equal(bench_open(), 0);
		trace.fail_at = n;
		trace.fail_ever = ever;
		use_array(&failures);
		if (!trace.has_failed)
			break;
		assert_int_equal(failures, 0);
		for (unsigned i = 0; i < bench.images.count; i++) {
			if (i == trace.failed_image)
				continue;
			assert_true(events_of(i) >= events_of(trace.failed_image) + 2);
			assert_int_equal(resync_of(i), UINT64_MAX);
		}
		bench_reopen(1U << trace.failed_image);
		keep_abandon(bench.keep);
	}
	bench_done();
}

static void test_fail_each(void **state)
{
	(void)state;
	fail_each("raid1-12-3-bitmap", false);
	fail_each("raid1-12-3-bitmap", true);
	fail_each("raid5-090-3", false);
	fail_each("raid5-12-4-bitmap", true);
}

/* That there is no memory says nothing of a member: it is told, nobody is lost, and the array stays dirty. */
static void test_no_memory(void **state)
{
	unsigned told = 0;

	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	for (unsigned n = 1;; n++) {
		unsigned failures;

		bench_rewind(0);
		assert_int_equal(bench_open(), 0);
		trace.fail_at = n;
		trace.error = -ENOMEM; /* only bits that are to be cleared can wait */
		use_array(&failures);
		if (!trace.has_failed)
			break;
		told += failures > 0;
		for (unsigned i = 0; i < bench.images.count; i++)
			assert_true(events_of(i) + 1 >= events_of(0) && events_of(0) + 1 >= events_of(i));
		bench_reopen(0);
		assert_int_equal(bench_begin(0, 4096), 0);
		for (unsigned i = 0; i < bench.images.count; i++)
			for (uint32_t number = 0; number < 3; number++)
				assert_int_equal(load_le16(bench.images.data[i] + 4096 + 256 + (size_t)2 * number), number);
		keep_abandon(bench.keep);
	}
	assert_true(told > 8);
	bench_done();
}

/* The array cannot lose any more: every failure is told, and nothing more is written. */
static void test_fail_each_degraded(void **state)
{
	(void)state;
	bench_load("raid5-12-4-bitmap", 'm', 1);
	for (unsigned n = 1;; n++) {
		unsigned failures;

		bench_rewind(1);
		assert_int_equal(bench_open(), 0);
		trace.fail_at = n;
		use_array(&failures);
		if (!trace.has_failed)
			break;
		assert_true(failures > 0);
	}
	bench_done();
}

/* --- big-endian 0.90 --- */

/* A superblock as a machine of the other byte order would have it: every word swapped, words of 64-bit fields exchanged. */
static void swap_super(uint8_t *super)
{
	uint8_t found[MD0_BYTES];

	memcpy(found, super, sizeof(found));
	for (unsigned i = 0; i < MD0_BYTES; i++)
		super[i] = found[i ^ 3];
	for (unsigned word = 39; word <= 41; word += 2) {
		memcpy(found, super + 4 * word, 4);
		memcpy(super + 4 * word, super + 4 * word + 4, 4);
		memcpy(super + 4 * word + 4, found, 4);
	}
}

static uint8_t *super0(unsigned image) { return bench.images.data[image] + md0_super_bytes(bench.images.size[image]); }

/* Update time, and the checksum with it. */
static void without_time(uint8_t *super)
{
	memset(super + 4 * 32, 0, 4);
	memset(super + 4 * 38, 0, 4);
}

static void lose_one(void)
{
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	assert_int_equal(bench_fail(1), 0);
	bench_end(0, 4096, false);
	assert_int_equal(keep_close(bench.keep, &err), 0);
}

/* What is done in one byte order is done in the other. */
static void test_big_endian(void **state)
{
	uint8_t expected[3][MD0_BYTES];
	struct md0_superblock sb;

	(void)state;
	bench_load("raid5-090-3", 'm', 0);
	lose_one();
	for (unsigned i = 0; i < 3; i++)
		memcpy(expected[i], super0(i), MD0_BYTES);
	bench_rewind(0);
	for (unsigned i = 0; i < 3; i++)
		swap_super(super0(i));
	lose_one();
	for (unsigned i = 0; i < 3; i++) {
		bench_v0(i, &sb);
		assert_true(sb.big_endian);
		swap_super(super0(i));
		without_time(super0(i));
		without_time(expected[i]);
		assert_memory_equal(super0(i), expected[i], MD0_BYTES);
	}
	bench_done();
}

/* --- what cannot be written --- */

static void refused(const char *name, const char *why)
{
	bench_load(name, 'm', 0);
	assert_int_equal(bench_open(), -ENOTSUP);
	assert_non_null(strstr(err.message, why));
	assert_int_equal(trace.count, 0);
	bench_done();
}

static void test_refused(void **state)
{
	(void)state;
	refused("raid5-journal", "journal");
	refused("raid5-reshape", "reshape");
	refused("raid10-12-5-n2o2", "copies of different data");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_and_close), cmocka_unit_test(test_active_and_clean),
		cmocka_unit_test(test_doubt),	       cmocka_unit_test(test_doubt_everything),
		cmocka_unit_test(test_abandoned),      cmocka_unit_test(test_any_member_says_dirty),
		cmocka_unit_test(test_order),	       cmocka_unit_test(test_one_by_one),
		cmocka_unit_test(test_missing_member), cmocka_unit_test(test_fail),
		cmocka_unit_test(test_lagging_first),  cmocka_unit_test(test_fail_each),
		cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_fail_each_degraded),
		cmocka_unit_test(test_big_endian),     cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
