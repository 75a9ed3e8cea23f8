/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The kernel's I/O limits as pure functions: from what a device says to what sysfs shows, layer by layer, for a given kernel version.
 *
 * Numbers are 32 bits wide where the kernel's are, because what gets lost by that is part of the behaviour; truth.h has the
 * arithmetic without losses. Functions that can refuse return 0 or -EINVAL (the kernel refuses such a device); outputs are
 * written on success only. Inputs may be hostile: no value makes them divide by zero or loop.
 */
#ifndef TOPO_LIMITS_H
#define TOPO_LIMITS_H

#include "topo/kernel.h"

/** struct queue_limits, as far as it concerns alignment and request sizes. 0 means none where the kernel has it so. */
struct topo_limits {
	uint32_t logical_bytes;
	uint32_t physical_bytes;
	uint32_t min_bytes; /**< minimum_io_size */
	uint32_t opt_bytes; /**< optimal_io_size; an lcm cut to 32 bits on stacked devices */
	uint32_t alignment_offset_bytes;
	bool misaligned;	    /**< the kernel's flag: alignment_offset reads as -1 */
	bool inconsistent;	    /**< stacking found a misfit here or below; unlike `misaligned` never forgotten */
	bool rotational;	    /**< of any device below */
	uint32_t chunk_sectors512;  /**< boundary that requests do not cross */
	uint32_t max_sectors512;    /**< max_sectors_kb is half of it, rounded down */
	uint32_t max_hw_sectors512; /**< max_hw_sectors_kb, likewise */
	uint32_t max_dev_sectors512;
	uint64_t read_ahead_bytes; /**< set when a device is complete */
};

/* --- drives --- */

/** What a SCSI disk says; vpd.h decodes it. */
struct topo_scsi {
	uint32_t logical_bytes;	      /**< READ CAPACITY: 0 means 512 */
	uint32_t physical_exponent;   /**< READ CAPACITY(16): physical block = logical << this, 0 to 15 */
	uint32_t lowest_aligned_lba;  /**< READ CAPACITY(16), 14 bits */
	uint64_t blocks;	      /**< capacity in logical blocks */
	uint32_t granularity_blocks;  /**< VPD B0 optimal transfer length granularity, 0 for none */
	uint32_t max_transfer_blocks; /**< VPD B0 maximum transfer length, 0 for none */
	uint32_t opt_transfer_blocks; /**< VPD B0 optimal transfer length, 0 for none */
	bool rotational;	      /**< VPD B1 does not say non-rotating */
	uint32_t host_max_sectors512; /**< largest request of the host adapter, 0 for unlimited */
	uint32_t host_opt_sectors512; /**< scsi_host.opt_sectors (SAS adapters), 0 for none */
};
/** drivers/scsi/sd.c: sd_revalidate_disk, sd_read_capacity, sd_validate_min_xfer_size, sd_validate_opt_xfer_size. */
int topo_sd_limits(const struct topo_kernel *kernel, const struct topo_scsi *scsi, struct topo_limits *ret);

/** ATA IDENTIFY words that matter, as they stand in the data. */
struct topo_ata_words {
	uint16_t word106;
	uint32_t words117_118; /**< low word first */
	uint16_t word209;
	uint16_t word217;
};
/** What libata's SCSI translation says for a disk (drivers/ata/libata-scsi.c; include/linux/ata.h). `blocks` is left 0. */
void topo_ata_to_scsi(const struct topo_ata_words *ata, struct topo_scsi *ret);

/** What an NVMe namespace says; identify.h decodes it. Counts are 1's based, 0 where the field is not reported. */
struct topo_nvme {
	uint32_t lba_bytes;
	uint32_t npwg_blocks;	 /**< preferred write granularity */
	uint32_t nows_blocks;	 /**< optimal write size */
	uint32_t nawupf_blocks;	 /**< namespace atomic unit, power fail */
	uint32_t awupf_blocks;	 /**< controller atomic unit, power fail */
	uint32_t nabo_blocks;	 /**< atomic boundary offset, plain number */
	uint32_t noiob_blocks;	 /**< optimal I/O boundary, plain number */
	uint32_t max_sectors512; /**< from MDTS, 0 for none */
};
/** drivers/nvme/host/core.c: nvme_update_disk_info, nvme_set_chunk_sectors. -EINVAL for LBA sizes that the kernel refuses. */
int topo_nvme_limits(const struct topo_kernel *kernel, const struct topo_nvme *nvme, struct topo_limits *ret);

/** virtio-blk configuration space, in its own units. */
struct topo_virtio {
	uint32_t logical_bytes;	    /**< blk_size, 0 for none */
	uint32_t physical_exponent; /**< below 32 */
	uint32_t alignment_offset_blocks;
	uint32_t min_blocks;
	uint32_t opt_blocks;
};
/** drivers/block/virtio_blk.c: virtblk_probe, virtblk_read_limits. */
int topo_virtio_limits(const struct topo_kernel *kernel, const struct topo_virtio *virtio, struct topo_limits *ret);

