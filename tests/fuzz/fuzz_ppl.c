/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/ppl/ppl.h"
#include "fuzz.h"

#define AREA (64 * KIB)

/* The checksum is made right, so that the fields behind it are reached. */
static void mend(uint8_t *header)
{
	uint32_t sum;

	memset(header + 532, 0, 4);
	sum = ppl_checksum(header, PPL_HEADER_BYTES);
	for (unsigned i = 0; i < 4; i++)
		header[532 + i] = (uint8_t)(sum >> 8 * i);
}

static void walk(uint8_t *area, uint32_t signature)
{
	struct ppl_header header;
	struct dev *dev = NULL;
	uint64_t at = 0;

	if (dev_open_memory("log", area, AREA, false, &dev) < 0)
		return;
	if (ppl_read(dev, 0, AREA, true, signature, &header, &at, NULL) == 0 && at > AREA - PPL_HEADER_BYTES)
		abort();
	dev_close(dev);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t area[AREA];
	uint8_t again[PPL_HEADER_BYTES];
	struct ppl_header header, twice;
	uint32_t signature;

	memset(area, 0, sizeof(area));
	memcpy(area, data, size < sizeof(area) ? size : sizeof(area));
	for (size_t at = 0; at < AREA; at += PPL_HEADER_BYTES)
		mend(area + at);
	signature = load_le32(area + 512);
	walk(area, signature);
	if (ppl_decode(area, AREA, signature, &header, NULL) != 0)
		return 0;
	ppl_encode(&header, signature, again);
	if (ppl_decode(again, sizeof(again), signature, &twice, NULL) != 0 || memcmp(&header, &twice, sizeof(header)) != 0)
		abort();
	return 0;
}
