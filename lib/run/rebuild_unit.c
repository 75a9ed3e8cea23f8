/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a place of the missing members holds. Parity: everything else of the row is read, what is missing computed, and the targets written. Mirrors: the
 * first copy that can be read is written. As the kernel's recovery does (raid5.c, handle_stripe(); raid10.c, recovery_request_write()).
 */
#include "run/rebuild.h"

#define WORKER_BYTES (768 * KIB) /* as in a scrub: what was read is used before it leaves the second level cache */
#define BLOCK_BYTES  (64 * KIB)
#define LANE_PADDING 256U

static const struct map_md_member *member(const struct rebuild_worker *w, uint32_t slot) { return view_member(&w->rebuild->view, slot); }

static const struct raid_geometry *geometry(const struct rebuild_worker *w) { return w->rebuild->view.geometry; }

static size_t block_bytes(const struct raid_geometry *g)
{
	size_t size = BLOCK_BYTES;

	while (g->parity && size > VIEW_ROW_BYTES && size * g->members > WORKER_BYTES)
		size /= 2;
	return size;
}

int rebuild_worker_init(struct rebuild_worker *w, const struct blkalign_rebuild *rebuild)
{
	const struct raid_geometry *g = rebuild->view.geometry;
	size_t stride = block_bytes(g) + LANE_PADDING;

	*w = (struct rebuild_worker){ .rebuild = rebuild, .block_bytes = block_bytes(g), .lanes = g->parity ? g->members : 1 };
	w->memory = aligned_alloc(4096, round_up_u64(stride * w->lanes, 4096));
	w->blocks = calloc(w->lanes, sizeof(*w->blocks));
	w->has = calloc(w->lanes, sizeof(*w->has));
	if (!w->memory || !w->blocks || !w->has)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->lanes; i++)
		w->blocks[i] = w->memory + stride * i;
	return 0;
}

void rebuild_worker_done(struct rebuild_worker *w)
{
	free(w->memory);
	free(w->blocks);
	free(w->has);
}

static bool read_block(struct rebuild_worker *w, uint32_t slot, uint64_t at, uint8_t *buffer, size_t length)
{
	struct blkalign_error why = { 0 };
	int r = view_read(member(w, slot), at, buffer, length, &why);

	if (r == 0) {
		w->read_bytes += length;
		return true;
	}
	w->why = why; /* the reason, should this place be needed */
	if (r != -EIO)
		w->error = r;
	return false;
}

static void write_target(struct rebuild_worker *w, const struct rebuild_target *t, uint64_t at, const uint8_t *block, size_t length)
{
	int r = dev_write(t->dev, t->data_offset_bytes + at, block, length, &w->why);

	if (r < 0)
		w->error = r;
	else
		w->written_bytes += length;
}

static void cannot(struct rebuild_worker *w, const struct rebuild_target *t, uint64_t at)
{
	char because[sizeof(w->why.message)];

	memcpy(because, w->why.message, sizeof(because));
	w->error = blkalign_error_set(&w->why, -EIO, t->path, t->data_offset_bytes + at,
				      "slot %u cannot be rebuilt from byte %llu of its data area on: too many other members lack it%s%s",
				      t->told.slot, (unsigned long long)at, *because ? ": " : "", because);
}

/* What fails is counted: it is told when the place can be rebuilt nevertheless. */
static bool read_counted(struct rebuild_worker *w, uint32_t slot, uint64_t at, uint8_t *buffer, size_t length)
{
	if (read_block(w, slot, at, buffer, length))
		return true;
	w->unreadable_bytes += length;
	return false;
}

/* --- parity --- */

/* Rows that all targets have already are not asked for what else they lack. */
static void cannot_row(struct rebuild_worker *w, uint64_t at)
{
	for (size_t i = 0; !w->error && i < w->rebuild->target_count; i++)
		if (!w->has[w->rebuild->targets[i].told.slot])
			cannot(w, &w->rebuild->targets[i], at);
}

