/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/dmlog/dmlog.h"

#define MAGIC	       0x4d695272U
#define VERSION	       2U
#define BITS_MAX_BYTES (16 * MIB)

int dmlog_header_decode(const uint8_t header[512], uint64_t *ret_regions, struct blkalign_error *reterr)
{
	if (load_le32(header) != MAGIC)
		return BLKALIGN_NOT_THIS;
	if (load_le32(header + 4) != VERSION)
		return blkalign_error_set(reterr, -EPROTO, NULL, BLKALIGN_UNKNOWN, "mirror log: version %" PRIu32 ", expected %u",
					  load_le32(header + 4), VERSION);
	*ret_regions = load_le64(header + 8);
	return 0;
}

int dmlog_read(struct dev *dev, uint64_t regions, struct dmlog *ret_log, struct blkalign_error *reterr)
{
	uint64_t bytes = regions / 8 + (regions % 8 != 0), there = 0;
	uint8_t header[512];
	int r;

	*ret_log = (struct dmlog){ 0 };
	if (bytes > BITS_MAX_BYTES)
		return blkalign_error_set(reterr, -E2BIG, dev->name, BLKALIGN_UNKNOWN, "mirror log of %" PRIu64 " regions", regions);
	if (!range_inside(DMLOG_BITS_OFFSET, bytes, dev->size_bytes))
		return blkalign_error_set(reterr, -EPROTO, dev->name, BLKALIGN_UNKNOWN,
					  "mirror log of %" PRIu64 " bytes: too short for %" PRIu64 " regions", dev->size_bytes, regions);
	r = dev_read(dev, 0, header, sizeof(header), reterr);
	if (r == 0)
		r = dmlog_header_decode(header, &there, reterr);
	if (r)
		return r;
	ret_log->in_sync = calloc(1, bytes + 1);
	if (!ret_log->in_sync)
		return -ENOMEM;
	ret_log->regions = there < regions ? there : regions;
	r = dev_read(dev, DMLOG_BITS_OFFSET, ret_log->in_sync, bytes, reterr);
	if (r < 0)
		dmlog_done(ret_log);
	return r;
}

void dmlog_done(struct dmlog *log)
{
	free(log->in_sync);
	*log = (struct dmlog){ 0 };
}
