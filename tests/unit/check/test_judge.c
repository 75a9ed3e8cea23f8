/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk and the guilty layer: what is off, who is to blame, who merely inherits. */
#include "make.h"

/* Nine 3 TB 512e drives as RAID6 of 512 KiB chunks, data offset 129 MiB (what mdadm 4.2 chooses), ext4 on top. */
static void test_nine_drives(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *drives[9], *array;

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		drives[i] = disk(g, name, S512(5860533168), 512, 4096, 4096, 0);
	}
	array = md(g, "md0", "raid6", drives, 9, 7, 512 * KIB, S512(264192));
	fs(g, "ext4:md0", "ext4", array);
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
	assert_int_equal(blkalign_report_findings(r), 0);
	assert_string_equal(line_of(r, "md0"),
			    "data at byte 135266304 of sda = 33024 x 4096 (physical block, sysfs); the same on 9 places: aligned");
	assert_non_null(strstr(line_of(r, "ext4:md0"), "chunk of md0 512 KiB: 0 x; stripe of md0 3584 KiB: 0 x"));
}

/* A bridge claims 33553920; LVM took it. */
static void test_bridge_and_lvm(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(7814037168), 512, 512, 512, 33553920), *volumes;
	const struct blkalign_finding *f;

	(void)state;
	set_text(sda, BLKALIGN_ATTR_TRANSPORT, "usb");
	set_text(sda, BLKALIGN_ATTR_USB_ID, "174c:55aa");
	volumes = pv(g, "pv:sda", sda, 33553920, 4 * MIB);
	for (unsigned i = 0; i < 3; i++) {
		char name[16];
		struct blkalign_node *lv;

		snprintf(name, sizeof(name), "vg/lv%u", i);
		lv = on(g, BLKALIGN_KIND_LV, name, volumes, 33553920 + i * 4 * MIB, 4 * MIB);
		snprintf(name, sizeof(name), "ext4:lv%u", i);
		fs(g, name, "ext4", lv);
	}
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_MISALIGNED);
	assert_int_equal(count_of(r, "PE-START"), 1);
	assert_int_equal(count_of(r, "LV-START"), 0);
	f = must(r, "PE-START", "pv:sda");
	assert_int_equal(f->severity, BLKALIGN_ERROR);
	assert_string_equal(blkalign_node_name(f->cause), "sda");
	assert_int_equal(f->found_bytes, 33553920);
	assert_int_equal(f->expected_bytes, MIB);
	assert_non_null(strstr(f->message, "optimal_io_size 33553920"));
	assert_non_null(strstr(f->message, "3584 bytes past"));
	assert_non_null(strstr(f->message, "3 layers above inherit it"));
	assert_non_null(strstr(f->price, "2 block reads + 2 block writes instead of 0 + 1"));
	assert_non_null(strstr(f->remedy, "\npvremove /dev/sda\npvcreate --dataalignment 1m /dev/sda"));
	f = must(r, "BOGUS-OPTIMAL-IO", "sda");
	assert_int_equal(f->severity, BLKALIGN_WARNING);
	assert_non_null(strstr(f->message, "USB bridge 174c:55aa"));
}

/* The same physical volume seen as a file: the hint is gone, its fingerprint is not. */
static void test_fingerprint(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("images");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *image = node(g, BLKALIGN_KIND_DISK, "disk.img");
	const struct blkalign_finding *f;

	(void)state;
	graph_set_u64(image, BLKALIGN_ATTR_LOGICAL_BLOCK, 512, BLKALIGN_ORIGIN_ASSUMED);
	graph_set_u64(image, BLKALIGN_ATTR_PHYSICAL_BLOCK, 4096, BLKALIGN_ORIGIN_ASSUMED);
	pv(g, "pv:disk.img", image, 33553920, 4 * MIB);
	r = check(g);
	f = must(r, "PE-START", "pv:disk.img");
	assert_string_equal(blkalign_node_name(f->cause), "disk.img");
	assert_int_equal(f->found_bytes, 33553920);
	assert_non_null(strstr(f->message, "fingerprint"));
	assert_non_null(strstr(f->message, "assumed"));
}

