/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the first extent goes, beside what real lvm2 of Debian 12 chose on the same devices (tests/golden/tool-choices.tsv): equal but for the rows named here, each with
 * the reason that doc/pe-start.md gives.
 */
#include "../check/make.h"
#include "plan/plan.h"

#include <inttypes.h>

/* Hints that are no stripe: lvm2 2.03.16 places its extents by them. */
static const struct {
	uint64_t optimal;
	const char *reason;
} different[] = {
	{ 33553920, "65535 blocks" },	    { 16773120, "a SAS adapter's maximum" }, { 2146959360, "2 GiB less a chunk" },
	{ 4293918720, "4 GiB less 1 MiB" }, { 4294443008, "4 GiB less a chunk" },    { 6144, "no multiple of 4096" },
};

static bool differs(uint64_t optimal)
{
	for (size_t i = 0; i < ARRAY_SIZE(different); i++)
		if (different[i].optimal == optimal)
			return true;
	return false;
}

struct chosen {
	int result;
	struct plan_pe_start at;
	char words[4000];
	struct blkalign_error error;
};

static struct chosen choose(struct blkalign_graph *g, const char *name, const struct plan_pv_options *options)
{
	const struct plan_pv_options by_default = { .data_alignment_offset_bytes = BLKALIGN_UNKNOWN, .metadata_copies = 1 };
	struct chosen ret = { 0 };
	struct plan *plan;
	struct check c;

	assert_int_equal(check_begin(&c, g), 0);
	assert_int_equal(plan_new(&plan), 0);
	ret.result = plan_pe_start(plan, &c, blkalign_graph_find(g, name), options ? options : &by_default, &ret.at, &ret.error);
	for (size_t i = 0; i < plan->words.count; i++) {
		size_t length = strlen(ret.words);

		snprintf(ret.words + length, sizeof(ret.words) - length, "%s\n", plan->words.data[i].text);
	}
	plan_free(plan);
	check_end(&c);
	return ret;
}

static struct chosen choose_on_disk(uint64_t logical, uint64_t physical, uint64_t minimum, uint64_t optimal, int64_t offset)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *sda = disk(g, "sda", 20 * GIB, logical, physical, minimum, optimal);

	if (offset)
		assert_int_equal(graph_set_i64(sda, BLKALIGN_ATTR_ALIGNMENT_OFFSET, offset, BLKALIGN_ORIGIN_SYSFS), 0);
	return choose(g, "sda", NULL);
}

/* --- beside lvm2 --- */

static void compare_row(const char *line, unsigned *equal, unsigned *other)
{
	uint64_t physical, minimum, optimal, logical, sectors;
	int64_t offset;
	struct chosen c;
	const char *at = strstr(line, "lvm_pe_start=");

	assert_int_equal(sscanf(line,
				"tools\tbookworm\tphy,min,opt,ao,rot=%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNd64 ",%*u lbs=%" SCNu64,
				&physical, &minimum, &optimal, &offset, &logical),
			 5);
	assert_int_equal(sscanf(at, "lvm_pe_start=%" SCNu64 "S", &sectors), 1);
	c = choose_on_disk(logical, physical, minimum, optimal, offset);
	assert_int_equal(c.result, 0);
	if (differs(optimal)) {
		assert_int_equal(c.at.pe_start_bytes, MIB);
		assert_non_null(strstr(c.words, "optimal_io_size"));
		assert_non_null(strstr(c.words, ": ignored\n"));
		assert_int_not_equal(sectors, 2048);
		++*other;
		return;
	}
	if (c.at.pe_start_bytes != sectors * 512)
		fail_msg("%s: chosen are %" PRIu64 " sectors", line, c.at.pe_start_bytes / 512);
	assert_null(strstr(c.words, "ignored"));
	++*equal;
}

static void test_every_row(void **state)
{
	char path[4096], line[2048];
	unsigned equal = 0, other = 0;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/golden/tool-choices.tsv", getenv("BLKALIGN_TESTS"));
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "tools\tbookworm\t", 15) && strstr(line, "lvm_pe_start="))
			compare_row(line, &equal, &other);
	fclose(f);
	print_message("%u as lvm2 2.03.16, %u on purpose not\n", equal, other);
	assert_true(equal >= 11 && other >= 8);
}

