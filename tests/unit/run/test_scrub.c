/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scrubs of arrays in memory: what is found, who is blamed, and what a repair writes. Counts of real kernels: test_scrub_golden.c. */
#include "run/scrub_bench.h"

/* Nothing is found in what fits, and every member is read whole, once. */
static void test_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		for (unsigned threads = 1; threads <= 3; threads++) {
			struct array a;
			struct blkalign_scrub *s;
			struct blkalign_scrub_progress p;

			open_shape(&a, &shapes[i]);
			s = start(&a, threads);
			p = run(s);
			assert_int_equal(p.mismatch_sectors512, 0);
			assert_int_equal(p.findings, 0);
			assert_int_equal(p.read_bytes, a.geometry.parity ? a.geometry.used_bytes * a.geometry.members
									 : a.geometry.array_bytes * raid_copies(&a.geometry));
			assert_int_equal(p.total_bytes, view_sync_bytes(&a.view));
			blkalign_scrub_close(s);
			array_close(&a);
		}
}

/* --- raid6: one member is wrong --- */

static void test_proven(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	struct blkalign_scrub_progress p;
	struct raid_origin origin;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 6, COMPONENT);
	array_spoil(&a, 1, 65536 + 100, 4);	     /* four bytes are just enough */
	array_spoil(&a, 3, 4 * 65536 + 8192, 20000); /* five rows */
	array_spoil(&a, 5, 5 * 65536 + 61440, 8192); /* over the end of a stripe */
	array_spoil(&a, 2, 8 * 65536, 3);
	s = start(&a, 2);
	p = run(s);
	assert_int_equal(p.mismatch_sectors512, (1 + 5 + 2 + 1) * 8);
	assert_int_equal(p.findings, 4);
	expect(s, 0, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_PROVEN, 1, 65536, 4096);
	expect(s, 1, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_PROVEN, 3, 4 * 65536 + 8192, 5 * 4096);
	expect(s, 2, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_PROVEN, 5, 5 * 65536 + 61440, 8192);
	expect(s, 3, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_FEW_BYTES, BLKALIGN_SLOT_NONE, 8 * 65536, 4096);
	assert_int_equal(raid_origin(&a.geometry, 3, 4 * 65536 + 8192, &origin), 0);
	assert_int_equal(origin.role, RAID_ROLE_DATA);
	assert_int_equal(blkalign_scrub_finding(s, 1)->array_first_bytes, origin.array_bytes);
	assert_int_equal(blkalign_scrub_finding(s, 1)->array_last_bytes, origin.array_bytes + 5 * 4096 - 1);
	/* The repair mends what is proven and leaves the rest. */
	p = repair(s, false);
	assert_int_equal(p.repaired_bytes, 8 * 4096);
	assert_int_equal(p.left_bytes, 4096);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(array_is_true(&a, i), i != 2);
	blkalign_scrub_close(s);
	s = start(&a, 1);
	assert_int_equal(run(s).mismatch_sectors512, 8);
	blkalign_scrub_close(s);
	array_close(&a);
}

/* Many at random places and of random lengths: every blame is right, and a repair puts back the very bytes. */
static void test_seeded(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		const struct shape *shape = &shapes[5 + round % 3];
		struct array a;
		struct blkalign_scrub *s;
		uint32_t rows = COMPONENT / 4096, step = 3;

		open_shape(&a, shape);
		for (uint32_t row = round % step; row < rows; row += step) {
			size_t length = 4 + array_random(&seed) % 4092;

			array_spoil(&a, array_random(&seed) % shape->members, row * 4096ULL + array_random(&seed) % (4097 - length),
				    length);
		}
		s = start(&a, 1 + round % 3);
		run(s);
		for (size_t i = 0; i < blkalign_scrub_findings(s, NULL); i++)
			assert_int_equal(blkalign_scrub_finding(s, i)->verdict, BLKALIGN_SCRUB_PROVEN);
		assert_int_equal(repair(s, false).left_bytes, 0);
		for (uint32_t i = 0; i < shape->members; i++)
			assert_true(array_is_true(&a, i));
		blkalign_scrub_close(s);
		array_close(&a);
	}
}

