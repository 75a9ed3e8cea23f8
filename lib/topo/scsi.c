/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topo/limits.h"

#include "topo/limits_private.h"

#define SHORT_CDB_BLOCKS 0xffffU /* SD_DEF_XFER_BLOCKS: what a 10-byte CDB can ask for, and the driver's cap on the optimum */

static bool logical_accepted(const struct topo_kernel *kernel, uint32_t bytes)
{
	return is_power_of_2(bytes) && bytes >= 512 && (bytes <= 4096 || kernel->has[TOPO_SD_ANY_LOGICAL]);
}

static uint32_t device_max_blocks(const struct topo_scsi *scsi)
{
	return min_not_zero_u32(scsi->blocks > UINT32_MAX ? UINT32_MAX : SHORT_CDB_BLOCKS, scsi->max_transfer_blocks);
}

/* Granularity in bytes, 0 when the driver ignores it. */
static uint64_t granularity_bytes(const struct topo_kernel *kernel, const struct topo_scsi *scsi, const struct topo_limits *limits)
{
	uint64_t bytes = (uint64_t)scsi->granularity_blocks * limits->logical_bytes;

	if (kernel->has[TOPO_SD_MIN_VALIDATED] && bytes & (limits->physical_bytes - 1))
		return 0;
	return bytes;
}

/* The optimum in bytes, 0 when the driver does not believe it. */
static uint32_t believed_opt_bytes(const struct topo_kernel *kernel, const struct topo_scsi *scsi, const struct topo_limits *limits)
{
	uint64_t blocks = scsi->opt_transfer_blocks, bytes = blocks * limits->logical_bytes;
	uint64_t granularity = granularity_bytes(kernel, scsi, limits);

	if (!kernel->has[TOPO_SD_OPT_LIMITED])
		return (uint32_t)bytes;
	if (blocks > device_max_blocks(scsi) || blocks > SHORT_CDB_BLOCKS || bytes < kernel->page_bytes)
		return 0;
	if (kernel->has[TOPO_SD_MIN_VALIDATED] && granularity && bytes % granularity)
		return 0;
	if (kernel->has[TOPO_SD_OPT_FITS_PHYSICAL] && bytes & (limits->physical_bytes - 1))
		return 0;
	return (uint32_t)bytes;
}

/* What the adapter's opt_sectors adds to the optimum. */
static uint32_t host_opt_sectors(const struct topo_kernel *kernel, const struct topo_scsi *scsi)
{
	uint32_t opt = scsi->host_opt_sectors512;

	if (!kernel->has[TOPO_SD_OPT_SECTORS] || !opt)
		return 0;
	if (!kernel->has[TOPO_SD_OPT_SECTORS_FILTERED])
		return opt;
	if (scsi->host_max_sectors512 && opt >= scsi->host_max_sectors512)
		return 0;
	return 1U << (31 - __builtin_clz(opt));
}

/* Before 6.11: a believed optimum is the request size, however small. */
static void limit_as_opt(const struct topo_kernel *kernel, const struct topo_scsi *scsi, struct topo_limits *limits)
{
	uint32_t max = limits->opt_bytes / 512;

	topo_limit_requests(kernel, limits, limits->max_hw_sectors512);
	if (!max)
		max = min_not_zero_u32(limits->max_dev_sectors512, topo_default_max_sectors(kernel));
	max = min_not_zero_u32(max, host_opt_sectors(kernel, scsi));
	limits->max_sectors512 = min_u32(max, limits->max_hw_sectors512);
}

int topo_sd_limits(const struct topo_kernel *kernel, const struct topo_scsi *scsi, struct topo_limits *ret)
{
	struct topo_limits limits;
	uint32_t logical = scsi->logical_bytes ? scsi->logical_bytes : 512;

	if (!logical_accepted(kernel, logical) || scsi->physical_exponent > 15 || (uint64_t)logical << scsi->physical_exponent > UINT32_MAX)
		return -EINVAL;
	topo_limits_plain(&limits);
	limits.logical_bytes = logical;
	limits.physical_bytes = logical << scsi->physical_exponent;
	limits.alignment_offset_bytes = (uint32_t)((uint64_t)scsi->lowest_aligned_lba * logical) & (limits.physical_bytes - 1);
	limits.rotational = scsi->rotational;
	limits.max_dev_sectors512 = (uint32_t)((uint64_t)device_max_blocks(scsi) * (logical / 512));
	limits.max_hw_sectors512 = scsi->host_max_sectors512 ? scsi->host_max_sectors512 : UINT32_MAX;
	topo_set_min(&limits, clamp_u32(granularity_bytes(kernel, scsi, &limits)));
	limits.opt_bytes = believed_opt_bytes(kernel, scsi, &limits);
	if (!kernel->has[TOPO_SD_OPT_SECTORS_IS_OPT]) {
		limit_as_opt(kernel, scsi, &limits);
		limits.read_ahead_bytes = topo_read_ahead_bytes(kernel, &limits);
		*ret = limits;
		return 0;
	}
	limits.opt_bytes = min_not_zero_u32(limits.opt_bytes, host_opt_sectors(kernel, scsi) * 512);
	if (topo_commit(kernel, &limits) < 0)
		return -EINVAL;
	*ret = limits;
	return 0;
}

static bool word_valid(uint16_t word) { return (word & 0xc000) == 0x4000; }

void topo_ata_to_scsi(const struct topo_ata_words *ata, struct topo_scsi *ret)
{
	bool valid = word_valid(ata->word106);
	uint32_t exponent = valid && ata->word106 & 0x2000 ? ata->word106 & 0xf : 0;
	uint32_t offset = word_valid(ata->word209) ? ata->word209 & 0x3fff : 0;

	*ret = (struct topo_scsi){
		.logical_bytes = valid && ata->word106 & 0x1000 ? (uint32_t)(ata->words117_118 * UINT64_C(2)) : 512,
		.physical_exponent = exponent,
		.granularity_blocks = 1U << exponent,
		.rotational = ata->word217 != 1,
	};
	/* One logical sector of offset cannot be told from none where a physical one holds two: libata drops it. */
	if (exponent > 1 && offset)
		ret->lowest_aligned_lba = ((1U << exponent) - offset) & 0x3fff;
}