/* What lvm2 2.03.16 would choose by its own arithmetic, which is checked against 345 real choices elsewhere. */
static uint64_t lvm2_would(uint64_t physical, uint64_t minimum, uint64_t optimal)
{
	const struct topo_version version = { .part = { 2, 3, 16 } };
	const struct topo_view view = { .size_bytes = 20 * GIB,
					.logical_bytes = 512,
					.physical_bytes = (uint32_t)physical,
					.min_bytes = (uint32_t)minimum,
					.opt_bytes = optimal };
	struct topo_lvm_choice choice;

	assert_int_equal(topo_predict_lvm(&version, &view, &choice), 0);
	return choice.pe_start_bytes;
}

static void test_story(void **state)
{
	static const struct {
		uint64_t logical, physical, minimum, optimal, sectors;
		bool as_lvm2;
	} rows[] = {
		{ 512, 512, 512, 33553920, 2048, false },     /* the bridge */
		{ 512, 4096, 4096, 33553920, 2048, false },   /* and with 4096 */
		{ 4096, 4096, 4096, 268431360, 2048, false }, /* 65535 blocks of 4096 */
		{ 512, 512, 512, 16776704, 2048, false },     /* 32767 sectors */
		{ 512, 512, 512, 0, 2048, true },	      /* 512 native */
		{ 4096, 4096, 4096, 0, 2048, true },	      /* 4096 native */
		{ 512, 4096, 524288, 3670016, 7168, true },   /* seven chunks of 512 KiB */
		{ 512, 4096, 262144, 1048576, 2048, true },   /* hardware RAID */
		{ 512, 4096, 196608, 196608, 2304, true },    /* thin volume on three disks */
		{ 512, 4096, 4194304, 4194304, 8192, true },  /* Ceph */
		{ 512, 4096, 131072, 16777216, 32768, true }, /* a wide one */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct chosen c = choose_on_disk(rows[i].logical, rows[i].physical, rows[i].minimum, rows[i].optimal, 0);

		assert_int_equal(c.result, 0);
		if (c.at.pe_start_bytes != rows[i].sectors * 512)
			fail_msg("row %zu: %" PRIu64 " sectors\n%s", i, c.at.pe_start_bytes / 512, c.words);
		assert_int_equal(lvm2_would(rows[i].physical, rows[i].minimum, rows[i].optimal) == c.at.pe_start_bytes, rows[i].as_lvm2);
	}
}

static void test_words(void **state)
{
	struct chosen c = choose_on_disk(512, 512, 512, 33553920, 0);

	(void)state;
	assert_non_null(strstr(c.words, "sda: optimal_io_size 33553920 is 65535 blocks, a saturated field: ignored\n"));
	assert_non_null(
		strstr(c.words, "sda: setting PE alignment to 2048 sectors: 1 MiB, a multiple of the 4096-byte physical block (assumed)"));
	c = choose_on_disk(512, 4096, 4096, 0, 3584);
	assert_int_equal(c.at.pe_start_bytes, S512(2055));
	assert_non_null(strstr(c.words, "sda: setting PE alignment offset to 7 sectors"));
}

/* --- stacks --- */

static struct blkalign_node *nine_drives(struct blkalign_graph *g)
{
	struct blkalign_node *drives[9];

	for (unsigned i = 0; i < 9; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		drives[i] = disk(g, name, S512(5860533168), 512, 4096, 4096, 0);
	}
	return md(g, "md0", "raid6", drives, 9, 7, 512 * KIB, S512(264192));
}

static void test_array(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *array = nine_drives(g);
	struct chosen c;

	(void)state;
	c = choose(g, "md0", NULL);
	assert_int_equal(c.result, 0);
	assert_int_equal(c.at.pe_start_bytes, 3670016);
	assert_non_null(strstr(c.words, "a multiple of the 3584 KiB stripe below"));
	/* A partition on it that begins at 1 MiB: 3670016 - 1048576 bytes further on a stripe begins. */
	part(g, "md0p1", array, MIB, 100 * GIB);
	c = choose(g, "md0p1", NULL);
	assert_int_equal(c.result, 0);
	assert_int_equal((c.at.pe_start_bytes + MIB) % 3670016, 0);
	assert_true(c.at.pe_start_bytes >= MIB);
}

/* A bridge below an array whose optimum the kernel multiplied with the bridge's: the array's own stripe counts. */
static void test_array_over_bridge(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *drives[3], *array;
	struct chosen c;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		drives[i] = disk(g, name, S512(5860533168), 512, 4096, 4096, i ? 0 : 33553920);
	}
	array = md(g, "md0", "raid5", drives, 3, 2, 512 * KIB, S512(264192));
	set(array, BLKALIGN_ATTR_OPTIMAL_IO, 4293918720);
	c = choose(g, "md0", NULL);
	assert_int_equal(c.result, 0);
	assert_int_equal(c.at.pe_start_bytes, MIB);
	assert_non_null(strstr(c.words, "md0: optimal_io_size 4293918720 is not this array's stripe"));
}

