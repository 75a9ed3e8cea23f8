/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bogus or genuine: every value that was seen in the field, and what follows from it for a host. */
#include "make.h"

#include "check/hint.h"

#define NO BLKALIGN_UNKNOWN

static void test_shapes(void **state)
{
	static const struct {
		uint64_t optimal, minimum, logical, physical, max_hw, nows;
		enum hint_shape shape;
	} rows[] = {
		/* USB bridges, 65535 blocks of 512 and 4096 */
		{ 33553920, 512, 512, 512, NO, NO, HINT_SATURATED },
		{ 33553920, 4096, 512, 4096, NO, NO, HINT_SATURATED },
		{ 268431360, 4096, 4096, 4096, NO, NO, HINT_SATURATED },
		/* 65535 blocks of 2048 */
		{ 134215680, 2048, 2048, 2048, NO, NO, HINT_SATURATED },
		/* NOWS at its end stop is a power of two */
		{ 33554432, 512, 512, 4096, NO, 65536, HINT_SATURATED },
		/* host adapters: 32767 sectors, the same cut to 4096; 8191 x 4096 after the kernel's round-down */
		{ 16776704, 512, 512, 512, NO, NO, HINT_LIMIT },
		{ 16773120, 4096, 512, 4096, NO, NO, HINT_LIMIT },
		{ 33550336, 4096, 4096, 4096, NO, NO, HINT_LIMIT },
		/* LIO over SRP: 255 sectors cut to pages */
		{ 126976, 512, 512, 4096, NO, NO, HINT_LIMIT },
		/* round but far too large */
		{ 64 * MIB, 4096, 512, 4096, NO, NO, HINT_TOO_LARGE },
		{ 256 * MIB, NO, 512, 4096, NO, NO, HINT_TOO_LARGE },
		{ 32 * MIB, 512, 512, 4096, NO, NO, HINT_TOO_LARGE },
		/* a phone's flash: 8192 with blocks of 16384 */
		{ 8192, 8192, 4096, 16384, NO, NO, HINT_OFF_PHYSICAL },
		{ 6144, 512, 512, 4096, NO, NO, HINT_OFF_PHYSICAL },
		{ 4608, 512, 512, 4096, NO, NO, HINT_OFF_PHYSICAL },
		{ 786432, 524288, 512, 4096, NO, NO, HINT_OFF_MINIMUM },
		{ 12 * MIB, 4096, 512, 4096, MIB, NO, HINT_BEYOND_LIMIT },
		{ 9 * MIB + 4096, 4096, 512, 4096, NO, NO, HINT_ODD_FACTOR },
		/* genuine: hardware RAID, thin volumes on three disks, md RAID6 of nine, Ceph */
		{ 786432, 262144, 512, 4096, 262144, NO, HINT_STRIPE },
		{ 196608, 196608, 512, 4096, NO, NO, HINT_STRIPE },
		{ 3670016, 524288, 512, 4096, NO, NO, HINT_STRIPE },
		{ 4 * MIB, 4 * MIB, 512, 4096, NO, NO, HINT_STRIPE },
		{ 16 * MIB, 131072, 512, 4096, NO, NO, HINT_STRIPE },
		{ MIB, 262144, 512, 4096, NO, NO, HINT_DIVIDES_MIB },
		{ 131072, 131072, 512, 4096, NO, NO, HINT_DIVIDES_MIB },
		{ 524288, 131072, 512, 4096, NO, NO, HINT_DIVIDES_MIB },
		{ 4096, 4096, 512, 4096, NO, NO, HINT_DIVIDES_MIB },
		{ 0, 4096, 512, 4096, NO, NO, HINT_NONE },
		/* an NVMe drive without hints on Linux 6.1 */
		{ 512, 512, 512, 4096, NO, NO, HINT_NONE },
		{ NO, NO, NO, NO, NO, NO, HINT_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct hint_facts f = { rows[i].optimal, rows[i].minimum, rows[i].logical, rows[i].physical, rows[i].max_hw, NO, NO, NO,
					rows[i].nows };

		if (hint_classify(&f) != rows[i].shape)
			print_error("row %zu: %s\n", i, hint_shape_text(hint_classify(&f)));
		assert_int_equal(hint_classify(&f), rows[i].shape);
	}
}

static void test_fingerprints(void **state)
{
	static const uint64_t prints[] = { 65535, 524280, 32767, 65527, 32760, 4193280, 8387584, 2 * 65535 };
	static const uint64_t others[] = { 2048, 63, 34, 264192, 132736, 30929920, 65536 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(prints); i++)
		assert_int_not_equal(hint_fingerprint(S512(prints[i])), 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(hint_fingerprint(S512(others[i])), 0);
	assert_int_equal(hint_fingerprint(BLKALIGN_UNKNOWN), 0);
}

/* The same hint: laid out well, empty, empty with tools that know better, read-ahead inflated, dropped by the kernel. */
static void test_severity(void **state)
{
	static const struct {
		bool partition;
		uint64_t read_ahead;
		const char *lvm2;
		const char *hint, *inflated;
	} rows[] = {
		{ true, 128 * KIB, NULL, "note", "silent" },
		{ true, 0, NULL, "note", "silent" },
		{ true, 65532 * KIB, NULL, "warning", "warning" },
		{ true, 65520 * KIB, NULL, "warning", "warning" },
		{ false, 0, NULL, "warning", "silent" },
		{ false, 0, "2.03.16(2) (2022-05-18)", "warning", "silent" },
		{ false, 0, "2.03.31(2) (2025-02-27)", "note", "silent" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("live");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *sda = disk(g, "sda", S512(1953525168), 512, 512, 512, 33553920), *host;

		assert_int_equal(graph_host(g, &host), 0);
		if (rows[i].lvm2)
			set_text(host, BLKALIGN_ATTR_TOOL_LVM2, rows[i].lvm2);
		if (rows[i].read_ahead)
			set(sda, BLKALIGN_ATTR_READ_AHEAD, rows[i].read_ahead);
		if (rows[i].partition)
			part(g, "sda1", sda, MIB, 500 * MIB);
		r = check(g);
		assert_string_equal(severity_of(r, "BOGUS-OPTIMAL-IO", "sda"), rows[i].hint);
		assert_string_equal(severity_of(r, "READAHEAD-INFLATED", "sda"), rows[i].inflated);
	}
}

static void test_empty_partition(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("live");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(1953525168), 512, 512, 512, 33553920), *host;

	(void)state;
	assert_int_equal(graph_host(g, &host), 0);
	set_text(host, BLKALIGN_ATTR_TOOL_LVM2, "2.03.16");
	fs(g, "ext4:sda1", "ext4", part(g, "sda1", sda, MIB, 500 * MIB));
	part(g, "sda2", sda, 501 * MIB, 500 * MIB);
	r = check(g);
	assert_string_equal(severity_of(r, "BOGUS-OPTIMAL-IO", "sda"), "warning");
	assert_non_null(strstr(must(r, "BOGUS-OPTIMAL-IO", "sda")->message, "first extent at byte 33553920"));
}

static void test_dropped(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(1953525168), 512, 4096, 4096, 0);

	(void)state;
	set(sda, BLKALIGN_ATTR_VPD_B0_OPTIMAL, 65535);
	set(sda, BLKALIGN_ATTR_VPD_B0_MAX_TRANSFER, 65535);
	set(sda, BLKALIGN_ATTR_VPD_B0_MAX_PREFETCH, 65535);
	set_text(sda, BLKALIGN_ATTR_KERNEL_MESSAGES,
		 "sd 0:0:0:0: [sda] Optimal transfer size 33553920 bytes not a multiple of physical block size (4096 bytes)");
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
	assert_non_null(strstr(must(r, "BOGUS-OPTIMAL-IO", "sda")->message, "thrown it away"));
	must(r, "HARMLESS-WARNING", "sda");
}

/* iSER: 4294967288 blocks offered, thrown away. */
static void test_offer_of_4g_blocks(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(204800), 512, 512, 512, 0);

	(void)state;
	set(sda, BLKALIGN_ATTR_VPD_B0_OPTIMAL, 4294967288);
	set(sda, BLKALIGN_ATTR_VPD_B0_MAX_TRANSFER, 65535);
	r = check(g);
	assert_int_equal(must(r, "BOGUS-OPTIMAL-IO", "sda")->severity, BLKALIGN_NOTE);
	assert_int_equal(must(r, "BOGUS-OPTIMAL-IO", "sda")->found_bytes, UINT64_C(4294967288) * 512);
}

