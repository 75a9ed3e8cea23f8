/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/ddrescue/ddrescue.h"

struct words {
	const char *at[4]; /* not terminated */
	size_t length[4];
	unsigned count; /* 4: more than any line has */
};

static void split(const char *line, size_t length, struct words *ret)
{
	size_t i = 0;

	*ret = (struct words){ .count = 0 };
	while (ret->count < ARRAY_SIZE(ret->at)) {
		while (i < length && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
			i++;
		if (i == length)
			return;
		ret->at[ret->count] = line + i;
		while (i < length && line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			i++;
		ret->length[ret->count] = (size_t)(line + i - ret->at[ret->count]);
		ret->count++;
	}
}

/* Positions are signed 64-bit numbers in ddrescue. */
static bool number(const struct words *words, unsigned which, uint64_t *ret)
{
	char text[32], *end;
	size_t length = words->length[which];

	if (length >= sizeof(text))
		return false;
	memcpy(text, words->at[which], length);
	text[length] = '\0';
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 0);
	return !errno && !*end && *ret <= INT64_MAX;
}

static bool status(const struct words *words, unsigned which, const char *allowed, char *ret)
{
	*ret = *words->at[which];
	return words->length[which] == 1 && *ret && strchr(allowed, *ret);
}

static bool take_status_line(const struct words *words, struct ddrescue_map *map)
{
	uint64_t pass;

	return (words->count == 2 || words->count == 3) && number(words, 0, &map->position_bytes) &&
	       status(words, 1, "?*/-FG+", &map->state) && (words->count == 2 || number(words, 2, &pass));
}

/* 0, -EBADMSG or -ENOMEM. */
static int take_block(const struct words *words, struct ddrescue_map *map)
{
	struct ddrescue_block block, *last = map->blocks.count ? &map->blocks.data[map->blocks.count - 1] : NULL;
	uint64_t end;

	if (words->count != 3 || !number(words, 0, &block.offset_bytes) || !number(words, 1, &block.length_bytes) ||
	    !status(words, 2, "?*/-+", &block.status))
		return -EBADMSG;
	if (!block.length_bytes || !u64_add(block.offset_bytes, block.length_bytes, &end) || end > INT64_MAX)
		return -EBADMSG;
	if (last && block.offset_bytes != last->offset_bytes + last->length_bytes)
		return -EBADMSG;
	if (last && block.status == last->status) {
		last->length_bytes += block.length_bytes;
		return 0;
	}
	return vec_push(&map->blocks, block);
}

static int take_line(const char *line, size_t length, bool *seen_status, struct ddrescue_map *map)
{
	struct words words;

	split(line, length, &words);
	if (!words.count || *words.at[0] == '#')
		return 0;
	if (*seen_status)
		return take_block(&words, map);
	*seen_status = true;
	return take_status_line(&words, map) ? 0 : -EBADMSG;
}

static int refuse(uint64_t line, const char *what, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, -EBADMSG, "map file", line, "line %llu of the ddrescue map file %s", (unsigned long long)line,
				  what);
}

int ddrescue_decode(const char *text, size_t length, struct ddrescue_map *ret, struct blkalign_error *reterr)
{
	bool seen_status = false;
	uint64_t line = 1;
	int r = 0;

	*ret = (struct ddrescue_map){ .state = DDRESCUE_NOT_TRIED };
	for (size_t i = 0, end; r == 0 && i < length; i = end + 1, line++) {
		const char *feed = memchr(text + i, '\n', length - i);

		end = feed ? (size_t)(feed - text) : length;
		r = take_line(text + i, end - i, &seen_status, ret);
		if (r == -EBADMSG)
			refuse(line,
			       ret->blocks.count ? "is not a block (position, size, status) that begins where the one before ends"
						 : "is neither a status (position, status) nor a block (position, size, status)",
			       reterr);
	}
	if (r == 0 && !ret->blocks.count)
		r = refuse(line - (line > 1), "is the last, and there was no block: is this a map file?", reterr);
	if (r < 0)
		ddrescue_map_done(ret);
	return r;
}

void ddrescue_map_done(struct ddrescue_map *map) { vec_done(&map->blocks); }
