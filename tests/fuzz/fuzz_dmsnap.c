/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/dmsnap/dmsnap.h"
#include "fuzz.h"

#define STORE  (256 * KIB)
#define ORIGIN MIB

static void check(const struct dmsnap *snap)
{
	for (size_t i = 0; i < snap->count; i++) {
		const struct dmsnap_exception *e = &snap->exceptions[i];

		if (e->store_chunk >= STORE / snap->chunk_bytes || (e->store_chunk - 1) % (snap->chunk_bytes / 16 + 1) == 0 ||
		    e->origin_chunk > ORIGIN / snap->chunk_bytes || (i && e->origin_chunk <= e[-1].origin_chunk))
			abort();
	}
	if (snap->count && (snap->fresh || !snap->valid || snap->count > snap->used_chunks))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t store[STORE];
	static size_t used;
	struct dmsnap snap;
	struct dev *dev;

	size = size < STORE ? size : STORE;
	if (used > size)
		memset(store + size, 0, used - size);
	memcpy(store, data, size);
	used = size;
	if (dev_open_memory("store", store, STORE, false, &dev) < 0)
		return 0;
	if (dmsnap_read(dev, ORIGIN, &snap, NULL) == 0)
		check(&snap);
	else if (snap.exceptions)
		abort();
	dmsnap_done(&snap);
	dev_close(dev);
	return 0;
}
