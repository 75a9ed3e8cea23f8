/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A new member: what mdadm says of it and of the others at each step, and that every failure is told. */
#include "keep/bench.h"

#define NEW 7U /* image number of the new member */

static uint8_t *fresh;
static size_t fresh_size;

static void add_disk(size_t size)
{
	fresh_size = size;
	fresh = malloc(size);
	assert_non_null(fresh);
	memset(fresh, 0x5a, size);
	bench.images.data[NEW] = fresh;
	bench.images.size[NEW] = size;
	bench.devs[NEW] = traced_open(NEW, fresh, size);
}

static void drop_disk(void)
{
	dev_close(bench.devs[NEW]);
	bench.devs[NEW] = NULL;
}

static uint64_t events_of(unsigned image)
{
	struct bench_facts f;

	bench_facts(image, &f);
	return f.events;
}

/* raid5-stale: m2 was failed and removed. */
static void test_v12(void **state)
{
	static struct md1_superblock sb;
	uint64_t offset, events;

	(void)state;
	bench_load("raid5-stale", 'm', 0);
	assert_int_equal(bench.count, 3);
	assert_int_equal(bench_open(), 0);
	add_disk(8 * MIB + 3000);
	events = events_of(0);
	assert_int_equal(keep_add_member(bench.keep, bench.devs[NEW], NULL, 2, &offset, &err), 0);
	assert_int_equal(offset, 2048 * 512);
	assert_int_equal(events_of(0), events + 1);
	assert_int_equal(events_of(NEW), events + 1);
	bench_mdadm_says("-E", NEW, "Feature Map : 0x2\n");
	bench_mdadm_says("-E", NEW, "Recovery Offset : 0 sectors\n");
	bench_mdadm_says("-E", NEW, "Device Role : Active device 2\n");
	bench_mdadm_says("-E", NEW, "Array State : AAAA");
	bench_mdadm_says("-E", NEW, " - correct");
	bench_mdadm_says("-E", NEW, "Bad Block Log : 512 entries available at offset 16 sectors\n");
	bench_mdadm_says("-E", NEW, "Avail Dev Size : 14341 sectors");
	bench_mdadm_says("-E", 0, "Array State : AAAA");
	bench_mdadm_says("-E", 0, "Feature Map : 0x0\n");
	assert_true(bench_v1(NEW, &sb));
	assert_int_equal(sb.oddities, 0);
	assert_int_equal(keep_recovered(bench.keep, 2, 2 * MIB + 100, &err), 0);
	bench_mdadm_says("-E", NEW, "Recovery Offset : 4096 sectors\n");
	assert_int_equal(events_of(NEW), events + 1);
	assert_int_equal(keep_recovered(bench.keep, 2, UINT64_MAX, &err), 0);
	bench_mdadm_says("-E", NEW, "Feature Map : 0x0\n");
	bench_mdadm_says("-E", NEW, "State : clean\n");
	assert_int_equal(events_of(NEW), events_of(0));
	/* It is a member like the others. */
	assert_int_equal(bench_fail(0), 0);
	bench_mdadm_says("-E", NEW, "Array State : .AAA");
	assert_int_equal(keep_close(bench.keep, &err), 0);
	drop_disk();
	bench_done();
}

static void test_bitmap_and_1_0(void **state)
{
	uint64_t offset;
	char *mine, *others;

	(void)state;
	bench_load("raid1-10-2-bitmap", 'm', 2);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(1 * MIB, 4096), 0);
	bench_end(1 * MIB, 4096, true);
	add_disk(9 * MIB);
	assert_int_equal(keep_add_member(bench.keep, bench.devs[NEW], NULL, 1, &offset, &err), 0);
	assert_int_equal(offset, 0);
	bench_mdadm_says("-E", NEW, "Feature Map : 0x3\n");
	bench_mdadm_says("-E", NEW, "Super Offset : 18416 sectors\n");
	bench_mdadm_says("-E", NEW, "Internal Bitmap : -16 sectors from superblock\n");
	mine = bench_mdadm("-X", NEW);
	others = bench_mdadm("-X", 0);
	assert_string_equal(strstr(mine, "Magic"), strstr(others, "Magic"));
	assert_non_null(strstr(mine, " 1 dirty"));
	assert_int_equal(keep_recovered(bench.keep, 1, UINT64_MAX, &err), 0);
	bench_mdadm_says("-X", NEW, " 0 dirty");
	bench_mdadm_says("-X", 0, " 0 dirty");
	bench_mdadm_says("-E", NEW, "Feature Map : 0x1\n");
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_mdadm_says("-E", NEW, "State : clean\n");
	free(mine);
	free(others);
	drop_disk();
	bench_done();
}

