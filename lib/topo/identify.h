/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * IDENTIFY data of ATA and NVMe devices, decoded from raw bytes.
 *
 * Layouts: ACS-5 (IDENTIFY DEVICE), NVMe base specification 2.0 and NVM command set specification 1.0. Each decoder returns 0; BLKALIGN_NOT_THIS when
 * the bytes are of another kind (packet device, all zeroes); -EBADMSG, with the offset in `reterr`, when they are damaged or too short. `ret` is
 * written on success only.
 */
#ifndef TOPO_IDENTIFY_H
#define TOPO_IDENTIFY_H

#include "topo/limits.h"

#define TOPO_ATA_IDENTIFY_BYTES	 512U
#define TOPO_NVME_IDENTIFY_BYTES 4096U

struct topo_identify_ata {
	char model[41]; /**< blanks at the ends dropped; raw bytes */
	char serial[21];
	char firmware[9];
	uint64_t sectors; /**< user addressable logical sectors, BLKALIGN_UNKNOWN without LBA */
	uint32_t logical_bytes;
	uint64_t physical_bytes;
	uint64_t first_aligned_lba;  /**< as word 209 says, also where libata drops it; BLKALIGN_UNKNOWN when not reported */
	uint64_t rotation_rpm;	     /**< 1 no rotation, BLKALIGN_UNKNOWN when not reported */
	uint32_t zoned;		     /**< word 69: 0 not reported, 1 host-aware, 2 drive-managed */
	struct topo_ata_words words; /**< for topo_ata_to_scsi() */
};
int topo_identify_ata_decode(const void *buf, size_t len, struct topo_identify_ata *ret, struct blkalign_error *reterr);

/** Identify controller (CNS 01h). */
struct topo_identify_nvme_ctrl {
	char model[41];
	char serial[21];
	char firmware[9];
	uint16_t pci_vendor;
	uint32_t mdts_exponent; /**< largest transfer is the controller's smallest page << this; 0 for no limit */
	uint32_t awun_blocks;	/**< atomic write unit, 1's based */
	uint32_t awupf_blocks;	/**< atomic write unit at power fail, 1's based */
};
int topo_identify_nvme_ctrl_decode(const void *buf, size_t len, struct topo_identify_nvme_ctrl *ret, struct blkalign_error *reterr);

/** Identify namespace (CNS 00h). Counts are 1's based and 0 where the namespace does not report them, except as noted. */
struct topo_identify_nvme_ns {
	uint64_t blocks; /**< NSZE */
	uint32_t lba_bytes;
	uint32_t metadata_bytes;
	uint32_t relative_performance; /**< of the format in use: 0 best to 3 degraded */
	uint32_t best_lba_bytes;       /**< of the best performing format without metadata */
	uint32_t npwg_blocks;
	uint32_t npwa_blocks;
	uint32_t npdg_blocks;
	uint32_t npda_blocks;
	uint32_t nows_blocks;
	uint32_t nawun_blocks;
	uint32_t nawupf_blocks;
	uint32_t nabo_blocks;  /**< plain number */
	uint32_t noiob_blocks; /**< plain number, 0 for none */
};
int topo_identify_nvme_ns_decode(const void *buf, size_t len, struct topo_identify_nvme_ns *ret, struct blkalign_error *reterr);

/** Both together as the limit functions want them. `max_sectors512` 0 when unknown. */
struct topo_nvme topo_nvme_facts(const struct topo_identify_nvme_ctrl *ctrl, const struct topo_identify_nvme_ns *ns,
				 uint32_t max_sectors512);

/** Copy a fixed-width text field up to its first NUL, without blanks at both ends. `size` at least 1. */
void topo_text_trimmed(char *ret, size_t size, const uint8_t *bytes, size_t length);

#endif
