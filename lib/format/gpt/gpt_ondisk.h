/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** GPT as it lies on disk (little endian; UEFI specification 2.10, section 5.3). */
#ifndef FORMAT_GPT_GPT_ONDISK_H
#define FORMAT_GPT_GPT_ONDISK_H

#include <assert.h>

#include "base/base.h"

#define GPT_MAGIC	     "EFI PART"
#define GPT_HEADER_MIN_BYTES 92U
#define GPT_ENTRY_MIN_BYTES  128U
#define GPT_ENTRY_MAX_BYTES  4096U
#define GPT_NAME_UNITS	     36U

struct gpt_ondisk_header {
	char magic[8];
	le32 revision;
	le32 header_bytes;
	le32 header_crc32; /* of header_bytes, with this field zero */
	le32 reserved;
	le64 my_lba;
	le64 alternate_lba;
	le64 first_usable_lba;
	le64 last_usable_lba; /* inclusive */
	uint8_t disk_guid[16];
	le64 entries_lba;
	le32 entry_count;
	le32 entry_bytes;
	le32 entries_crc32; /* of entry_count * entry_bytes */
};
static_assert(sizeof(struct gpt_ondisk_header) == GPT_HEADER_MIN_BYTES, "GPT header");
static_assert(offsetof(struct gpt_ondisk_header, entries_crc32) == 88, "GPT entries CRC");

struct gpt_ondisk_entry {
	uint8_t type_guid[16]; /* zero: unused */
	uint8_t unique_guid[16];
	le64 first_lba;
	le64 last_lba; /* inclusive */
	le64 attributes;
	le16 name[GPT_NAME_UNITS]; /* UTF-16 */
};
static_assert(sizeof(struct gpt_ondisk_entry) == GPT_ENTRY_MIN_BYTES, "GPT entry");
static_assert(offsetof(struct gpt_ondisk_entry, name) == 56, "GPT entry name");

#endif