static const char *start_severity(uint64_t start, uint64_t physical, int64_t alignment_offset)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(7814037168), 512, physical, 0, 0);
	const struct blkalign_finding *f;

	if (alignment_offset)
		assert_int_equal(graph_set_i64(sda, BLKALIGN_ATTR_ALIGNMENT_OFFSET, alignment_offset, BLKALIGN_ORIGIN_SYSFS), 0);
	part(g, "sda1", sda, start, S512(2048000));
	r = check(g);
	f = found(r, "PARTITION-START", "sda1");
	return f ? blkalign_severity_name(f->severity) : "silent";
}

static void test_partition_starts(void **state)
{
	(void)state;
	assert_string_equal(start_severity(S512(2048), 4096, 0), "silent");
	assert_string_equal(start_severity(S512(63), 4096, 0), "error");
	assert_string_equal(start_severity(S512(34), 4096, 0), "error");
	assert_string_equal(start_severity(S512(1), 4096, 0), "error");
	assert_string_equal(start_severity(S512(65535), 4096, 0), "error");
	/* A 4 TB drive that says 512 is not believed. */
	assert_string_equal(start_severity(S512(63), 512, 0), "error");
	/* 16 KiB blocks: sector 8 is on 4096 but not on 16384. */
	assert_string_equal(start_severity(S512(2056), 16384, 0), "error");
	assert_string_equal(start_severity(S512(2080), 4096, 0), "note");
	/* Lowest aligned block 7: alignment_offset 3584. Then 63 is right and 2048 is wrong (kernel vectors). */
	assert_string_equal(start_severity(S512(2048), 4096, 3584), "error");
	assert_string_equal(start_severity(S512(2055), 4096, 3584), "silent");
}

/* An EFI system partition holds files: torn blocks are an error there too, chunks do not matter. */
static void test_efi_system_partition(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(7814037168), 512, 4096, 196608, 786432);

	(void)state;
	set_text(part(g, "sda1", sda, S512(34), S512(292935)), BLKALIGN_ATTR_PART_ROLE, "esp");
	set_text(part(g, "sda2", sda, S512(294912) + 65536, S512(204800)), BLKALIGN_ATTR_PART_ROLE, "esp");
	r = check(g);
	assert_int_equal(must(r, "PARTITION-START", "sda1")->severity, BLKALIGN_ERROR);
	assert_int_equal(must(r, "PARTITION-START", "sda2")->severity, BLKALIGN_NOTE);
}

/* Odd partition, odd payload: the sum is what counts. */
static void test_offsets_that_cancel(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(7814037168), 512, 4096, 4096, 0), *sda1, *luks;

	(void)state;
	sda1 = part(g, "sda1", sda, S512(63), S512(2048001));
	luks = on(g, BLKALIGN_KIND_CRYPT, "luks:sda1", sda1, S512(32769), S512(2015232));
	fs(g, "xfs:luks", "xfs", luks);
	r = check(g);
	assert_null(found(r, "PARTITION-START", NULL));
	assert_null(found(r, "LUKS-OFFSET", NULL));
	assert_true(blkalign_report_verdict(r) == BLKALIGN_VERDICT_ALIGNED);
	assert_non_null(strstr(line_of(r, "sda1"), "makes up for it"));
}

static void test_guilty_payload(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(7814037168), 512, 512, 512, 33553920), *sda1;
	const struct blkalign_finding *f;

	(void)state;
	sda1 = part(g, "sda1", sda, S512(4096), S512(2048000));
	on(g, BLKALIGN_KIND_CRYPT, "luks:sda1", sda1, 33553920, S512(1982465));
	r = check(g);
	f = must(r, "LUKS-OFFSET", "luks:sda1");
	assert_int_equal(f->severity, BLKALIGN_ERROR);
	assert_string_equal(blkalign_node_name(f->cause), "sda");
	assert_int_equal(f->expected_bytes, 16 * MIB);
	assert_non_null(strstr(f->remedy, "--offset 32768"));
}

