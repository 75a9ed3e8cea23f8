/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reproduces golden/tool-choices.tsv: what real lvm2, mdadm, fdisk, sgdisk, parted, cryptsetup, mkfs.xfs and mkfs.ext4 chose. */
#include "unit.h"

#include <inttypes.h>

#include "topo/topo.h"

static unsigned rows, choices, wrong, skipped;

/* The value behind "key=", up to a blank. False when it is not there. */
static bool value_of(const char *text, const char *key, char *ret, size_t size)
{
	size_t length = strlen(key), end;

	for (const char *p = strstr(text, key); p; p = strstr(p + 1, key))
		if ((p == text || p[-1] == ' ') && p[length] == '=') {
			end = strcspn(p + length + 1, " ");
			assert_true(end < size);
			memcpy(ret, p + length + 1, end);
			ret[end] = 0;
			return true;
		}
	return false;
}

static uint64_t number_of(const char *text, const char *key, uint64_t fallback)
{
	char value[64];

	return value_of(text, key, value, sizeof(value)) && value[0] >= '0' && value[0] <= '9' ? strtoull(value, NULL, 10) : fallback;
}

static void compare_text(const char *row, const char *output, const char *key, const char *ours)
{
	char value[64];

	assert_true(value_of(output, key, value, sizeof(value)));
	choices++;
	if (strcmp(value, ours)) {
		print_error("%s\n  %s: tool %s, ours %s\n", row, key, value, ours);
		wrong++;
	}
}

static void compare(const char *row, const char *output, const char *key, uint64_t ours)
{
	char value[64], text[32], *end;

	/* Units ("S", "s") and the end of a range ("2048-411647") do not take part. */
	assert_true(value_of(output, key, value, sizeof(value)));
	strtoull(value, &end, 10);
	choices++;
	snprintf(text, sizeof(text), "%" PRIu64, ours);
	*end = 0;
	if (strcmp(value, text)) {
		print_error("%s\n  %s: tool %s, ours %s\n", row, key, value, text);
		wrong++;
	}
}

static struct topo_version version(const char *text)
{
	struct topo_version v;

	assert_int_equal(topo_version_parse(text, &v), 0);
	return v;
}

/* "phy,min,opt,ao,rot=4096,4096,0,3584,1" */
static struct topo_view view_of(const char *input)
{
	struct topo_view view = { .size_bytes = 20 * GIB, .logical_bytes = 512 };
	int rotational = 1;

	assert_true(sscanf(strchr(input, '=') + 1, "%" SCNu32 ",%" SCNu32 ",%" SCNu64 ",%" SCNd64 ",%d", &view.physical_bytes,
			   &view.min_bytes, &view.opt_bytes, &view.alignment_offset_bytes, &rotational) >= 4);
	view.rotational = rotational;
	return view;
}

static void lvm_row(const char *row, const char *lvm2, const char *input, const char *output, const char *key)
{
	struct topo_version v = version(lvm2);
	struct topo_view view = view_of(input);
	struct topo_lvm_choice choice;

	assert_int_equal(topo_predict_lvm(&v, &view, &choice), 0);
	compare(row, output, key, choice.pe_start_bytes / 512);
}

static enum topo_md_level level_of(uint64_t number) { return number == 0 ? TOPO_MD_RAID0 : number == 1 ? TOPO_MD_RAID1 : TOPO_MD_RAID5; }

static void mdadm_row(const char *row, const char *mdadm, const char *input, const char *output)
{
	struct topo_version v = version(mdadm);
	struct topo_mdadm_request request = {
		.level = level_of(number_of(input, "level", 9)),
		.chunk_sectors512 = (uint32_t)number_of(input, "chunk_k", 512) * 2,
		.device_sectors512 = number_of(input, "dev_s", 0),
		.minor = strstr(input, "-e 1.0")   ? 0
			 : strstr(input, "-e 1.1") ? 1
						   : 2,
	};
	struct topo_mdadm_choice choice;
	uint64_t end;

	if (strstr(input, "metadata=0.90")) {
		skipped++;
		return;
	}
	assert_int_equal(topo_predict_mdadm(&v, &request, &choice), 0);
	compare(row, output, "data_offset_s", choice.data_offset_bytes / 512);
	compare(row, output, "used_s", choice.component_bytes / 512);
	end = (choice.data_offset_bytes + choice.component_bytes) / 512;
	assert_true(end <= request.device_sectors512);
}

