/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "crash.h"

static bool covers(const struct op *op, uint64_t sector)
{
	return op->kind == OP_WRITE && sector >= op->first && sector - op->first < op->count;
}

/* Acknowledged, and a flush that was asked for afterwards has succeeded by then. */
static bool settled(const struct history *h, size_t index, size_t moment)
{
	const struct op *op = &h->ops[index];

	if (op->result < 0)
		return false;
	if (moment == MOMENT_NO_CUT)
		return true;
	for (size_t i = index + 1; i < h->count; i++)
		if (h->ops[i].kind == OP_FLUSH && h->ops[i].result == 0 && h->ops[i].issued >= op->ended && h->ops[i].ended <= moment)
			return true;
	return false;
}

/* One behind the last settled write to the sector; *ret_tag is what it left. */
static size_t behind_settled(const struct history *h, uint64_t sector, size_t moment, uint32_t *ret_tag)
{
	for (size_t i = h->count; i-- > 0;)
		if (covers(&h->ops[i], sector) && settled(h, i, moment)) {
			*ret_tag = h->ops[i].tag;
			return i + 1;
		}
	*ret_tag = 0;
	return 0;
}

bool history_admits(const struct history *h, uint64_t sector, uint32_t tag, size_t moment)
{
	uint32_t settled_tag;
	size_t i = behind_settled(h, sector, moment, &settled_tag);

	if (tag == settled_tag)
		return true;
	for (; i < h->count; i++)
		if (covers(&h->ops[i], sector) && h->ops[i].issued < moment && h->ops[i].tag == tag)
			return true;
	return false;
}

bool history_in_flight(const struct history *h, uint64_t sector, size_t moment)
{
	uint32_t tag;

	for (size_t i = behind_settled(h, sector, moment, &tag); i < h->count; i++)
		if (covers(&h->ops[i], sector) && h->ops[i].issued < moment)
			return true;
	return false;
}
