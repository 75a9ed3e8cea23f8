/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is a device that begins with a LUKS header; the SHA-256 of a LUKS2 header is mended, and its JSON also decoded by itself. */
#include <openssl/sha.h>

#include "format/luks/luks.h"
#include "fuzz.h"

static void mend(uint8_t *device, size_t size, size_t offset)
{
	uint64_t claimed = offset < size ? luks2_claimed_bytes(device + offset, size - offset) : 0;

	if (!claimed || claimed > size - offset)
		return;
	memset(device + offset + 448, 0, 64);
	SHA256(device + offset, claimed, device + offset + 448);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct dev *dev = NULL;
	struct luks_found found;
	struct luks_header header = { 0 };

	if (copy && size)
		memcpy(copy, data, size);
	if (copy) {
		mend(copy, size, 0);
		mend(copy, size, LUKS2_HEADER_MIN_BYTES);
	}
	if (copy && dev_open_memory("fuzz", copy, size, false, &dev) == 0)
		luks_read(dev, &found, NULL);
	if (copy && size > 4096)
		luks2_decode_json((const char *)copy + 4096, size - 4096, &header, NULL);
	dev_close(dev);
	free(copy);
	return 0;
}
