/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The log of a device mapper mirror: in which regions all legs are equal. Source: the kernel's drivers/md/dm-log.c (struct log_header_disk; the bits on disk are its
 * clean_bits: cleared before a region is written, set when no write is under way any more). Errors: -EPROTO, -ENOMEM, and what dev_read() returns.
 */
#ifndef FORMAT_DMLOG_DMLOG_H
#define FORMAT_DMLOG_DMLOG_H

#include "base/base.h"
#include "dev/dev.h"

#define DMLOG_BITS_OFFSET 1024U

/** The first sector: how many regions the log tells of. BLKALIGN_NOT_THIS without the magic. */
int dmlog_header_decode(const uint8_t header[512], uint64_t *ret_regions, struct blkalign_error *reterr);

struct dmlog {
	uint64_t regions;
	uint8_t *in_sync; /* a bit each, lowest first */
};
/** The log on `dev` for `regions` regions: those that it does not tell of are not in sync. BLKALIGN_NOT_THIS as above. */
int dmlog_read(struct dev *dev, uint64_t regions, struct dmlog *ret_log, struct blkalign_error *reterr);
void dmlog_done(struct dmlog *log);
static inline bool dmlog_in_sync(const struct dmlog *log, uint64_t region)
{
	return region < log->regions && (log->in_sync[region / 8] >> region % 8 & 1);
}

#endif