static const char *blamed_source(const char *transport, const char *driver, const char *usb, const char *model, uint64_t optimal)
{
	static char text[512];
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(1953525168), 512, 4096, 4096, optimal);

	if (transport)
		set_text(sda, BLKALIGN_ATTR_TRANSPORT, transport);
	if (driver)
		set_text(sda, BLKALIGN_ATTR_DRIVER, driver);
	if (usb)
		set_text(sda, BLKALIGN_ATTR_USB_ID, usb);
	if (model)
		set_text(sda, BLKALIGN_ATTR_MODEL, model);
	r = check(g);
	snprintf(text, sizeof(text), "%s", must(r, "BOGUS-OPTIMAL-IO", "sda")->message);
	return text;
}

static void test_attribution(void **state)
{
	(void)state;
	assert_non_null(strstr(blamed_source("usb", "uas", "152d:0578", NULL, 33553920), "USB bridge 152d:0578"));
	assert_non_null(strstr(blamed_source("nvme", "nvme", NULL, "MSFT NVMe Accelerator v1.0", 32 * MIB), "hypervisor"));
	assert_non_null(strstr(blamed_source("sas", "mpt3sas", NULL, NULL, 16773120), "host adapter"));
	assert_non_null(strstr(blamed_source("iscsi", NULL, NULL, NULL, 64 * MIB), "storage target"));
	assert_non_null(strstr(blamed_source("sata", "ahci", NULL, NULL, 64 * MIB), "device or its controller"));
}

