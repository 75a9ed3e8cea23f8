/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first four sectors of a device; the checksum of each label is mended. */
#include "format/lvm2/lvm2.h"
#include "fuzz.h"

#define CRC_SEED UINT32_C(0xf597a6cf)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t sectors[2048] = { 0 };
	struct blkalign_error err;
	struct lvm2_label label;
	struct dev *dev;

	memcpy(sectors, data, size < sizeof(sectors) ? size : sizeof(sectors));
	for (size_t i = 0; i < sizeof(sectors); i += 512) {
		uint32_t crc = crc32_raw(CRC_SEED, sectors + i + 20, 512 - 20);

		for (unsigned byte = 0; byte < 4 && !memcmp(sectors + i, "LABELONE", 8); byte++)
			sectors[i + 16 + byte] = (uint8_t)(crc >> 8 * byte);
	}
	if (dev_open_memory("fuzz", sectors, sizeof(sectors), false, &dev) < 0)
		return 0;
	lvm2_label_read(dev, &label, &err);
	dev_close(dev);
	return 0;
}