static void test_md_member_off(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[3];
	const struct blkalign_finding *f;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		d[i] = disk(g, name, S512(7814037168), 512, 4096, 4096, 0);
	}
	fs(g, "xfs:md0", "xfs", md(g, "md0", "raid5", d, 3, 2, 512 * KIB, S512(2049)));
	r = check(g);
	assert_int_equal(count_of(r, "MD-DATA-OFFSET"), 1);
	f = must(r, "MD-DATA-OFFSET", "md0");
	assert_int_equal(f->severity, BLKALIGN_ERROR);
	assert_non_null(strstr(f->price, "4 block reads + 4 block writes instead of 2 + 2"));
	assert_non_null(strstr(f->price, "full stripe"));
}

/* RAID5 of 256 KiB chunks, GPT inside, partition at sector 34: off 4 KiB; at 640: off the chunk; at 512: off the stripe only. */
static void test_chunk_and_stripe(void **state)
{
	static const struct {
		uint64_t sector;
		int severity;
	} rows[] = { { 34, BLKALIGN_ERROR }, { 640, BLKALIGN_WARNING }, { 512, BLKALIGN_NOTE } };

	(void)state;
	for (unsigned row = 0; row < 3; row++) {
		_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
		_cleanup_report_ struct blkalign_report *r = NULL;
		struct blkalign_node *d[4];
		const struct blkalign_finding *f;

		for (unsigned i = 0; i < 4; i++) {
			char name[8] = { 's', 'd', (char)('a' + i), 0 };

			d[i] = disk(g, name, S512(3907029168), 512, 512, 512, 0);
		}
		part(g, "md0p1", md(g, "md0", "raid5", d, 4, 3, 256 * KIB, S512(264192)), S512(rows[row].sector), S512(20480000));
		r = check(g);
		f = must(r, "PARTITION-START", "md0p1");
		assert_int_equal(f->severity, rows[row].severity);
	}
}

/* Seven data disks of 512 KiB: extents of 4 MiB begin on a stripe every seventh time. One finding for all volumes. */
static void test_extents_and_stripe(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[9], *volumes;
	const struct blkalign_finding *f;

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		d[i] = disk(g, name, S512(5860533168), 512, 4096, 4096, 0);
	}
	volumes = pv(g, "pv:md0", md(g, "md0", "raid6", d, 9, 7, 512 * KIB, S512(264192)), S512(7168), 4 * MIB);
	for (unsigned i = 0; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "vg/lv%u", i);
		on(g, BLKALIGN_KIND_LV, name, volumes, S512(7168) + i * 4 * MIB, 4 * MIB);
	}
	r = check(g);
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
	assert_int_equal(count_of(r, "EXTENT-VS-STRIPE"), 1);
	f = must(r, "EXTENT-VS-STRIPE", "pv:md0");
	assert_int_equal(f->severity, BLKALIGN_NOTE);
	assert_non_null(strstr(f->message, "6 volumes"));
}

/* pvcreate --dataalignment 256k under a 512 KiB chunk, metadata of 128 MiB. */
static void test_pe_start_inside_chunk(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *d[3];
	const struct blkalign_finding *f;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		char name[8] = { 's', 'd', (char)('a' + i), 0 };

		d[i] = disk(g, name, S512(5860533168), 512, 4096, 4096, 0);
	}
	pv(g, "pv:md0", md(g, "md0", "raid5", d, 3, 2, 512 * KIB, S512(264192)), 128 * MIB + 256 * KIB, 4 * MIB);
	r = check(g);
	f = must(r, "PE-START-VS-STRIPE", "pv:md0");
	assert_int_equal(f->severity, BLKALIGN_WARNING);
	assert_null(found(r, "PE-START", NULL));
}

