/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Partial parity logs that are written: at every moment they would be replayed right. */
#include "keep/log_bench.h"

/* Writes of one 4 KiB block, as an engine makes them: old data and parity are at hand. */
static void block_at(uint64_t array_bytes, struct raid_place *place, struct raid_stripe *stripe)
{
	assert_int_equal(raid_locate(&bench.geometry, array_bytes, 0, place), 0);
	*stripe = raid_stripe_at(&bench.geometry, place->device_bytes);
}

static uint8_t *block(uint32_t slot, uint64_t device_bytes) { return bench.images.data[slot] + data_offset(slot) + device_bytes; }

static void xor_block(uint8_t ret[4096], uint32_t slot, uint64_t device_bytes)
{
	const uint8_t *data = block(slot, device_bytes);

	for (unsigned i = 0; i < 4096; i++)
		ret[i] ^= data[i];
}

static void partial_parity(uint64_t array_bytes, uint8_t ret[4096])
{
	struct raid_place place;
	struct raid_stripe stripe;

	block_at(array_bytes, &place, &stripe);
	memset(ret, 0, 4096);
	for (uint32_t slot = 0; slot < 4; slot++)
		if (slot != place.slot && slot != stripe.p_slot)
			xor_block(ret, slot, place.device_bytes);
}

static int log_block(uint64_t array_bytes)
{
	struct map_md_guard *guard = keep_guard(bench.keep);
	struct raid_place place;
	struct raid_stripe stripe;
	uint8_t parity[4096];
	struct map_md_partial partial = { .array_bytes = array_bytes, .length_bytes = 4096, .row_bytes = 4096, .parity = parity };

	block_at(array_bytes, &place, &stripe);
	partial.p_slot = stripe.p_slot;
	partial_parity(array_bytes, parity);
	assert_int_equal(bench_begin(place.device_bytes, 4096), 0);
	return guard->ops->log(guard, &partial, 1, &err);
}

static void end_block(uint64_t array_bytes)
{
	struct raid_place place;
	struct raid_stripe stripe;

	block_at(array_bytes, &place, &stripe);
	bench_end(place.device_bytes, 4096, true);
}

/* Data without parity, the write hole; then the power goes. Replay by a keep that is opened anew must make parity right everywhere. */
static void tear(uint64_t array_bytes, uint8_t value)
{
	struct raid_place place;
	struct raid_stripe stripe;

	block_at(array_bytes, &place, &stripe);
	memset(block(place.slot, place.device_bytes), value, 4096);
}

static void mend_parity(uint64_t array_bytes)
{
	struct raid_place place;
	struct raid_stripe stripe;
	uint8_t *p;

	block_at(array_bytes, &place, &stripe);
	p = block(stripe.p_slot, place.device_bytes);
	memset(p, 0, 4096);
	for (uint32_t slot = 0; slot < 4; slot++)
		if (slot != stripe.p_slot)
			xor_block(p, slot, place.device_bytes);
}

static void all_consistent(void)
{
	static const uint8_t zeros[4096];

	for (uint64_t at = 0; at < bench.geometry.used_bytes; at += 4096) {
		uint8_t sum[4096] = { 0 };

		for (uint32_t slot = 0; slot < 4; slot++)
			xor_block(sum, slot, at);
		assert_memory_equal(sum, zeros, sizeof(sum));
	}
}

/* One batch: at this point the area may have no room for five records. */
static void log_five(void)
{
	struct map_md_guard *guard = keep_guard(bench.keep);
	struct map_md_partial partials[5];
	uint8_t parity[5][4096];

	for (unsigned i = 0; i < 5; i++) {
		struct raid_place place;
		struct raid_stripe stripe;

		block_at(i * 17 * CHUNK, &place, &stripe);
		partial_parity(i * 17 * CHUNK, parity[i]);
		partials[i] = (struct map_md_partial){ i * 17 * CHUNK, 4096, 4096, stripe.p_slot, parity[i] };
	}
	assert_int_equal(bench_begin(0, bench.geometry.used_bytes), 0);
	assert_int_equal(guard->ops->log(guard, partials, 5, &err), 0);
}