/* Slots that this row does not have; more than two are counted only. */
static uint32_t find_lost(const struct rebuild_worker *w, uint32_t lost[2])
{
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < w->lanes; slot++) {
		if (w->has[slot])
			continue;
		if (count < 2)
			lost[count] = slot;
		count++;
	}
	return count;
}

/* With one block computed from the first parity, the second one tells whether all of it fits. */
static void count_mismatches(struct rebuild_worker *w, const struct raid_row *row)
{
	uint8_t *blocks[RAID_MEMBERS_MAX];
	struct raid_row part = *row;

	if (raid_consistent(row))
		return;
	part.blocks = blocks;
	part.length_bytes = VIEW_ROW_BYTES;
	for (size_t done = 0; done < row->length_bytes; done += VIEW_ROW_BYTES) {
		for (uint32_t slot = 0; slot < w->lanes; slot++)
			blocks[slot] = row->blocks[slot] + done;
		if (!raid_consistent(&part))
			w->mismatch_sectors512 += VIEW_ROW_BYTES / 512;
	}
}

static void compute_row(struct rebuild_worker *w, uint64_t at, size_t length)
{
	struct raid_row row = { geometry(w), raid_stripe_at(geometry(w), at), w->blocks, length };
	uint32_t lost[2], count = find_lost(w, lost);

	if (count > raid_redundancy(geometry(w))) {
		cannot_row(w, at);
		return;
	}
	if (raid_recover(&row, lost, count) < 0) {
		w->error = -EIO;
		return;
	}
	if (count < raid_redundancy(geometry(w)))
		count_mismatches(w, &row);
	for (size_t i = 0; !w->error && i < w->rebuild->target_count; i++) {
		const struct rebuild_target *t = &w->rebuild->targets[i];

		if (!w->has[t->told.slot])
			write_target(w, t, at, w->blocks[t->told.slot], length);
	}
}

/* False when a member has a part of the range only, or cannot be read in it. */
static bool read_row(struct rebuild_worker *w, uint64_t at, size_t length)
{
	for (uint32_t slot = 0; slot < w->lanes; slot++) {
		uint64_t run = length;

		w->has[slot] = view_has(member(w, slot), at, &run);
		if (run < length)
			return false;
	}
	for (uint32_t slot = 0; slot < w->lanes; slot++)
		if (w->has[slot] && !read_block(w, slot, at, w->blocks[slot], length))
			return false;
	return true;
}

/* The careful way: rows of their own, without what cannot be read of each. */
static void small_rows(struct rebuild_worker *w, uint64_t at, size_t length)
{
	for (size_t done = 0; !w->error && done < length; done += VIEW_ROW_BYTES) {
		for (uint32_t slot = 0; !w->error && slot < w->lanes; slot++)
			w->has[slot] = view_has_all(member(w, slot), at + done, VIEW_ROW_BYTES) &&
				       read_counted(w, slot, at + done, w->blocks[slot], VIEW_ROW_BYTES);
		if (!w->error)
			compute_row(w, at + done, VIEW_ROW_BYTES);
	}
}

static void parity_piece(struct rebuild_worker *w, uint64_t at, size_t length)
{
	w->why.message[0] = '\0';
	if (read_row(w, at, length))
		compute_row(w, at, length);
	else if (!w->error)
		small_rows(w, at, length);
}

static void parity_unit(struct rebuild_worker *w, uint64_t at, uint64_t length_bytes)
{
	uint64_t chunk = geometry(w)->chunk_bytes;

	for (uint64_t end = at + length_bytes, length; !w->error && at < end; at += length) {
		length = chunk - at % chunk;
		length = length < end - at ? length : end - at;
		length = length < w->block_bytes ? length : w->block_bytes;
		parity_piece(w, at, length);
	}
}

/* --- mirrors --- */

/* Cut to where any copy begins or ceases to be there, so that each has all of it or nothing. */
static uint64_t even_piece(const struct rebuild_worker *w, const struct raid_origin *origin, uint64_t length)
{
	for (uint32_t copy = 0; copy < raid_copies(geometry(w)); copy++) {
		struct raid_place place;

		if (copy == origin->copy || raid_locate(geometry(w), origin->array_bytes, copy, &place) < 0)
			continue;
		length = length < place.run_bytes ? length : place.run_bytes;
		view_has(member(w, place.slot), place.device_bytes, &length);
	}
	return length;
}