/* RAID5 of four 512 KiB chunks over a hint of 33553920: the kernel shows 524288, smaller than the stripe. */
static void test_poisoned_array(void **state)
{
	static const uint64_t garbage[] = { 524288, 2146959360, 4294443008 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *d[4], *array;
		const struct blkalign_finding *f;

		for (unsigned k = 0; k < 4; k++) {
			char name[8] = { 's', 'd', (char)('a' + k), 0 };

			d[k] = disk(g, name, S512(7814037168), 512, 4096, 4096, 33553920);
		}
		array = md(g, "md0", "raid5", d, 4, 3, 512 * KIB, S512(264192));
		set(array, BLKALIGN_ATTR_OPTIMAL_IO, garbage[i]);
		r = check(g);
		f = must(r, "BOGUS-OPTIMAL-IO", "md0");
		assert_string_equal(blkalign_node_name(f->cause), "sda");
		assert_int_equal(f->expected_bytes, 1572864);
	}
}

/* Right stripes, and the least common multiple of genuine ones, stay silent. */
static void test_sound_array(void **state)
{
	static const uint64_t sound[] = { 1572864, 11010048, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sound); i++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *d[4], *array;

		for (unsigned k = 0; k < 4; k++) {
			char name[8] = { 's', 'd', (char)('a' + k), 0 };

			d[k] = disk(g, name, S512(7814037168), 512, 4096, 4096, 0);
		}
		array = md(g, "md0", "raid5", d, 4, 3, 512 * KIB, S512(264192));
		set(array, BLKALIGN_ATTR_OPTIMAL_IO, sound[i]);
		r = check(g);
		assert_null(found(r, "BOGUS-OPTIMAL-IO", NULL));
		assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
	}
}

/* Only the volume's hint is known: it is told there, once, and is a note since the volume holds a file system. */
static void test_hint_of_volume(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", UINT64_C(4096) * 4883245056, 4096, 4096, 4096, 0), *lv;

	(void)state;
	lv = on(g, BLKALIGN_KIND_LV, "vg/lv", pv(g, "pv:sda", sda, 268431360, 4 * MIB), 268431360, 40 * GIB);
	set(lv, BLKALIGN_ATTR_OPTIMAL_IO, 268431360);
	fs(g, "xfs:lv", "xfs", lv);
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
	assert_int_equal(must(r, "BOGUS-OPTIMAL-IO", "vg/lv")->severity, BLKALIGN_NOTE);
	assert_int_equal(must(r, "PE-START", "pv:sda")->severity, BLKALIGN_NOTE);
}