struct suite {
	const char *name, *lvm2, *cryptsetup, *util_linux, *xfsprogs, *e2fsprogs;
};
static const struct suite suites[] = {
	{ "bullseye", "2.03.11", "2.3.7", "2.36.1", "5.10.0", "1.46.2" },
	{ "bookworm", "2.03.16", "2.6.1", "2.38.1", "6.1.0", "1.47.0" },
	{ "trixie", "2.03.31", "2.7.5", "2.41.5", "6.13.0", "1.47.2" },
	{ "sid", "2.03.31", "2.8.8", "2.42.4", "7.2.0", "1.47.4" },
};

static void partition_tools(const struct suite *suite, const char *row, const struct topo_view *view, const char *output)
{
	struct topo_version util_linux = version(suite->util_linux);
	struct topo_fdisk_choice fdisk;
	struct topo_parted_choice parted;

	assert_int_equal(topo_predict_fdisk(&util_linux, view, &fdisk), 0);
	compare(row, output, "fdisk_gpt", fdisk.gpt_start_lba);
	compare(row, output, "fdisk_dos", fdisk.dos_start_lba);
	compare(row, output, "sgdisk", topo_predict_sgdisk_start_lba(512));
	assert_int_equal(topo_predict_parted(view, &parted), 0);
	compare(row, output, "parted_0pct_20G", parted.gpt_start_lba);
	compare(row, output, "parted_opt_rc", !topo_parted_aligned(2048, parted.optimal_grain_lba, parted.offset_lba));
	compare(row, output, "parted_min_rc", !topo_parted_aligned(2048, parted.minimal_grain_lba, parted.offset_lba));
}

static void luks_tool(const struct suite *suite, const char *row, const struct topo_view *view, const char *output)
{
	struct topo_version cryptsetup = version(suite->cryptsetup);
	struct topo_luks_choice luks;

	assert_int_equal(topo_predict_luks(&cryptsetup, view, &luks), 0);
	compare(row, output, "luks1_payload", luks.luks1_payload_bytes / 512);
	compare(row, output, "luks2_off_bytes", luks.luks2_offset_bytes);
	compare(row, output, "luks2_sector", luks.luks2_sector_bytes);
	compare(row, output, "luks_bogus_msg", luks.opt_ignored);
}

static void mkfs_tools(const struct suite *suite, const char *row, const struct topo_view *view, const char *output)
{
	struct topo_version xfsprogs = version(suite->xfsprogs), e2fsprogs = version(suite->e2fsprogs);
	struct topo_xfs_choice xfs;
	struct topo_ext_choice ext;
	char text[64] = "refused";

	assert_int_equal(topo_predict_xfs(&xfsprogs, view, &xfs), 0);
	if (!xfs.refused)
		snprintf(text, sizeof(text), "sectsz=%" PRIu32 ",sunit=%" PRIu32 ",swidth=%" PRIu32 ",", xfs.sector_bytes, xfs.sunit_blocks,
			 xfs.swidth_blocks);
	compare_text(row, output, "xfs", text);
	compare(row, output, "xfs_msg", xfs.refused || xfs.ignored);
	assert_int_equal(topo_predict_ext(&e2fsprogs, view, &ext), 0);
	snprintf(text, sizeof(text), "%" PRIu32 "/%" PRIu32, ext.stride_blocks, ext.stripe_width_blocks);
	compare_text(row, output, "ext4_stride_stripe", text);
}

static void tools_row(const char *row, const char *name, const char *input, const char *output)
{
	struct topo_view view = view_of(input);

	for (size_t i = 0; i < ARRAY_SIZE(suites); i++) {
		if (strcmp(suites[i].name, name))
			continue;
		lvm_row(row, suites[i].lvm2, input, output, "lvm_pe_start");
		partition_tools(&suites[i], row, &view, output);
		luks_tool(&suites[i], row, &view, output);
		mkfs_tools(&suites[i], row, &view, output);
		return;
	}
	fail_msg("unknown suite %s", name);
}

static void test_every_tool_row(void **state)
{
	char path[4096], line[2048], row[2048];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/golden/tool-choices.tsv", getenv("BLKALIGN_TESTS"));
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *rest = line, *kind, *ver, *input;

		line[strcspn(line, "\n")] = 0;
		if (line[0] == '#')
			continue;
		memcpy(row, line, sizeof(row));
		kind = strsep(&rest, "\t");
		ver = strsep(&rest, "\t");
		input = strsep(&rest, "\t");
		assert_non_null(rest);
		rows++;
		if (!strcmp(kind, "lvm"))
			lvm_row(row, ver, input, rest, "pe_start_s");
		else if (!strcmp(kind, "mdadm"))
			mdadm_row(row, ver, input, rest);
		else
			tools_row(row, ver, input, rest);
	}
	fclose(f);
	print_message("%u rows of real tools, %u choices, %u not reproduced, %u rows without a predictor\n", rows, choices, wrong, skipped);
	assert_int_equal(rows, 345);
	assert_int_equal(skipped, 1);
	assert_int_equal(wrong, 0);
}

