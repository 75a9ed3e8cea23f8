/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/thin/thin.h"
#include "fuzz_pdata.h"

#define DEVICES	 8U
#define RUNS_MAX 20000U

static uint32_t salt_of(const uint8_t *block, size_t number)
{
	(void)block;
	return number ? PDATA_SALT_NODE : 160774;
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
	struct dev *dev = fuzz_pdata_open(data, size, salt_of);
	struct thin_device device;
	struct thin_pool pool;
	uint64_t counted;

	if (!dev)
		return 0;
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
