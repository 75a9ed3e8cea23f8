/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replay of partial parity logs that a kernel left: what comes out is what the kernel made of it. */
#include "keep/log_bench.h"

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
	const struct byte_range *ranges;
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
		cmocka_unit_test(test_patches), cmocka_unit_test(test_replay),		cmocka_unit_test(test_first_write),
		cmocka_unit_test(test_torn),	cmocka_unit_test(test_replay_degraded), cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