/* Two members wrong in a row: nobody is blamed, and what is proven elsewhere is all that a repair writes. */
static void test_two_wrong(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	struct blkalign_scrub_progress p;
	_cleanup_free_ uint8_t *before = NULL;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 6, COMPONENT);
	array_spoil(&a, 1, 4096, 512);
	array_spoil(&a, 2, 4096 + 1024, 512);
	before = malloc(a.disk_bytes);
	memcpy(before, a.disks[1], a.disk_bytes);
	s = start(&a, 1);
	p = run(s);
	assert_int_equal(p.mismatch_sectors512, 8);
	expect(s, 0, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_SEVERAL, BLKALIGN_SLOT_NONE, 4096, 4096);
	p = repair(s, false);
	assert_int_equal(p.repaired_bytes, 0);
	assert_int_equal(p.left_bytes, 4096);
	assert_memory_equal(a.disks[1], before, a.disk_bytes);
	blkalign_scrub_close(s);
	/* Told so, parity is made to fit; data stays. */
	s = start(&a, 1);
	run(s);
	p = repair(s, true);
	assert_int_equal(p.repaired_bytes, 2 * 4096);
	assert_int_equal(p.left_bytes, 0);
	assert_memory_equal(a.disks[1], before, a.disk_bytes);
	blkalign_scrub_close(s);
	s = start(&a, 1);
	assert_int_equal(run(s).mismatch_sectors512, 0);
	blkalign_scrub_close(s);
	array_close(&a);
}

/* A write may have been cut short there: nobody is blamed. */
static void test_doubtful(void **state)
{
	struct byte_range doubtful[] = { { 0, 4096 }, { 131072, 65536 } };
	struct array a;
	struct blkalign_scrub *s;
	struct blkalign_scrub_progress p;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 6, COMPONENT);
	a.view.doubtful = doubtful;
	a.view.doubtful_count = 2;
	array_spoil(&a, 1, 0, 8192);
	array_spoil(&a, 1, 131072 + 65536 - 4096, 8192);
	s = start(&a, 2);
	p = run(s);
	assert_int_equal(p.mismatch_sectors512, 4 * 8);
	expect(s, 0, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_DOUBTFUL, BLKALIGN_SLOT_NONE, 0, 4096);
	expect(s, 1, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_PROVEN, 1, 4096, 4096);
	expect(s, 2, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_DOUBTFUL, BLKALIGN_SLOT_NONE, 131072 + 61440, 4096);
	expect(s, 3, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_PROVEN, 1, 131072 + 65536, 4096);
	assert_int_equal(repair(s, false).repaired_bytes, 2 * 4096);
	blkalign_scrub_close(s);
	array_close(&a);
}

/* --- members missing --- */

/* raid6 with one missing: one parity is left to check by. In rows where Q is missing P is checked, in all others Q. */
static void test_degraded_raid6(void **state)
{
	(void)state;
	for (uint32_t lost = 0; lost < 6; lost++) {
		struct array a;
		struct blkalign_scrub *s;

		array_open(&a, RAID_6, 2, 65536, 6, COMPONENT);
		a.members[lost].dev = NULL;
		s = start(&a, 2);
		assert_int_equal(run(s).findings, 0);
		blkalign_scrub_close(s);
		for (uint32_t i = 0; i < 6; i++)
			if (i != lost)
				array_spoil(&a, i, i * 65536ULL, 100);
		s = start(&a, 2);
		assert_int_equal(run(s).mismatch_sectors512, 5 * 8);
		for (size_t i = 0; i < blkalign_scrub_findings(s, NULL); i++)
			assert_int_equal(blkalign_scrub_finding(s, i)->verdict, BLKALIGN_SCRUB_DEGRADED);
		assert_int_equal(repair(s, false).repaired_bytes, 0);
		blkalign_scrub_close(s);
		array_close(&a);
	}
}