/* --- partitions --- */

/** Where the next natural boundary of a device lies as seen from `start`: block/blk-settings.c: queue_limit_alignment_offset. */
uint32_t topo_alignment_at(const struct topo_limits *limits, uint64_t start_sectors512);
/** BLKALIGNOFF and sysfs of a whole device: -1 when misaligned. */
int64_t topo_device_alignment(const struct topo_limits *limits);
/** BLKALIGNOFF of a partition. */
int64_t topo_partition_alignment(const struct topo_kernel *kernel, const struct topo_limits *disk, uint64_t start_sectors512);
/** The number that a partition's sysfs file alignment_offset prints: 4294967295 for misaligned disks on kernels that say so. */
uint64_t topo_partition_alignment_sysfs(const struct topo_kernel *kernel, const struct topo_limits *disk, uint64_t start_sectors512);

/* --- stacking --- */

/** Limits of a device that takes all of its own from below: block/blk-settings.c: blk_set_stacking_limits. */
void topo_limits_stacking(struct topo_limits *ret);
/**
 * Add component `b`, whose data begins `start_sectors512` behind the byte 0 that its alignment_offset counts from, to `t`: blk_stack_limits.
 * False when the kernel warns that the component does not fit; `t` is then marked misaligned.
 */
bool topo_stack(const struct topo_kernel *kernel, struct topo_limits *t, const struct topo_limits *b, uint64_t start_sectors512);
/** Largest request, before limits were committed as a set: blk_queue_max_hw_sectors. */
void topo_limit_requests(const struct topo_kernel *kernel, struct topo_limits *limits, uint32_t max_hw_sectors512);
/**
 * Complete a device: blk_validate_limits (6.9 and later, which forgets `misaligned` when the offset is not 0) and read-ahead
 * (blk_apply_bdi_limits).
 */
int topo_commit(const struct topo_kernel *kernel, struct topo_limits *limits);
/** Default read-ahead of a device with these limits. */
uint64_t topo_read_ahead_bytes(const struct topo_kernel *kernel, const struct topo_limits *limits);

/** A piece of a device below: `limits` are those of the whole disk when the piece lies on a partition. */
struct topo_area {
	const struct topo_limits *limits;
	uint64_t partition_start_sectors512; /**< 0 for whole devices */
	uint64_t offset_sectors512;	     /**< inside the partition or device */
	uint64_t length_sectors512;	     /**< for the check that areas are whole logical blocks; 0 when unknown */
};

enum topo_dm_type { TOPO_DM_LINEAR, TOPO_DM_STRIPED, TOPO_DM_CRYPT, TOPO_DM_RAID };

/** One line of a device mapper table. */
struct topo_dm_target {
	enum topo_dm_type type;
	uint32_t chunk_sectors512; /**< striped, raid (0 for raid1) */
	uint32_t parity_devices;   /**< raid: 1 for raid4 and raid5, 2 for raid6 */
	uint32_t sector_bytes;	   /**< crypt */
	const struct topo_area *areas;
	size_t area_count;
};
/**
 * Limits of a table: drivers/md/dm-table.c: dm_calculate_queue_limits; the target's io_hints. -EINVAL when an area is no multiple
 * of the logical block (device_area_is_invalid). Other targets (snapshot, thin, error) pass limits on as linear does.
 */
int topo_dm_limits(const struct topo_kernel *kernel, const struct topo_dm_target *targets, size_t target_count, struct topo_limits *ret);

enum topo_md_level { TOPO_MD_LINEAR, TOPO_MD_RAID0, TOPO_MD_RAID1, TOPO_MD_RAID4, TOPO_MD_RAID5, TOPO_MD_RAID6, TOPO_MD_RAID10 };

struct topo_md {
	enum topo_md_level level;
	uint32_t chunk_sectors512; /**< 0 for raid1 */
	uint32_t raid_disks;
	uint32_t near_copies;		 /**< raid10, at least 1: 2 for near=2, 1 for far and offset layouts */
	uint32_t stored_logical_bytes;	 /**< superblock of 6.19 and later, 0 for none */
	const struct topo_area *members; /**< offset: data_offset; length is not looked at */
	const uint64_t *new_offsets;	 /**< new_data_offset of each member while a reshape moves data, else NULL */
	size_t member_count;
};
/**
 * drivers/md/raid0.c, raid1.c, raid10.c, raid5.c, md-linear.c: NAME_run and NAME_set_limits; md.c: mddev_stack_rdev_limits.
 * Members are stacked in the order given. The kernel's is that of its list, which begins with the member that was added last: slots backwards after
 * mdadm --create, not told by sysfs later. It matters only where hints do not fit each other, or their lcm not into 32 bits.
 */
int topo_md_limits(const struct topo_kernel *kernel, const struct topo_md *md, struct topo_limits *ret);
/** Members' worth of data in a stripe, at least 1: raid10 counts near copies only, as the kernel does. */
uint32_t topo_md_data_disks(const struct topo_md *md);

#endif
