/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is a device: MBR and whatever its chain leads to, in every unit. */
#include "format/mbr/mbr.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct dev *dev = NULL;

	if (copy && size)
		memcpy(copy, data, size);
	if (copy && dev_open_memory("fuzz", copy, size, false, &dev) == 0)
		for (uint32_t unit = 512; unit <= 4096; unit *= 2) {
			struct mbr_table t;

			if (size >= MBR_SECTOR_BYTES) { /* without these three most mutations end at the door */
				copy[510] = 0x55;
				copy[511] = 0xaa;
				copy[446] &= 0x80;
			}
			if (mbr_read(dev, unit, &t, NULL) == 0)
				mbr_table_done(&t);
		}
	dev_close(dev);
	free(copy);
	return 0;
}
