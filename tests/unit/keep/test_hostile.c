/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Superblocks with right checksums and wrong contents. Either they are refused in one sentence, or every write lies inside the device, outside the data area that the
 * superblock itself tells of, and outside everything else it tells of but what the write is for.
 */
#include "format/ppl/ppl.h"
#include "keep/bench.h"

static uint8_t *super_of(unsigned image)
{
	struct bench_facts f;

	bench_facts(image, &f);
	return bench.images.data[image] + f.super_bytes;
}

static void put(uint8_t *at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* --- chosen fields --- */

static void refused_with(const char *name, size_t at, unsigned width, uint64_t value, const char *why)
{
	uint8_t *super;

	bench_load(name, 'm', 0);
	super = super_of(1);
	put(super + at, width, value);
	md1_seal(super);
	bench.freshest = bench.array.freshest = 0;
	if (bench_open() == 0) {
		keep_abandon(bench.keep);
		fail_msg("%s, byte %zu: opened", name, at);
	}
	if (!strstr(err.message, why))
		print_message("%s, byte %zu: %s\n", name, at, err.message);
	assert_non_null(strstr(err.message, why));
	assert_int_equal(trace.count, 0);
	bench_done();
}

static void test_fields(void **state)
{
	(void)state;
	refused_with("raid1-12-3-bitmap", 8, 4, 1 | 1 << 13, "newer md");
	refused_with("raid1-12-3-bitmap", 8, 4, 1 | 1 << 8, "clustered");
	refused_with("raid1-12-3-bitmap", 8, 4, 1 | 1 << 9, "journal");
	refused_with("raid1-12-3-bitmap", 8, 4, 1 | 1 << 2, "reshape");
	refused_with("raid1-12-3-bitmap", 8, 4, 1 | 1 << 6, "reshape");
	refused_with("raid1-12-3-bitmap", 8, 4, 0, "not on this member");
	refused_with("raid1-12-3-bitmap", 96, 4, 0, "bitmap lies over the superblock");
	refused_with("raid1-12-3-bitmap", 96, 4, 2048, "data area");
	refused_with("raid1-12-3-bitmap", 96, 4, (uint32_t)-9, "data area or beyond");
	refused_with("raid1-12-3-bitmap", 96, 4, 16, "bad block list lies over the bitmap");
	refused_with("raid1-12-3-bitmap", 188, 4, 8, "bad block list lies over the bitmap");
	refused_with("raid1-12-3-bitmap", 188, 4, 2040, "data area");
	refused_with("raid1-12-3-bitmap", 186, 2, 0xffff, "data area");
	refused_with("raid1-12-3-bitmap", 128, 8, 8, "data area");
	refused_with("raid1-12-3-bitmap", 128, 8, UINT64_MAX / 512, "does not fit");
	refused_with("raid1-12-3-bitmap", 136, 8, 1000, "too small");
	refused_with("raid1-12-3-bitmap", 144, 8, 0, "super_offset");
	refused_with("raid1-12-3-bitmap", 12, 4, 1, "reserved");
	refused_with("raid1-12-3-bitmap", 228, 4, 1, "reserved");
	refused_with("raid1-12-3-bitmap", 224, 4, 1000, "logical block");
	refused_with("raid1-12-3-bitmap", 160, 4, 500, "device number");
	refused_with("raid1-12-3-bitmap", 160, 4, 2, "same number");
	refused_with("raid1-12-3-bitmap", 160, 4, 77, "another role");
	refused_with("raid1-12-3-bitmap", 20, 4, 77, "another array");
	refused_with("raid1-12-3-bitmap", 72, 4, 5, "another array");
	refused_with("raid1-12-3-bitmap", 92, 4, 4, "another array");
	refused_with("raid1-12-3-bitmap", 76, 4, 1, "another size, chunk or layout");
	refused_with("raid1-12-3-bitmap", 80, 8, 8192, "another size, chunk or layout");
	refused_with("raid1-12-3-bitmap", 88, 4, 8, "another size, chunk or layout");
	refused_with("raid1-12-3-bitmap", 200, 8, UINT64_MAX, "event count");
	refused_with("raid5-12-4-ppl", 96, 2, 2100, "data area");
	refused_with("raid5-12-4-ppl", 98, 2, 100, "are needed");
	refused_with("raid5-12-4-ppl", 8, 4, 0, "on some members and not on others");
	refused_with("raid5-12-4-ppl", 8, 4, 1 << 11 | 1 << 10, "no known kernel defines");
}

/* The field of kernel 6.19 stays, and is no reason to refuse. */
static void test_logical_block_stays(void **state)
{
	(void)state;
	bench_load("raid1-12-2", 'm', 0);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *super = super_of(i);

		put(super + 224, 4, 4096);
		md1_seal(super);
	}
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 512), 0);
	bench_end(0, 512, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(load_le32(super_of(i) + 224), 4096);
	bench_done();
}

