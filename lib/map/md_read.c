/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading. What its member has is read at once and without locks. Rows that must be computed are read under a shared lock, because a writer must not change them halfway;
 * so is everything that a member failed to read.
 */
#include "map/md_priv.h"

#define LEAVES_MAX 4096U

typedef VEC(struct md_piece) pieces;

static void read_group(struct md_batch *b)
{
	struct md_lock lock = { .shared = true };

	if (md_ranges(b, false) < 0) {
		md_batch_fail(b, -ENOMEM, NULL);
		return;
	}
	lock.ranges = b->ranges.data;
	lock.count = b->ranges.count;
	md_lock(b->md, &lock);
	b->state = md_state_get(b->md);
	md_gather(b);
	md_state_put(b->md, b->state);
	md_unlock(b->md, &lock);
}

/* Blocks of one row that cannot be read are one piece. */
static int add_again(pieces *again, const struct md_piece *piece)
{
	for (size_t i = again->count; i-- > 0 && again->data[i].request == piece->request;) {
		struct md_piece *other = &again->data[i];

		if (other->range.offset_bytes != piece->range.offset_bytes || other->range.length_bytes != piece->range.length_bytes)
			continue;
		other->read_errors++;
		return 0;
	}
	return vec_push(again, *piece);
}

static void note_error(struct md_batch *b, struct dev_request *q, const struct dev_request *leaf, uint32_t slot, pieces *again)
{
	uint64_t array_bytes = q->offset_bytes + (uint64_t)((uint8_t *)leaf->buffer - (uint8_t *)q->buffer);
	uint64_t at = leaf->offset_bytes - b->state->members[slot].data_offset_bytes;
	struct md_exclusion x = { slot, leaf->length_bytes <= MD_UNIT_BYTES, { at, leaf->length_bytes } };
	struct md_piece piece = md_piece_at(b->md, q, array_bytes, leaf->length_bytes);

	piece.read_errors = 1;
	md_note_read_error(b->md, leaf);
	if (!dev_error_is_ours(leaf->result) && !md_redundant(b->md))
		md_request_fail(q, -EIO, leaf->reason ? leaf->reason : md_slot_reason(b->md, slot));
	else if (dev_error_is_ours(leaf->result) || vec_push(&b->exclusions, x) < 0 || add_again(again, &piece) < 0)
		md_request_fail(q, -ENOMEM, NULL);
}

static void run_leaves(struct md_batch *b, struct dev_request *requests, pieces *again)
{
	dev_run(b->requests.data, b->requests.count, NULL);
	for (size_t i = 0; i < b->requests.count; i++) {
		const struct md_leaf *leaf = &b->leaves.data[i];

		if (b->requests.data[i].result)
			note_error(b, &requests[leaf->piece], &b->requests.data[i], leaf->slot, again);
	}
	md_plan_reset(b);
}

static int add_run(struct md_batch *b, struct dev_request *q, uint32_t index, uint64_t done, uint64_t *run_bytes)
{
	struct raid_place place;

	*run_bytes = q->length_bytes - done;
	if (!md_pick_copy(b, q->offset_bytes + done, run_bytes, &place))
		return md_no_copy_at(b, q->offset_bytes + done);
	return md_add_leaf(b, index, place.slot, DEV_READ, place.device_bytes, (uint8_t *)q->buffer + done, (size_t)*run_bytes);
}

/* Every byte from the member that has it. */
static void read_plain(struct md_batch *b, struct dev_request *requests, size_t count, pieces *again)
{
	for (size_t i = 0; i < count; i++) {
		struct dev_request *q = &requests[i];

		for (uint64_t done = 0, run; q->op == DEV_READ && !q->result && done < q->length_bytes; done += run) {
			int r = add_run(b, q, (uint32_t)i, done, &run);

			if (r < 0)
				md_request_fail(q, r, b->reason);
			if (b->requests.count >= LEAVES_MAX)
				run_leaves(b, requests, again);
		}
	}
	run_leaves(b, requests, again);
}

static void read_rows(struct md_batch *b, struct dev_request *requests, size_t count)
{
	struct md_cursor cursor = { .requests = requests, .count = count, .op = DEV_READ };
	struct md_piece piece;

	while (md_next_piece(b->md, &cursor, &piece))
		if (md_add_piece(b, &piece, read_group) < 0)
			md_request_fail(piece.request, -ENOMEM, NULL);
}

/* With an error in it that is not hidden yet when false. */
static bool read_single(struct md_batch *b, struct dev_request *q, pieces *again)
{
	uint64_t run = q->length_bytes;
	struct dev_request leaf = { .op = DEV_READ, .length_bytes = q->length_bytes, .buffer = q->buffer };
	struct raid_place place;
	const struct map_md_member *m;

	if (!run || !md_pick_copy(b, q->offset_bytes, &run, &place) || run < q->length_bytes)
		return false;
	m = &b->state->members[place.slot];
	if (!u64_add(m->data_offset_bytes, place.device_bytes, &leaf.offset_bytes))
		return false;
	leaf.dev = m->dev;
	dev_run(&leaf, 1, NULL);
	if (leaf.result)
		note_error(b, q, &leaf, place.slot, again);
	return true;
}

void md_read(struct md *md, struct dev_request *requests, size_t count)
{
	struct md_batch b = { .md = md, .state = md_state_get(md) };
	bool rows = md_has_parity(md) && !b.state->whole;
	pieces again = { 0 };

	if (count == 1 && read_single(&b, requests, &again))
		rows = false;
	else if (!rows)
		read_plain(&b, requests, count, &again);
	md_state_put(md, b.state);
	if (rows)
		read_rows(&b, requests, count);
	for (size_t i = 0; i < again.count; i++)
		if (md_add_piece(&b, &again.data[i], read_group) < 0)
			md_request_fail(again.data[i].request, -ENOMEM, NULL);
	if (b.pieces.count)
		read_group(&b);
	md_mend(&b);
	vec_done(&again);
	md_batch_done(&b);
}
