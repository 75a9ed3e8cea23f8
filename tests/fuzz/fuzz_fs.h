/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** What must hold of every geometry that a decoder lets through, whatever the bytes were. */
#ifndef FUZZ_FUZZ_FS_H
#define FUZZ_FUZZ_FS_H

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "format/fsgeom/fsgeom.h"

static inline void fuzz_require(bool holds)
{
	if (!holds)
		abort();
}

static inline void fuzz_fs_check(int r, const struct fsgeom *g)
{
	if (r != 0) {
		fuzz_require(r == BLKALIGN_NOT_THIS || r == -EBADMSG);
		return;
	}
	fuzz_require(g->type && *g->type);
	fuzz_require(memchr(g->uuid, '\0', sizeof(g->uuid)) && memchr(g->label, '\0', sizeof(g->label)) &&
		     memchr(g->note, '\0', sizeof(g->note)));
	fuzz_require(g->block_bytes == BLKALIGN_UNKNOWN || is_power_of_2(g->block_bytes));
	fuzz_require(g->sector_bytes == BLKALIGN_UNKNOWN || is_power_of_2(g->sector_bytes));
	fuzz_require(g->sector_bytes == BLKALIGN_UNKNOWN || g->block_bytes == BLKALIGN_UNKNOWN || g->sector_bytes <= g->block_bytes);
}

/** The first `n` bytes of the input, zeros where it is shorter: seeds leave out what is zero. */
static inline void fuzz_pad(uint8_t *ret, size_t n, const uint8_t *data, size_t size)
{
	memset(ret, 0, n);
	memcpy(ret, data, size < n ? size : n);
}

static inline void fuzz_store_le32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

#endif
