/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps changed, written, and turned into ranges. */
#include <inttypes.h>

#include "format/ddrescue/ddrescue.h"

static uint64_t end_of(const struct ddrescue_block *block) { return block->offset_bytes + block->length_bytes; }

void ddrescue_encode(const struct ddrescue_map *map, const char *program, struct strbuf *ret)
{
	strbuf_printf(ret,
		      "# Mapfile. Created by %s\n# current_pos  current_status  current_pass\n0x%08" PRIX64 "     %c               1\n",
		      program, map->position_bytes, map->state);
	strbuf_add(ret, "#      pos        size  status\n");
	for (size_t i = 0; i < map->blocks.count; i++)
		strbuf_printf(ret, "0x%08" PRIX64 "  0x%08" PRIX64 "  %c\n", map->blocks.data[i].offset_bytes,
			      map->blocks.data[i].length_bytes, map->blocks.data[i].status);
}

/* Append, joined with what is alike. There is room. */
static void put(struct ddrescue_map *map, uint64_t begin, uint64_t end, char status)
{
	struct ddrescue_block *last = map->blocks.count ? &map->blocks.data[map->blocks.count - 1] : NULL;

	if (begin >= end)
		return;
	if (last && last->status == status && end_of(last) == begin)
		last->length_bytes += end - begin;
	else
		map->blocks.data[map->blocks.count++] = (struct ddrescue_block){ begin, end - begin, status };
}

static int make_room(struct ddrescue_map *map, size_t count)
{
	struct ddrescue_block none = { 0 };
	size_t before = map->blocks.count;
	int r = 0;

	while (r == 0 && map->blocks.count < before + count)
		r = vec_push(&map->blocks, none);
	map->blocks.count = before;
	return r;
}

int ddrescue_cover(struct ddrescue_map *map, uint64_t begin_bytes, uint64_t end_bytes)
{
	struct ddrescue_block *blocks;

	if (make_room(map, 2) < 0)
		return -ENOMEM;
	if (!map->blocks.count) {
		put(map, begin_bytes, end_bytes, DDRESCUE_NOT_TRIED);
		return 0;
	}
	blocks = map->blocks.data;
	if (begin_bytes < blocks->offset_bytes && blocks->status == DDRESCUE_NOT_TRIED) {
		blocks->length_bytes += blocks->offset_bytes - begin_bytes;
		blocks->offset_bytes = begin_bytes;
	} else if (begin_bytes < blocks->offset_bytes) {
		memmove(blocks + 1, blocks, map->blocks.count++ * sizeof(*blocks));
		*blocks = (struct ddrescue_block){ begin_bytes, blocks[1].offset_bytes - begin_bytes, DDRESCUE_NOT_TRIED };
	}
	put(map, end_of(&blocks[map->blocks.count - 1]), end_bytes, DDRESCUE_NOT_TRIED);
	return 0;
}

size_t ddrescue_find(const struct ddrescue_map *map, uint64_t offset_bytes)
{
	size_t low = 0, high = map->blocks.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (end_of(&map->blocks.data[middle]) > offset_bytes)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int ddrescue_set(struct ddrescue_map *map, uint64_t offset_bytes, uint64_t length_bytes, char status)
{
	uint64_t end = offset_bytes + length_bytes;
	struct ddrescue_block rest[5];
	struct ddrescue_map changed = { .blocks = { .data = rest, .count = 0, .room = ARRAY_SIZE(rest) } };
	struct ddrescue_block first, last;
	size_t from, to, tail;

	if (!length_bytes)
		return 0;
	if (make_room(map, 2) < 0)
		return -ENOMEM;
	from = ddrescue_find(map, offset_bytes);
	to = ddrescue_find(map, end - 1) + 1;
	first = map->blocks.data[from];
	last = map->blocks.data[to - 1];
	/* The neighbours come along, so that what is alike is joined. */
	if (from > 0) {
		from--;
		put(&changed, map->blocks.data[from].offset_bytes, end_of(&map->blocks.data[from]), map->blocks.data[from].status);
	}
	put(&changed, first.offset_bytes, offset_bytes, first.status);
	put(&changed, offset_bytes, end, status);
	put(&changed, end, end_of(&last), last.status);
	if (to < map->blocks.count) {
		put(&changed, map->blocks.data[to].offset_bytes, end_of(&map->blocks.data[to]), map->blocks.data[to].status);
		to++;
	}
	tail = map->blocks.count - to;
	memmove(&map->blocks.data[from + changed.blocks.count], &map->blocks.data[to], tail * sizeof(*rest));
	memcpy(&map->blocks.data[from], rest, changed.blocks.count * sizeof(*rest));
	map->blocks.count = from + changed.blocks.count + tail;
	return 0;
}

/* Ranges that touch become one. There is room. */
static void add_range(struct byte_range *ranges, size_t *count, uint64_t begin, uint64_t end, uint64_t size_bytes)
{
	struct byte_range *last = *count ? &ranges[*count - 1] : NULL;

	if (end > size_bytes)
		end = size_bytes;
	if (begin >= end)
		return;
	if (last && last->offset_bytes + last->length_bytes == begin)
		last->length_bytes += end - begin;
	else
		ranges[(*count)++] = (struct byte_range){ begin, end - begin };
}

int ddrescue_unfinished(const struct ddrescue_map *map, uint64_t size_bytes, struct byte_range **ret_ranges, size_t *ret_count)
{
	struct byte_range *ranges = calloc(map->blocks.count + 2, sizeof(*ranges));
	uint64_t covered = 0;

	if (!ranges)
		return -ENOMEM;
	*ret_count = 0;
	for (size_t i = 0; i < map->blocks.count; i++) {
		const struct ddrescue_block *block = &map->blocks.data[i];

		add_range(ranges, ret_count, covered, block->offset_bytes, size_bytes);
		if (block->status != DDRESCUE_FINISHED)
			add_range(ranges, ret_count, block->offset_bytes, end_of(block), size_bytes);
		covered = end_of(block);
	}
	add_range(ranges, ret_count, covered, size_bytes, size_bytes);
	*ret_ranges = ranges;
	return 0;
}