static void test_old_partition(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct blkalign_node *sda = disk(g, "sda", 20 * GIB, 512, 4096, 4096, 0);
	struct chosen c;

	(void)state;
	part(g, "sda1", sda, S512(63), 10 * GIB);
	c = choose(g, "sda1", NULL);
	assert_int_equal(c.result, 0);
	assert_int_equal(c.at.pe_start_bytes, MIB + 512);
	assert_int_equal((c.at.pe_start_bytes + S512(63)) % 4096, 0);
}

/* --- as asked --- */

static struct chosen ask(uint64_t align, uint64_t offset, uint64_t metadata, unsigned copies, bool force)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	const struct plan_pv_options options = { .data_alignment_bytes = align,
						 .data_alignment_offset_bytes = offset,
						 .metadata_bytes = metadata,
						 .metadata_copies = copies,
						 .force = force };

	disk(g, "sda", 20 * GIB, 512, 4096, 4096, 0);
	return choose(g, "sda", &options);
}

/* The sectors are those of pvcreate 2.03.16 with the same options. */
static void test_options(void **state)
{
	static const struct {
		uint64_t align, offset, metadata;
		unsigned copies;
		uint64_t bytes;
	} rows[] = {
		{ 16 * MIB, BLKALIGN_UNKNOWN, 0, 1, 16 * MIB },
		{ 3584 * KIB, BLKALIGN_UNKNOWN, 0, 1, 3584 * KIB },
		{ 0, BLKALIGN_UNKNOWN, 3 * MIB, 1, 4 * MIB },
		{ 0, BLKALIGN_UNKNOWN, 3 * MIB, 2, 4 * MIB },
		{ 0, BLKALIGN_UNKNOWN, 0, 0, MIB },
		{ 4 * KIB, BLKALIGN_UNKNOWN, 32 * KIB, 1, 36864 },
		{ 0, 8 * KIB, 0, 1, MIB + 8 * KIB },
	};
	struct chosen c;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		c = ask(rows[i].align, rows[i].offset, rows[i].metadata, rows[i].copies, false);
		assert_int_equal(c.result, 0);
		if (c.at.pe_start_bytes != rows[i].bytes)
			fail_msg("row %zu: byte %" PRIu64, i, c.at.pe_start_bytes);
	}
	c = ask(0, S512(7), 0, 1, false);
	assert_int_equal(c.result, -EINVAL);
	assert_non_null(
		strstr(c.error.message,
		       "the first extent would begin at byte 1052160, 3584 bytes past a physical block of 4096 bytes (sysfs); --force"));
	c = ask(0, S512(7), 0, 1, true);
	assert_int_equal(c.result, 0);
	assert_int_equal(c.at.pe_start_bytes, S512(2055));
	assert_non_null(strstr(c.words, "3584 bytes past a physical block of 4096 bytes, as forced"));
	assert_int_equal(ask(S512(65535), BLKALIGN_UNKNOWN, 0, 1, false).result, -EINVAL);
	assert_int_equal(ask(1000, BLKALIGN_UNKNOWN, 0, 1, true).result, -EINVAL);
	assert_int_equal(ask(4096, 8192, 0, 1, true).result, -EINVAL);
	assert_int_equal(ask(4 * GIB, BLKALIGN_UNKNOWN, 0, 1, true).result, -EINVAL);
}

static void test_off_stripe(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	struct plan_pv_options options = { .data_alignment_bytes = MIB,
					   .data_alignment_offset_bytes = BLKALIGN_UNKNOWN,
					   .metadata_copies = 1 };
	struct chosen c;

	(void)state;
	nine_drives(g);
	c = choose(g, "md0", &options);
	assert_int_equal(c.result, -EINVAL);
	assert_non_null(strstr(c.error.message, "past a stripe of 3670016 bytes"));
	options.force = true;
	c = choose(g, "md0", &options);
	assert_int_equal(c.result, 0);
	assert_int_equal(c.at.pe_start_bytes, MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_story),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_array),
		cmocka_unit_test(test_array_over_bridge),
		cmocka_unit_test(test_old_partition),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_off_stripe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
