/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rebuilding in memory: members of every level put back byte for byte, from whatever is left. Through superblocks and kernels: test_rebuild_golden.c. */
#include "run/array.h"

#include "run/rebuild.h"

#define COMPONENT (512 * KIB)

static struct blkalign_error err;

static struct blkalign_rebuild *start(struct array *a, const uint32_t *slots, size_t count, const struct blkalign_rebuild_options *options)
{
	struct blkalign_rebuild *b = calloc(1, sizeof(*b));

	b->view = a->view;
	b->target_count = count;
	for (size_t i = 0; i < count; i++) {
		struct map_md_member *m = &a->members[slots[i]];

		b->targets[i] = (struct rebuild_target){ .dev = m->dev, .data_offset_bytes = m->data_offset_bytes };
		b->targets[i].path = strdup(m->dev->name);
		b->targets[i].told = (struct blkalign_rebuild_target){ .slot = slots[i], .start_bytes = m->valid_bytes };
	}
	if (rebuild_start(b, options, &err) < 0)
		fail_msg("%s", err.message);
	return b;
}

/* The slot is lost; its device holds junk from `valid` on, and becomes the target. */
static void lose(struct array *a, uint32_t slot, uint64_t valid)
{
	memset(a->disks[slot] + ARRAY_OFFSET + valid, 0xee, a->disk_bytes - ARRAY_OFFSET - valid);
	a->members[slot].valid_bytes = valid;
}

static int run(struct blkalign_rebuild *b, struct blkalign_rebuild_progress *ret)
{
	int r;

	do
		r = blkalign_rebuild_step(b, ret, &err);
	while (r == 0);
	return r;
}

/* What the array has on the member is there again; bytes that it does not use may be anything. */
static void expect_true(const struct array *a, uint32_t slot)
{
	for (uint64_t at = 0; at < a->geometry.used_bytes; at += 512) {
		struct raid_origin origin;

		if (raid_origin(&a->geometry, slot, at, &origin) == 0 &&
		    memcmp(a->disks[slot] + ARRAY_OFFSET + at, a->truth[slot] + ARRAY_OFFSET + at, 512) != 0)
			fail_msg("level %d, slot %u differs at byte %llu", a->geometry.level, slot, (unsigned long long)at);
	}
	assert_memory_equal(a->disks[slot], a->truth[slot], ARRAY_OFFSET);
}

static const struct shape {
	int32_t level;
	uint32_t layout, chunk, members;
} shapes[] = {
	{ RAID_1, 0, 0, 2 },	      { RAID_1, 0, 0, 3 },	     { RAID_4, 0, 65536, 4 },
	{ RAID_5, 2, 4096, 3 },	      { RAID_5, 0, 65536, 5 },	     { RAID_5, 2, 65536, 2 },
	{ RAID_6, 2, 65536, 6 },      { RAID_6, 10, 16384, 5 },	     { RAID_6, 2, 131072, 8 },
	{ RAID_6, 16, 65536, 4 },     { RAID_10, 0x102, 65536, 4 },  { RAID_10, 0x102, 131072, 2 },
	{ RAID_10, 0x201, 16384, 3 }, { RAID_10, 0x10201, 4096, 4 }, { RAID_10, 0x103, 65536, 4 },
	{ RAID_10, 0x102, 16384, 5 }, { RAID_10, 0x202, 65536, 4 },  { RAID_10, 0x40201, 16384, 6 },
};

static void rebuild_slots(const struct shape *s, const uint32_t *slots, size_t count, unsigned threads)
{
	struct blkalign_rebuild_options options = { .threads = threads };
	struct array a;
	struct blkalign_rebuild *b;
	struct blkalign_rebuild_progress p;
	bool present[ARRAY_SLOTS];

	array_open(&a, s->level, s->layout, s->chunk, s->members, COMPONENT);
	for (uint32_t i = 0; i < s->members; i++)
		present[i] = i != slots[0] && i != slots[count - 1];
	for (size_t i = 0; i < count; i++)
		lose(&a, slots[i], 0);
	b = start(&a, slots, count, &options);
	if (raid_survives(&a.geometry, present)) {
		assert_int_equal(run(b, &p), BLKALIGN_REBUILD_DONE);
		assert_int_equal(p.position_bytes, a.geometry.used_bytes);
		assert_int_equal(p.mismatch_sectors512, 0);
		for (uint32_t i = 0; i < s->members; i++)
			expect_true(&a, i);
	} else {
		assert_int_equal(run(b, &p), -EIO);
		assert_non_null(strstr(err.message, "cannot be rebuilt"));
	}
	assert_int_equal(blkalign_rebuild_close(b, &err), 0);
	array_close(&a);
}

