/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FORMAT_PPL_PPL_ONDISK_H
#define FORMAT_PPL_PPL_ONDISK_H

#include <assert.h>

#include "base/base.h"

struct ppl_entry_ondisk {
	le64 data_sector; /* of the array */
	le32 pp_size;	  /* bytes, as data_size */
	le32 data_size;
	le32 parity_disk;
	le32 checksum;
};

struct ppl_ondisk {
	uint8_t reserved[512]; /* all ones */
	le32 signature;
	le32 padding;
	le64 generation;
	le32 entries_count;
	le32 checksum; /* of the header with this field 0 */
	struct ppl_entry_ondisk entries[148];
	uint8_t rest[8];
};

static_assert(sizeof(struct ppl_entry_ondisk) == 24);
static_assert(sizeof(struct ppl_ondisk) == 4096);
static_assert(offsetof(struct ppl_ondisk, generation) == 520);
static_assert(offsetof(struct ppl_ondisk, checksum) == 532);
static_assert(offsetof(struct ppl_ondisk, entries) == 536);

#endif
