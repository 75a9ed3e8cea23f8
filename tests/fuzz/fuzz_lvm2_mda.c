/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A metadata area, header and ring, at byte 4096 of a device; the checksums of header and committed text are mended. */
#include "format/lvm2/lvm2.h"
#include "fuzz.h"

#define CRC_SEED UINT32_C(0xf597a6cf)
#define AREA	 4096U

static void put32(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void mend(uint8_t *area, size_t size)
{
	struct lvm2_mda mda;
	uint32_t crc = CRC_SEED;

	put32(area, crc32_raw(CRC_SEED, area + 4, 512 - 4));
	if (lvm2_mda_decode(area, AREA, AREA + size, &mda, NULL) < 0)
		return;
	for (uint64_t i = 0, at = mda.committed.offset_bytes; i < mda.committed.size_bytes; i++, at++) {
		if (at == mda.size_bytes)
			at = 512;
		crc = crc32_raw(crc, area + at, 1);
	}
	put32(area + 40 + 16, crc);
	put32(area, crc32_raw(CRC_SEED, area + 4, 512 - 4));
}

/* What is left in the ring is looked for whatever the header says. */
static void search(struct dev *dev, size_t size)
{
	const struct lvm2_mda mda = { .offset_bytes = AREA, .size_bytes = size };
	struct lvm2_ring ring;

	if (lvm2_ring_search(dev, &mda, NULL, &ring) == 0)
		lvm2_ring_done(&ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *device;
	struct blkalign_error err;
	struct lvm2_mda mda;
	struct dev *dev;
	char *text;
	size_t length;

	if (size < 512)
		return 0;
	device = calloc(1, AREA + size);
	if (!device)
		return 0;
	memcpy(device + AREA, data, size);
	mend(device + AREA, size);
	if (dev_open_memory("fuzz", device, AREA + size, false, &dev) == 0) {
		if (lvm2_mda_read(dev, AREA, &mda, &err) == 0 && lvm2_text_read(dev, &mda, &text, &length, &err) == 0)
			free(text);
		search(dev, size);
		dev_close(dev);
	}
	free(device);
	return 0;
}
