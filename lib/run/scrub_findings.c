/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was found, in order of place, neighbours of a kind as one. */
#include "run/scrub.h"

static int by_place(const void *a, const void *b)
{
	const struct scrub_item *x = a, *y = b;

	if (x->sync_bytes != y->sync_bytes)
		return x->sync_bytes < y->sync_bytes ? -1 : 1;
	if (x->found.kind != y->found.kind)
		return x->found.kind < y->found.kind ? -1 : 1;
	return (x->found.slot > y->found.slot) - (x->found.slot < y->found.slot);
}

/* Mirrors: what follows on the member must follow in the array as well. Parity: a member's blocks of following stripes lie anywhere in the array. */
static bool follows(const struct scrub_item *a, const struct scrub_item *b, bool mirror)
{
	const struct blkalign_scrub_finding *x = &a->found, *y = &b->found;

	return x->kind == y->kind && x->verdict == y->verdict && x->slot == y->slot && !x->repaired_bytes == !y->repaired_bytes &&
	       x->member_bytes + x->length_bytes == y->member_bytes && (!mirror || x->array_last_bytes + 1 == y->array_first_bytes);
}

static void join(struct blkalign_scrub_finding *into, const struct blkalign_scrub_finding *from)
{
	into->length_bytes += from->length_bytes;
	into->repaired_bytes += from->repaired_bytes;
	if (from->array_first_bytes == BLKALIGN_UNKNOWN)
		return;
	if (into->array_first_bytes > from->array_first_bytes)
		into->array_first_bytes = from->array_first_bytes;
	if (into->array_last_bytes == BLKALIGN_UNKNOWN || into->array_last_bytes < from->array_last_bytes)
		into->array_last_bytes = from->array_last_bytes;
}

static bool joined(struct scrub_list *list, const struct scrub_item *item)
{
	for (size_t back = 1; back <= SCRUB_NEIGHBOURS && back <= list->items.count; back++) {
		struct scrub_item *before = &list->items.data[list->items.count - back];

		if (!follows(before, item, list->mirror))
			continue;
		join(&before->found, &item->found);
		return true;
	}
	return false;
}

int scrub_list_add(struct scrub_list *list, struct scrub_item *items, size_t count)
{
	if (count)
		qsort(items, count, sizeof(*items), by_place);
	for (size_t i = 0; i < count; i++) {
		if (joined(list, &items[i]))
			continue;
		if (list->items.count >= SCRUB_FINDINGS_MAX)
			list->dropped++;
		else if (vec_push(&list->items, items[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}
