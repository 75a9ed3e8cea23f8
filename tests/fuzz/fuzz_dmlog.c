/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/dmlog/dmlog.h"
#include "fuzz.h"

/* The first 8 bytes: how many regions are asked for. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t log[64 * KIB];
	uint64_t regions, in_sync = 0;
	struct dmlog l;
	struct dev *dev;

	if (size < 8)
		return 0;
	regions = load_le64(data);
	size = size - 8 < sizeof(log) ? size - 8 : sizeof(log);
	memcpy(log, data + 8, size);
	if (dev_open_memory("log", log, size, false, &dev) < 0)
		return 0;
	if (dmlog_read(dev, regions, &l, NULL) == 0) {
		if (l.regions > regions)
			abort();
		for (uint64_t i = 0; i < regions; i++)
			in_sync += dmlog_in_sync(&l, i);
		if (in_sync > l.regions)
			abort();
		dmlog_done(&l);
	}
	dev_close(dev);
	return 0;
}
