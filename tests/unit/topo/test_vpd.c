/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages that kernel 6.1 showed for a SATA disk behind libata, a QEMU SCSI disk and a scsi_debug disk; expected values are what sg_vpd
 * and sg_readcap print for them.
 */
#include "unit.h"

#include "topo/topo.h"

static uint8_t page[4096];
static struct blkalign_error error;

static size_t load(const char *name)
{
	char path[4096];
	size_t length;
	FILE *f;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/vpd/%s", getenv("BLKALIGN_TESTS"), name);
	f = fopen(path, "rb");
	assert_non_null(f);
	length = fread(page, 1, sizeof(page), f);
	fclose(f);
	return length;
}

static void test_b0(void **state)
{
	struct topo_vpd_b0 b0;
	size_t length = load("qemu-b0");

	(void)state;
	assert_int_equal(topo_vpd_b0_decode(page, length, &b0, &error), 0);
	assert_int_equal(b0.granularity_blocks, 127);
	assert_int_equal(b0.max_transfer_blocks, 4194303);
	assert_int_equal(b0.opt_transfer_blocks, 65535);
	assert_int_equal(b0.max_prefetch_blocks, 0);
	assert_int_equal(b0.max_unmap_blocks, 2097152);
	assert_int_equal(b0.unmap_granularity_blocks, 8);
	assert_true(b0.unmap_alignment_blocks == BLKALIGN_UNKNOWN);
	page[32] = 0x80;
	page[35] = 7;
	assert_int_equal(topo_vpd_b0_decode(page, length, &b0, &error), 0);
	assert_int_equal(b0.unmap_alignment_blocks, 7);
	length = load("scsidebug-b0");
	assert_int_equal(topo_vpd_b0_decode(page, length, &b0, &error), 0);
	assert_int_equal(b0.granularity_blocks, 8);
	assert_int_equal(b0.max_transfer_blocks, 131072);
	assert_int_equal(b0.opt_transfer_blocks, 128);
}

/* SBC-2 devices send 12 bytes of page: what lies behind is unknown, not 0. */
static void test_b0_short(void **state)
{
	struct topo_vpd_b0 b0 = { .granularity_blocks = 99 };

	(void)state;
	load("qemu-b0");
	page[3] = 12;
	assert_int_equal(topo_vpd_b0_decode(page, 16, &b0, &error), 0);
	assert_int_equal(b0.opt_transfer_blocks, 65535);
	assert_true(b0.max_prefetch_blocks == BLKALIGN_UNKNOWN);
	assert_true(b0.unmap_granularity_blocks == BLKALIGN_UNKNOWN);
	b0.granularity_blocks = 99;
	page[3] = 11;
	assert_int_equal(topo_vpd_b0_decode(page, 16, &b0, &error), -EBADMSG);
	page[3] = 60;
	assert_int_equal(topo_vpd_b0_decode(page, 63, &b0, &error), -EBADMSG);
	assert_int_equal(error.offset_bytes, 2);
	assert_int_equal(topo_vpd_b0_decode(page, 3, &b0, &error), -EBADMSG);
	assert_int_equal(topo_vpd_b0_decode(page, 0, &b0, NULL), -EBADMSG);
	page[1] = 0xb1;
	assert_int_equal(topo_vpd_b0_decode(page, 64, &b0, &error), BLKALIGN_NOT_THIS);
	assert_int_equal(b0.granularity_blocks, 99);
}

static void test_b1_b2(void **state)
{
	struct topo_vpd_b1 b1;
	struct topo_vpd_b2 b2;
	size_t length = load("scsidebug-b1");

	(void)state;
	assert_int_equal(topo_vpd_b1_decode(page, length, &b1, &error), 0);
	assert_int_equal(b1.rotation_rpm, 1);
	assert_int_equal(b1.form_factor, 5);
	assert_int_equal(b1.zoned, 0);
	page[8] = 0x10;
	assert_int_equal(topo_vpd_b1_decode(page, length, &b1, &error), 0);
	assert_int_equal(b1.zoned, 1);
	length = load("qemu-b2");
	assert_int_equal(topo_vpd_b2_decode(page, length, &b2, &error), 0);
	assert_int_equal(b2.provisioning, 2);
	assert_true(b2.unmap);
	assert_false(b2.reads_zeroes);
	assert_int_equal(topo_vpd_b2_decode(page, length - 1, &b2, &error), -EBADMSG);
}

