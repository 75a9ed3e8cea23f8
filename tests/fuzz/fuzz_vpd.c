/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* VPD pages and READ CAPACITY(16); what decodes goes on through the kernel's rules. */
#include "fuzz.h"

#include "topo/topo.h"

static void limits(const struct topo_vpd_b0 *b0, const struct topo_capacity16 *capacity)
{
	struct topo_scsi scsi = { .logical_bytes = 512 };
	struct topo_kernel kernel;
	struct topo_limits disk, stack;

	topo_kernel_parse("6.1.192", 4096, &kernel);
	if (b0) {
		scsi.granularity_blocks = (uint32_t)b0->granularity_blocks;
		scsi.max_transfer_blocks = (uint32_t)b0->max_transfer_blocks;
		scsi.opt_transfer_blocks = (uint32_t)b0->opt_transfer_blocks;
	}
	if (capacity) {
		scsi.logical_bytes = capacity->logical_bytes;
		scsi.physical_exponent = capacity->physical_exponent;
		scsi.lowest_aligned_lba = capacity->lowest_aligned_lba;
		scsi.blocks = capacity->blocks;
	}
	if (topo_sd_limits(&kernel, &scsi, &disk) < 0)
		return;
	topo_limits_stacking(&stack);
	topo_stack(&kernel, &stack, &disk, scsi.blocks);
	topo_commit(&kernel, &stack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union {
		struct topo_vpd_b1 b1;
		struct topo_vpd_b2 b2;
		struct topo_vpd_80 serial;
		struct topo_vpd_83 names;
		struct topo_vpd_89 ata;
	} page;
	struct topo_vpd_b0 b0;
	struct topo_capacity16 capacity;
	struct blkalign_error error;

	topo_vpd_b1_decode(data, size, &page.b1, &error);
	topo_vpd_b2_decode(data, size, &page.b2, &error);
	topo_vpd_80_decode(data, size, &page.serial, &error);
	topo_vpd_83_decode(data, size, &page.names, &error);
	topo_vpd_89_decode(data, size, &page.ata, &error);
	if (topo_vpd_b0_decode(data, size, &b0, &error) == 0)
		limits(&b0, NULL);
	if (topo_capacity16_decode(data, size, &capacity, &error) == 0)
		limits(NULL, &capacity);
	return 0;
}