static void test_many_logged(void **state)
{
	struct map_md_guard *guard;

	(void)state;
	bench_load("raid5-12-4-ppl", 'm', 0);
	assert_int_equal(bench_open(), 0);
	guard = keep_guard(bench.keep);
	assert_non_null(guard->ops->log);
	/* Far more records than an area holds, some batches open across many others. */
	for (unsigned i = 0; i < 600; i++) {
		uint64_t at = i * UINT64_C(28672) % bench.geometry.array_bytes / 4096 * 4096;

		assert_int_equal(log_block(at), 0);
		tear(at, (uint8_t)i);
		if (i % 3 == 0)
			mend_parity(at);
		else
			tear(at, (uint8_t)(i + 1));
		mend_parity(at);
		end_block(at);
		if (i % 50 == 49) {
			uint64_t mark = guard->ops->flushing(guard);

			guard->ops->flushed(guard, mark);
		}
	}
	/* And now a batch of five, torn. */
	log_five();
	for (unsigned i = 0; i < 5; i++)
		tear(i * 17 * CHUNK, 0xee);
	keep_abandon(bench.keep);
	bench_reopen(0);
	assert_true(keep_was_dirty(bench.keep));
	assert_int_equal(keep_replay(bench.keep, &err), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(resync_of(i), UINT64_MAX);
	all_consistent();
	keep_abandon(bench.keep);
	bench_done();
}

/*
 * The power goes at every write of a log, which is done by half, or not at all: the entries that were acknowledged before are replayed all the same.
 */
static void cut_at(unsigned n, int tear_how)
{
	uint64_t at = 3 * CHUNK * 4; /* same parity member as stripe 0 */

	assert_int_equal(bench_open(), 0);
	assert_int_equal(log_block(0), 0);
	tear(0, 0x11);
	trace.counted = 0;
	trace.off_at = n;
	trace.tear = tear_how;
	log_block(at);
	keep_abandon(bench.keep);
}

static void test_older_entries_survive(void **state)
{
	bool failed = true;

	(void)state;
	bench_load("raid5-12-4-ppl", 'm', 0);
	for (unsigned n = 3; failed; n++) {
		struct keep_patch *patches;
		size_t count, own = 0;
		bool complete;

		bench_rewind(0);
		cut_at(n / 3, (int)(n % 3));
		failed = trace.has_failed;
		trace_reset();
		assert_int_equal(keep_ppl_patches(&bench.array, &patches, &count, &complete, &err), 0);
		for (size_t i = 0; i < count; i++)
			own += patches[i].device_bytes == 0 && patches[i].slot == 3 && patches[i].data;
		assert_int_equal(own, 1);
		keep_patches_free(patches, count);
	}
	bench_done();
}

/* Writes to two blocks of one stripe in turn: an old entry replayed would spoil its parity. Stops when the power is gone. */
static void log_in_turn(unsigned rounds)
{
	assert_int_equal(bench_open(), 0);
	for (unsigned i = 0; i < rounds && !trace.has_failed; i++) {
		uint64_t at = (i & 1) * CHUNK + (i >> 1 & 1) * 12 * CHUNK;
		int r = log_block(at);

		if (!trace.has_failed) {
			assert_int_equal(r, 0);
			tear(at, (uint8_t)(3 * i));
			mend_parity(at);
		}
		end_block(at);
	}
	keep_abandon(bench.keep);
}

/* The area is full, and records begin at its start again: no record of the first round comes back, wherever the power goes. */
static void test_start_again(void **state)
{
	unsigned again = 0;

	(void)state;
	bench_load("raid5-12-4-ppl", 'm', 0);
	log_in_turn(200);
	for (unsigned i = trace.count; i-- > 0 && !again;)
		if (trace.events[i].op == DEV_WRITE && trace.events[i].offset_bytes == 8192)
			again = i + 1;
	assert_true(again > 200); /* not the emptying at the start */
	for (unsigned n = 3 * (again - 4); n < 3 * (again + 8); n++) {
		bench_rewind(0);
		trace.off_at = n / 3;
		trace.tear = (int)(n % 3);
		log_in_turn(200);
		assert_true(trace.has_failed);
		bench_reopen(0);
		assert_int_equal(keep_replay(bench.keep, &err), 0);
		all_consistent();
		keep_abandon(bench.keep);
	}
	bench_done();
}

/* --- the single log of mdadm 4.0 --- */

static void make_single(void)
{
	for (unsigned i = 0; i < 4; i++) {
		uint8_t *super = bench.images.data[i] + 4096;

		md1_put_features(super, MD1_PPL, MD1_MULTIPLE_PPLS);
		super[98] = 264 & 0xff;
		super[99] = 264 >> 8;
		md1_seal(super);
	}
}

static void test_single(void **state)
{
	uint64_t at;

	(void)state;
	bench_load("raid5-12-4-ppl", 'm', 0);
	make_single();
	assert_int_equal(bench_open(), 0);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t block = i * 3 * CHUNK % bench.geometry.array_bytes;

		assert_int_equal(log_block(block), 0);
		tear(block, (uint8_t)i);
		mend_parity(block);
		end_block(block);
	}
	assert_int_equal(log_block(0), 0);
	tear(0, 0x77);
	assert_int_equal(log_of(3, &at), 0);
	assert_int_equal(at, 0);
	assert_int_equal(header.entries_count, 1);
	keep_abandon(bench.keep);
	bench_reopen(0);
	assert_int_equal(keep_replay(bench.keep, &err), 0);
	all_consistent();
	keep_abandon(bench.keep);
	bench_done();
}