static void test_names(void **state)
{
	struct topo_vpd_80 serial;
	struct topo_vpd_83 names;
	size_t length = load("scsidebug-80");

	(void)state;
	assert_int_equal(topo_vpd_80_decode(page, length, &serial, &error), 0);
	assert_string_equal(serial.serial, "16000");
	length = load("scsidebug-83");
	assert_int_equal(topo_vpd_83_decode(page, length, &names, &error), 0);
	/* The unit's own two; ports and the target device are passed over. */
	assert_int_equal(names.count, 2);
	assert_int_equal(names.names[0].type, 1);
	assert_string_equal(names.names[0].text, "Linux   scsi_debug      16000");
	assert_int_equal(names.names[1].type, 3);
	assert_string_equal(names.names[1].text, "3333333000003e80");
	page[7] = 255;
	assert_int_equal(topo_vpd_83_decode(page, length, &names, &error), -EBADMSG);
	assert_int_equal(error.offset_bytes, 4);
}

static void test_89(void **state)
{
	struct topo_vpd_89 ata;
	size_t length = load("ahci-89");

	(void)state;
	assert_int_equal(topo_vpd_89_decode(page, length, &ata, &error), 0);
	assert_string_equal(ata.sat_vendor, "linux");
	assert_string_equal(ata.sat_product, "libata");
	assert_string_equal(ata.sat_revision, "3.00");
	assert_true(ata.has_identify);
	assert_string_equal(ata.identify.model, "QEMU HARDDISK");
	assert_string_equal(ata.identify.serial, "QM00005");
	assert_string_equal(ata.identify.firmware, "2.5+");
	assert_int_equal(ata.identify.logical_bytes, 512);
	assert_int_equal(ata.identify.physical_bytes, 4096);
	page[56] = 0xa1;
	assert_int_equal(topo_vpd_89_decode(page, length, &ata, &error), 0);
	assert_false(ata.has_identify);
	assert_int_equal(topo_vpd_89_decode(page, length - 1, &ata, &error), -EBADMSG);
}

static void test_capacity16(void **state)
{
	struct topo_capacity16 capacity;
	size_t length = load("scsidebug-capacity16");

	(void)state;
	assert_int_equal(topo_capacity16_decode(page, length, &capacity, &error), 0);
	assert_int_equal(capacity.blocks, 131072);
	assert_int_equal(capacity.logical_bytes, 512);
	assert_int_equal(capacity.physical_exponent, 3);
	assert_int_equal(capacity.physical_bytes, 4096);
	assert_int_equal(capacity.lowest_aligned_lba, 7);
	assert_false(capacity.provisioned);
	load("qemu-capacity16");
	assert_int_equal(topo_capacity16_decode(page, 16, &capacity, &error), 0);
	assert_int_equal(capacity.lowest_aligned_lba, 0);
	assert_true(capacity.provisioned);
	assert_int_equal(topo_capacity16_decode(page, 15, &capacity, &error), -EBADMSG);
	memset(page, 0xff, 8);
	assert_int_equal(topo_capacity16_decode(page, 16, &capacity, &error), -EBADMSG);
	load("qemu-capacity16");
	page[11] = 1;
	assert_int_equal(topo_capacity16_decode(page, 16, &capacity, &error), -EBADMSG);
	assert_int_equal(error.offset_bytes, 8);
	memset(page + 8, 0, 4);
	assert_int_equal(topo_capacity16_decode(page, 16, &capacity, &error), 0);
	assert_int_equal(capacity.logical_bytes, 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_b0),    cmocka_unit_test(test_b0_short), cmocka_unit_test(test_b1_b2),
		cmocka_unit_test(test_names), cmocka_unit_test(test_89),       cmocka_unit_test(test_capacity16),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
