/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "format/ppl/ppl.h"
#include "format/ppl/ppl_ondisk.h"

uint32_t ppl_checksum(const void *data, size_t length) { return ~crc32c_raw(UINT32_MAX, data, length); }
uint32_t ppl_signature(const uint8_t array_uuid[16]) { return ppl_checksum(array_uuid, 16); }

static uint32_t header_checksum(const struct ppl_ondisk *d)
{
	struct ppl_ondisk copy = *d;

	copy.checksum = (le32){ 0 };
	return ppl_checksum(&copy, sizeof(copy));
}

static int damaged(struct blkalign_error *reterr, const char *what, uint64_t found)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN, "md partial parity log: %s (%" PRIu64 ")", what, found);
}

static int decode_entry(const struct ppl_entry_ondisk *d, struct ppl_entry *ret, struct blkalign_error *reterr)
{
	struct ppl_entry e = {
		.parity_bytes = le32_get(d->pp_size),
		.data_bytes = le32_get(d->data_size),
		.parity_slot = le32_get(d->parity_disk),
		.checksum = le32_get(d->checksum),
	};

	if (!u64_mul(le64_get(d->data_sector), 512, &e.array_bytes))
		return damaged(reterr, "an entry's sector does not fit 64 bits of bytes", le64_get(d->data_sector));
	if (e.parity_bytes % 512 || e.data_bytes % 512)
		return damaged(reterr, "an entry's size is no multiple of 512 bytes", e.parity_bytes % 512 ? e.parity_bytes : e.data_bytes);
	*ret = e;
	return 0;
}

int ppl_decode(const void *data, size_t length, uint32_t signature, struct ppl_header *ret, struct blkalign_error *reterr)
{
	struct ppl_header header = { 0 };
	struct ppl_ondisk d;

	if (length < sizeof(d))
		return BLKALIGN_NOT_THIS;
	memcpy(&d, data, sizeof(d));
	if (le32_get(d.signature) != signature || le32_get(d.checksum) != header_checksum(&d))
		return BLKALIGN_NOT_THIS;
	header.generation = le64_get(d.generation);
	header.entries_count = le32_get(d.entries_count);
	if (header.entries_count > PPL_ENTRIES_MAX)
		return damaged(reterr, "more entries than a header holds", header.entries_count);
	for (uint32_t i = 0; i < header.entries_count; i++) {
		int r = decode_entry(&d.entries[i], &header.entries[i], reterr);

		if (r < 0)
			return r;
	}
	*ret = header;
	return 0;
}

uint64_t ppl_parity_bytes(const struct ppl_header *header)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < header->entries_count; i++)
		sum += header->entries[i].parity_bytes;
	return sum;
}

int ppl_read(struct dev *dev, uint64_t offset_bytes, uint64_t area_bytes, bool many, uint32_t signature, struct ppl_header *ret,
	     uint64_t *ret_at_bytes, struct blkalign_error *reterr)
{
	uint8_t data[PPL_HEADER_BYTES];
	struct ppl_header header = { 0 };
	uint64_t at = 0;
	bool found = false;

	/* Every step goes on by a header at least, so that the area bounds their number. */
	while (range_inside(at, PPL_HEADER_BYTES, area_bytes)) {
		int r = dev_read(dev, offset_bytes + at, data, sizeof(data), reterr);

		if (r == 0)
			r = ppl_decode(data, sizeof(data), signature, &header, reterr);
		if (r < 0)
			return r;
		if (r != 0 || (found && header.generation < ret->generation))
			break;
		*ret = header;
		*ret_at_bytes = at;
		found = true;
		if (!many)
			break;
		at += PPL_HEADER_BYTES + ppl_parity_bytes(&header);
	}
	return found ? 0 : BLKALIGN_NOT_THIS;
}
