/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/ppl/ppl.h"
#include "format/ppl/ppl_ondisk.h"

static void put(void *field, unsigned width, uint64_t value)
{
	uint8_t *p = field;

	for (unsigned i = 0; i < width; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

void ppl_encode(const struct ppl_header *header, uint32_t signature, void *data)
{
	struct ppl_ondisk d = { 0 };

	memset(d.reserved, 0xff, sizeof(d.reserved));
	put(&d.signature, 4, signature);
	put(&d.generation, 8, header->generation);
	put(&d.entries_count, 4, header->entries_count);
	for (uint32_t i = 0; i < header->entries_count && i < PPL_ENTRIES_MAX; i++) {
		const struct ppl_entry *e = &header->entries[i];

		put(&d.entries[i].data_sector, 8, e->array_bytes / 512);
		put(&d.entries[i].pp_size, 4, e->parity_bytes);
		put(&d.entries[i].data_size, 4, e->data_bytes);
		put(&d.entries[i].parity_disk, 4, e->parity_slot);
		put(&d.entries[i].checksum, 4, e->checksum);
	}
	put(&d.checksum, 4, ppl_checksum(&d, sizeof(d)));
	memcpy(data, &d, sizeof(d));
}
