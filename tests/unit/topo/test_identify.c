/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* IDENTIFY data that kernel 6.1 got from emulated drives; ATA words are also set by hand to the cases of ACS. */
#include "unit.h"

#include "topo/topo.h"

static uint8_t data[TOPO_NVME_IDENTIFY_BYTES];
static struct blkalign_error error;

static size_t load(const char *name)
{
	char path[4096];
	size_t length;
	FILE *f;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/identify/%s", getenv("BLKALIGN_TESTS"), name);
	f = fopen(path, "rb");
	assert_non_null(f);
	length = fread(data, 1, sizeof(data), f);
	fclose(f);
	return length;
}

static void set_word(unsigned number, uint16_t value)
{
	data[number * 2] = (uint8_t)value;
	data[number * 2 + 1] = (uint8_t)(value >> 8);
}

/* Words 106 and 209 as a 512e drive with the "LBA 63" jumper has them. */
static void test_ata_offset(void **state)
{
	struct topo_identify_ata ata;
	struct topo_scsi scsi;
	struct topo_kernel kernel;
	struct topo_limits limits;

	(void)state;
	assert_int_equal(load("ata-ahci"), TOPO_ATA_IDENTIFY_BYTES);
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), 0);
	assert_int_equal(ata.sectors, 131072);
	assert_int_equal(ata.physical_bytes, 4096);
	assert_int_equal(ata.zoned, 0);
	data[510] = 0; /* no checksum from here on */
	set_word(209, 0x4001);
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), 0);
	assert_int_equal(ata.first_aligned_lba, 7);
	topo_ata_to_scsi(&ata.words, &scsi);
	assert_int_equal(scsi.lowest_aligned_lba, 7);
	scsi.blocks = ata.sectors;
	assert_int_equal(topo_kernel_parse("6.1.192", 4096, &kernel), 0);
	assert_int_equal(topo_sd_limits(&kernel, &scsi, &limits), 0);
	assert_int_equal(limits.alignment_offset_bytes, 3584);
	assert_int_equal(limits.min_bytes, 4096);
	assert_int_equal(limits.opt_bytes, 0);
	/* Two logical sectors per physical: the drive says 1, libata drops it. */
	set_word(106, 0x6001);
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), 0);
	assert_int_equal(ata.first_aligned_lba, 1);
	topo_ata_to_scsi(&ata.words, &scsi);
	assert_int_equal(scsi.lowest_aligned_lba, 0);
}

static void test_ata_sizes(void **state)
{
	struct topo_identify_ata ata;

	(void)state;
	load("ata-ahci");
	data[510] = 0;
	/* 4Kn: 2048 words per logical sector, one logical per physical. */
	set_word(106, 0x5000);
	set_word(117, 2048);
	set_word(118, 0);
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), 0);
	assert_int_equal(ata.logical_bytes, 4096);
	assert_int_equal(ata.physical_bytes, 4096);
	/* Not valid: bits 15:14 are not 01. */
	set_word(106, 0xb003);
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), 0);
	assert_int_equal(ata.physical_bytes, 512);
	set_word(106, 0x5000);
	set_word(117, 0);
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), -EBADMSG);
	assert_int_equal(error.offset_bytes, 234);
}

static void test_ata_others(void **state)
{
	struct topo_identify_ata ata = { .logical_bytes = 99 };

	(void)state;
	load("ata-ahci");
	data[510] = 0xa5;
	data[511] = (uint8_t)(data[511] + 1);
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), -EBADMSG);
	assert_int_equal(error.offset_bytes, 510);
	assert_int_equal(topo_identify_ata_decode(data, 511, &ata, &error), -EBADMSG);
	data[510] = 0;
	data[1] |= 0x80;
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), BLKALIGN_NOT_THIS);
	memset(data, 0, 512);
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), BLKALIGN_NOT_THIS);
	assert_int_equal(ata.logical_bytes, 99);
	load("ata-scsidebug");
	assert_int_equal(topo_identify_ata_decode(data, 512, &ata, &error), 0);
	assert_string_equal(ata.model, "ST380013AS");
}

static void test_nvme_controller(void **state)
{
	struct topo_identify_nvme_ctrl ctrl;

	(void)state;
	assert_int_equal(load("nvme-controller"), sizeof(data));
	assert_int_equal(topo_identify_nvme_ctrl_decode(data, sizeof(data), &ctrl, &error), 0);
	assert_int_equal(ctrl.pci_vendor, 0x1b36);
	assert_string_equal(ctrl.model, "QEMU NVMe Ctrl");
	assert_string_equal(ctrl.serial, "nv1");
	assert_string_equal(ctrl.firmware, "7.2.22");
	assert_int_equal(ctrl.mdts_exponent, 7);
	assert_int_equal(ctrl.awupf_blocks, 1);
	assert_int_equal(topo_identify_nvme_ctrl_decode(data, sizeof(data) - 1, &ctrl, &error), -EBADMSG);
	memset(data, 0, sizeof(data));
	assert_int_equal(topo_identify_nvme_ctrl_decode(data, sizeof(data), &ctrl, &error), BLKALIGN_NOT_THIS);
}

static void test_nvme_namespace(void **state)
{
	struct topo_identify_nvme_ctrl ctrl = { .awupf_blocks = 1 };
	struct topo_identify_nvme_ns ns;
	struct topo_nvme facts;
	struct topo_kernel kernel;
	struct topo_limits limits;

	(void)state;
	load("nvme-namespace-4096");
	assert_int_equal(topo_identify_nvme_ns_decode(data, sizeof(data), &ns, &error), 0);
	assert_int_equal(ns.lba_bytes, 4096);
	assert_int_equal(ns.blocks, 64 * MIB / 4096);
	load("nvme-namespace-512");
	assert_int_equal(topo_identify_nvme_ns_decode(data, sizeof(data), &ns, &error), 0);
	assert_int_equal(ns.lba_bytes, 512);
	assert_int_equal(ns.best_lba_bytes, 4096);
	assert_int_equal(ns.npwg_blocks, 1);
	assert_int_equal(ns.nows_blocks, 1);
	assert_int_equal(ns.npdg_blocks, 8);
	assert_int_equal(ns.nawupf_blocks, 0);
	/* A drive with 16 KiB pages: NPWG 32, NOWS 256, and an atomic unit of 8 that holds the physical block down. */
	data[24] = 0x12;
	data[36] = 7;
	data[64] = 31;
	data[72] = 255;
	assert_int_equal(topo_identify_nvme_ns_decode(data, sizeof(data), &ns, &error), 0);
	facts = topo_nvme_facts(&ctrl, &ns, 1024);
	assert_int_equal(topo_kernel_parse("6.1.192", 4096, &kernel), 0);
	assert_int_equal(topo_nvme_limits(&kernel, &facts, &limits), 0);
	assert_int_equal(limits.physical_bytes, 4096);
	assert_int_equal(limits.min_bytes, 16384);
	assert_int_equal(limits.opt_bytes, 131072);
	data[26] = 9;
	assert_int_equal(topo_identify_nvme_ns_decode(data, sizeof(data), &ns, &error), -EBADMSG);
	data[26] = 0;
	data[130] = 64;
	assert_int_equal(topo_identify_nvme_ns_decode(data, sizeof(data), &ns, &error), -EBADMSG);
	assert_int_equal(error.offset_bytes, 130);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ata_offset),	cmocka_unit_test(test_ata_sizes),      cmocka_unit_test(test_ata_others),
		cmocka_unit_test(test_nvme_controller), cmocka_unit_test(test_nvme_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