/* --- several threads --- */

static void *log_many(void *arg)
{
	uint64_t first = (uint64_t)(uintptr_t)arg;

	for (unsigned i = 0; i < 60; i++) {
		uint64_t at = (first + 4 * i) * 3 * CHUNK % bench.geometry.array_bytes;
		struct map_md_guard *guard = keep_guard(bench.keep);
		struct raid_place place;
		struct raid_stripe stripe;
		uint8_t parity[4096] = { 1 };
		struct map_md_partial partial = { .array_bytes = at, .length_bytes = 4096, .row_bytes = 4096, .parity = parity };
		struct byte_range range = { 0, 4096 };

		if (raid_locate(&bench.geometry, at, 0, &place) < 0)
			return arg;
		stripe = raid_stripe_at(&bench.geometry, place.device_bytes);
		partial.p_slot = stripe.p_slot;
		range.offset_bytes = place.device_bytes;
		if (guard->ops->begin(guard, &range, 1, NULL) < 0 || guard->ops->log(guard, &partial, 1, NULL) < 0)
			return NULL;
		guard->ops->end(guard, &range, 1, true);
	}
	return arg;
}

static void test_threads(bool single)
{
	pthread_t threads[4];
	void *result;

	bench_load("raid5-12-4-ppl", 'm', 0);
	if (single)
		make_single();
	assert_int_equal(bench_open(), 0);
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, log_many, (void *)(i + 100)), 0);
	for (uintptr_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_non_null(result);
	}
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_mdadm_says("-E", 0, "State : clean\n");
	bench_done();
}

static void test_threads_many(void **state)
{
	(void)state;
	test_threads(false);
}

static void test_threads_single(void **state)
{
	(void)state;
	test_threads(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_logged), cmocka_unit_test(test_older_entries_survive), cmocka_unit_test(test_start_again),
		cmocka_unit_test(test_single),	    cmocka_unit_test(test_threads_many),	  cmocka_unit_test(test_threads_single),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
