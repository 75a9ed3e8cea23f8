/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/thin/thin.h"
#include "fuzz.h"

#define BLOCKS	 64U
#define DEVICES	 8U
#define RUNS_MAX 20000U

static void mend(uint8_t *block, uint32_t salt)
{
	uint32_t sum = pdata_checksum(block, salt);

	for (unsigned i = 0; i < 4; i++)
		block[i] = (uint8_t)(sum >> 8 * i);
}

/* Leaves are met in ascending order, and none twice: there are not more runs than entries in all blocks, with a gap beside each. */
static void walk(const struct thin_pool *pool, uint64_t root)
{
	uint64_t block = 0;
	struct thin_run run, again;

	for (unsigned runs = 0; thin_find(pool, root, block, &run, NULL) == 0; runs++) {
		if (!run.blocks || runs > RUNS_MAX * PDATA_DEPTH_MAX)
			abort();
		if (run.blocks > 1 && (thin_find(pool, root, block + 1, &again, NULL) != 0 || again.mapped != run.mapped ||
				       (run.mapped && again.data_block != run.data_block + 1)))
			abort();
		if (!u64_add(block, run.blocks, &block))
			break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t meta[BLOCKS * PDATA_BLOCK_BYTES];
	size_t blocks = size / PDATA_BLOCK_BYTES < BLOCKS ? size / PDATA_BLOCK_BYTES : BLOCKS;
	struct thin_device device;
	struct thin_pool pool;
	struct dev *dev;
	uint64_t counted;

	if (!blocks || dev_open_memory("meta", meta, blocks * PDATA_BLOCK_BYTES, false, &dev) < 0)
		return 0;
	memcpy(meta, data, blocks * PDATA_BLOCK_BYTES);
	for (size_t i = 0; i < blocks; i++)
		mend(meta + i * PDATA_BLOCK_BYTES, i ? PDATA_SALT_NODE : 160774);
	if (thin_pool_read(dev, &pool, NULL) == 0) {
		for (uint32_t id = 0; id < DEVICES; id++)
			if (thin_find_device(&pool, id, &device, NULL) == 0)
				walk(&pool, device.mapping_root);
		pdata_map_count(pool.pdata, &pool.super.data, &counted, NULL);
	}
	thin_pool_done(&pool);
	dev_close(dev);
	return 0;
}