/* Nothing is left to check by, but what cannot be read is lost, and said so. */
static void test_degraded_raid5(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	struct blkalign_scrub_progress p;
	struct array_weak *weak;

	(void)state;
	array_open(&a, RAID_5, 2, 65536, 4, COMPONENT);
	a.members[3].dev = NULL;
	array_spoil(&a, 1, 0, 100);
	weak = array_weaken(&a, 0, 65536 + 4096, 512); /* stripe 1: data on 3 0 1, P on 2 */
	s = start(&a, 1);
	p = run(s);
	assert_int_equal(p.mismatch_sectors512, 0);
	assert_int_equal(p.lost_bytes, 2 * 4096);
	expect(s, 0, BLKALIGN_SCRUB_LOST, BLKALIGN_SCRUB_DEGRADED, 0, 65536 + 4096, 4096);
	expect(s, 1, BLKALIGN_SCRUB_LOST, BLKALIGN_SCRUB_DEGRADED, 3, 65536 + 4096, 4096);
	assert_int_equal(blkalign_scrub_finding(s, 1)->array_first_bytes, 3 * 65536 + 4096);
	assert_int_equal(blkalign_scrub_finding(s, 0)->array_first_bytes, 4 * 65536 + 4096);
	p = repair(s, true);
	assert_int_equal(p.repaired_bytes, 0);
	assert_true(p.left_bytes > 0);
	blkalign_scrub_close(s);
	dev_close(&weak->dev);
	array_close(&a);
}

/* --- sectors that cannot be read --- */

static void test_unreadable(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct array a;
		struct blkalign_scrub *s;
		struct blkalign_scrub_progress p;
		struct array_weak *weak;
		uint64_t at = 16384 + 512;

		open_shape(&a, &shapes[i]);
		weak = array_weaken(&a, 1, at, 8192);
		memset(a.disks[1] + ARRAY_OFFSET + at, 0xee, 8192);
		s = start(&a, 2);
		p = run(s);
		assert_int_equal(p.mismatch_sectors512, 0);
		assert_int_equal(p.unreadable_bytes, 3 * 4096);
		for (size_t k = 0; k < blkalign_scrub_findings(s, NULL); k++) {
			assert_int_equal(blkalign_scrub_finding(s, k)->kind, BLKALIGN_SCRUB_UNREADABLE);
			assert_int_equal(blkalign_scrub_finding(s, k)->slot, 1);
		}
		p = repair(s, false);
		assert_int_equal(p.repaired_bytes, 3 * 4096);
		assert_int_equal(p.left_bytes, 0);
		assert_true(array_is_true(&a, 1));
		blkalign_scrub_close(s);
		s = start(&a, 1);
		assert_int_equal(run(s).findings, 0);
		blkalign_scrub_close(s);
		dev_close(&weak->dev);
		array_close(&a);
	}
}

/* raid6: what is left contradicts itself, so that nothing recomputed from it can be relied on. raid5: an unclean stop. */
static void test_unreadable_and_in_doubt(void **state)
{
	struct byte_range doubtful = { 0, 65536 };

	(void)state;
	for (unsigned raid6 = 0; raid6 < 2; raid6++) {
		struct array a;
		struct blkalign_scrub *s;
		struct blkalign_scrub_progress p;
		struct blkalign_scrub_plan plan;
		struct array_weak *weak;

		array_open(&a, raid6 ? RAID_6 : RAID_5, 2, 65536, 5, COMPONENT);
		weak = array_weaken(&a, 1, 0, 4096);
		if (raid6)
			array_spoil(&a, 3, 10, 100);
		else
			a.view = (struct md_view){
				.geometry = &a.geometry, .members = a.members, .doubtful = &doubtful, .doubtful_count = 1
			};
		s = start(&a, 1);
		p = run(s);
		assert_int_equal(p.unreadable_bytes, 4096);
		assert_int_equal(p.mismatch_sectors512, raid6 ? 8 : 0);
		blkalign_scrub_plan(s, false, &plan);
		assert_int_equal(plan.unreadable_bytes, 0);
		p = repair(s, false);
		assert_int_equal(p.repaired_bytes, 0);
		assert_true(p.left_bytes >= 4096);
		assert_int_equal(p.left_bytes, plan.left_bytes);
		blkalign_scrub_close(s);
		s = start(&a, 1);
		run(s);
		if (!raid6) {
			/* It may be read one day, and is not replaced by what nobody wrote. */
			assert_int_equal(repair(s, true).repaired_bytes, 0);
			blkalign_scrub_close(s);
			s = start(&a, 1);
			run(s);
		}
		p = repair_with(s, &(struct blkalign_scrub_repair_options){ .parity = true, .force = !raid6 });
		assert_true(p.repaired_bytes >= 4096);
		assert_int_equal(p.left_bytes, 0);
		blkalign_scrub_close(s);
		s = start(&a, 1);
		assert_int_equal(run(s).findings, 0);
		blkalign_scrub_close(s);
		dev_close(&weak->dev);
		array_close(&a);
	}
}

