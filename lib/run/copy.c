/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "run/copy.h"

static int set_range(struct blkalign_copy *copy, const struct blkalign_node *node, const struct blkalign_copy_options *o,
		     struct blkalign_error *reterr)
{
	uint64_t size = copy->from->size_bytes;

	if (o->offset_bytes > size)
		return blkalign_error_set(reterr, -ERANGE, blkalign_node_name(node), BLKALIGN_UNKNOWN,
					  "has %" PRIu64 " bytes: byte %" PRIu64 " is not there", size, o->offset_bytes);
	if (!range_inside(o->offset_bytes, o->length_bytes, size))
		return blkalign_error_set(reterr, -ERANGE, blkalign_node_name(node), BLKALIGN_UNKNOWN,
					  "has %" PRIu64 " bytes: from byte %" PRIu64 " on there are %" PRIu64 ", not %" PRIu64, size,
					  o->offset_bytes, size - o->offset_bytes, o->length_bytes);
	copy->begin_bytes = o->offset_bytes;
	copy->end_bytes = o->length_bytes ? o->offset_bytes + o->length_bytes : size;
	copy->progress.total_bytes = copy->end_bytes - copy->begin_bytes;
	return 0;
}

/* The first pass reads what nobody tried yet; the second, what could not be read before. */
static int set_map(struct blkalign_copy *copy, const struct blkalign_copy_options *o, struct blkalign_error *reterr)
{
	int r = o->map ? ddrescue_decode(o->map, o->map_bytes, &copy->map, reterr) : 0;

	copy->map.state = DDRESCUE_NOT_TRIED;
	if (r < 0 || copy->begin_bytes == copy->end_bytes)
		return r;
	r = ddrescue_cover(&copy->map, copy->begin_bytes, copy->end_bytes);
	copy->untried = r < 0 ? NULL : calloc(copy->map.blocks.count, sizeof(*copy->untried));
	if (!copy->untried)
		return -ENOMEM;
	for (size_t i = 0; i < copy->map.blocks.count; i++) {
		const struct ddrescue_block *b = &copy->map.blocks.data[i];
		uint64_t begin = b->offset_bytes, end = begin + b->length_bytes;

		begin = begin < copy->begin_bytes ? copy->begin_bytes : begin;
		end = end > copy->end_bytes ? copy->end_bytes : end;
		if (begin >= end)
			continue;
		if (b->status == DDRESCUE_FINISHED)
			copy->progress.good_bytes += end - begin;
		else if (b->status == DDRESCUE_NOT_TRIED)
			copy->untried[copy->untried_count++] = (struct byte_range){ begin, end - begin };
		else
			copy->progress.bad_bytes += end - begin;
	}
	return 0;
}

/* Whatever the stack was made of must not be written to. */
static int open_output(struct blkalign_copy *copy, const struct blkalign_copy_options *o, struct blkalign_error *reterr)
{
	const struct blkalign_graph *graph = blkalign_run_graph(copy->run);
	enum dev_output how = o->map ? DEV_OUTPUT_RESUME : o->overwrite ? DEV_OUTPUT_OVERWRITE : DEV_OUTPUT_NEW;
	VEC(const char *) sources = { 0 };
	int r = 0;

	copy->stream_fd = o->output_fd;
	if (!o->output)
		return o->map ? blkalign_error_set(reterr, -EINVAL, "output", BLKALIGN_UNKNOWN, "a stream cannot be resumed") : 0;
	for (size_t i = 0; r == 0 && i < blkalign_graph_size(graph); i++) {
		const char *path = blkalign_node_str(blkalign_graph_node(graph, i), BLKALIGN_ATTR_DEVPATH);

		if (path)
			r = vec_push(&sources, path);
	}
	if (r == 0)
		r = dev_open_output(o->output, copy->progress.total_bytes, how, sources.data, sources.count, &copy->to, &copy->to_is_zeros,
				    reterr);
	vec_done(&sources);
	return r;
}

int blkalign_copy_open(struct blkalign_run *run, const struct blkalign_node *node, const struct blkalign_copy_options *options,
		       struct blkalign_copy **ret_copy, struct blkalign_error *reterr)
{
	struct blkalign_copy *copy = calloc(1, sizeof(*copy));
	struct blkalign_run_blocks blocks;
	int r = copy ? run_dev(run, node, &copy->from, reterr) : -ENOMEM;

	if (r == 0) {
		copy->run = run;
		blkalign_run_blocks(run, node, &blocks);
		copy->sector_bytes = blocks.minimum_bytes > COPY_SECTOR_BYTES && blocks.minimum_bytes <= COPY_PIECE_BYTES
					     ? blocks.minimum_bytes
					     : COPY_SECTOR_BYTES;
		copy->again = malloc(COPY_PIECE_BYTES);
		r = copy->again ? set_range(copy, node, options, reterr) : -ENOMEM;
	}
	if (r == 0)
		r = set_map(copy, options, reterr);
	if (r == 0)
		r = open_output(copy, options, reterr);
	if (r == 0)
		r = copy_pipe_start(copy);
	if (r < 0) {
		blkalign_copy_close(copy);
		return r;
	}
	*ret_copy = copy;
	return 0;
}

/* Nothing of it was written: it stays to be tried again. */
static int give_up(const struct blkalign_copy *copy, const struct copy_unit *unit, struct blkalign_error *reterr)
{
	return blkalign_error_set(reterr, unit->error, copy->from->name, unit->offset_bytes, "cannot be read at byte %" PRIu64 ": %s",
				  unit->offset_bytes, strerror(-unit->error));
}