/* 0.90 has no recovery offset: a spare, until the end. */
static void test_v090(void **state)
{
	uint64_t offset;

	(void)state;
	bench_load("raid5-090-stale", 'm', 0);
	assert_int_equal(bench_open(), 0);
	add_disk(8 * MIB);
	assert_int_equal(keep_add_member(bench.keep, bench.devs[NEW], NULL, 0, &offset, &err), 0);
	bench_mdadm_says("-E", NEW, "this     4       0        0        4      spare");
	bench_mdadm_says("-E", 1, "Spare Devices : 1\n");
	bench_mdadm_says("-E", 1, "Active Devices : 3\n");
	bench_mdadm_says("-E", 1, "Working Devices : 4\n");
	assert_int_equal(keep_recovered(bench.keep, 0, 1 * MIB, &err), 0);
	assert_int_equal(keep_recovered(bench.keep, 0, UINT64_MAX, &err), 0);
	bench_mdadm_says("-E", NEW, "this     0       0        0        0      active sync");
	bench_mdadm_says("-E", 1, "Active Devices : 4\n");
	bench_mdadm_says("-E", 1, "Spare Devices : 0\n");
	bench_mdadm_says("-E", 1, "Failed Devices : 0\n");
	bench_mdadm_says("-E", 1, " - correct");
	assert_int_equal(keep_close(bench.keep, &err), 0);
	drop_disk();
	bench_done();
}

/* The spare of raid5-spare, m3, steps in for a missing member: same number, same identity. */
static void test_spare(void **state)
{
	static struct md1_superblock before, after;
	uint64_t offset;

	(void)state;
	bench_load("raid5-spare", 'm', 1);
	assert_true(bench_v1(3, &before));
	assert_int_equal(bench_open(), 0);
	assert_int_equal(keep_add_member(bench.keep, bench.devs[3], NULL, 0, &offset, &err), 0);
	assert_true(bench_v1(3, &after));
	assert_memory_equal(before.device_uuid, after.device_uuid, 16);
	assert_int_equal(before.dev_number, after.dev_number);
	bench_mdadm_says("-E", 3, "Device Role : Active device 0\n");
	bench_mdadm_says("-E", 1, "Array State : AAA");
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_done();
}

