/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>

#include "format/gpt/gpt.h"
#include "format/gpt/gpt_ondisk.h"

static const char *header_fault(const uint8_t *buffer, const struct gpt_ondisk_header *raw)
{
	uint32_t header_bytes = le32_get(raw->header_bytes), entry_bytes = le32_get(raw->entry_bytes);
	uint32_t count = le32_get(raw->entry_count);
	uint8_t copy[GPT_HEADER_BYTES];

	if (header_bytes < GPT_HEADER_MIN_BYTES || header_bytes > GPT_HEADER_BYTES)
		return "its header size is impossible";
	memcpy(copy, buffer, header_bytes);
	memset(copy + offsetof(struct gpt_ondisk_header, header_crc32), 0, sizeof(raw->header_crc32));
	if (crc32_zlib(copy, header_bytes) != le32_get(raw->header_crc32))
		return "its header checksum is wrong";
	if (entry_bytes < GPT_ENTRY_MIN_BYTES || entry_bytes > GPT_ENTRY_MAX_BYTES || !is_power_of_2(entry_bytes))
		return "its entry size is impossible";
	if (!count || count > GPT_ENTRIES_MAX)
		return "its number of entries is impossible";
	return NULL;
}

/* Every LBA to bytes; false when one that is needed does not fit. The alternate may lie anywhere: the device may have shrunk. */
static bool header_places(const struct gpt_ondisk_header *raw, struct gpt_header *h)
{
	uint64_t unit = h->unit_bytes, last;

	h->alternate_bytes = BLKALIGN_UNKNOWN;
	u64_mul(le64_get(raw->alternate_lba), unit, &h->alternate_bytes);
	return u64_mul(le64_get(raw->my_lba), unit, &h->offset_bytes) &&
	       u64_mul(le64_get(raw->first_usable_lba), unit, &h->first_usable_bytes) &&
	       u64_add(le64_get(raw->last_usable_lba), 1, &last) && u64_mul(last, unit, &h->usable_end_bytes) &&
	       u64_mul(le64_get(raw->entries_lba), unit, &h->entries_bytes);
}

int gpt_decode_header(const uint8_t *buffer, size_t size, uint32_t unit_bytes, struct gpt_header *ret, const char **ret_reason)
{
	struct gpt_header h = { .unit_bytes = unit_bytes };
	struct gpt_ondisk_header raw;
	const char *fault;

	if (size < GPT_HEADER_BYTES || memcmp(buffer, GPT_MAGIC, sizeof(raw.magic)) != 0)
		return BLKALIGN_NOT_THIS;
	memcpy(&raw, buffer, sizeof(raw));
	fault = header_fault(buffer, &raw);
	if (!fault && !header_places(&raw, &h))
		fault = "it points beyond what 64 bits can count";
	if (fault) {
		*ret_reason = fault;
		return -EBADMSG;
	}
	h.header_bytes = le32_get(raw.header_bytes);
	h.entry_count = le32_get(raw.entry_count);
	h.entry_bytes = le32_get(raw.entry_bytes);
	h.entries_crc32 = le32_get(raw.entries_crc32);
	memcpy(h.disk_guid, raw.disk_guid, sizeof(h.disk_guid));
	*ret = h;
	return 0;
}

void gpt_guid_format(char ret[37], const uint8_t guid[16])
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	uint8_t straight[16];

	for (size_t i = 0; i < sizeof(straight); i++)
		straight[i] = guid[order[i]];
	uuid_format(ret, straight);
}

static_assert(sizeof(((struct gpt_entry *)0)->name) > (size_t)3 * GPT_NAME_UNITS, "room for the longest name");

int gpt_decode_entry(const uint8_t *buffer, size_t size, uint32_t unit_bytes, uint32_t number, struct gpt_entry *ret)
{
	static const uint8_t unused[16];
	struct gpt_ondisk_entry raw;
	struct gpt_entry e = { .number = number };
	uint64_t first, last, end;

	if (size < sizeof(raw))
		return BLKALIGN_ABSENT;
	memcpy(&raw, buffer, sizeof(raw));
	if (memcmp(raw.type_guid, unused, sizeof(unused)) == 0)
		return BLKALIGN_ABSENT;
	first = le64_get(raw.first_lba);
	last = le64_get(raw.last_lba);
	e.start_bytes = BLKALIGN_UNKNOWN;
	if (u64_mul(first, unit_bytes, &e.start_bytes) && last >= first && u64_add(last, 1, &end) && u64_mul(end, unit_bytes, &end))
		e.length_bytes = end - e.start_bytes;
	e.attributes = le64_get(raw.attributes);
	gpt_guid_format(e.type_guid, raw.type_guid);
	gpt_guid_format(e.unique_guid, raw.unique_guid);
	utf8_from_utf16le(e.name, sizeof(e.name), (const uint8_t *)raw.name, sizeof(raw.name));
	*ret = e;
	return 0;
}

const char *gpt_copy_state_name(enum gpt_copy_state state)
{
	static const char *const names[] = {
		[GPT_COPY_ABSENT] = "absent",
		[GPT_COPY_UNREADABLE] = "unreadable",
		[GPT_COPY_DAMAGED] = "damaged",
		[GPT_COPY_OK] = "ok",
	};

	return names[state];
}