/*
 * Mirrors after an unclean stop: what cannot be read gets what the others agree on, and the plan says so before; where they disagree nothing is written. Findings
 * of several copies at one place each tell what was written of them.
 */
static void test_unreadable_copy(void **state)
{
	struct byte_range doubtful = { 0, 65536 };

	(void)state;
	for (unsigned disagree = 0; disagree < 2; disagree++)
		for (unsigned parity = 0; parity < 2; parity++) {
			struct array a;
			struct blkalign_scrub *s;
			struct blkalign_scrub_plan plan;
			struct blkalign_scrub_progress p;
			struct array_weak *weak;
			uint64_t written = parity && disagree ? 8192 : disagree ? 0 : 4096;

			array_open(&a, RAID_1, 0, 0, 3, COMPONENT);
			a.view.doubtful = &doubtful;
			a.view.doubtful_count = 1;
			weak = array_weaken(&a, 1, 4096, 4096);
			if (disagree)
				array_spoil(&a, 2, 4096 + 10, 100);
			s = start(&a, 1);
			assert_int_equal(run(s).unreadable_bytes, 4096);
			expect(s, disagree, BLKALIGN_SCRUB_UNREADABLE, disagree ? BLKALIGN_SCRUB_SEVERAL : BLKALIGN_SCRUB_DOUBTFUL, 1, 4096,
			       4096);
			blkalign_scrub_plan(s, parity, &plan);
			assert_int_equal(plan.unreadable_bytes + plan.parity_bytes, written);
			assert_int_equal(plan.left_bytes, disagree && !parity ? 8192 : 0);
			p = repair(s, parity);
			assert_int_equal(p.repaired_bytes, written);
			assert_int_equal(p.left_bytes, plan.left_bytes);
			for (size_t i = 0; i < blkalign_scrub_findings(s, NULL); i++)
				assert_int_equal(blkalign_scrub_finding(s, i)->repaired_bytes, written ? 4096 : 0);
			blkalign_scrub_close(s);
			dev_close(&weak->dev);
			array_close(&a);
		}
}

/* A write that fails ends the repair for good. */
static void test_failing_write(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	struct array_weak *weak;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 5, COMPONENT);
	weak = array_weaken(&a, 1, 0, 4096);
	weak->no_write = true;
	array_spoil(&a, 2, 131072, 4096);
	s = start(&a, 1);
	run(s);
	assert_int_equal(scrub_repair_begin(s, &(struct blkalign_scrub_repair_options){ .parity = false }, &err), 0);
	assert_int_equal(blkalign_scrub_step(s, NULL, &err), -EIO);
	assert_string_equal(err.where, "m1");
	assert_int_equal(blkalign_scrub_step(s, NULL, &err), -EIO);
	assert_false(array_is_true(&a, 2));
	blkalign_scrub_close(s);
	dev_close(&weak->dev);
	array_close(&a);
}

