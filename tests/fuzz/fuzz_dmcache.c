/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "format/dmcache/dmcache.h"
#include "fuzz.h"

#define BLOCKS 64U

/* Node or array block, by what is at the place of the node's flags. */
static void mend(uint8_t *block, bool first)
{
	uint32_t salt = first ? 9031977 : load_le32(block + 4) <= 2 ? PDATA_SALT_NODE : PDATA_SALT_ARRAY, sum = pdata_checksum(block, salt);

	for (unsigned i = 0; i < 4; i++)
		block[i] = (uint8_t)(sum >> 8 * i);
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
	static uint8_t meta[BLOCKS * PDATA_BLOCK_BYTES];
	size_t blocks = size / PDATA_BLOCK_BYTES < BLOCKS ? size / PDATA_BLOCK_BYTES : BLOCKS;
	struct dmcache cache;
	struct dev *dev;

	if (!blocks || dev_open_memory("meta", meta, blocks * PDATA_BLOCK_BYTES, false, &dev) < 0)
		return 0;
	memcpy(meta, data, blocks * PDATA_BLOCK_BYTES);
	for (size_t i = 0; i < blocks; i++)
		mend(meta + i * PDATA_BLOCK_BYTES, !i);
	if (dmcache_read(dev, GIB, GIB, &cache, NULL) == 0)
		check(&cache);
	else if (cache.mappings)
		abort();
	dmcache_done(&cache);
	dev_close(dev);
	return 0;
}
