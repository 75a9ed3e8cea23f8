/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/ppl/ppl.h"
#include "format/ppl/ppl_ondisk.h"

void ppl_encode(const struct ppl_header *header, uint32_t signature, void *data)
{
	struct ppl_ondisk d = { 0 };

	memset(d.reserved, 0xff, sizeof(d.reserved));
	store_le(&d.signature, 4, signature);
	store_le(&d.generation, 8, header->generation);
	store_le(&d.entries_count, 4, header->entries_count);
	for (uint32_t i = 0; i < header->entries_count && i < PPL_ENTRIES_MAX; i++) {
		const struct ppl_entry *e = &header->entries[i];

		store_le(&d.entries[i].data_sector, 8, e->array_bytes / 512);
		store_le(&d.entries[i].pp_size, 4, e->parity_bytes);
		store_le(&d.entries[i].data_size, 4, e->data_bytes);
		store_le(&d.entries[i].parity_disk, 4, e->parity_slot);
		store_le(&d.entries[i].checksum, 4, e->checksum);
	}
	store_le(&d.checksum, 4, ppl_checksum(&d, sizeof(d)));
	memcpy(data, &d, sizeof(d));
}