/* A member that is gone is no unreadable sector: the scrub fails, and may go on when it is back. */
static void test_gone(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	struct dev *gone;

	(void)state;
	array_open(&a, RAID_6, 2, 65536, 5, COMPONENT);
	assert_int_equal(dev_open_fault(a.devs[2], 0, a.disk_bytes, -ENODEV, &gone), 0);
	a.members[2].dev = gone;
	s = start(&a, 2);
	assert_int_equal(blkalign_scrub_step(s, NULL, &err), -ENODEV);
	assert_int_equal(blkalign_scrub_findings(s, NULL), 0);
	a.members[2].dev = a.devs[2];
	assert_int_equal(run(s).findings, 0);
	blkalign_scrub_close(s);
	dev_close(gone);
	array_close(&a);
}

/* --- mirrors --- */

static void test_mirror(void **state)
{
	struct array a;
	struct blkalign_scrub *s;
	struct blkalign_scrub_progress p;

	(void)state;
	array_open(&a, RAID_1, 0, 0, 3, COMPONENT + 32768 + 512);
	array_spoil(&a, 1, 131072, 100);	 /* one differs */
	array_spoil(&a, 0, 262144 + 4096, 8192); /* the first one differs from two that agree */
	array_spoil(&a, 1, 393216, 100);	 /* three opinions */
	array_spoil(&a, 2, 393216, 50);
	array_spoil(&a, 2, COMPONENT + 32768, 512); /* in the last window, which is short */
	s = start(&a, 2);
	p = run(s);
	assert_int_equal(p.mismatch_sectors512, 128 + 2 * 128 + 2 * 128 + 65);
	expect(s, 0, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_OUTVOTED, 1, 131072, 4096);
	expect(s, 1, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_OUTVOTED, 0, 262144 + 4096, 8192);
	expect(s, 2, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_SEVERAL, 1, 393216, 4096);
	expect(s, 3, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_SEVERAL, 2, 393216, 4096);
	expect(s, 4, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_OUTVOTED, 2, COMPONENT + 32768, 512);
	assert_int_equal(p.findings, 5);
	assert_int_equal(repair(s, false).repaired_bytes, 0);
	blkalign_scrub_close(s);
	s = start(&a, 2);
	run(s);
	{
		struct blkalign_scrub_plan plan;

		blkalign_scrub_plan(s, true, &plan);
		assert_int_equal(plan.outvoted_bytes, 8192);
		assert_int_equal(plan.parity_bytes, 4096 + 8192 + 2 * 4096 + 512);
	}
	/* As md's: the first copy wins, right or wrong. */
	p = repair(s, true);
	assert_int_equal(p.repaired_bytes, 4096 + 2 * 8192 + 2 * 4096 + 512);
	blkalign_scrub_close(s);
	assert_memory_equal(a.disks[0], a.disks[1], a.disk_bytes);
	assert_memory_equal(a.disks[0], a.disks[2], a.disk_bytes);
	array_close(&a);
}

/* Known bad blocks cut the kernel's windows: before, inside and behind. */
static void test_mirror_bad_blocks(void **state)
{
	struct byte_range bad = { 65536 + 1024, 2048 };
	struct array a;
	struct blkalign_scrub *s;

	(void)state;
	array_open(&a, RAID_1, 0, 0, 3, COMPONENT);
	a.members[2].bad = &bad;
	a.members[2].bad_count = 1;
	memset(a.disks[2] + ARRAY_OFFSET + 65536 + 1024, 0, 2048);
	array_spoil(&a, 1, 65536, 10);		    /* window of 1024 bytes */
	array_spoil(&a, 1, 65536 + 2048, 10);	    /* inside: 2048 bytes, of two copies */
	array_spoil(&a, 1, 65536 + 4096, 10);	    /* the window behind begins at 65536 + 3072 */
	array_spoil(&a, 1, 131072 + 3072 + 511, 1); /* the next one begins 65536 behind that */
	s = start(&a, 1);
	assert_int_equal(run(s).mismatch_sectors512, 2 + 4 + 128 + 128);
	expect(s, 0, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_OUTVOTED, 1, 65536, 1024);
	expect(s, 1, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_DEGRADED, 1, 65536 + 1024, 2048);
	blkalign_scrub_close(s);
	array_close(&a);
}

