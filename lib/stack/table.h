/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * A partition table as the stack sees it, whichever format it has. Inside of lib/stack/: table_gpt.c and table_mbr.c fill it, table_nodes.c makes
 * nodes of it, layer_table.c decides which is believed.
 */
#ifndef STACK_TABLE_H
#define STACK_TABLE_H

#include "stack/stack.h"

#define TABLE_PARTITIONS_MAX 256U /* what the kernel makes of one disk (include/linux/genhd.h, DISK_MAX_PARTS) */

/** Table units that occur: disks 512 and 4096, optical and camera media 2048, old magneto-optical media 1024. */
extern const uint32_t table_units[4];

struct table_part {
	uint32_t number;
	uint64_t start_bytes;
	uint64_t length_bytes;
	char type[37];	  /* type GUID or "0xNN" */
	const char *role; /* static */
	char id[37];	  /* "" when there is none */
	char name[112];	  /* "" when there is none */
};

struct table {
	const char *type; /* "gpt", "dos". Static */
	uint32_t unit_bytes;
	uint32_t nominal_bytes;	     /* the device's logical block */
	const char *state;	     /* as TABLE_STATE. Static */
	struct strbuf note;	     /* evidence: clauses separated by "; " */
	char id[37];		     /* "" when there is none */
	uint64_t first_usable_bytes; /* BLKALIGN_UNKNOWN when the format does not say */
	uint64_t made_for_bytes;     /* size of the device that the table was made for; BLKALIGN_UNKNOWN likewise */
	VEC(struct table_part) parts;
};

void table_done(struct table *table);
#define _cleanup_table_ _cleanup_(table_done)

/** A clause of the note. */
void table_say(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Role of a partition of this type GUID (lower case text). */
const char *part_role_gpt(const char *type_guid);
const char *part_role_mbr(uint8_t type);

/** How sure a table must be. */
enum table_trust {
	TABLE_USUAL,	    /* a device that usually has one */
	TABLE_BEYOND_DOUBT, /* inside a partition: file system boot sectors look like tables */
};

/**
 * The GPT of `dev` in its nominal unit or, with proof, in another. 0, BLKALIGN_NOT_THIS, -ENOMEM. Without a protective MBR
 * entry there is no GPT, as for the kernel; that is the caller's to look at. When both copies are bad, `ret` holds an empty table whose note says
 * why, and the result is BLKALIGN_NOT_THIS.
 */
int table_read_gpt(struct dev *dev, uint32_t nominal_bytes, enum table_trust trust, struct table *ret);
/** The MBR of `dev` in its nominal unit or, with proof, in another. 0, BLKALIGN_NOT_THIS, -EIO and the like, -ENOMEM. */
int table_read_mbr(struct dev *dev, uint32_t nominal_bytes, enum table_trust trust, struct table *ret);

/** The table as attributes of `host` and its partitions as nodes. What cannot be a partition of this device is said in the note. */
int table_make_nodes(struct stack *stack, struct blkalign_node *host, struct dev *dev, struct table *table);

#endif
