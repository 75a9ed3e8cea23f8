/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SCSI vital product data pages and READ CAPACITY(16), decoded from raw bytes (sysfs: device/vpd_pgXX; SG_IO; dumps).
 *
 * Layouts: SPC-6 and SBC-5; page 89: SAT-5. Each decoder returns 0; BLKALIGN_NOT_THIS when the page code is another; -EBADMSG, with
 * the offset in `reterr`, when the bytes cannot be such a page. `ret` is written on success only. Fields behind the end of a short page
 * are BLKALIGN_UNKNOWN (or "" for text). Bytes that follow the page are ignored.
 */
#ifndef TOPO_VPD_H
#define TOPO_VPD_H

#include "topo/identify.h"
#include "topo/limits.h"

/** B0, block limits. Lengths are logical blocks; 0 means that the device does not say. */
struct topo_vpd_b0 {
	uint64_t granularity_blocks;  /**< optimal transfer length granularity */
	uint64_t max_transfer_blocks; /**< maximum transfer length */
	uint64_t opt_transfer_blocks; /**< optimal transfer length */
	uint64_t max_prefetch_blocks; /**< maximum prefetch length; unknown on pages of SBC-2 */
	uint64_t max_unmap_blocks;
	uint64_t unmap_granularity_blocks;
	uint64_t unmap_alignment_blocks; /**< unknown unless the device marks it valid */
};
int topo_vpd_b0_decode(const void *buf, size_t len, struct topo_vpd_b0 *ret, struct blkalign_error *reterr);

/** B1, block device characteristics. */
struct topo_vpd_b1 {
	uint64_t rotation_rpm; /**< 0 not reported, 1 no rotation */
	uint64_t zoned;	       /**< 0 not reported, 1 host-aware, 2 drive-managed */
	uint64_t form_factor;  /**< 1: 5.25", 2: 3.5", 3: 2.5", 4: 1.8", 5: less */
};
int topo_vpd_b1_decode(const void *buf, size_t len, struct topo_vpd_b1 *ret, struct blkalign_error *reterr);

/** B2, logical block provisioning. */
struct topo_vpd_b2 {
	uint64_t provisioning; /**< 0 fully provisioned or not reported, 1 resource, 2 thin */
	bool unmap;	       /**< UNMAP is supported */
	bool reads_zeroes;     /**< unmapped blocks read as zeroes */
};
int topo_vpd_b2_decode(const void *buf, size_t len, struct topo_vpd_b2 *ret, struct blkalign_error *reterr);

/** 80, unit serial number. Blanks at both ends are dropped; raw bytes, NUL ends it. */
struct topo_vpd_80 {
	char serial[256];
};
int topo_vpd_80_decode(const void *buf, size_t len, struct topo_vpd_80 *ret, struct blkalign_error *reterr);

#define TOPO_NAMES_MAX 16U

/** One designator of page 83 that names the logical unit. */
struct topo_name {
	uint8_t type;	/**< 1 T10 vendor id, 2 EUI-64, 3 NAA, 8 SCSI name string */
	char text[256]; /**< hexadecimal for binary ones; else raw bytes */
};
/** 83, device identification: names only; designators of ports and of other kinds are passed over. */
struct topo_vpd_83 {
	size_t count; /**< at most TOPO_NAMES_MAX; further ones are dropped */
	struct topo_name names[TOPO_NAMES_MAX];
};
int topo_vpd_83_decode(const void *buf, size_t len, struct topo_vpd_83 *ret, struct blkalign_error *reterr);

/** 89, ATA information: who translates, and the drive's own IDENTIFY data. */
struct topo_vpd_89 {
	char sat_vendor[9];
	char sat_product[17];
	char sat_revision[5];
	bool has_identify; /**< an ATA disk; packet devices and empty data have none */
	struct topo_identify_ata identify;
};
int topo_vpd_89_decode(const void *buf, size_t len, struct topo_vpd_89 *ret, struct blkalign_error *reterr);

/** READ CAPACITY(16) parameter data, 16 bytes at least. */
struct topo_capacity16 {
	uint64_t blocks; /**< number of logical blocks */
	uint32_t logical_bytes;
	uint32_t physical_exponent;
	uint64_t physical_bytes; /**< logical << exponent */
	uint32_t lowest_aligned_lba;
	bool provisioned; /**< LBPME */
};
int topo_capacity16_decode(const void *buf, size_t len, struct topo_capacity16 *ret, struct blkalign_error *reterr);

#endif
