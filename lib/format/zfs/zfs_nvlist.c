/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pairs carry their encoded size, so that lists within lists are skipped, never descended into: no recursion, one pass. */
#include "format/zfs/zfs_ondisk.h"

#define PAIR_HEADER 12U /* encoded size, decoded size, length of the name */
#define PAIR_TAIL   8U	/* type, elements */

static uint64_t padded(uint32_t length) { return ((uint64_t)length + 3) & ~UINT64_C(3); }

bool nvpair_next(const uint8_t *data, size_t size, size_t *at, struct nvpair *ret)
{
	const uint8_t *p = data + *at, *after_name;
	uint32_t encoded, name_length;

	if (!range_inside(*at, PAIR_HEADER, size))
		return false;
	encoded = load_be32(p);
	name_length = load_be32(p + 8);
	if (!range_inside(*at, encoded, size) || PAIR_HEADER + padded(name_length) + PAIR_TAIL > encoded)
		return false;
	after_name = p + PAIR_HEADER + padded(name_length);
	*ret = (struct nvpair){
		.name = p + PAIR_HEADER,
		.name_length = name_length,
		.type = load_be32(after_name),
		.elements = load_be32(after_name + 4),
		.value = after_name + PAIR_TAIL,
		.value_length = encoded - (size_t)(after_name + PAIR_TAIL - p),
	};
	*at += encoded;
	return true;
}

static bool is(const struct nvpair *pair, const char *name, uint32_t type)
{
	return pair->type == type && pair->name_length == strlen(name) && !memcmp(pair->name, name, pair->name_length);
}

bool nvpair_u64(const struct nvpair *pair, const char *name, uint64_t *ret)
{
	if (!is(pair, name, NV_TYPE_UINT64) || pair->value_length < 8)
		return false;
	*ret = load_be64(pair->value);
	return true;
}

bool nvpair_string(const struct nvpair *pair, const char *name, const uint8_t **ret, size_t *ret_length)
{
	if (!is(pair, name, NV_TYPE_STRING) || pair->value_length < 4 || load_be32(pair->value) > pair->value_length - 4)
		return false;
	*ret = pair->value + 4;
	*ret_length = load_be32(pair->value);
	return true;
}

bool nvpair_is_list(const struct nvpair *pair, const char *name, uint32_t type) { return is(pair, name, type); }