/* Every one lost, and every two. */
static void test_every_loss(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		for (uint32_t x = 0; x < shapes[i].members; x++) {
			rebuild_slots(&shapes[i], &x, 1, 1 + x % 2);
			for (uint32_t y = x + 1; y < shapes[i].members; y++)
				rebuild_slots(&shapes[i], (uint32_t[]){ x, y }, 2, 2);
		}
}

/* From where it was, for each of the two; what was there before is not touched. */
static void test_going_on(void **state)
{
	struct array a;
	struct blkalign_rebuild *b;
	struct blkalign_rebuild_progress p;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 6, COMPONENT);
	lose(&a, 1, 131072);
	lose(&a, 4, 131072 + 32768);
	b = start(&a, (uint32_t[]){ 1, 4 }, 2, NULL);
	assert_int_equal(run(b, &p), BLKALIGN_REBUILD_DONE);
	assert_int_equal(p.written_bytes, 2 * COMPONENT - 2 * 131072 - 32768);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(array_is_true(&a, i));
	assert_int_equal(blkalign_rebuild_close(b, &err), 0);
	array_close(&a);
}

/* A second member of raid6 is missing and has no target: both are computed, one is written. */
static void test_one_of_two(void **state)
{
	struct array a;
	struct blkalign_rebuild *b;
	struct blkalign_rebuild_progress p;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 5, COMPONENT);
	lose(&a, 2, 0);
	a.members[3].dev = NULL;
	b = start(&a, (uint32_t[]){ 2 }, 1, NULL);
	assert_int_equal(run(b, &p), BLKALIGN_REBUILD_DONE);
	assert_true(array_is_true(&a, 2));
	assert_int_equal(p.written_bytes, COMPONENT);
	assert_int_equal(blkalign_rebuild_close(b, &err), 0);
	array_close(&a);
}

/* Sectors of others that cannot be read: computed as well where there is redundancy left, and the end where there is none. */
static void test_unreadable(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct array a;
		struct blkalign_rebuild *b;
		struct blkalign_rebuild_progress p;
		struct array_weak *weak;
		bool spare = shapes[i].level == RAID_6 || (shapes[i].level == RAID_1 && shapes[i].members > 2);
		int r;

		array_open(&a, shapes[i].level, shapes[i].layout, shapes[i].chunk, shapes[i].members, COMPONENT);
		lose(&a, 0, 0);
		weak = array_weaken(&a, 1, 16384 + 1024, 512);
		b = start(&a, (uint32_t[]){ 0 }, 1, NULL);
		r = run(b, &p);
		if (spare) {
			assert_int_equal(r, BLKALIGN_REBUILD_DONE);
			expect_true(&a, 0);
			/* A row of 4 KiB; of mirrors the piece that another copy has whole. */
			assert_in_range(p.unreadable_bytes, 4096, 65536);
			assert_int_equal(p.unreadable_bytes % 4096, 0);
		} else if (shapes[i].level != RAID_10) {
			assert_int_equal(r, -EIO);
			assert_non_null(strstr(err.message, "too many other members lack it: read of"));
			assert_int_equal(err.offset_bytes, ARRAY_OFFSET + 16384);
			assert_int_equal(blkalign_rebuild_step(b, &p, &err), -EIO);
		} else if (r == BLKALIGN_REBUILD_DONE) {
			expect_true(&a, 0);
		}
		assert_int_equal(blkalign_rebuild_close(b, &err), 0);
		dev_close(&weak->dev);
		array_close(&a);
	}
}