/* Disk, partition, volume group, volume: one hint, one blown-up read-ahead, told once, at the bottom. */
static void test_told_once(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(1953525168), 512, 512, 512, 33553920), *lv;

	(void)state;
	lv = on(g, BLKALIGN_KIND_LV, "vg/lv", pv(g, "pv:sda1", part(g, "sda1", sda, MIB, 500 * GIB), MIB, 4 * MIB), MIB, GIB);
	set(sda, BLKALIGN_ATTR_READ_AHEAD, 65532 * KIB);
	set(lv, BLKALIGN_ATTR_READ_AHEAD, 65532 * KIB);
	set(lv, BLKALIGN_ATTR_OPTIMAL_IO, 33553920);
	r = check(g);
	assert_int_equal(count_of(r, "BOGUS-OPTIMAL-IO"), 1);
	assert_int_equal(count_of(r, "READAHEAD-INFLATED"), 1);
	must(r, "READAHEAD-INFLATED", "sda");
}

static void test_minimum(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;

	(void)state;
	disk(g, "sda", UINT64_C(4096) * 7732224, 4096, 16384, 8192, 8192);
	disk(g, "sdb", S512(1953525168), 512, 4096, 4096, 0);
	disk(g, "sdc", S512(1953525168), 512, 4096, 262144, 786432);
	r = check(g);
	must(r, "BOGUS-MINIMUM-IO", "sda");
	must(r, "BOGUS-OPTIMAL-IO", "sda");
	assert_int_equal(count_of(r, "BOGUS-MINIMUM-IO"), 1);
	assert_int_equal(must(r, "LEGITIMATE-STRIPE", "sdc")->severity, BLKALIGN_NOTE);
	assert_int_equal(count_of(r, "LEGITIMATE-STRIPE"), 1);
}

static void test_physical(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *n;

	(void)state;
	n = disk(g, "rc16", S512(1953525168), 512, 512, 512, 0);
	set(n, BLKALIGN_ATTR_RC16_PHYSICAL, 4096);
	part(g, "laid", disk(g, "tell", S512(468877312), 512, 512, 4096, 0), MIB, 200 * GIB);
	n = disk(g, "liar", S512(3907029168), 512, 512, 512, 0);
	set_text(n, BLKALIGN_ATTR_MODEL, "WDC WD20EARS-00MVWB0");
	disk(g, "large", S512(1953525168), 512, 262144, 262144, 0);
	disk(g, "odd", S512(1953525168), 512, 12288, 12288, 0);
	n = disk(g, "small", S512(488397168), 512, 512, 512, 0);
	assert_int_equal(graph_set_bool(n, BLKALIGN_ATTR_ROTATIONAL, true, BLKALIGN_ORIGIN_SYSFS), 0);
	part(g, "small1", n, S512(63), 200 * GIB);
	disk(g, "target", S512(1953525168), 512, 16384, 16384, 0);
	disk(g, "flash", S512(1953525168), 512, 512, 512, 0);
	r = check(g);
	assert_int_equal(must(r, "PHYSICAL-UNDERREPORTED", "rc16")->severity, BLKALIGN_WARNING);
	assert_int_equal(must(r, "PHYSICAL-UNDERREPORTED", "tell")->severity, BLKALIGN_NOTE);
	assert_int_equal(must(r, "PHYSICAL-UNDERREPORTED", "liar")->severity, BLKALIGN_WARNING);
	assert_int_equal(count_of(r, "PHYSICAL-UNDERREPORTED"), 3);
	assert_int_equal(must(r, "PHYSICAL-OVERREPORTED", "large")->severity, BLKALIGN_NOTE);
	must(r, "PHYSICAL-OVERREPORTED", "odd");
	assert_int_equal(count_of(r, "PHYSICAL-OVERREPORTED"), 2);
	/* A small old drive that says 512 is believed; 4096 is only assumed of others. */
	assert_int_equal(must(r, "PARTITION-START", "small1")->severity, BLKALIGN_NOTE);
	assert_non_null(strstr(line_of(r, "flash"), "assumed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),		cmocka_unit_test(test_fingerprints),   cmocka_unit_test(test_severity),
		cmocka_unit_test(test_empty_partition), cmocka_unit_test(test_dropped),	       cmocka_unit_test(test_offer_of_4g_blocks),
		cmocka_unit_test(test_attribution),	cmocka_unit_test(test_poisoned_array), cmocka_unit_test(test_sound_array),
		cmocka_unit_test(test_hint_of_volume),	cmocka_unit_test(test_minimum),	       cmocka_unit_test(test_told_once),
		cmocka_unit_test(test_physical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
