/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Version numbers, and what the kernel hides. Limits named "seen" are what real kernels showed for such arrays. */
#include "unit.h"

#include "topo/topo.h"

static void test_versions(void **state)
{
	struct topo_version v = { { 9 } };

	(void)state;
	assert_int_equal(topo_version_parse("6.1.192-3-amd64", &v), 0);
	assert_true(v.part[0] == 6 && v.part[1] == 1 && v.part[2] == 192 && v.part[3] == 0);
	assert_int_equal(topo_version_parse("2.03.16(2) (2022-05-18)", &v), 0);
	assert_true(v.part[0] == 2 && v.part[1] == 3 && v.part[2] == 16);
	assert_int_equal(topo_version_parse("1:2.38.1-5+deb12u3", &v), 0);
	assert_true(v.part[0] == 2 && v.part[1] == 38 && v.part[2] == 1);
	assert_int_equal(topo_version_parse("mdadm - v4.2 - 2021-12-30", &v), 0);
	assert_true(v.part[0] == 4 && v.part[1] == 2 && v.part[2] == 0);
	assert_int_equal(topo_version_parse("", &v), -EINVAL);
	assert_int_equal(topo_version_parse("none", &v), -EINVAL);
	assert_int_equal(topo_version_parse("99999999999.1", &v), -EINVAL);
	assert_int_equal(v.part[0], 4);
	assert_true(topo_version_at_least(&v, 4, 1, 9));
	assert_false(topo_version_at_least(&v, 4, 2, 1));
}

/* A stable series that took a change over has it from that release on; the next series before mainline's does not. */
static void test_stable_series(void **state)
{
	static const struct {
		const char *release;
		bool has;
	} cases[] = { { "6.1.177", false },
		      { "6.1.178", true },
		      { "6.2.0", false },
		      { "6.12.96", false },
		      { "6.12.97", true },
		      { "7.0.9", false },
		      { "7.1", true },
		      { "6.1.0-57-amd64", true },
		      { "6.1.0-rc1", false },
		      { "6.1.0", false },
		      { "6.1.0-57-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-01)", true },
		      { "6.1.0-9-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.27-1 (2023-05-08)", false } };
	struct topo_kernel kernel;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(topo_kernel_parse(cases[i].release, 0, &kernel), 0);
		assert_int_equal(kernel.has[TOPO_SD_OPT_SECTORS_FILTERED], cases[i].has);
		assert_int_equal(kernel.page_bytes, 4096);
	}
	assert_int_equal(topo_kernel_parse("generic", 0, &kernel), -EINVAL);
}