/* Each window is cut at the chunk's end, but not where all members are copies of each other. */
static void test_raid10_windows(void **state)
{
	static const struct {
		uint32_t layout, chunk, members;
		uint64_t want;
	} cases[] = {
		{ 0x102, 65536, 4, 128 }, { 0x102, 16384, 4, 32 },   { 0x102, 16384, 2, 128 },
		{ 0x201, 4096, 3, 8 },	  { 0x102, 524288, 4, 128 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct array a;
		struct blkalign_scrub *s;
		struct raid_place place;
		struct blkalign_scrub_progress p;

		array_open(&a, RAID_10, cases[i].layout, cases[i].chunk, cases[i].members, COMPONENT);
		assert_int_equal(raid_locate(&a.geometry, 12288, 1, &place), 0);
		array_spoil(&a, place.slot, place.device_bytes, 10);
		s = start(&a, 2);
		p = run(s);
		assert_int_equal(p.mismatch_sectors512, cases[i].want);
		expect(s, 0, BLKALIGN_SCRUB_MISMATCH, BLKALIGN_SCRUB_ONE_PARITY, place.slot, place.device_bytes, 4096);
		assert_int_equal(blkalign_scrub_finding(s, 0)->array_first_bytes, 12288);
		assert_int_equal(blkalign_scrub_finding(s, 0)->array_last_bytes, 12288 + 4095);
		assert_int_equal(repair(s, true).repaired_bytes, 4096);
		for (uint32_t k = 0; k < cases[i].members; k++)
			assert_true(array_is_true(&a, k));
		blkalign_scrub_close(s);
		array_close(&a);
	}
}

/* The doubts of a dirty array end with a repair of all that there is to compare; where nothing was compared they stay. */
static void trust_after_repair(int32_t level, uint32_t members, uint32_t missing, bool trusted)
{
	struct raid_geometry g;
	struct array a;
	struct blkalign_scrub *s;
	uint64_t run_bytes = UINT64_MAX;

	array_open(&a, level, 2, 65536, members, COMPONENT);
	g = a.geometry;
	for (uint32_t i = 0; i < missing; i++)
		a.members[i + 1].dev = NULL;
	a.view.doubtful = &(struct byte_range){ 65536, 131072 };
	a.view.doubtful_count = 1;
	assert_int_equal(
		map_open_md("md0",
			    &(struct map_md){ .geometry = &g, .members = a.members, .doubtful = a.view.doubtful, .doubtful_count = 1 },
			    &a.view.md),
		0);
	s = start(&a, 1);
	run(s);
	repair(s, true);
	assert_int_equal(map_md_doubtful(a.view.md, 65536, &run_bytes), !trusted);
	blkalign_scrub_close(s);
	dev_close(a.view.md);
	array_close(&a);
}

static void test_trust(void **state)
{
	(void)state;
	trust_after_repair(RAID_5, 4, 0, true);
	trust_after_repair(RAID_5, 4, 1, false);
	trust_after_repair(RAID_6, 5, 0, true);
	trust_after_repair(RAID_6, 5, 1, true);
	trust_after_repair(RAID_6, 5, 2, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_proven),
		cmocka_unit_test(test_seeded),
		cmocka_unit_test(test_two_wrong),
		cmocka_unit_test(test_doubtful),
		cmocka_unit_test(test_degraded_raid6),
		cmocka_unit_test(test_degraded_raid5),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_unreadable_and_in_doubt),
		cmocka_unit_test(test_unreadable_copy),
		cmocka_unit_test(test_failing_write),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_mirror),
		cmocka_unit_test(test_mirror_bad_blocks),
		cmocka_unit_test(test_raid10_windows),
		cmocka_unit_test(test_trust),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
