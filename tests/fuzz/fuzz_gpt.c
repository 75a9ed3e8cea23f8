/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is a device with a GPT in 512-byte blocks; header and entry checksums are mended where the entries lie in it. */
#include <zlib.h>

#include "format/gpt/gpt.h"
#include "fuzz.h"

static void put32(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void mend(uint8_t *device, size_t size, size_t offset)
{
	uint8_t *h = device + offset;
	uint64_t entries = load_le64(h + 72) * 512, bytes = (uint64_t)load_le32(h + 80) * load_le32(h + 84);
	uint32_t length = load_le32(h + 12);

	if (range_inside(entries, bytes, size))
		put32(h + 88, (uint32_t)crc32(0, device + entries, (uInt)bytes));
	put32(h + 16, 0);
	if (length >= 92 && length <= 512)
		put32(h + 16, (uint32_t)crc32(0, h, length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct dev *dev = NULL;
	struct gpt_table t;

	if (copy && size)
		memcpy(copy, data, size);
	if (copy && size >= 2048) {
		mend(copy, size, 512);
		mend(copy, size, size / 512 * 512 - 512);
	}
	if (copy && dev_open_memory("fuzz", copy, size, false, &dev) == 0 && gpt_read(dev, 512, &t, NULL) == 0)
		gpt_table_done(&t);
	dev_close(dev);
	free(copy);
	return 0;
}