/* Records go out in whole blocks of a 4Kn disk; what does not lie so cannot be written. */
static void test_large_blocks(void **state)
{
	uint8_t *super;

	(void)state;
	bench_load("raid1-12-3-bitmap", 'm', 0);
	for (unsigned i = 0; i < 3; i++)
		bench.devs[i]->block_bytes = 4096;
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	bench_end(0, 4096, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_mdadm_says("-E", 2, "State : clean\n");
	bench_rewind(0);
	super = super_of(1);
	put(super + 96, 4, 2);
	memcpy(bench.images.data[1] + 5120, bench.images.data[1] + 8192, 512);
	md1_seal(super);
	bench.freshest = bench.array.freshest = 0;
	assert_true(bench_open() < 0);
	assert_non_null(strstr(err.message, "whole blocks of 4096"));
	bench_done();
}

static void test_read_only_member(void **state)
{
	(void)state;
	bench_load("raid1-12-2", 'm', 0);
	bench.devs[1]->writable = false;
	assert_int_equal(bench_open(), -EROFS);
	bench_done();
}

/* Tables of roles of different lengths: one that is too short is refused, what another has beyond the freshest's is nobody's. */
static void test_lengths_of_roles(void **state)
{
	struct md1_superblock sb;
	uint8_t *super;

	(void)state;
	refused_with("raid5-12-3-default", 220, 4, 3, "no room to list all");
	bench_load("raid5-12-3-default", 'm', 0);
	super = super_of(1);
	put(super + 220, 4, 200);
	put(super + 256 + 2 * 150, 2, 2);
	md1_seal(super);
	bench.freshest = bench.array.freshest = 0;
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 512), 0);
	bench_end(0, 512, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_true(bench_v1(1, &sb));
	assert_int_equal(sb.max_dev, 200);
	assert_int_equal(sb.roles[150], MD1_ROLE_SPARE);
	assert_int_equal(sb.role, 1);
	bench_done();
}

/* Counts that would begin again from 0: nothing would ever be newer than they are. */
static void test_events_at_their_end(void **state)
{
	static const uint64_t events[] = { UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2 + 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		bench_load("raid1-12-2", 'm', 0);
		for (unsigned image = 0; image < 2; image++) {
			uint8_t *super = super_of(image);

			put(super + 200, 8, events[i]);
			md1_seal(super);
		}
		bench_choose(0);
		assert_true(bench_open() < 0);
		assert_non_null(strstr(err.message, "event count"));
		bench_done();
	}
}

/* A parity log on levels that have none: its entries are not looked at, whatever they say. */
static void test_log_of_other_levels(void **state)
{
	static const char *const cases[] = { "raid1-12-2", "raid10-12-4-n2", "raid6-12-4", "raid4-12-4" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ppl_header header = { .generation = 1, .entries_count = 1 };
		struct keep_patch *patches = NULL;
		struct md1_superblock sb;
		size_t count = 0;
		bool complete = true;

		bench_load(cases[i], 'm', 0);
		for (unsigned image = 0; image < bench.images.count; image++) {
			uint8_t *super = super_of(image);

			put(super + 8, 4, MD1_PPL);
			put(super + 96, 2, 64);
			put(super + 98, 2, 512);
			put(super + 208, 8, 0);
			md1_seal(super);
			assert_true(bench_v1(image, &sb));
			header.entries[0] = (struct ppl_entry){ .data_bytes = 65536, .parity_slot = sb.role };
			ppl_encode(&header, ppl_signature(sb.array_uuid), super + 64 * 512);
		}
		assert_int_equal(keep_ppl_patches(&bench.array, &patches, &count, &complete, &err), 0);
		assert_int_equal(count, 0);
		assert_false(complete);
		assert_true(bench_open() < 0);
		assert_non_null(strstr(err.message, "belongs to a level that has none"));
		bench_done();
	}
}