/* RAID5 of four 4096-byte disks at data offset 2049 s: seen -1 on 6.1, and 3584 on 6.12, which has lost the flag. */
static void test_lost_flag(void **state)
{
	static const struct {
		const char *release;
		int64_t seen;
	} cases[] = { { "6.1.192", -1 }, { "6.12.117", 3584 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct topo_scsi scsi = { .logical_bytes = 512, .physical_exponent = 3, .blocks = 131072 };
		struct topo_md md = { .level = TOPO_MD_RAID5, .chunk_sectors512 = 1024, .raid_disks = 4, .near_copies = 1 };
		struct topo_area members[4];
		struct topo_kernel kernel;
		struct topo_limits disk, array, partition;

		assert_int_equal(topo_kernel_parse(cases[i].release, 4096, &kernel), 0);
		assert_int_equal(topo_sd_limits(&kernel, &scsi, &disk), 0);
		for (size_t m = 0; m < 4; m++)
			members[m] = (struct topo_area){ .limits = &disk, .offset_sectors512 = 2049 };
		md.members = members;
		md.member_count = 4;
		assert_int_equal(topo_md_limits(&kernel, &md, &array), 0);
		assert_int_equal(topo_device_alignment(&array), cases[i].seen);
		assert_true(array.inconsistent);
		/* What lies on top inherits the knowledge, also where the kernel has lost it. */
		topo_limits_stacking(&partition);
		topo_stack(&kernel, &partition, &array, 0);
		assert_true(partition.inconsistent);
		assert_int_equal(topo_misalignment(2049 * 512, disk.physical_bytes, disk.alignment_offset_bytes), 512);
	}
}

/* Partitions of a misaligned disk: 4294967295 in sysfs from 5.11 on, plain arithmetic before. */
static void test_partition_of_misaligned(void **state)
{
	struct topo_limits disk = { .logical_bytes = 512, .physical_bytes = 4096, .min_bytes = 4096, .misaligned = true };
	struct topo_kernel kernel;

	(void)state;
	assert_int_equal(topo_kernel_parse("6.1.192", 4096, &kernel), 0);
	assert_int_equal(topo_partition_alignment(&kernel, &disk, 63), -1);
	assert_true(topo_partition_alignment_sysfs(&kernel, &disk, 63) == 4294967295);
	assert_int_equal(topo_kernel_parse("5.10.223", 4096, &kernel), 0);
	assert_int_equal(topo_partition_alignment(&kernel, &disk, 63), 512);
	assert_int_equal(topo_partition_alignment_sysfs(&kernel, &disk, 63), 512);
}

static void test_lcm(void **state)
{
	const uint64_t bogus[] = { 33553920, 33553920 }, fine[] = { 3670016, 0 };
	uint64_t r = 1;
	struct topo_true_opt opt;

	(void)state;
	assert_true(topo_lcm(0, 7, &r));
	assert_int_equal(r, 7);
	assert_false(topo_lcm(UINT64_MAX, UINT64_MAX - 1, &r));
	assert_int_equal(r, 7);
	/* 3 x 2^19 and 2^9 x 3 x 5 x 17 x 257: sysfs shows 524288 or 4294443008 of it. */
	opt = topo_true_opt(1572864, bogus, 2);
	assert_true(opt.cut);
	assert_true(opt.lcm_bytes == 34359214080);
	opt = topo_true_opt(1572864, fine, 2);
	assert_false(opt.cut);
	assert_int_equal(opt.lcm_bytes, 11010048);
	opt = topo_true_opt(UINT64_MAX, (const uint64_t[]){ UINT64_MAX - 1 }, 1);
	assert_true(opt.cut && opt.lcm_bytes == BLKALIGN_UNKNOWN);
}

static void test_misalignment(void **state)
{
	(void)state;
	assert_int_equal(topo_misalignment(33553920, 4096, 0), 3584);
	assert_int_equal(topo_misalignment(1048576, 4096, 0), 0);
	assert_int_equal(topo_misalignment(63 * 512, 4096, 3584), 0);
	assert_int_equal(topo_misalignment(2048 * 512, 4096, 3584), 512);
	assert_int_equal(topo_misalignment(0, 4096, 3584), 512);
	assert_int_equal(topo_misalignment(77, 0, 5), 0);
	assert_true(topo_misalignment(UINT64_MAX, UINT64_MAX, UINT64_MAX - 1) == 1);
}

static void test_stripe(void **state)
{
	(void)state;
	assert_int_equal(topo_true_stripe_bytes(TOPO_MD_RAID6, 524288, 9, 1, 1), 3670016);
	assert_int_equal(topo_true_stripe_bytes(TOPO_MD_RAID5, 524288, 4, 1, 1), 1572864);
	assert_int_equal(topo_true_stripe_bytes(TOPO_MD_RAID0, 393216, 4, 1, 1), 1572864);
	assert_int_equal(topo_true_stripe_bytes(TOPO_MD_RAID10, 524288, 4, 2, 1), 1048576);
	/* The kernel reports four chunks here. */
	assert_int_equal(topo_true_stripe_bytes(TOPO_MD_RAID10, 524288, 4, 1, 2), 1048576);
	assert_int_equal(topo_true_stripe_bytes(TOPO_MD_RAID10, 524288, 3, 2, 1), 1572864);
	assert_true(topo_true_stripe_bytes(TOPO_MD_RAID1, 0, 2, 1, 1) == BLKALIGN_UNKNOWN);
	assert_true(topo_true_stripe_bytes(TOPO_MD_RAID10, 4096, 2, 0, 1) == BLKALIGN_UNKNOWN);
	assert_true(topo_true_stripe_bytes(TOPO_MD_RAID0, UINT64_MAX / 2, 4, 1, 1) == BLKALIGN_UNKNOWN);
}

static void test_doubts(void **state)
{
	(void)state;
	assert_int_equal(topo_opt_doubts(0, 512, 4096, 4096, 0), 0);
	assert_int_equal(topo_opt_doubts(3670016, 512, 4096, 524288, 0), 0);
	assert_int_equal(topo_opt_doubts(1048576, 512, 4096, 4096, 524288), TOPO_OPT_ABOVE_TRANSFER);
	assert_int_equal(topo_opt_doubts(33553920, 512, 4096, 4096, 0),
			 TOPO_OPT_SATURATED | TOPO_OPT_NEAR_POWER_OF_2 | TOPO_OPT_OFF_PHYSICAL | TOPO_OPT_OFF_MIN | TOPO_OPT_ODD_FACTOR);
	assert_int_equal(topo_opt_doubts(268431360, 4096, 4096, 4096, 0),
			 TOPO_OPT_SATURATED | TOPO_OPT_NEAR_POWER_OF_2 | TOPO_OPT_HUGE | TOPO_OPT_ODD_FACTOR);
	assert_int_equal(topo_opt_doubts(16776704, 512, 512, 512, 0), TOPO_OPT_NEAR_POWER_OF_2 | TOPO_OPT_ODD_FACTOR);
	assert_int_equal(topo_opt_doubts(16773120, 512, 4096, 4096, 0), TOPO_OPT_SAS_MAXIMUM | TOPO_OPT_ODD_FACTOR);
	assert_true(topo_opt_doubts(4294443008, 512, 4096, 524288, 0) & TOPO_OPT_HUGE);
}

/* Numbers from a hostile sysfs or snapshot: no value may crash the arithmetic. */
static void test_hostile_numbers(void **state)
{
	static const uint32_t odd[] = { 0, 1, 3, 511, 512, 4096, 65024, 0x80000000, UINT32_MAX };
	static const char *const releases[] = { "4.3", "5.10.223", "6.1.192", "6.12.117", "7.2.13" };
	const size_t n = ARRAY_SIZE(odd);

	(void)state;
	for (size_t i = 0; i < n * n * n * ARRAY_SIZE(releases); i++) {
		struct topo_limits b = {
			.logical_bytes = odd[i % n],
			.physical_bytes = odd[i / n % n],
			.min_bytes = odd[i / n / n % n],
			.opt_bytes = odd[(i + 1) % n],
			.alignment_offset_bytes = odd[(i + 2) % n],
			.chunk_sectors512 = odd[(i + 3) % n],
			.max_hw_sectors512 = odd[(i + 4) % n],
		};
		struct topo_area areas[] = { { &b, 63, UINT64_MAX, 7 }, { &b, 0, 2048, 0 } };
		struct topo_dm_target target = { TOPO_DM_STRIPED, odd[(i + 5) % n], 0, 0, areas, 2 };
		struct topo_md md = { TOPO_MD_RAID6, odd[(i + 5) % n], odd[(i + 6) % n], odd[(i + 7) % n], odd[i % n], areas, NULL, 2 };
		struct topo_kernel kernel;
		struct topo_limits ret;

		assert_int_equal(topo_kernel_parse(releases[i / n / n / n], 4096, &kernel), 0);
		topo_dm_limits(&kernel, &target, 1, &ret);
		target.type = TOPO_DM_RAID;
		topo_dm_limits(&kernel, &target, 1, &ret);
		for (int level = TOPO_MD_LINEAR; level <= TOPO_MD_RAID10; level++) {
			md.level = (enum topo_md_level)level;
			topo_md_limits(&kernel, &md, &ret);
		}
		topo_partition_alignment_sysfs(&kernel, &b, UINT64_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_stable_series),
		cmocka_unit_test(test_lost_flag),
		cmocka_unit_test(test_lcm),
		cmocka_unit_test(test_partition_of_misaligned),
		cmocka_unit_test(test_misalignment),
		cmocka_unit_test(test_stripe),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_hostile_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