/* Known bad blocks are not read. */
static void test_bad_blocks(void **state)
{
	struct byte_range bad = { 65536 + 512, 1024 };
	struct array a;
	struct blkalign_rebuild *b;
	struct blkalign_rebuild_progress p;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 5, COMPONENT);
	lose(&a, 2, 0);
	a.members[3].bad = &bad;
	a.members[3].bad_count = 1;
	memset(a.disks[3] + ARRAY_OFFSET + bad.offset_bytes, 0, bad.length_bytes);
	b = start(&a, (uint32_t[]){ 2 }, 1, NULL);
	assert_int_equal(run(b, &p), BLKALIGN_REBUILD_DONE);
	assert_true(array_is_true(&a, 2));
	assert_int_equal(p.mismatch_sectors512, 0);
	assert_int_equal(blkalign_rebuild_close(b, &err), 0);
	array_close(&a);
}

/* raid6 with one missing has a parity more than it needs: rows that do not fit are told. */
static void test_mismatches(void **state)
{
	struct array a;
	struct blkalign_rebuild *b;
	struct blkalign_rebuild_progress p;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 5, COMPONENT);
	lose(&a, 2, 0);
	array_spoil(&a, 1, 8192, 5000);
	b = start(&a, (uint32_t[]){ 2 }, 1, NULL);
	assert_int_equal(run(b, &p), BLKALIGN_REBUILD_DONE);
	assert_int_equal(p.mismatch_sectors512, 2 * 8);
	assert_int_equal(blkalign_rebuild_close(b, &err), 0);
	array_close(&a);
}

/* A target that fails a write, or its flush: no step succeeds any more. */
static void test_failing_target(void **state)
{
	(void)state;
	for (unsigned flush = 0; flush < 2; flush++) {
		struct array a;
		struct blkalign_rebuild *b;
		struct blkalign_rebuild_progress p;
		struct dev *fault;

		array_open(&a, RAID_5, 2, 65536, 4, COMPONENT);
		lose(&a, 2, 0);
		b = start(&a, (uint32_t[]){ 2 }, 1, NULL);
		fault = array_failing(a.devs[2], flush ? UINT64_MAX : ARRAY_OFFSET + 300000, flush != 0);
		b->targets[0].dev = fault;
		assert_int_equal(run(b, &p), -EIO);
		assert_int_equal(blkalign_rebuild_step(b, &p, &err), -EIO);
		assert_false(b->done);
		assert_int_equal(blkalign_rebuild_close(b, &err), 0);
		dev_close(fault);
		array_close(&a);
	}
}

/* Only what a bitmap says. */
static void test_ranges(void **state)
{
	static const struct byte_range lacks[] = { { 65536 + 512, 8192 }, { 262144, 65536 } };
	struct array a;
	struct blkalign_rebuild *b;
	struct blkalign_rebuild_progress p;

	(void)state;
	array_open(&a, RAID_5, 2, 65536, 4, COMPONENT);
	for (unsigned i = 0; i < 2; i++)
		array_spoil(&a, 2, lacks[i].offset_bytes, lacks[i].length_bytes);
	a.members[2].valid_bytes = 0;
	b = start(&a, (uint32_t[]){ 2 }, 1, NULL);
	b->ranges = malloc(sizeof(lacks));
	memcpy(b->ranges, lacks, sizeof(lacks));
	b->range_count = 2;
	b->by_bitmap = true;
	assert_int_equal(run(b, &p), BLKALIGN_REBUILD_DONE);
	assert_true(array_is_true(&a, 2));
	assert_true(p.written_bytes < 4 * 65536);
	assert_int_equal(blkalign_rebuild_close(b, &err), 0);
	array_close(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_loss), cmocka_unit_test(test_going_on),	  cmocka_unit_test(test_one_of_two),
		cmocka_unit_test(test_unreadable), cmocka_unit_test(test_bad_blocks),	  cmocka_unit_test(test_mismatches),
		cmocka_unit_test(test_ranges),	   cmocka_unit_test(test_failing_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