/* --- any fields --- */

static unsigned seed;
static unsigned next(unsigned below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 12) % below;
}

static void mutate(unsigned image)
{
	static const uint64_t values[] = { 0, 1, 8, 16, 255, 2048, 0x7fffffff, 0xffffffff, 0xfffffff0, UINT64_MAX, 1ULL << 63, 1ULL << 55 };
	uint8_t *super = super_of(image);

	for (unsigned n = 1 + next(3); n > 0; n--) {
		size_t at = 8 + next(280) / 4 * 4;

		if (next(2))
			put(super + at, next(2) ? 4 : 8, values[next(ARRAY_SIZE(values))]);
		else
			super[at + next(4)] = (uint8_t)next(256);
	}
	if (load_le32(super + 220) <= MD1_ROLES_MAX)
		md1_seal(super);
}

static bool inside(const struct bench_event *e, uint64_t offset, uint64_t length)
{
	return e->offset_bytes >= offset && e->offset_bytes + e->length_bytes <= offset + length;
}

static void check_writes(const struct md1_superblock *before)
{
	for (unsigned i = 0; i < trace.count; i++) {
		const struct bench_event *e = &trace.events[i];
		const struct md1_superblock *sb = &before[e->image];
		uint64_t super = sb->super_bytes, end = e->offset_bytes + e->length_bytes;

		if (e->op != DEV_WRITE)
			continue;
		assert_true(end > e->offset_bytes && end <= bench.images.size[e->image]);
		/* Parity that a log completes. */
		if (sb->ppl_bytes && inside(e, sb->data_offset_bytes, sb->data_bytes))
			continue;
		assert_true(end <= sb->data_offset_bytes || e->offset_bytes >= sb->data_offset_bytes + sb->data_bytes);
		assert_true(inside(e, super, 4096) || inside(e, super + (uint64_t)sb->ppl_from_super_bytes, sb->ppl_bytes) ||
			    (sb->features & MD1_BITMAP && inside(e, super + (uint64_t)sb->bitmap_from_super_bytes, 4096)));
	}
}

static void hostile(const char *name, unsigned rounds)
{
	static struct md1_superblock before[IMAGES_MAX];
	unsigned opened = 0;

	bench_load(name, 'm', 0);
	for (unsigned round = 0; round < rounds; round++) {
		unsigned count = 0;

		bench_rewind(0);
		mutate(next(2) ? bench.image_of[bench.freshest] : bench.image_of[next((unsigned)bench.count)]);
		for (unsigned i = 0; i < bench.images.count; i++)
			count += bench_v1(i, &before[i]);
		if (bench_open() < 0) {
			assert_int_equal(trace.count, 0);
			assert_true(strlen(err.message) > 10);
			continue;
		}
		assert_int_equal(count, bench.images.count);
		opened++;
		if (bench_begin(next(64) * 64 * KIB, 64 * KIB) == 0)
			bench_end(0, 0, true);
		if (next(2))
			bench_fail(1);
		keep_close(bench.keep, &err);
		check_writes(before);
	}
	assert_true(opened > 0);
	bench_done();
}

static void test_mutated(void **state)
{
	(void)state;
	seed = 1;
	hostile("raid1-12-3-bitmap", 300);
	hostile("raid1-10-2-bitmap", 300);
	hostile("raid5-12-4-ppl", 100);
	hostile("raid6-12-4", 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_logical_block_stays),
		cmocka_unit_test(test_large_blocks),
		cmocka_unit_test(test_read_only_member),
		cmocka_unit_test(test_log_of_other_levels),
		cmocka_unit_test(test_events_at_their_end),
		cmocka_unit_test(test_lengths_of_roles),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
