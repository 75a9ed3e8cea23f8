/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What tools of a given version would choose on a device with given limits: where the next partition, physical extent, payload or stripe goes.
 *
 * Each function restates one tool's arithmetic; its comment names the tool's source. Functions return 0; -EINVAL when the tool
 * refuses or the view cannot be (a logical block of 0, say). Outputs are written on success only.
 */
#ifndef TOPO_PREDICT_H
#define TOPO_PREDICT_H

#include "topo/limits.h"

/** A device as sysfs and the ioctls show it to tools. */
struct topo_view {
	uint64_t size_bytes;
	uint32_t logical_bytes;
	uint32_t physical_bytes;
	uint32_t min_bytes;
	uint64_t opt_bytes;
	int64_t alignment_offset_bytes; /**< as sysfs prints it: -1, and 4294967295 on partitions, mean misaligned */
	bool rotational;
	uint64_t md_stripe_bytes; /**< chunk times data members when the device is an md array (raid1, raid10: one member), else 0 */
};

/** Which fact decided. */
enum topo_cause {
	TOPO_CAUSE_DEFAULT,
	TOPO_CAUSE_PHYSICAL,
	TOPO_CAUSE_MD_STRIPE,
	TOPO_CAUSE_MIN,
	TOPO_CAUSE_OPT,
	TOPO_CAUSE_ALIGNMENT_OFFSET,
};

struct topo_lvm_choice {
	uint64_t align_bytes;	     /**< pe_align */
	uint64_t align_offset_bytes; /**< pe_align_offset */
	uint64_t pe_start_bytes;
	enum topo_cause cause; /**< of align_bytes */
	bool hint_ignored;     /**< 2.03.31 and later replaced a hint that is no multiple of 2 KiB */
};
/** pvcreate without options: lib/metadata/metadata.c: set_pe_align, set_pe_align_offset; format_text.c. */
int topo_predict_lvm(const struct topo_version *lvm2, const struct topo_view *view, struct topo_lvm_choice *ret);

struct topo_mdadm_request {
	enum topo_md_level level;
	uint32_t chunk_sectors512; /**< 0 for raid1 */
	uint64_t device_sectors512;
	uint32_t minor; /**< of the 1.x metadata: 0, 1 or 2 */
};
struct topo_mdadm_choice {
	uint64_t data_offset_bytes;
	uint64_t component_bytes; /**< data used on each member */
};
/** mdadm --create: super1.c: validate_geometry1, init_super1, write_init_super1. 3.0 and later; -EINVAL when the device is too small. */
int topo_predict_mdadm(const struct topo_version *mdadm, const struct topo_mdadm_request *request, struct topo_mdadm_choice *ret);

struct topo_fdisk_choice {
	uint64_t grain_bytes;
	uint64_t first_lba;	/**< lowest start offered in a DOS table, and the lower bound of a new GPT */
	uint64_t gpt_start_lba; /**< default start of the first partition */
	uint64_t dos_start_lba;
	enum topo_cause cause; /**< of grain_bytes */
};
/** fdisk, sfdisk, cfdisk: libfdisk/src/alignment.c: fdisk_reset_alignment, fdisk_align_lba. */
int topo_predict_fdisk(const struct topo_version *util_linux, const struct topo_view *view, struct topo_fdisk_choice *ret);

struct topo_parted_choice {
	uint64_t optimal_grain_lba;
	uint64_t minimal_grain_lba;
	uint64_t offset_lba;	/**< a start is aligned when start mod grain is offset mod grain */
	uint64_t gpt_start_lba; /**< of "mkpart 0% ..." on an empty GPT; off the grid when no point of it is near */
	enum topo_cause cause;	/**< of optimal_grain_lba */
};
/** parted, every version since 2.4: libparted/arch/linux.c: linux_get_optimum_alignment, linux_get_minimum_alignment. */
int topo_predict_parted(const struct topo_view *view, struct topo_parted_choice *ret);
/** What `parted align-check` says of a partition at `start_lba`. */
bool topo_parted_aligned(uint64_t start_lba, uint64_t grain_lba, uint64_t offset_lba);

/** sgdisk's default start, which heeds the logical block only: gptfdisk's gpt.cc. 0 when `logical_bytes` is 0. */
uint64_t topo_predict_sgdisk_start_lba(uint32_t logical_bytes);

struct topo_luks_choice {
	uint64_t luks1_payload_bytes; /**< for the default cipher, aes-xts with a 512-bit key */
	uint64_t luks2_offset_bytes;
	uint32_t luks2_sector_bytes;
	enum topo_cause cause; /**< of the alignment that both were rounded to */
	bool opt_ignored;      /**< "Ignoring bogus optimal-io size" */
};
/** cryptsetup luksFormat: lib/utils_device.c: device_topology_alignment; lib/setup.c. */
int topo_predict_luks(const struct topo_version *cryptsetup, const struct topo_view *view, struct topo_luks_choice *ret);

struct topo_xfs_choice {
	bool refused; /**< "device is not properly aligned": only with -f */
	bool ignored; /**< hints were dropped with a message; sunit and swidth are 0 */
	uint32_t sector_bytes;
	uint32_t sunit_blocks; /**< of 4096 bytes */
	uint32_t swidth_blocks;
};
/** mkfs.xfs: libxfs/topology.c; mkfs/xfs_mkfs.c: calc_stripe_factors, validate_sectorsize. */
int topo_predict_xfs(const struct topo_version *xfsprogs, const struct topo_view *view, struct topo_xfs_choice *ret);

struct topo_ext_choice {
	uint32_t stride_blocks; /**< of 4096 bytes */
	uint32_t stripe_width_blocks;
};
/** mkfs.ext4: misc/mke2fs.c: get_device_geometry. */
int topo_predict_ext(const struct topo_version *e2fsprogs, const struct topo_view *view, struct topo_ext_choice *ret);

#endif
