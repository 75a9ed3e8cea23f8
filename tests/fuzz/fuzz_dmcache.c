/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/dmcache/dmcache.h"
#include "fuzz_pdata.h"

/* Node or array block, by what is at the place of the node's flags. */
static uint32_t salt_of(const uint8_t *block, size_t number)
{
	return !number ? 9031977 : load_le32(block + 4) <= 2 ? PDATA_SALT_NODE : PDATA_SALT_ARRAY;
}

static void check(const struct dmcache *cache)
{
	size_t dirty = 0;

	for (size_t i = 0; i < cache->count; i++) {
		const struct dmcache_mapping *m = &cache->mappings[i];

		dirty += m->dirty;
		if (m->cache_block >= cache->super.cache_blocks || m->origin_block > GIB / cache->super.block_bytes ||
		    (i && m->origin_block <= m[-1].origin_block) || (!cache->super.clean && !m->dirty))
			abort();
	}
	if (dirty != cache->dirty)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dev *dev = fuzz_pdata_open(data, size, salt_of);
	struct dmcache cache;

	if (!dev)
		return 0;
	if (dmcache_read(dev, GIB, GIB, &cache, NULL) == 0)
		check(&cache);
	else if (cache.mappings)
		abort();
	dmcache_done(&cache);
	dev_close(dev);
	return 0;
}