/* From the first copy that can be read. */
static bool read_copy(struct rebuild_worker *w, const struct raid_origin *origin, uint64_t length)
{
	for (uint32_t copy = 0; !w->error && copy < raid_copies(geometry(w)); copy++) {
		struct raid_place place;

		if (copy != origin->copy && raid_locate(geometry(w), origin->array_bytes, copy, &place) == 0 &&
		    view_has_all(member(w, place.slot), place.device_bytes, length) &&
		    read_counted(w, place.slot, place.device_bytes, w->blocks[0], length))
			return true;
	}
	return false;
}

/* Returns how much was done. */
static uint64_t mirror_piece(struct rebuild_worker *w, const struct rebuild_target *t, uint64_t at, const struct raid_origin *origin,
			     uint64_t length)
{
	uint64_t row = VIEW_ROW_BYTES - at % VIEW_ROW_BYTES, unreadable_bytes = w->unreadable_bytes;

	w->why.message[0] = '\0';
	length = even_piece(w, origin, length < w->block_bytes ? length : w->block_bytes);
	if (!read_copy(w, origin, length)) {
		length = length < row ? length : row;
		w->unreadable_bytes = unreadable_bytes;
		if (!w->error && !read_copy(w, origin, length) && !w->error)
			cannot(w, t, at);
	}
	if (!w->error)
		write_target(w, t, at, w->blocks[0], length);
	return length;
}

/* Sync bytes of raid10 are array bytes; so each piece is locked by itself. */
static void lock_piece(const struct rebuild_worker *w, const struct raid_origin *origin, uint64_t length, bool lock)
{
	const struct md_view *view = &w->rebuild->view;

	if (lock)
		view_lock(view, origin->array_bytes, length);
	else
		view_unlock(view, origin->array_bytes, length);
}

static void mirror_unit(struct rebuild_worker *w, const struct rebuild_target *t, uint64_t at, uint64_t length_bytes)
{
	for (uint64_t end = at + length_bytes, length; !w->error && at < end; at += length) {
		struct raid_origin origin;

		length = end - at < VIEW_ROW_BYTES ? end - at : VIEW_ROW_BYTES;
		if (raid_origin(geometry(w), t->told.slot, at, &origin) < 0)
			continue; /* no byte of the array lies here */
		length = origin.run_bytes < end - at ? origin.run_bytes : end - at;
		if (!rebuild_lacks(w->rebuild, origin.array_bytes, length))
			continue;
		lock_piece(w, &origin, length, true);
		for (uint64_t done = 0, piece; !w->error && done < length; done += piece) {
			struct raid_origin here = origin;

			here.array_bytes += done;
			piece = mirror_piece(w, t, at + done, &here, length - done);
		}
		lock_piece(w, &origin, length, false);
	}
}

/* --- units --- */

uint64_t rebuild_unit_bytes(const struct blkalign_rebuild *rebuild, uint64_t at)
{
	uint64_t unit = block_bytes(rebuild->view.geometry), left = rebuild->walk.total_bytes - at;

	unit -= at % unit;
	return unit < left ? unit : left;
}

static bool lacks(const struct rebuild_worker *w, const struct rebuild_target *t, uint64_t at, uint64_t length_bytes)
{
	return !view_has_all(member(w, t->told.slot), at, length_bytes);
}

void rebuild_unit(struct rebuild_worker *w, uint64_t at, uint64_t length_bytes)
{
	const struct blkalign_rebuild *r = w->rebuild;

	if (geometry(w)->parity) {
		view_lock(&r->view, at, length_bytes);
		parity_unit(w, at, length_bytes);
		view_unlock(&r->view, at, length_bytes);
		return;
	}
	for (size_t i = 0; !w->error && i < r->target_count; i++)
		if (lacks(w, &r->targets[i], at, length_bytes))
			mirror_unit(w, &r->targets[i], at, length_bytes);
}
