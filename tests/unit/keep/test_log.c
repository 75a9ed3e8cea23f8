/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Partial parity logs: replay of what a kernel left is what the kernel made of it; what is logged here would be replayed right at every moment. */
#include "keep/bench.h"

#include "format/ppl/ppl.h"

#define CHUNK (64 * KIB)

static uint64_t data_offset(unsigned image)
{
	static struct md1_superblock sb;

	assert_true(bench_v1(image, &sb));
	return sb.data_offset_bytes;
}

static uint64_t resync_of(unsigned image)
{
	static struct md1_superblock sb;

	assert_true(bench_v1(image, &sb));
	return sb.resync_bytes;
}

/* The kernel replayed these logs itself; its members are the "a" images. */
static struct images kernels;

static void data_is_the_kernels(void)
{
	for (unsigned i = 0; i < bench.images.count; i++) {
		uint64_t at = data_offset(i);

		assert_memory_equal(bench.images.data[i] + at, kernels.data[i] + at, bench.geometry.used_bytes);
	}
}

static void test_patches(void **state)
{
	struct keep_patch *patches;
	size_t count;
	bool complete;

	(void)state;
	images_load(&kernels, "raid5-ppl-crash", 'a');
	bench_load("raid5-ppl-crash", 'm', 0);
	for (unsigned i = 0; i < 4; i++)
		bench.devs[i]->writable = false; /* for readers */
	assert_int_equal(keep_ppl_patches(&bench.array, &patches, &count, &complete, &err), 0);
	assert_true(complete);
	assert_true(count > 0);
	assert_int_equal(trace.count, 0);
	for (size_t i = 0; i < count; i++) {
		uint8_t *image = bench.images.data[patches[i].slot];

		memcpy(image + data_offset(patches[i].slot) + patches[i].device_bytes, patches[i].data, patches[i].length_bytes);
	}
	data_is_the_kernels();
	keep_patches_free(patches, count);
	bench_done();
	images_done(&kernels);
}