/* The first block from `at` on that could not be read, clipped; false when there is none. */
static bool next_unread(const struct blkalign_copy *copy, uint64_t at, struct byte_range *ret)
{
	for (size_t i = ddrescue_find(&copy->map, at); i < copy->map.blocks.count; i++) {
		const struct ddrescue_block *b = &copy->map.blocks.data[i];
		uint64_t begin = b->offset_bytes > at ? b->offset_bytes : at, end = b->offset_bytes + b->length_bytes;

		end = end > copy->end_bytes ? copy->end_bytes : end;
		if (begin >= end)
			return false;
		if (b->status == DDRESCUE_FINISHED || b->status == DDRESCUE_NOT_TRIED)
			continue;
		*ret = (struct byte_range){ begin, end - begin };
		return true;
	}
	return false;
}

/* One piece of the second pass. BLKALIGN_COPY_DONE when nothing is left. */
static int try_again(struct blkalign_copy *copy, struct blkalign_error *reterr)
{
	_cleanup_free_ struct copy_unit *unit = NULL;
	struct byte_range range;
	int64_t bad = 0;

	if (!next_unread(copy, copy->again_bytes, &range))
		return BLKALIGN_COPY_DONE;
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	copy->progress.trying_again = true;
	copy->map.state = DDRESCUE_NOT_SCRAPED;
	unit->data = copy->again;
	unit->offset_bytes = range.offset_bytes;
	unit->length_bytes = round_down_u64(range.offset_bytes, COPY_PIECE_BYTES) + COPY_PIECE_BYTES - range.offset_bytes;
	if (unit->length_bytes > range.length_bytes)
		unit->length_bytes = range.length_bytes;
	unit->lost = copy_known_lost(copy, range.offset_bytes, &range.length_bytes);
	if (unit->lost)
		unit->length_bytes = range.length_bytes;
	else
		bad = copy_read_pieces(copy, unit->offset_bytes, unit->length_bytes, copy->sector_bytes, unit->data, unit->bad);
	if (bad < 0) {
		unit->error = (int)bad;
		return give_up(copy, unit, reterr);
	}
	unit->bad_sectors = (size_t)bad;
	unit->bad_status = DDRESCUE_BAD;
	copy->progress.bad_bytes -= unit->length_bytes;
	copy->again_bytes = unit->offset_bytes + unit->length_bytes;
	return copy_write_unit(copy, unit, reterr);
}

static int flush(struct blkalign_copy *copy, struct blkalign_error *reterr) { return copy->to ? dev_flush(copy->to, reterr) : 0; }

/* One unit of the first pass; a piece of the second when there is none. */
static int step(struct blkalign_copy *copy, struct blkalign_error *reterr)
{
	struct copy_unit *unit = copy_pipe_take(copy);
	int r;

	if (!unit)
		return copy->to ? try_again(copy, reterr) : BLKALIGN_COPY_DONE;
	if (unit->error)
		return give_up(copy, unit, reterr);
	r = copy_write_unit(copy, unit, reterr);
	if (r == 0)
		copy_pipe_give_back(copy);
	return r;
}

/* Neighbours of one status are one block; bad ones of different statuses are joined here. */
static uint64_t count_bad_areas(const struct blkalign_copy *copy)
{
	uint64_t found = 0, end = BLKALIGN_UNKNOWN;
	struct byte_range range;

	for (uint64_t at = copy->begin_bytes; next_unread(copy, at, &range); at = range.offset_bytes + range.length_bytes) {
		found += range.offset_bytes != end;
		end = range.offset_bytes + range.length_bytes;
	}
	return found;
}

void blkalign_copy_progress(const struct blkalign_copy *copy, struct blkalign_copy_progress *ret_progress)
{
	*ret_progress = copy->progress;
	ret_progress->done_bytes = copy->progress.good_bytes + copy->progress.bad_bytes;
}

int blkalign_copy_step(struct blkalign_copy *copy, struct blkalign_copy_progress *ret_progress, struct blkalign_error *reterr)
{
	int r = copy->done ? BLKALIGN_COPY_DONE : step(copy, reterr);

	if (r == BLKALIGN_COPY_DONE && !copy->done) {
		int flushed = flush(copy, reterr);

		copy->done = flushed == 0;
		copy->map.state = DDRESCUE_FINISHED;
		copy->progress.bad_areas = count_bad_areas(copy);
		r = flushed < 0 ? flushed : r;
	}
	if (ret_progress)
		blkalign_copy_progress(copy, ret_progress);
	return r;
}

int blkalign_copy_map(struct blkalign_copy *copy, char **ret_text, struct blkalign_error *reterr)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	char program[64];
	int r = flush(copy, reterr);

	if (r < 0)
		return r;
	ddrescue_encode(&copy->map, text_join(program, sizeof(program), "blkalign ", blkalign_version(), ""), &text);
	*ret_text = text.failed ? NULL : strdup(strbuf_text(&text));
	return *ret_text ? 0 : -ENOMEM;
}

void blkalign_copy_close(struct blkalign_copy *copy)
{
	if (!copy)
		return;
	copy_pipe_stop(copy);
	dev_close(copy->to);
	ddrescue_map_done(&copy->map);
	free(copy->untried);
	free(copy->again);
	free(copy);
}