/* A spare is kept in step, and stays one. */
static void test_spare_in_step(void **state)
{
	(void)state;
	bench_load("raid5-spare", 'm', 0);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	bench_end(0, 4096, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	assert_int_equal(events_of(3), events_of(0));
	bench_mdadm_says("-E", 3, "Device Role : spare\n");
	bench_mdadm_says("-E", 0, "Array State : AAA");
	bench_done();
}

/* A kernel's half rebuilt member is continued. */
static void test_midrecovery(void **state)
{
	(void)state;
	bench_load("raid5-midrecovery", 'm', 0);
	assert_int_equal(bench.count, 4);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	bench_end(0, 4096, true);
	bench_mdadm_says("-E", 3, "Recovery Offset : 4096 sectors\n");
	assert_int_equal(keep_recovered(bench.keep, 3, 3 * MIB, &err), 0);
	bench_mdadm_says("-E", 3, "Recovery Offset : 6144 sectors\n");
	assert_int_equal(keep_recovered(bench.keep, 3, UINT64_MAX, &err), 0);
	bench_mdadm_says("-E", 3, "Feature Map : 0x0\n");
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_mdadm_says("-E", 3, "State : clean\n");
	bench_done();
}

/* m2 is a replacement of m1, half filled: nobody writes to it, so it starts again. */
static void test_replacement(void **state)
{
	(void)state;
	bench_load("raid1-replacing", 'm', 0);
	assert_int_equal(bench.count, 3);
	assert_int_equal(bench_open(), 0);
	assert_int_equal(bench_begin(0, 4096), 0);
	bench_end(0, 4096, true);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	bench_mdadm_says("-E", 2, "Feature Map : 0x12\n");
	bench_mdadm_says("-E", 2, "Recovery Offset : 0 sectors\n");
	bench_mdadm_says("-E", 0, "Array State : AR");
	bench_done();
}

static void test_refused(void **state)
{
	uint64_t offset;

	(void)state;
	bench_load("raid5-stale", 'm', 0);
	assert_int_equal(bench_open(), 0);
	add_disk(7 * MIB);
	assert_int_equal(keep_add_member(bench.keep, bench.devs[NEW], NULL, 2, &offset, &err), -ENOSPC);
	assert_non_null(strstr(err.message, "too small"));
	assert_int_equal(keep_add_member(bench.keep, bench.devs[NEW], NULL, 1, &offset, &err), -EINVAL);
	assert_int_equal(keep_add_member(bench.keep, bench.devs[NEW], NULL, 9, &offset, &err), -EINVAL);
	assert_int_equal(keep_add_member(bench.keep, bench.devs[0], NULL, 2, &offset, &err), -EINVAL);
	bench.devs[NEW]->writable = false;
	assert_int_equal(keep_add_member(bench.keep, bench.devs[NEW], NULL, 2, &offset, &err), -EROFS);
	assert_int_equal(keep_recovered(bench.keep, 2, 0, &err), -EIO);
	assert_int_equal(trace.count, 0);
	assert_int_equal(keep_close(bench.keep, &err), 0);
	drop_disk();
	bench_done();
}

/* Every write and flush on the new member fails in its turn: it is told, and the others list it as faulty, two behind. */
static void test_fail_each(void **state)
{
	uint64_t offset;

	(void)state;
	bench_load("raid5-12-4-bitmap", 'm', 4);
	add_disk(8 * MIB);
	for (unsigned n = 1;; n++) {
		int r;

		for (unsigned i = 0; i < 4; i++)
			memcpy(bench.images.data[i], bench.pristine.data[i], bench.images.size[i]);
		memset(fresh, 0, fresh_size);
		trace_reset();
		bench_choose(4 | 1 << NEW);
		assert_int_equal(bench_open(), 0);
		trace.fail_at = n;
		trace.fail_image = NEW;
		trace.fail_ever = true;
		r = keep_add_member(bench.keep, bench.devs[NEW], NULL, 2, &offset, &err);
		if (r == 0)
			r = keep_recovered(bench.keep, 2, 1 * MIB, &err);
		if (r == 0)
			r = keep_recovered(bench.keep, 2, UINT64_MAX, &err);
		assert_int_equal(r, trace.has_failed ? -EIO : 0);
		assert_int_equal(keep_close(bench.keep, &err), 0);
		raid_geometry_done(&bench.geometry);
		if (!trace.has_failed)
			break;
		bench_mdadm_says("-E", 0, "Array State : AA.A");
	}
	assert_int_equal(events_of(0), events_of(NEW));
	drop_disk();
	bench.geometry = (struct raid_geometry){ 0 };
	bench_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v12),	    cmocka_unit_test(test_bitmap_and_1_0), cmocka_unit_test(test_v090),
		cmocka_unit_test(test_spare),	    cmocka_unit_test(test_spare_in_step),  cmocka_unit_test(test_midrecovery),
		cmocka_unit_test(test_replacement), cmocka_unit_test(test_refused),	   cmocka_unit_test(test_fail_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