/* Nothing is known of where sda1 starts: that is unknown, not aligned. */
static void test_unknown(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(7814037168), 512, 4096, 4096, 0);

	(void)state;
	on(g, BLKALIGN_KIND_LV, "vg/lv", sda, BLKALIGN_UNKNOWN, 4 * MIB);
	r = check(g);
	assert_int_equal(blkalign_report_findings(r), 0);
	assert_non_null(strstr(line_of(r, "vg/lv"), "unknown"));
}

/* Containers hold no data; a spare holds none yet. */
static void test_exempt(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sda", S512(7814037168), 512, 4096, 4096, 0), *p;

	(void)state;
	p = part(g, "sda1", sda, S512(34), S512(262144));
	set_text(p, BLKALIGN_ATTR_PART_ROLE, "msr");
	part(g, "sda2", sda, S512(264192), S512(7813771264));
	r = check(g);
	assert_null(found(r, "PARTITION-START", NULL));
	assert_int_equal(blkalign_report_verdict(r), BLKALIGN_VERDICT_ALIGNED);
}

/* Forty layers of mirrors hold 2^40 paths: bounded work, and unknown rather than wrong. */
static void test_exponential_paths(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *a = disk(g, "sda", S512(7814037168), 512, 4096, 4096, 0),
			     *b = disk(g, "sdb", S512(7814037168), 512, 4096, 4096, 0);

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		struct blkalign_node *pair[2] = { a, b };
		char name[16];

		snprintf(name, sizeof(name), "md%u", 2 * i);
		a = md(g, name, "raid1", pair, 2, 1, 0, MIB);
		snprintf(name, sizeof(name), "md%u", 2 * i + 1);
		b = md(g, name, "raid1", pair, 2, 1, 0, MIB);
	}
	r = check(g);
	assert_non_null(strstr(line_of(r, "md79"), "unknown"));
	assert_non_null(strstr(line_of(r, "md0"), ": aligned"));
}

static void test_names_are_escaped(void **state)
{
	_cleanup_graph_ struct blkalign_graph *g = graph_new("test");
	_cleanup_report_ struct blkalign_report *r = NULL;
	struct blkalign_node *sda = disk(g, "sd\x1b[31m'; reboot #", S512(7814037168), 512, 4096, 4096, 0);

	(void)state;
	part(g, "p\n1", sda, S512(63), S512(2048000));
	r = check(g);
	for (size_t i = 0; i < blkalign_report_findings(r); i++) {
		const struct blkalign_finding *f = blkalign_report_finding(r, i);

		assert_null(strpbrk(f->message, "\x1b\n"));
		assert_null(f->remedy ? strchr(f->remedy, '\x1b') : NULL);
		if (f->remedy && strstr(f->remedy, "reboot"))
			assert_non_null(strstr(f->remedy, "$'/dev/sd\\033[31m\\047; reboot #'"));
	}
	for (size_t i = 0; i < blkalign_report_layers(r); i++)
		assert_null(strpbrk(blkalign_report_layer(r, i)->text, "\x1b\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nine_drives),
		cmocka_unit_test(test_bridge_and_lvm),
		cmocka_unit_test(test_fingerprint),
		cmocka_unit_test(test_partition_starts),
		cmocka_unit_test(test_efi_system_partition),
		cmocka_unit_test(test_offsets_that_cancel),
		cmocka_unit_test(test_guilty_payload),
		cmocka_unit_test(test_md_member_off),
		cmocka_unit_test(test_chunk_and_stripe),
		cmocka_unit_test(test_extents_and_stripe),
		cmocka_unit_test(test_pe_start_inside_chunk),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_exempt),
		cmocka_unit_test(test_names_are_escaped),
		cmocka_unit_test(test_exponential_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
