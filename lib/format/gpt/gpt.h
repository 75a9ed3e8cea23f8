/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * GUID partition tables, both copies.
 *
 * A GPT counts in logical blocks of the host that wrote it; the unit is an input, and a table is found only where it would lie in
 * that unit: the primary at LBA 1, the backup where the primary says and at the last LBA. All results are bytes. Decoding is pure; gpt_read() uses
 * `dev` alone.
 */
#ifndef FORMAT_GPT_GPT_H
#define FORMAT_GPT_GPT_H

#include "dev/dev.h"

#define GPT_ENTRIES_MAX	 16384U
#define GPT_HEADER_BYTES 512U /* what gpt_decode_header() looks at: longer headers are refused */

struct gpt_header {
	uint32_t unit_bytes;
	uint32_t header_bytes;
	uint64_t offset_bytes;	  /* my LBA */
	uint64_t alternate_bytes; /* BLKALIGN_UNKNOWN when it does not fit 64 bits */
	uint64_t first_usable_bytes;
	uint64_t usable_end_bytes; /* exclusive */
	uint64_t entries_bytes;	   /* where the array lies */
	uint32_t entry_count;
	uint32_t entry_bytes;
	uint32_t entries_crc32;
	uint8_t disk_guid[16];
};

struct gpt_entry {
	uint32_t number;    /* 1 and up */
	char type_guid[37]; /* as text, mixed-endian as the specification says */
	char unique_guid[37];
	uint64_t start_bytes;
	uint64_t length_bytes; /* 0: last before first, or beyond 64 bits */
	uint64_t attributes;
	char name[112]; /* UTF-8 of at most 36 UTF-16 units */
};

enum gpt_copy_state {
	GPT_COPY_ABSENT,     /* no magic there, or the place is outside the device */
	GPT_COPY_UNREADABLE, /* read error */
	GPT_COPY_DAMAGED,    /* magic, but the header or its entries do not check */
	GPT_COPY_OK,
};

struct gpt_copy {
	enum gpt_copy_state state;
	uint64_t offset_bytes;	  /* where it was looked for */
	const char *reason;	  /* static; NULL when ok */
	struct gpt_header header; /* when ok */
};

enum gpt_choice { GPT_CHOICE_NONE, GPT_CHOICE_PRIMARY, GPT_CHOICE_BACKUP };

struct gpt_table {
	uint32_t unit_bytes;
	struct gpt_copy primary;
	struct gpt_copy backup;
	enum gpt_choice choice; /* the primary when it is ok */
	bool differ;		/* both are ok and do not describe the same partitions */
	VEC(struct gpt_entry) entries;
};

/**
 * Decode a header. 0; BLKALIGN_NOT_THIS without the magic; -EBADMSG for one that is damaged or says what cannot be, with `*ret_reason`
 * (static) set. `ret` is untouched unless 0 is returned.
 */
int gpt_decode_header(const uint8_t *buffer, size_t size, uint32_t unit_bytes, struct gpt_header *ret, const char **ret_reason);

/** Decode the entry of number `number` (`size` at least 128 bytes). 0, or BLKALIGN_ABSENT for an unused one. */
int gpt_decode_entry(const uint8_t *buffer, size_t size, uint32_t unit_bytes, uint32_t number, struct gpt_entry *ret);

/** 16 bytes as text: the first three fields of a GUID are little endian, the rest is bytes. */
void gpt_guid_format(char ret[37], const uint8_t guid[16]);

/** "ok", "damaged", "unreadable", "absent". Static. */
const char *gpt_copy_state_name(enum gpt_copy_state state);

/**
 * Read both copies in units of `unit_bytes` (512 to 4096, a power of 2). 0 when one of them is ok; BLKALIGN_NOT_THIS when neither is
 * (the states in `ret` say why: `ret` is filled in then, too); negative errno only for -ENOMEM. Free with gpt_table_done().
 */
int gpt_read(struct dev *dev, uint32_t unit_bytes, struct gpt_table *ret, struct blkalign_error *reterr);
void gpt_table_done(struct gpt_table *table);
#define _cleanup_gpt_table_ _cleanup_(gpt_table_done)

#endif