/* Replay alone: the array is clean then, as the kernel has it. */
static void test_replay(void **state)
{
	size_t count;

	(void)state;
	images_load(&kernels, "raid5-ppl-crash", 'a');
	bench_load("raid5-ppl-crash", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_true(keep_was_dirty(bench.keep));
	keep_doubtful(bench.keep, &count);
	assert_true(count > 0 && count <= 4);
	assert_int_equal(trace.count, 0);
	assert_int_equal(keep_replay(bench.keep, &err), 0);
	keep_doubtful(bench.keep, &count);
	assert_int_equal(count, 0);
	data_is_the_kernels();
	for (unsigned i = 0; i < 4; i++)
		bench_mdadm_says("-E", i, "State : clean\n");
	trace.count = 0;
	assert_int_equal(keep_replay(bench.keep, &err), 0);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_int_equal(trace.count, 0);
	bench_reopen(0);
	assert_false(keep_was_dirty(bench.keep));
	keep_abandon(bench.keep);
	bench_done();
	images_done(&kernels);
}

static struct ppl_header header;

static int log_of(unsigned image, uint64_t *at)
{
	static struct md1_superblock sb;

	assert_true(bench_v1(image, &sb));
	return ppl_read(bench.devs[image], sb.super_bytes + (uint64_t)sb.ppl_from_super_bytes, sb.ppl_bytes,
			sb.features & MD1_MULTIPLE_PPLS, ppl_signature(sb.array_uuid), &header, at, &err);
}

/* Without replay the first write does it, and empties the logs before the superblocks say anything. */
static void test_first_write(void **state)
{
	bool supers = false;
	uint64_t at;

	(void)state;
	images_load(&kernels, "raid5-ppl-crash", 'a');
	bench_load("raid5-ppl-crash", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	data_is_the_kernels();
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(log_of(i, &at), 0);
		assert_int_equal(header.entries_count, 0);
		assert_int_equal(resync_of(i), 0);
	}
	for (unsigned i = 0; i < trace.count; i++) {
		const struct bench_event *e = &trace.events[i];

		if (e->op == DEV_WRITE && e->offset_bytes == 4096)
			supers = true;
		else if (e->op == DEV_WRITE)
			assert_false(supers);
	}
	assert_true(supers);
	keep_abandon(bench.keep);
	bench_done();
	images_done(&kernels);
}

/* A torn log: what the others say is replayed, and all is in doubt. Nothing is logged until somebody resynced it. */
static void test_torn(void **state)
{
	const struct map_range *ranges;
	struct map_md_guard *guard;
	struct map_md_partial partial = { .length_bytes = 4096, .row_bytes = 4096 };
	uint8_t parity[4096] = { 0 };
	uint64_t at;
	size_t count;

	(void)state;
	bench_load("raid5-ppl-crash", 'm', 0);
	assert_int_equal(log_of(3, &at), 0);
	bench.images.data[3][8192 + at + PPL_HEADER_BYTES] ^= 1;
	assert_int_equal(bench_open(), 0);
	ranges = keep_doubtful(bench.keep, &count);
	assert_int_equal(count, 1);
	assert_int_equal(ranges[0].offset_bytes, 0);
	assert_int_equal(ranges[0].length_bytes, bench.geometry.used_bytes);
	assert_int_equal(bench_begin(0, CHUNK), 0);
	partial.p_slot = 3;
	partial.parity = parity;
	guard = keep_guard(bench.keep);
	assert_int_equal(guard->ops->log(guard, &partial, 1, &err), 0);
	assert_int_equal(log_of(3, &at), 0);
	assert_int_equal(header.entries_count, 0);
	bench_end(0, CHUNK, true);
	assert_int_equal(keep_resynced(bench.keep, UINT64_MAX, &err), 0);
	for (unsigned i = 0; i < 4; i++)
		bench_mdadm_says("-E", i, "State : clean\n");
	assert_int_equal(bench_begin(0, CHUNK), 0);
	assert_int_equal(guard->ops->log(guard, &partial, 1, &err), 0);
	assert_int_equal(log_of(3, &at), 0);
	assert_int_equal(header.entries_count, 1);
	bench_end(0, CHUNK, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_done();
}

/* The member whose data an entry needs is missing: its parity cannot be told, and the rest is. */
static void test_replay_degraded(void **state)
{
	struct keep_patch *patches;
	size_t count, all, untold = 0;
	bool complete;

	(void)state;
	bench_load("raid5-ppl-crash", 'm', 0);
	assert_int_equal(keep_ppl_patches(&bench.array, &patches, &all, &complete, &err), 0);
	keep_patches_free(patches, all);
	bench_rewind(1 << 1);
	assert_int_equal(keep_ppl_patches(&bench.array, &patches, &count, &complete, &err), 0);
	/* The log of slot 1 is gone with it; of the others the rows that it was written in have no data. */
	assert_true(count < all && complete);
	for (size_t i = 0; i < count; i++) {
		assert_int_not_equal(patches[i].slot, 1);
		untold += !patches[i].data;
	}
	assert_in_range(untold, 1, count - 1);
	keep_patches_free(patches, count);
	bench_done();
}

/* --- logging --- */

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
 * The power goes at every write of a log: the entries that were acknowledged before are replayed, the one that was not may be missing. Each write is cut
 * after half of its sectors.
 */
static void cut_at(unsigned n)
{
	struct map_range range = { 0, 4096 };
	uint64_t at = 3 * CHUNK * 4; /* same parity member as stripe 0 */

	(void)range;
	assert_int_equal(bench_open(), 0);
	assert_int_equal(log_block(0), 0);
	tear(0, 0x11);
	trace.counted = 0;
	trace.fail_at = n;
	trace.fail_ever = true;
	log_block(at);
	keep_abandon(bench.keep);
}

static void test_older_entries_survive(void **state)
{
	bool failed = true;

	(void)state;
	bench_load("raid5-12-4-ppl", 'm', 0);
	for (unsigned n = 1; failed; n++) {
		struct keep_patch *patches;
		size_t count, own = 0;
		bool complete;

		bench_rewind(0);
		cut_at(n);
		failed = trace.has_failed;
		/* As it was before the failure was recorded anywhere. */
		trace_reset();
		assert_int_equal(keep_ppl_patches(&bench.array, &patches, &count, &complete, &err), 0);
		for (size_t i = 0; i < count; i++)
			own += patches[i].device_bytes == 0 && patches[i].slot == 3 && patches[i].data;
		assert_int_equal(own, 1);
		keep_patches_free(patches, count);
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
		struct map_range range = { 0, 4096 };

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

/* --- hostile --- */

static void forge(unsigned image, const struct ppl_entry *entry)
{
	static struct md1_superblock sb;
	struct ppl_header h = { .generation = 1000, .entries_count = 1, .entries = { *entry } };

	assert_true(bench_v1(image, &sb));
	ppl_encode(&h, ppl_signature(sb.array_uuid), bench.images.data[image] + 8192);
}

/* Entries no kernel writes: not replayed, and all is in doubt. */
static void test_hostile(void **state)
{
	static const struct ppl_entry entries[] = {
		{ 0, 4096, 0, 3, 0 },			    /* nothing written */
		{ 0, 0, 98304 * 4, 3, 0 },		    /* longer than a stripe */
		{ 0, 0, 512, 3, 0 },			    /* a third of a sector on each */
		{ UINT64_MAX / 512 * 512, 0, 98304, 3, 0 }, /* beyond the end */
		{ 17694720 + 4 * MIB, 0, 98304, 3, 0 },	    /* likewise */
		{ 0, 0, 98304, 2, 0 },			    /* another member's parity */
		{ 192 * KIB, 0, 98304, 3, 0 },		    /* of a stripe whose parity is elsewhere */
		{ 60 * KIB, 0, 98304, 3, 0 },		    /* across the end of a chunk */
		{ 128 * KIB, 4096, 8192, 3, 0 },	    /* two members, and the second one is in the next stripe */
		{ 0, 128 * KIB, 128 * KIB, 3, 0 },	    /* more than a chunk of parity */
		{ 0, 4096, 4096, 3, 1 },		    /* the checksum is wrong */
		{ 0, 0xfffffe00, 0xfffffe00, 3, 0 },	    /* parity beyond the area */
	};
	size_t count;

	(void)state;
	bench_load("raid5-ppl-crash", 'm', 0);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		struct keep_patch *patches;
		bool complete;

		bench_rewind(0);
		forge(3, &entries[i]);
		assert_int_equal(keep_ppl_patches(&bench.array, &patches, &count, &complete, &err), 0);
		assert_false(complete);
		for (size_t k = 0; k < count; k++)
			assert_int_not_equal(patches[k].slot, 3);
		keep_patches_free(patches, count);
	}
	bench_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patches),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_first_write),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_replay_degraded),
		cmocka_unit_test(test_many_logged),
		cmocka_unit_test(test_older_entries_survive),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_threads_many),
		cmocka_unit_test(test_threads_single),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
