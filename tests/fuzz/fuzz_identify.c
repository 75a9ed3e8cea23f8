/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* IDENTIFY data of ATA (checksum mended) and NVMe; what decodes goes on through the kernel's rules. */
#include "fuzz.h"

#include "topo/topo.h"

static void ata(uint8_t *bytes, size_t size)
{
	struct topo_identify_ata identify;
	struct topo_kernel kernel;
	struct topo_scsi scsi;
	struct topo_limits limits;
	uint8_t sum = 0xa5;

	if (size == TOPO_ATA_IDENTIFY_BYTES) {
		bytes[510] = 0xa5;
		for (size_t i = 0; i < 510; i++)
			sum = (uint8_t)(sum + bytes[i]);
		bytes[511] = (uint8_t)-sum;
	}
	if (topo_identify_ata_decode(bytes, size, &identify, NULL) != 0)
		return;
	topo_kernel_parse("6.12.117", 4096, &kernel);
	topo_ata_to_scsi(&identify.words, &scsi);
	topo_sd_limits(&kernel, &scsi, &limits);
}

static void nvme(const uint8_t *bytes, size_t size)
{
	struct topo_identify_nvme_ctrl ctrl = { .awupf_blocks = 1 };
	struct topo_identify_nvme_ns ns;
	struct topo_kernel kernel;
	struct topo_nvme facts;
	struct topo_limits limits;

	topo_identify_nvme_ctrl_decode(bytes, size, &ctrl, NULL);
	if (topo_identify_nvme_ns_decode(bytes, size, &ns, NULL) != 0)
		return;
	topo_kernel_parse("6.1.192", 4096, &kernel);
	facts = topo_nvme_facts(&ctrl, &ns, 0);
	topo_nvme_limits(&kernel, &facts, &limits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t copy[4U << 20];

	if (size > sizeof(copy))
		return 0;
	memcpy(copy, data, size);
	ata(copy, size);
	nvme(data, size);
	return 0;
}
