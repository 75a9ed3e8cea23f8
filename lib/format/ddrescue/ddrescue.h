/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Map files of GNU ddrescue: what was read of a device, and what could not be. The format is that of the ddrescue manual (chapter "Mapfile structure"):
 * comments with '#', a status line "position status pass", then "position size status" for blocks that follow each other without a gap. Numbers are decimal, octal
 * ("0..."), or hexadecimal ("0x...").
 */
#ifndef FORMAT_DDRESCUE_H
#define FORMAT_DDRESCUE_H

#include "base/base.h"
#include "dev/dev.h"

/** Status of a block, as it is written. */
#define DDRESCUE_NOT_TRIED   '?'
#define DDRESCUE_NOT_TRIMMED '*' /* could not be read in large pieces */
#define DDRESCUE_NOT_SCRAPED '/'
#define DDRESCUE_BAD	     '-' /* could not be read sector by sector */
#define DDRESCUE_FINISHED    '+'

struct ddrescue_block {
	uint64_t offset_bytes;
	uint64_t length_bytes;
	char status;
};

struct ddrescue_map {
	VEC(struct ddrescue_block) blocks; /* each begins where the one before ends */
	uint64_t position_bytes;	   /* where the program was */
	char state;			   /* and what it was doing: as a status, 'F' filling, 'G' generating */
};

/** -EBADMSG with the line in `reterr` (as offset: its number). The map is empty then. */
int ddrescue_decode(const char *text, size_t length, struct ddrescue_map *ret, struct blkalign_error *reterr);
void ddrescue_map_done(struct ddrescue_map *map);
#define _cleanup_ddrescue_map_ _cleanup_(ddrescue_map_done)
/** The map as ddrescue writes it. `program` is for people: "blkalign 0.2.0". */
void ddrescue_encode(const struct ddrescue_map *map, const char *program, struct strbuf *ret);

/** Let the map have [begin, end), as DDRESCUE_NOT_TRIED where it had nothing. -ENOMEM. */
int ddrescue_cover(struct ddrescue_map *map, uint64_t begin_bytes, uint64_t end_bytes);
/** The number of the block that has the byte, when the map has it. */
size_t ddrescue_find(const struct ddrescue_map *map, uint64_t offset_bytes);
/** [offset, offset + length), which the map has, gets this status; neighbours that are alike become one. -ENOMEM. */
int ddrescue_set(struct ddrescue_map *map, uint64_t offset_bytes, uint64_t length_bytes, char status);

/**
 * What of a device of `size_bytes` is not finished, by what the map says and by what it does not mention: ascending, apart from each other, freed by the caller
 * with free(). -ENOMEM.
 */
int ddrescue_unfinished(const struct ddrescue_map *map, uint64_t size_bytes, struct byte_range **ret_ranges, size_t *ret_count);

#endif
