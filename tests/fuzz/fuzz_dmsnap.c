/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/dmsnap/dmsnap.h"
#include "fuzz.h"

#define STORE  (256 * KIB)
#define ORIGIN MIB

static void check(const struct dmsnap *snap)
{
	uint64_t chunks = 0;

	for (size_t i = 0; i < snap->count; i++) {
		const struct block_run *run = &snap->runs[i];
		uint64_t last = block_run_over(run) + run->more, area_chunks = snap->chunk_bytes / 16 + 1;

		chunks += run->more + 1;
		if (last >= STORE / snap->chunk_bytes || !run->over_block ||
		    (run->over_block - 1) / area_chunks != (last - 1) / area_chunks || (run->over_block - 1) % area_chunks == 0 ||
		    run->block + run->more > ORIGIN / snap->chunk_bytes || (i && run->block <= run[-1].block + run[-1].more))
			abort();
	}
	if (chunks != snap->exceptions || (chunks && (snap->fresh || !snap->valid || chunks > snap->used_chunks)))
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
	else if (snap.runs)
		abort();
	dmsnap_done(&snap);
	dev_close(dev);
	return 0;
}
