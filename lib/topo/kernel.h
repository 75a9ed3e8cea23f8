/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Version numbers, and what changed in the kernel's limit code with them. */
#ifndef TOPO_KERNEL_H
#define TOPO_KERNEL_H

#include "base/base.h"

/** Leading dotted numbers of a version; parts that are not there are 0. */
struct topo_version {
	uint32_t part[4];
};

/**
 * Parse the first dotted number of `text`: "6.1.192-3-amd64", "2.03.16(2) (2022-05-18)", "1:2.38.1-5+deb12u3" (an epoch is skipped),
 * "mdadm - v4.2". Returns 0; -EINVAL, `ret` untouched, when there is none or a part does not fit.
 */
int topo_version_parse(const char *text, struct topo_version *ret);
/** Less than, equal to or greater than 0, as strcmp(). */
int topo_version_compare(const struct topo_version *a, const struct topo_version *b);
bool topo_version_at_least(const struct topo_version *version, uint32_t a, uint32_t b, uint32_t c);

/** Behaviours that changed with the kernel version; each begins at some release. The table in kernel.c says which. */
enum topo_behaviour {
	TOPO_SD_OPT_LIMITED,		 /**< sd checks the optimal transfer length at all */
	TOPO_SD_OPT_FITS_PHYSICAL,	 /**< ... and drops one that is no multiple of the physical block */
	TOPO_SD_MIN_VALIDATED,		 /**< ... checks the granularity, and the optimum against it */
	TOPO_SD_OPT_SECTORS,		 /**< the host's opt_sectors caps the default request size */
	TOPO_SD_OPT_SECTORS_IS_OPT,	 /**< ... and becomes the optimum (and the optimum only raises the request size) */
	TOPO_SD_OPT_SECTORS_FILTERED,	 /**< ... only where it says less than the DMA maximum, as a power of two */
	TOPO_SD_ANY_LOGICAL,		 /**< logical blocks above 4096 bytes */
	TOPO_NVME_NOWS_1_IS_NONE,	 /**< a NOWS of one block means not reported */
	TOPO_NVME_IGNORES_AWUPF,	 /**< only the namespace's atomic unit counts */
	TOPO_COMMIT_VALIDATES,		 /**< a whole set of limits is checked and mended when it is committed */
	TOPO_COMMIT_ROUNDS_OPT,		 /**< ... and the optimum rounded down to the physical block */
	TOPO_COMMIT_WANTS_POWER_OF_2,	 /**< ... and a physical block that is no power of two refused */
	TOPO_MAX_SECTORS_4096K,		 /**< default request size 4096 KiB instead of 1280 KiB */
	TOPO_PARTITION_TELLS_MISALIGNED, /**< partitions of a misaligned disk say so: sysfs prints 4294967295 */
	TOPO_READ_AHEAD_FROM_OPT,	 /**< read-ahead of any device is twice the optimum */
	TOPO_READ_AHEAD_64_BIT,		 /**< ... no longer cut to 32 bits; spinning disks without optimum use their request size */
	TOPO_MD_SECOND_PASS,		 /**< RAID4/5/6 stacks all members, then all again, instead of each twice */
	TOPO_MD_LINEAR_CHUNK,		 /**< md linear limits requests to its rounding */
	TOPO_MD_CHUNK_BOUNDARY,		 /**< RAID0 sets chunk_sectors */
	TOPO_MD_RAID10_BOUNDARY,	 /**< RAID10 sets chunk_sectors */
	TOPO_MD_RAID1_BOUNDARY,		 /**< RAID1 sets chunk_sectors to its barrier unit */
	TOPO_MD_RAID5_MAX_1M,		 /**< RAID4/5/6 takes requests up to 1 MiB */
	TOPO_MD_RAID5_MAX_OPT,		 /**< ... or up to the optimum */
	TOPO_MD_RAID5_BOUNDARY,		 /**< RAID4/5/6 sets chunk_sectors to the stripe */
	TOPO_MD_STORES_LOGICAL,		 /**< the superblock may hold the logical block size */
	TOPO_DM_STRIPED_BOUNDARY,	 /**< dm-stripe sets chunk_sectors, and minimum_io unchecked */
	TOPO_DM_RAID1_KEEPS_HINTS,	 /**< dm-raid leaves the hints of raid1 legs alone */
	TOPO_BEHAVIOURS
};

struct topo_kernel {
	struct topo_version version;
	uint32_t page_bytes;
	bool has[TOPO_BEHAVIOURS];
};

/**
 * The behaviours of the kernel that names itself `text`: uname -r, better with uname -v behind it, because distributions whose release reads
 * "6.1.0-57-amd64" tell there (Debian) or nowhere that it is 6.1.192; without it the last of that stable series is assumed. Returns 0 or -EINVAL.
 * `page_bytes` 0 means 4096.
 */
int topo_kernel_parse(const char *release, uint32_t page_bytes, struct topo_kernel *ret);
/** The same for a parsed version. */
void topo_kernel_init(const struct topo_version *version, uint32_t page_bytes, struct topo_kernel *ret);

#endif
