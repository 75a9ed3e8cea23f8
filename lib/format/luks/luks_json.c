/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JSON part of a LUKS2 header. The text comes from the disk: what its tree would cost is bounded before json-c builds it.
 */
#include <json-c/json.h>
#include <stdio.h>

#include "format/luks/luks.h"

static int damaged(struct blkalign_error *reterr, const char *what)
{
	return blkalign_error_set(reterr, -EBADMSG, NULL, BLKALIGN_UNKNOWN, "LUKS2 JSON: %s", what);
}

static bool affordable(const char *text, size_t length)
{
	uint32_t tokens = 0;

	for (size_t i = 0; i < length && tokens <= LUKS_JSON_TOKENS_MAX; i++)
		tokens += text[i] == '{' || text[i] == '[' || text[i] == ',';
	return tokens <= LUKS_JSON_TOKENS_MAX;
}

/* Numbers that may pass 2^53 are strings in LUKS2: decimal digits only. */
static bool decimal(const char *text, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*text)
		return false;
	for (; *text; text++)
		if (*text < '0' || *text > '9' || !u64_mul(v, 10, &v) || !u64_add(v, (uint64_t)(*text - '0'), &v))
			return false;
	*ret = v;
	return true;
}

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(object, key, &v) && json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

/* During re-encryption extra segments keep the state before and after; they are flagged "backup-...". */
static bool is_backup(struct json_object *segment)
{
	struct json_object *flags;

	if (!json_object_object_get_ex(segment, "flags", &flags) || !json_object_is_type(flags, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(flags); i++) {
		struct json_object *flag = json_object_array_get_idx(flags, i);

		if (json_object_is_type(flag, json_type_string) && strncmp(json_object_get_string(flag), "backup-", 7) == 0)
			return true;
	}
	return false;
}

/* The data segment: of those that hold data now the one with the lowest number. */
static struct json_object *data_segment(struct json_object *segments, uint32_t *ret_count)
{
	struct json_object *best = NULL;
	uint64_t best_number = UINT64_MAX, number;

	json_object_object_foreach(segments, key, segment)
	{
		++*ret_count;
		if (!json_object_is_type(segment, json_type_object) || is_backup(segment))
			continue;
		if (decimal(key, &number) && number < best_number) {
			best = segment;
			best_number = number;
		}
	}
	return best;
}

static int decode_segment(struct json_object *segment, struct luks_header *h, struct blkalign_error *reterr)
{
	const char *offset = text_of(segment, "offset"), *size = text_of(segment, "size");
	const char *type = text_of(segment, "type"), *cipher = text_of(segment, "encryption");
	struct json_object *sector;
	int64_t sector_bytes = 512;

	if (!offset || !decimal(offset, &h->payload_offset_bytes))
		return damaged(reterr, "the data segment has no valid offset");
	if (!size || (strcmp(size, "dynamic") != 0 && !decimal(size, &h->payload_bytes)))
		return damaged(reterr, "the data segment has no valid size");
	if (!type)
		return damaged(reterr, "the data segment has no type");
	if (json_object_object_get_ex(segment, "sector_size", &sector))
		sector_bytes = json_object_is_type(sector, json_type_int) ? json_object_get_int64(sector) : 0;
	if (sector_bytes < 512 || sector_bytes > 4096 || !is_power_of_2((uint64_t)sector_bytes))
		return damaged(reterr, "the data segment has an impossible sector size");
	if (h->payload_offset_bytes % 512)
		return damaged(reterr, "the data segment does not start at a sector");
	h->sector_bytes = (uint32_t)sector_bytes;
	snprintf(h->cipher, sizeof(h->cipher), "%s", cipher ? cipher : "");
	return 0;
}

static int decode_root(struct json_object *root, struct luks_header *h, struct blkalign_error *reterr)
{
	struct json_object *segments, *segment;

	if (!json_object_is_type(root, json_type_object) || !json_object_object_get_ex(root, "segments", &segments) ||
	    !json_object_is_type(segments, json_type_object))
		return damaged(reterr, "no segments");
	segment = data_segment(segments, &h->segments);
	return segment ? decode_segment(segment, h, reterr) : damaged(reterr, "no data segment");
}

int luks2_decode_json(const char *text, size_t length, struct luks_header *header, struct blkalign_error *reterr)
{
	size_t used = strnlen(text, length);
	struct json_tokener *tokener;
	struct json_object *root;
	int r;

	if (used == length)
		return damaged(reterr, "not terminated");
	if (!affordable(text, used))
		return damaged(reterr, "more elements than any header needs");
	tokener = json_tokener_new_ex(LUKS_JSON_DEPTH_MAX);
	if (!tokener)
		return -ENOMEM;
	root = json_tokener_parse_ex(tokener, text, (int)used + 1);
	r = root ? decode_root(root, header, reterr) : damaged(reterr, json_tokener_error_desc(json_tokener_get_error(tokener)));
	json_object_put(root);
	json_tokener_free(tokener);
	return r;
}
