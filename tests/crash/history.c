/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "crash.h"

static bool covers(const struct op *op, uint64_t sector)
{
	return op->kind == OP_WRITE && sector >= op->first && sector - op->first < op->count;
}

/* Acknowledged, and a flush that was asked for afterwards has succeeded by then; the first one, for what it did not cover no later one does. */
static bool settled(const struct history *h, size_t index, size_t moment)
{
	const struct op *op = &h->ops[index];

	if (op->result < 0 || op->before)
		return op->result == 0;
	if (h->killed)
		return op->ended <= moment;
	for (size_t i = index + 1; i < h->count; i++) {
		const struct op *flush = &h->ops[i];

		if (flush->kind != OP_FLUSH || flush->issued < op->ended)
			continue;
		if (flush->result < 0)
			return false;
		if (flush->ended <= moment)
			return true;
	}
	return false;
}

/* Who is killed may be so within a write, the number of which is the moment. */
static bool asked_for(const struct history *h, const struct op *op, size_t moment)
{
	return op->before || op->issued < moment || (h->killed && op->issued == moment);
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
		if (covers(&h->ops[i], sector) && asked_for(h, &h->ops[i], moment) && h->ops[i].tag == tag)
			return true;
	return false;
}

bool history_in_flight(const struct history *h, uint64_t sector, size_t moment)
{
	uint32_t tag;

	for (size_t i = behind_settled(h, sector, moment, &tag); i < h->count; i++)
		if (covers(&h->ops[i], sector) && asked_for(h, &h->ops[i], moment))
			return true;
	return false;
}

bool history_torn(const struct history *h, uint64_t sector)
{
	for (size_t i = 0; i < h->count; i++)
		if (covers(&h->ops[i], sector) && h->ops[i].before && h->ops[i].result < 0)
			return true;
	return false;
}

bool history_rewritten(const struct history *h, uint64_t sector, size_t moment)
{
	for (size_t i = 0; i < h->count; i++)
		if (covers(&h->ops[i], sector) && !h->ops[i].before && settled(h, i, moment))
			return true;
	return false;
}

bool history_has(const struct history *h, enum op_kind kind, size_t moment)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->ops[i].kind == kind && h->ops[i].result == 0 && h->ops[i].ended <= moment)
			return true;
	return false;
}

bool history_reused(const struct history *h)
{
	for (size_t i = 0; i + 1 < h->count; i++)
		if (h->ops[i].kind == OP_FLUSH && h->ops[i].result < 0)
			return true;
	return false;
}

void history_carry(struct history *h, size_t moment)
{
	struct history left = { .target = h->target, .holes = h->holes };

	for (size_t i = 0; i < h->count; i++) {
		struct op *op = &left.ops[left.count];

		if (h->ops[i].kind != OP_WRITE || !asked_for(h, &h->ops[i], moment))
			continue;
		*op = h->ops[i];
		op->result = settled(h, i, moment) ? 0 : -EIO;
		op->before = op->said = true;
		op->issued = op->ended = 0;
		left.count++;
	}
	*h = left;
}
