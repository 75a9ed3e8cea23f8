/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * MBR (DOS) partition tables with their extended chain.
 *
 * The table counts in logical blocks of the host that wrote it and does not say how long they are, so the unit is an input. All results
 * are bytes. Numbers are the kernel's: 1 to 4 by slot, logical partitions from 5 in the order of the chain
 * (block/partitions/msdos.c, parse_extended). Pure functions of their input; mbr_read() uses `dev` alone.
 */
#ifndef FORMAT_MBR_MBR_H
#define FORMAT_MBR_MBR_H

#include "dev/dev.h"

#define MBR_SECTOR_BYTES  512U
#define MBR_CHAIN_MAX	  1024U /* extended boot records followed */
#define MBR_FIRST_LOGICAL 5U

#define MBR_TYPE_PROTECTIVE 0xeeU

/** One used slot of a sector, in the table's unit and relative to what its place says. */
struct mbr_entry {
	uint32_t slot; /* 0 to 3 */
	uint8_t type;
	bool active;
	uint32_t start_lba;
	uint32_t count_lba;
};

/** A decoded MBR or extended boot record: used slots only (type and length not 0). */
struct mbr_sector {
	uint32_t disk_id;
	struct mbr_entry entries[4];
	size_t count;
};

enum mbr_chain_state {
	MBR_CHAIN_NONE, /* no extended partition */
	MBR_CHAIN_OK,
	MBR_CHAIN_UNREADABLE, /* read error at chain_stop_bytes */
	MBR_CHAIN_OUTSIDE,    /* the link leads beyond the device */
	MBR_CHAIN_DAMAGED,    /* no extended boot record where the link leads */
	MBR_CHAIN_LOOP,	      /* the link leads to a record seen before */
	MBR_CHAIN_TOO_LONG,   /* more than MBR_CHAIN_MAX records */
};

struct mbr_partition {
	uint32_t number;
	uint8_t type;
	bool active;
	bool extended; /* container of logical partitions */
	uint64_t start_bytes;
	uint64_t length_bytes;
};

struct mbr_table {
	uint32_t unit_bytes;
	uint32_t disk_id; /* 0: none */
	bool protective;  /* a slot of type 0xEE: the GPT rules */
	enum mbr_chain_state chain;
	uint64_t chain_stop_bytes; /* where the chain could not be followed; BLKALIGN_UNKNOWN when it could */
	VEC(struct mbr_partition) partitions;
};

/**
 * Decode one sector. BLKALIGN_NOT_THIS without the signature, with a boot indicator that is neither 0 nor 0x80 (boot code, not a
 * table), or when the sector is a file system's boot sector. `ret` is untouched unless 0 is returned.
 */
int mbr_decode(const uint8_t *buffer, size_t size, struct mbr_sector *ret);

/** A file system's boot sector (FAT, exFAT, NTFS, BitLocker): it ends with the same two bytes and is no table. */
bool mbr_is_boot_sector(const uint8_t *buffer, size_t size);

/** 0x05, 0x0f, 0x85. */
bool mbr_type_is_extended(uint8_t type);

/** "ok", "loops", ... Static, for messages. */
const char *mbr_chain_name(enum mbr_chain_state state);

/**
 * Read the table at byte 0 of `dev` with its chain, in units of `unit_bytes` (512 to 4096, a power of 2). 0, BLKALIGN_NOT_THIS, or negative
 * errno (-EIO: the first sector cannot be read). Damage in the chain is a state, not a failure. Free with mbr_table_done().
 */
int mbr_read(struct dev *dev, uint32_t unit_bytes, struct mbr_table *ret, struct blkalign_error *reterr);
void mbr_table_done(struct mbr_table *table);
#define _cleanup_mbr_table_ _cleanup_(mbr_table_done)

#endif
