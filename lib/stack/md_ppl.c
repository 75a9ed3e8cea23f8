/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parity that the partial parity logs of a dirty array complete, in place of that on the members, for readers. */
#include "keep/keep.h"
#include "stack/md.h"

#define SECTOR_BYTES 512U

/* Patches come in the order of the replay and may lie over each other: sector by sector the last one counts. */
struct sector {
	uint64_t at_bytes;
	size_t order;
	const uint8_t *data;
};

static int by_place(const void *a, const void *b)
{
	const struct sector *x = a, *y = b;

	if (x->at_bytes != y->at_bytes)
		return x->at_bytes < y->at_bytes ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int add_sector(struct md_patches *list, const struct sector *s)
{
	struct map_patch *last = list->count ? &list->data[list->count - 1] : NULL;

	if (last && last->range.offset_bytes + last->range.length_bytes == s->at_bytes &&
	    last->data + last->range.length_bytes == s->data) {
		last->range.length_bytes += SECTOR_BYTES;
		return 0;
	}
	return vec_push(list, ((struct map_patch){ .range = { s->at_bytes, SECTOR_BYTES }, .data = s->data }));
}

static int add_slot(const struct keep_patch *patches, size_t count, uint32_t slot, struct md_patches *list)
{
	VEC(struct sector) sectors = { 0 };
	int r = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; r == 0 && patches[i].data && patches[i].slot == slot && at + SECTOR_BYTES <= patches[i].length_bytes;
		     at += SECTOR_BYTES)
			r = vec_push(&sectors, ((struct sector){ patches[i].device_bytes + at, i, patches[i].data + at }));
	if (sectors.count)
		qsort(sectors.data, sectors.count, sizeof(*sectors.data), by_place);
	for (size_t i = 0; r == 0 && i < sectors.count; i++)
		if (i + 1 == sectors.count || sectors.data[i + 1].at_bytes != sectors.data[i].at_bytes)
			r = add_sector(list, &sectors.data[i]);
	vec_done(&sectors);
	return r;
}

static int add_slots(struct md_replay *replay, uint32_t slots)
{
	int r = 0;

	replay->members = calloc(slots, sizeof(*replay->members));
	replay->slots = slots;
	for (uint32_t i = 0; r == 0 && replay->members && i < slots; i++)
		r = add_slot(replay->parity, replay->parity_count, i, &replay->members[i]);
	return replay->members ? r : -ENOMEM;
}

/* Rows whose parity nobody can tell: the member that was written there is the one that is missing. */
static int add_untold(struct md_array *a, const struct keep_patch *patches, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		if (!patches[i].data)
			r = md_add_doubtful(a, patches[i].device_bytes, patches[i].device_bytes + patches[i].length_bytes);
	return r;
}

int md_replay_ppl(struct md_array *a, const char *name, const struct raid_geometry *g, struct md_replay *ret, struct blkalign_error *reterr)
{
	_cleanup_free_ struct keep_member *members = NULL;
	struct keep_array array = { .name = name, .geometry = g };
	int r = md_list_keep_members(a, &members, &array);

	*ret = (struct md_replay){ 0 };
	if (r == 0)
		r = keep_ppl_patches(&array, &ret->parity, &ret->parity_count, &a->log_whole, reterr);
	if (r == 0)
		r = add_slots(ret, g->members);
	if (r == 0 && a->log_whole)
		r = add_untold(a, ret->parity, ret->parity_count);
	if (r < 0)
		md_replay_done(ret);
	return r;
}
