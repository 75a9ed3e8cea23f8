/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the two copies lie, and which one is believed: the primary when it checks, as the kernel does
 * (block/partitions/efi.c, find_valid_gpt). The entries are read in pieces: their number and size come from the disk.
 */
#include <assert.h>

#include "format/gpt/gpt.h"

#define PIECE_BYTES (64U << 10)

static int collect(struct gpt_table *t, const uint8_t *buffer, size_t size, uint32_t number)
{
	struct gpt_entry e;

	if (gpt_decode_entry(buffer, size, t->unit_bytes, number, &e) != 0)
		return 0;
	return vec_push(&t->entries, e);
}

/* Read the whole array: its CRC to *ret_crc, its used entries to `t` unless that is NULL. */
static int read_entries(struct dev *dev, const struct gpt_header *h, struct gpt_table *t, uint32_t *ret_crc)
{
	uint64_t total = (uint64_t)h->entry_count * h->entry_bytes;
	_cleanup_free_ uint8_t *buffer = malloc(PIECE_BYTES);
	uint32_t crc = UINT32_MAX;
	int r = buffer ? 0 : -ENOMEM;

	for (uint64_t done = 0; r >= 0 && done < total;) {
		size_t piece = total - done < PIECE_BYTES ? (size_t)(total - done) : PIECE_BYTES;

		r = dev_read(dev, h->entries_bytes + done, buffer, piece, NULL);
		if (r < 0)
			return r;
		crc = crc32_raw(crc, buffer, piece);
		for (size_t at = 0; t && r >= 0 && at < piece; at += h->entry_bytes)
			r = collect(t, buffer + at, h->entry_bytes, (uint32_t)((done + at) / h->entry_bytes) + 1);
		done += piece;
	}
	if (r >= 0)
		*ret_crc = ~crc;
	return r;
}

static const char *header_misplaced(const struct gpt_header *h, uint64_t offset_bytes, uint64_t device_bytes)
{
	uint64_t array_bytes = (uint64_t)h->entry_count * h->entry_bytes;

	if (h->offset_bytes != offset_bytes)
		return "it says that it lies somewhere else";
	if (!range_inside(h->entries_bytes, array_bytes, device_bytes))
		return "its entries lie beyond the end of the device";
	if (!h->entries_bytes || (h->entries_bytes < offset_bytes + h->header_bytes && offset_bytes < h->entries_bytes + array_bytes))
		return "its entries lie over the header or the MBR";
	return NULL;
}

/* Look for a copy at `offset_bytes`; its state goes to *ret. Fails with -ENOMEM only. */
static int read_copy(struct dev *dev, uint32_t unit_bytes, uint64_t offset_bytes, struct gpt_copy *ret)
{
	struct gpt_copy c = { .state = GPT_COPY_DAMAGED, .offset_bytes = offset_bytes };
	uint8_t buffer[GPT_HEADER_BYTES];
	uint32_t crc = 0;
	int r;

	*ret = (struct gpt_copy){ .state = GPT_COPY_ABSENT,
				  .offset_bytes = offset_bytes,
				  .reason = "it lies beyond the end of the device" };
	if (!range_inside(offset_bytes, unit_bytes, dev->size_bytes))
		return 0;
	*ret = (struct gpt_copy){ .state = GPT_COPY_UNREADABLE, .offset_bytes = offset_bytes, .reason = "it cannot be read" };
	if (dev_read(dev, offset_bytes, buffer, sizeof(buffer), NULL) < 0)
		return 0;
	r = gpt_decode_header(buffer, sizeof(buffer), unit_bytes, &c.header, &c.reason);
	if (r == BLKALIGN_NOT_THIS) {
		c.state = GPT_COPY_ABSENT;
		c.reason = "there is no GPT header";
	}
	if (r == 0)
		c.reason = header_misplaced(&c.header, offset_bytes, dev->size_bytes);
	if (!c.reason) {
		r = read_entries(dev, &c.header, NULL, &crc);
		if (r == -ENOMEM)
			return r;
		c.state = r < 0 ? GPT_COPY_UNREADABLE : crc == c.header.entries_crc32 ? GPT_COPY_OK : GPT_COPY_DAMAGED;
		c.reason = r < 0 ? "its entries cannot be read" : c.state == GPT_COPY_OK ? NULL : "the checksum of its entries is wrong";
	}
	*ret = c;
	return 0;
}

/* Where the primary says, and, when that is not it, at the last LBA, where it belongs. */
static int read_backup(struct dev *dev, struct gpt_table *t)
{
	uint64_t last = round_down_u64(dev->size_bytes, t->unit_bytes) - t->unit_bytes;
	bool told = t->primary.state == GPT_COPY_OK && t->primary.header.alternate_bytes != last;
	struct gpt_copy at_last;
	int r = read_copy(dev, t->unit_bytes, told ? t->primary.header.alternate_bytes : last, &t->backup);

	if (r < 0 || !told || t->backup.state == GPT_COPY_OK)
		return r;
	r = read_copy(dev, t->unit_bytes, last, &at_last);
	if (r == 0 && at_last.state == GPT_COPY_OK)
		t->backup = at_last;
	return r;
}

static bool headers_differ(const struct gpt_header *a, const struct gpt_header *b)
{
	return a->entries_crc32 != b->entries_crc32 || a->entry_count != b->entry_count || a->entry_bytes != b->entry_bytes ||
	       memcmp(a->disk_guid, b->disk_guid, sizeof(a->disk_guid)) != 0;
}

/* Believe a copy and read its entries. They were read before for their checksum; a failing disk may refuse the second time. */
static int read_chosen(struct dev *dev, struct gpt_table *t)
{
	for (;;) {
		bool primary = t->primary.state == GPT_COPY_OK;
		struct gpt_copy *chosen = primary ? &t->primary : &t->backup;
		uint32_t crc;
		int r;

		t->choice = chosen->state != GPT_COPY_OK ? GPT_CHOICE_NONE : primary ? GPT_CHOICE_PRIMARY : GPT_CHOICE_BACKUP;
		if (t->choice == GPT_CHOICE_NONE)
			return BLKALIGN_NOT_THIS;
		r = read_entries(dev, &chosen->header, t, &crc);
		if (r == 0 || r == -ENOMEM)
			return r;
		chosen->state = GPT_COPY_UNREADABLE;
		chosen->reason = "its entries cannot be read";
		vec_done(&t->entries);
	}
}

int gpt_read(struct dev *dev, uint32_t unit_bytes, struct gpt_table *ret, struct blkalign_error *reterr)
{
	struct gpt_table t = { .unit_bytes = unit_bytes };
	int r;

	assert(is_power_of_2(unit_bytes) && unit_bytes >= 512 && unit_bytes <= 4096);
	*ret = t;
	ret->primary.reason = ret->backup.reason = "the device is too small";
	if (dev->size_bytes < 3 * (uint64_t)unit_bytes)
		return BLKALIGN_NOT_THIS;
	r = read_copy(dev, unit_bytes, unit_bytes, &t.primary);
	if (r == 0)
		r = read_backup(dev, &t);
	t.differ = t.primary.state == GPT_COPY_OK && t.backup.state == GPT_COPY_OK && headers_differ(&t.primary.header, &t.backup.header);
	if (r == 0)
		r = read_chosen(dev, &t);
	if (r < 0) {
		gpt_table_done(&t);
		return blkalign_error_set(reterr, r, dev->name, unit_bytes, "no memory for the partition table");
	}
	*ret = t;
	return r;
}

void gpt_table_done(struct gpt_table *table) { vec_done(&table->entries); }
