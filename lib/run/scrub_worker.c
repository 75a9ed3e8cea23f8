/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One thread's share of a scrub. */
#include "run/scrub.h"

/* All blocks of a worker together stay in the second level cache, so that what was read is compared before it leaves it. */
#define WORKER_BYTES (768 * KIB)
/* Blocks begin at different places of a page: else they all fall into the same few sets of the first level cache. */
#define LANE_PADDING 256U
#define UNIT_BYTES   (128 * KIB) /* of mirrors */

static size_t block_bytes(uint32_t lanes)
{
	size_t size = SCRUB_WINDOW_BYTES;

	while (size > VIEW_ROW_BYTES && size * lanes > WORKER_BYTES)
		size /= 2;
	return size;
}

int scrub_worker_init(struct scrub_worker *w, const struct md_view *view)
{
	size_t stride;

	*w = (struct scrub_worker){ .view = view };
	w->lanes = view->geometry->parity ? view->geometry->members : raid_copies(view->geometry);
	w->block_bytes = block_bytes(w->lanes);
	stride = w->block_bytes + LANE_PADDING;
	w->memory = aligned_alloc(4096, round_up_u64(stride * w->lanes, 4096));
	w->blocks = calloc(w->lanes, sizeof(*w->blocks));
	w->row_blocks = calloc(w->lanes, sizeof(*w->row_blocks));
	w->has = calloc(w->lanes, sizeof(*w->has));
	w->places = calloc(w->lanes, sizeof(*w->places));
	w->differs = calloc(w->lanes, sizeof(*w->differs));
	if (!w->memory || !w->blocks || !w->row_blocks || !w->has || !w->places || !w->differs)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->lanes; i++)
		w->blocks[i] = w->memory + stride * i;
	return 0;
}

void scrub_worker_done(struct scrub_worker *w)
{
	free(w->memory);
	free(w->blocks);
	free(w->row_blocks);
	free(w->has);
	free(w->places);
	free(w->differs);
	vec_done(&w->found);
}

void scrub_found(struct scrub_worker *w, uint64_t sync_bytes, const struct blkalign_scrub_finding *found)
{
	if (vec_push(&w->found, ((struct scrub_item){ *found, sync_bytes })) < 0)
		w->error = blkalign_error_set(&w->why, -ENOMEM, NULL, BLKALIGN_UNKNOWN, "out of memory");
}

bool scrub_read(struct scrub_worker *w, uint32_t slot, uint64_t at, uint8_t *buffer, size_t length_bytes)
{
	struct blkalign_error why = { 0 };
	int r = view_read(view_member(w->view, slot), at, buffer, length_bytes, &why);

	if (r == 0) {
		w->read_bytes += length_bytes;
		return true;
	}
	if (r != -EIO) {
		w->error = r;
		w->why = why;
	}
	return false;
}

/* A unit of parity begins and ends on multiples of the blocks' size; of mirrors it is whole windows. */
uint64_t scrub_unit_bytes(const struct md_view *v, uint64_t at)
{
	uint64_t left = view_sync_bytes(v) - at, length = 0;

	if (v->geometry->parity) {
		length = block_bytes(v->geometry->members);
		length -= at % length;
		return length < left ? length : left;
	}
	while (length < left && length < UNIT_BYTES)
		length += scrub_window_bytes(v, at + length);
	return length;
}

void scrub_unit(struct scrub_worker *w, uint64_t at, uint64_t length_bytes)
{
	view_lock(w->view, at, length_bytes);
	if (w->view->geometry->parity)
		scrub_parity(w, at, length_bytes);
	else
		scrub_mirror(w, at, length_bytes);
	view_unlock(w->view, at, length_bytes);
}