/* A partition of a misaligned device makes pvcreate fail: confirmed with lvm2 2.03.16 on kernel 6.1. */
static void test_lvm_refuses_4294967295(void **state)
{
	struct topo_version v = version("2.03.16(2) (2022-05-18)");
	struct topo_view view = { .size_bytes = GIB, .logical_bytes = 512, .physical_bytes = 4096, .min_bytes = 4096 };
	struct topo_lvm_choice choice;

	(void)state;
	view.alignment_offset_bytes = 4294967295;
	assert_int_equal(topo_predict_lvm(&v, &view, &choice), -EINVAL);
	view.alignment_offset_bytes = -1;
	assert_int_equal(topo_predict_lvm(&v, &view, &choice), 0);
	assert_int_equal(choice.pe_start_bytes, MIB);
	assert_int_equal(choice.cause, TOPO_CAUSE_DEFAULT);
}

static void test_lvm_names_the_cause(void **state)
{
	struct topo_version v = version("2.03.16");
	struct topo_view view = { .size_bytes = GIB, .logical_bytes = 512, .physical_bytes = 512, .min_bytes = 512, .opt_bytes = 33553920 };
	struct topo_lvm_choice choice;

	(void)state;
	assert_int_equal(topo_predict_lvm(&v, &view, &choice), 0);
	assert_int_equal(choice.cause, TOPO_CAUSE_OPT);
	assert_int_equal(choice.pe_start_bytes, 33553920);
	view.opt_bytes = 0;
	view.md_stripe_bytes = 3670016;
	assert_int_equal(topo_predict_lvm(&v, &view, &choice), 0);
	assert_int_equal(choice.cause, TOPO_CAUSE_MD_STRIPE);
	assert_int_equal(choice.pe_start_bytes, 3670016);
}

/* No view, however odd, may divide by zero; impossible ones are refused. */
static void test_odd_views(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 511, 512, 4096, 65024, UINT32_MAX };
	struct topo_version v = version("2.38.1");

	(void)state;
	for (size_t i = 0; i < 7 * 7 * 7 * 7; i++) {
		struct topo_view view = {
			.size_bytes = i % 3 * GIB,
			.logical_bytes = sizes[i % 7],
			.physical_bytes = sizes[i / 7 % 7],
			.min_bytes = sizes[i / 49 % 7],
			.opt_bytes = sizes[i / 343 % 7],
			.alignment_offset_bytes = (int64_t)sizes[i % 5],
		};
		struct topo_lvm_choice lvm;
		struct topo_fdisk_choice fdisk;
		struct topo_parted_choice parted;
		struct topo_luks_choice luks;
		struct topo_xfs_choice xfs;
		struct topo_ext_choice ext;
		bool possible = view.logical_bytes == 512 || view.logical_bytes == 4096;

		topo_predict_lvm(&v, &view, &lvm);
		assert_int_equal(topo_predict_fdisk(&v, &view, &fdisk), possible ? 0 : -EINVAL);
		assert_int_equal(topo_predict_parted(&view, &parted), possible ? 0 : -EINVAL);
		assert_int_equal(topo_predict_luks(&v, &view, &luks), possible ? 0 : -EINVAL);
		assert_int_equal(topo_predict_xfs(&v, &view, &xfs), possible ? 0 : -EINVAL);
		assert_int_equal(topo_predict_ext(&v, &view, &ext), possible ? 0 : -EINVAL);
	}
}

static void test_mdadm_refuses(void **state)
{
	static const char *const versions[] = { "3.0", "3.1.2", "3.2.4", "3.2.5", "3.3", "4.2" };
	struct topo_mdadm_choice choice;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		for (uint64_t size = 0; size < 4096; size += 7) {
			struct topo_version v = version(versions[i]);
			struct topo_mdadm_request request = { TOPO_MD_RAID5, 1024, size, 2 };

			if (topo_predict_mdadm(&v, &request, &choice) == 0)
				assert_true(choice.data_offset_bytes + choice.component_bytes <= size * 512);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_tool_row),	    cmocka_unit_test(test_lvm_refuses_4294967295),
		cmocka_unit_test(test_lvm_names_the_cause), cmocka_unit_test(test_odd_views),
		cmocka_unit_test(test_mdadm_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
